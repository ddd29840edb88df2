"""Products under what they were made from, for any output folder, checkout or machine.

    entries/KIND/QUESTION/KEY.json   the record of a product; its time is that of the last use
    objects/ab/SHA256                files by their contents
    runs/START-NUMBER                a run in progress; its time is its last sign of life

QUESTION stands for a maker's spec and what it asked for, KEY for that and all answers. An
object is written before its entry, so an entry whose objects are missing was never finished or has
been tampered with. Nothing found here is believed: the key must follow from the record's inputs,
files must be regular ones of the noted size, and are compared by digest in the private folder that
they are brought to.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import LectureError, from_os_error
from render.base.reader import parsed
from render.base.reads import Made, sha256
from render.build.eviction import evict
from render.build.places import CacheChoice, Place, place_of
from render.build.product import FORM, Product, Work, content_of, digest, key_of, question_of

if TYPE_CHECKING:
    from render.build.inputs import Now

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST = 16 << 20  # bytes of an entry
_SECONDS_BETWEEN_SIGNS = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A stored product: where its record is, and what that says."""

    path: str
    made: Made
    data: bytes

    @classmethod
    def of(cls, what: Product | Work, made: Made) -> Entry:
        """What :meth:`Cache.put` writes."""
        question = f"{_told(what)}-{question_of(what.kind, made.inputs)[:16]}"
        data = json.dumps(made.to_json(), ensure_ascii=False).encode()
        return cls(f"entries/{what.kind}/{question}/{made.key}.json", made, data)


