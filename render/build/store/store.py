"""Finished scenes under what they were made from.

    orders/ORDER/QUESTION/question.json     what was read
    orders/ORDER/QUESTION/KEY/entry.json    what the scene was made from, and its files
    orders/ORDER/QUESTION/KEY/video-SHA     the files, by kind and contents
    orders/ORDER/QUESTION/KEY/used          its time is that of the last use
    runs/START-NUMBER                       a run in progress; its time is its last sign of life

ORDER stands for language, quality, title and so on, QUESTION for what the scene read, KEY for all
that the video depends on. An entry is written after its files: until then it is not there.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError, from_os_error
from render.base.stamps import sha256
from render.build.incremental.changes import Now, changes
from render.build.store.choice import StoreChoice
from render.build.store.finished import Finished
from render.build.store.place import Folder, Place
from render.build.store.questions import key_now, name_of, question_of
from render.build.store.sweep import sweep
from render.build.task import Result

_ORDERS, _RUNS = "orders", "runs"
_QUESTION, _ENTRY, _USED = "question.json", "entry.json", "used"


@dataclass(frozen=True)
class Entry:
    """A stored scene that fits, found by :meth:`Store.find`; its folder in the store."""

    folder: str
    document: Mapping[str, Any]


class Store:
    """Every method raises LectureError where the store cannot be reached or written to.

    Several runs may use a store at once. ``limit``: bytes kept at most, besides what runs in
    progress have put in or taken out; None: whoever else uses it keeps it small.
    """

    def __init__(self, place: Place, limit: int | None = None) -> None:
        self._place = place
        self._limit = limit
        self._added = 0  # bytes since the last sweep
        self._run = ""

    @classmethod
    def open(cls, url: str, limit: int | None = None) -> Store:
        """The store in a folder or at an fsspec URL. Nothing is made or reached yet."""
        if url.startswith("file://"):
            url = url.removeprefix("file://") or "/"
        if "://" in url or "::" in url:
            from render.build.store.remote import Remote

            return cls(Remote(url), limit)
        return cls(Folder(Path(url).expanduser().absolute()), limit)

    @classmethod
    def chosen(cls, choice: StoreChoice) -> Store | None:
        """The store of the command line; None if there is none."""
        return None if choice.url is None else cls.open(choice.url, choice.limit)

    @property
    def name(self) -> str:
        return self._place.name

    def begin(self) -> None:
        """Announce this run, so that what it uses stays; tells whether one can write."""
        self._run = f"{_RUNS}/{time.time():.0f}-{secrets.token_hex(4)}"
        with self._telling():
            self._place.write(self._run, b"")

    @property
    def mark(self) -> str:
        """What :meth:`begin` has left, by which another machine knows that its store is this."""
        return self._run

    def sees(self, mark: str) -> bool:
        """Whether what the run with this mark has left is here."""
        try:
            with self._telling(may_be_gone=True):
                self._place.read(mark)
        except FileNotFoundError:
            return False
        return True

    def end(self) -> None:
        """This run needs nothing any more: bring the store within its limit."""
        if self._run:
            with self._telling():
                self._place.remove(self._run)
        self._run = ""
        self._sweep()

    def find(self, module: str, ordered: Mapping[str, Any], now: Now) -> Entry | None:
        """The stored scene that a rendering would yield now; None if there is none.

        ``ordered`` is the picture ordered (``Order.picture``). Nothing is written.
        """
        above = f"{_ORDERS}/{name_of(ordered)}"
        for name in self._names(above):
            question = self._json(f"{above}/{name}/{_QUESTION}")
            key = key_now(question, module, ordered, now) if question else None
            if key is None:
                continue
            document = self._json(f"{above}/{name}/{key}/{_ENTRY}")
            if document and not changes(document.get("made"), key, module, ordered, now):
                return Entry(f"{above}/{name}/{key}", document)
        return None

    def get(self, entry: Entry, folder: Path) -> Finished | None:
        """The files of an entry, put into ``folder``; it counts as used. None, and it is dropped,
        if any of it is spoilt or gone."""
        files = {}
        try:
            result = Result(**entry.document["result"])
            notes = dict(entry.document["notes"])
            for kind, (suffix, digest) in entry.document["files"].items():
                if not kind.isidentifier() or "/" in suffix:
                    raise LookupError(kind)
                files[kind] = folder / f"{kind}{suffix}"
                with self._telling(may_be_gone=True):
                    self._place.hand_out(f"{entry.folder}/{kind}-{digest}", files[kind])
                if sha256(files[kind]) != digest:
                    raise FileNotFoundError
            with self._telling():
                self._place.write(f"{entry.folder}/{_USED}", b"")
                if self._run:
                    self._place.write(self._run, b"")
        except (FileNotFoundError, LookupError, TypeError, ValueError, AttributeError):
            for path in files.values():
                path.unlink(missing_ok=True)
            self.drop(entry)
            return None
        return Finished(entry.document["made"], result, files, notes)

    def put(self, finished: Finished) -> None:
        """Store a finished scene; the files stay where they are. One whose code was edited while
        it was drawn is not worth it."""
        made = dict(finished.made)
        if not all(made["code"].values()):
            return
        question = question_of(made)
        above = f"{_ORDERS}/{name_of(made['picture'])}/{name_of(question)}"
        folder = f"{above}/{finished.key}"
        digests = {kind: sha256(path) for kind, path in finished.files.items()}
        document = {
            "made": made,
            "result": asdict(finished.result),
            "notes": finished.notes,
            "files": {kind: [path.suffix, digests[kind]] for kind, path in finished.files.items()},
        }
        with self._telling():
            for kind, path in finished.files.items():
                self._place.take_in(path, f"{folder}/{kind}-{digests[kind]}")
                self._added += path.stat().st_size
            self._write_json(f"{folder}/{_ENTRY}", document)
            self._place.write(f"{folder}/{_USED}", b"")
            self._write_json(f"{above}/{_QUESTION}", question)
            if self._run:
                self._place.write(self._run, b"")
            self._remove_others(folder, {f"{kind}-{digest}" for kind, digest in digests.items()})
        if self._limit is not None and self._added > self._limit / 10:
            self._sweep()

    def drop(self, entry: Entry) -> None:
        """Remove an entry, the note that it is there first."""
        with self._telling():
            self._place.remove(f"{entry.folder}/{_ENTRY}")
            for name in self._place.names(entry.folder):
                self._place.remove(f"{entry.folder}/{name}")

    def _sweep(self) -> None:
        if self._limit is None:
            return
        with self._telling():
            sweep(self._place, self._limit, time.time())
        self._added = 0

    def _remove_others(self, folder: str, kept: set[str]) -> None:
        """Files of an earlier rendering with the same key."""
        for name in self._place.names(folder):
            if "-" in name and name not in kept and not name.startswith("."):
                self._place.remove(f"{folder}/{name}")

    def _json(self, path: str) -> dict[str, Any]:
        """A document; empty where there is none that can be read."""
        try:
            with self._telling(may_be_gone=True):
                found = json.loads(self._place.read(path))
        except (FileNotFoundError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write_json(self, path: str, document: Mapping[str, Any]) -> None:
        self._place.write(path, json.dumps(document, ensure_ascii=False).encode())

    def _names(self, folder: str) -> list[str]:
        with self._telling():
            return self._place.names(folder)

    @contextlib.contextmanager
    def _telling(self, *, may_be_gone: bool = False) -> Iterator[None]:
        """What the place raises, in a line for the user; where it ``may_be_gone``, what is not
        there stays a FileNotFoundError."""
        try:
            yield
        except OSError as error:
            if may_be_gone and isinstance(error, FileNotFoundError):
                raise
            raise LectureError(
                where=self.name,
                field="store",
                expected="one that can be reached and written to",
                found=from_os_error(error, "").found,
            ) from error