class Cache:
    """``with Cache.open(choice, say) as cache``. Several runs may use a cache at once.

    A cache that the user named and that cannot be read when it is opened is a LectureError. One
    that can only be read gives and takes nothing. Whatever fails later is a line for ``say``; the
    run goes on without the cache, and has ``failed`` where the user named it.
    """

    def __init__(self, choice: CacheChoice, say: Callable[[str], None], looking: bool) -> None:
        self.failed = False
        self.has_more = False  # than it had when it was opened
        self.read_only = False
        #: by which another machine knows that its cache is this one
        self.mark = ""
        self._choice, self._say, self._looking = choice, say, looking
        self._place: Place | None = None
        self._added = 0  # bytes since the last eviction
        self._sign = 0.0

    @classmethod
    def open(
        cls,
        choice: CacheChoice,
        say: Callable[[str], None] = lambda _: None,
        *,
        looking: bool = False,
    ) -> Cache:
        """``looking``: nothing will be written."""
        cache = cls(choice, say, looking)
        if choice.url is None:
            return cache
        try:
            cache._place = place = place_of(choice.url)
            if not looking:
                cache._announce(place)
        except LectureError as error:
            if choice.named:
                raise
            cache._do_without(error)
        return cache

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def address(self) -> str:
        """The URL or whole path, for processes elsewhere."""
        return self._choice.address

    @property
    def _writes(self) -> bool:
        return not (self.read_only or self._looking)

    def _announce(self, place: Place) -> None:
        """Leave the mark of this run, so that what it uses is kept; finds out if it can write."""
        mark = f"runs/{time.time():.0f}-{secrets.token_hex(4)}"
        with self._telling():
            try:
                place.write(mark, b"")
                self.mark = mark
            except OSError as error:
                closed = isinstance(error, PermissionError) or error.errno == errno.EROFS
                if not closed or not place.names("entries"):
                    raise
                self.read_only = True
                self._say(f"{place.name}: store: read-only, nothing is added")

    def sees(self, mark: str) -> bool:
        """Whether what the run with this mark has left is here. Raises LectureError."""
        if self._place is None:
            return False
        with self._telling(), contextlib.suppress(FileNotFoundError):
            self._place.read(mark, 0)
            return True
        return False

    def find(self, product: Product, now: Now) -> Entry | None:
        """The stored product that would be made now; None if there is none. Nothing is written.

        Raises LectureError only where it was opened for looking and cannot be read.
        """
        if self._place is None or not product.cached:
            return None
        with self._careful():
            return self._find(self._place, product, now)
        return None

    def _find(self, place: Place, product: Product, now: Now) -> Entry | None:
        above = f"entries/{product.kind}"
        told = _told(product)
        for question in place.names(above):
            if not question.startswith(told):
                continue
            folder = f"{above}/{question}"
            with contextlib.suppress(PermissionError):  # of another user
                keys = [name for name in place.names(folder) if not name.startswith(".")]
            asked = next(
                filter(None, (self._read(f"{folder}/{key}", product) for key in keys)), None
            )
            key = product.key(now, asked.made) if asked else None
            if asked and key == asked.made.key:
                return asked
            found = self._read(f"{folder}/{key}.json", product) if f"{key}.json" in keys else None
            if found:
                return found
        return None

    def lend(self, made: Made) -> None:
        """Have the files of a record that are here, for workers elsewhere."""
        if self._place is not None and self._writes:
            with self._careful():
                for role, path in made.paths.items():
                    self._place.take_in(Path(path), _object(made.files[role].sha256))

    def borrow(self, made: Made, into: Path) -> Made | None:
        """The files of a record that somebody else has put here, as :meth:`take` does."""
        roles = made.paths or made.files
        files = {role: stamp for role, stamp in made.files.items() if role in roles}
        if self._place is not None:
            with self._careful():
                taken = self._take(self._place, replace(made, files=files), into)
                return taken and replace(taken, files={**made.files, **taken.files})
        return None

    def take(self, entry: Entry, into: Path) -> Made | None:
        """The files of an entry, put into the private folder ``into``; it counts as used. None, and
        it is dropped, if any of it is spoiled or gone."""
        if self._place is None:
            return None
        with self._careful():
            taken = self._take(self._place, entry.made, into)
            if taken is None:
                self._drop(entry.path)
            elif self._writes:
                with contextlib.suppress(OSError):
                    self._place.write(entry.path, entry.data)
                self._give_sign()
            return taken
        return None

    def _take(self, place: Place, made: Made, into: Path) -> Made | None:
        paths: dict[str, str] = {}
        stamps = {}
        for role, noted in made.files.items():
            path = into / f"taken-{secrets.token_hex(8)}"
            paths[role] = str(path)
            try:
                place.hand_out(_object(noted.sha256), path, noted.size)
                sound = path.stat().st_size == noted.size and sha256(path) == noted.sha256
            except FileNotFoundError:
                sound = False
            if not sound:
                for each in paths.values():
                    Path(each).unlink(missing_ok=True)
                self._drop(_object(noted.sha256))
                return None
            stamps[role] = replace(noted, mtime_ns=path.stat().st_mtime_ns)
        return replace(made, files=stamps, paths=paths)

    def put(self, what: Product | Work, made: Made, files: Mapping[str, Path]) -> None:
        """Store a product; the files stay where they are. One whose code was edited
        meanwhile, or whose key is not that of its inputs, is not stored."""
        if self._place is None or not self._writes:
            return
        known = all(one.digest for one in made.inputs if one.kind == "code")
        if not known or made.key != key_of(what.kind, made.inputs):
            return
        entry = Entry.of(what, made)
        with self._careful():
            for role, stamp in made.files.items():
                self._place.take_in(files[role], _object(stamp.sha256))
                self._added += stamp.size
            self._place.write(entry.path, entry.data)
            self.has_more = True
            self._give_sign()
            if self._choice.limit is not None and self._added > self._choice.limit / 10:
                self._evict(self._place)

    def end(self) -> None:
        """This run needs nothing any more: bring the cache within its limit."""
        place, mark = self._place, self.mark
        if place is None or not mark:
            return
        self.mark = ""
        with self._careful():
            place.remove(mark)
            self._evict(place)

    def _evict(self, place: Place) -> None:
        if self._choice.limit is not None:
            evict(place, self._choice.limit, time.time(), self._objects)
        self._added = 0

    def _objects(self, path: str) -> frozenset[str]:
        """Where the files of an entry are; none for an invalid entry."""
        made = self._record(path)
        files = made[0].files.values() if made else ()
        return frozenset(_object(stamp.sha256) for stamp in files)

    def _read(self, path: str, product: Product) -> Entry | None:
        """An entry that says what it must say; else it is dropped."""
        found = self._record(path)
        if found:
            made, data = found
            if (
                path.endswith(f"/{made.key}.json")
                and made.key == key_of(product.kind, made.inputs)
                and made.content == content_of(made.facts, made.files, product.aside)
            ):
                return Entry(path, made, data)
        self._drop(path)
        return None

    def _record(self, path: str) -> tuple[Made, bytes] | None:
        """The record at a path, and as it stands there; None where there is none."""
        assert self._place is not None
        try:
            data = self._place.read(path, _MOST)
            made = Made.from_json(parsed(data, dict[str, Any], Path(path)))
            for stamp in made.files.values():
                if not _DIGEST.fullmatch(stamp.sha256):
                    return None
        except (FileNotFoundError, LectureError, LookupError):
            return None
        except (TypeError, ValueError, AttributeError, RecursionError, OverflowError):
            return None
        return made, data

    def _drop(self, path: str) -> None:
        """Remove what is not what it should be, if that is allowed."""
        if self._place is not None and self._writes:
            with contextlib.suppress(OSError):
                self._place.remove(path)

    def _give_sign(self) -> None:
        """This run is still alive."""
        if self._place and self.mark and time.monotonic() > self._sign + _SECONDS_BETWEEN_SIGNS:
            self._sign = time.monotonic()
            self._place.write(self.mark, b"")

    @contextlib.contextmanager
    def _careful(self) -> Iterator[None]:
        """What fails in the middle of a run costs the cache, not the run."""
        try:
            with self._telling():
                yield
        except LectureError as error:
            if self._looking and self._choice.named:
                raise
            self._do_without(error)

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """What the place raises, as one line for the user."""
        try:
            yield
        except OSError as error:
            raise LectureError(
                where=self._choice.url,
                field="store",
                expected="one that can be reached and written to",
                found=from_os_error(error, "").found,
            ) from error

    def _do_without(self, error: LectureError) -> None:
        self._place = None
        self.failed = self._choice.named
        how = "the store is no longer used" if self.failed else "continuing without a store"
        self._say(f"{how}: {error}")


def _told(what: Product | Work) -> str:
    """Stands for what the maker of a product is told."""
    spec = what.spec() if isinstance(what, Product) else what.spec
    return digest([FORM, what.kind, spec])[:16]


def _object(sha: str) -> str:
    return f"objects/{sha[:2]}/{sha}"
