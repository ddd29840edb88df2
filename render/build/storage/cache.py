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
import functools
import json
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from engine.errors import LectureError, from_os_error, one_line
from render.base.reader import parsed
from render.base.reads import Made, Spec, Stamp
from render.build.product import Product, content_of, key_of, question_of, told_of
from render.build.storage.places import CacheChoice, evict, place_of

if TYPE_CHECKING:
    from render.build.inputs import Now

Method = TypeVar("Method", bound=Callable[..., Any])
#: looks at what was brought from a cache, and returns it. Whatever it raises: it is spoiled
Check = Callable[[Made], Made]

_DIGEST = re.compile(r"[0-9a-f]{64}")
_MOST = 16 << 20  # bytes of an entry
_SECONDS_BETWEEN_SIGNS = 60.0


def _careful(method: Method) -> Method:
    """Of methods that do nothing where there is no cache (any more): what fails in the middle of a
    run costs the cache, not the run."""

    @functools.wraps(method)
    def wrapped(self: Cache, *args: Any) -> Any:
        try:
            return method(self, *args) if self._place else None
        except Exception as error:
            self._do_without(error, is_fatal=self._looking)
            return None

    return cast(Method, wrapped)


class Cache:
    """``with Cache(choice, say) as cache``. Several runs may use a cache at once. ``looking``:
    nothing will be written.

    A cache that the user named and that cannot be read when it is opened is a LectureError. One
    that can only be read gives and takes nothing. Whatever fails later is a line for ``say``; the
    run goes on without the cache, and has ``failed`` where the user named it.
    """

    def __init__(
        self,
        choice: CacheChoice,
        say: Callable[[str], None] = lambda line: None,
        *,
        looking: bool = False,
    ) -> None:
        self.failed = False
        self.read_only = looking
        #: by which another machine knows that its cache is this one
        self.mark = ""
        #: the URL or whole path, for processes elsewhere
        self.address = choice.address
        self._choice, self._say, self._looking = choice, say, looking
        self._place: Any = None  # None where there is none, or none any more
        self._added = 0  # bytes since the last eviction
        self._sign = 0.0
        if choice.url is not None:
            try:
                self._place = place_of(choice.url)
                if not looking:
                    self._announce()
            except Exception as error:
                self._do_without(error, is_fatal=True)

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def _announce(self) -> None:
        """Leave the mark of this run, so that what it uses is kept; finds out if it can write."""
        mark = f"runs/{time.time():.0f}-{secrets.token_hex(4)}"
        try:
            self._place.write(mark, b"")
            self.mark = mark
        except OSError as error:
            closed = isinstance(error, PermissionError) or error.errno == errno.EROFS
            if not closed or not self._place.names("entries"):
                raise
            self.read_only = True
            self._say(f"{self._place.name}: store: read-only, nothing is added")

    @_careful
    def sees(self, mark: str) -> bool:
        """Whether what the run with this mark has left is here. Raises LectureError."""
        with contextlib.suppress(FileNotFoundError):
            self._place.read(mark, 0)
            return True
        return False

    @_careful
    def find(self, product: Product, now: Now) -> Made | None:
        """The record of the stored product that would be made now. Nothing is written.

        Raises LectureError only where it was opened for looking and cannot be read.
        """
        above = f"entries/{product.kind}"
        for question in self._place.names(above) if product.cached else ():
            if not question.startswith(product.told):
                continue
            folder, names = f"{above}/{question}", list[str]()
            with contextlib.suppress(PermissionError):  # of another user
                names = [name for name in self._place.names(folder) if not name.startswith(".")]
            entries = (self._read(f"{folder}/{name}", product) for name in names)
            found = next(filter(None, entries), None)
            key = product.key(now, found) if found else None
            if found and key != found.key:
                found = self._read(f"{folder}/{key}.json", product)
            if found:
                return found
        return None

    def _read(self, path: str, product: Product) -> Made | None:
        """The record of an entry that says what it must say; else it is dropped."""
        made = self._record(path)
        if (
            made
            and path.endswith(f"/{made.key}.json")
            and made.key == key_of(product.kind, made.inputs)
            and made.content == content_of(made.facts, made.files, product.aside)
        ):
            return made
        self._drop(path)
        return None

    def _record(self, path: str) -> Made | None:
        with contextlib.suppress(FileNotFoundError):
            data = self._place.read(path, _MOST)
            with contextlib.suppress(LectureError):  # it is invalid
                made = parsed(data, Made, Path(path))
                if all(_DIGEST.fullmatch(stamp.sha256) for stamp in made.files.values()):
                    return replace(made, paths={})
        return None

    @_careful
    def take(
        self, product: Product, now: Now, into: Path, check: Check = lambda made: made
    ) -> Made | None:
        """The stored product that would be made now, its files in the private folder ``into``; it
        counts as used. None where there is none, or any of it is spoiled or gone: it is dropped."""
        made = self.find(product, now)
        if made is None:
            return None
        path, taken = _entry(product.kind, product.spec, made), self._bring(made, into, check)
        if taken is None:
            self._drop(path)
        elif not self.read_only:
            with contextlib.suppress(Exception):
                self._place.write(path, _data(made))
            self._give_sign()
        return taken

    @_careful
    def lend(self, made: Made) -> None:
        """Have the files of a record that are here, for workers elsewhere."""
        for role in made.paths if not self.read_only else ():
            self._place.take_in(made.path(role), _object(made.files[role]))

    @_careful
    def borrow(self, made: Made, into: Path) -> Made | None:
        """The files of a record that somebody else has put here, as :meth:`take` does."""
        files = {role: made.files[role] for role in made.paths or made.files}
        taken = self._bring(replace(made, files=files), into)
        return taken and replace(taken, files={**made.files, **taken.files})

    def _bring(self, made: Made, into: Path, check: Check = lambda made: made) -> Made | None:
        """The files of a record, each as it was noted, and all as ``check`` wants them."""
        paths, stamps = dict[str, Path](), dict[str, Stamp]()
        for role, noted in made.files.items():
            paths[role] = into / f"taken-{secrets.token_hex(8)}"
            with contextlib.suppress(FileNotFoundError):
                self._place.hand_out(_object(noted), paths[role], noted.size)
                stamps[role] = Stamp.of(paths[role])
            if role not in stamps or stamps[role].sha256 != noted.sha256:
                self._drop(_object(noted))
                break
        else:
            with contextlib.suppress(Exception):
                named = {role: str(path) for role, path in paths.items()}
                return check(replace(made, files=stamps, paths=named))
        for path in paths.values():
            path.unlink(missing_ok=True)
        return None

    @_careful
    def put(self, kind: str, spec: Spec, made: Made) -> None:
        """Store a product of a kind that was made as ``spec`` says; the files stay where they are.
        One whose code was edited meanwhile, or whose key is not that of its inputs, is not."""
        is_known = all(one.digest for one in made.inputs if one.kind == "code")
        if self.read_only or not (is_known and made.key == key_of(kind, made.inputs)):
            return
        for role, stamp in made.files.items():
            self._place.take_in(made.path(role), _object(stamp))
            self._added += stamp.size
        self._place.write(_entry(kind, spec, made), _data(made))
        self._give_sign()
        if self._choice.limit is not None and self._added > self._choice.limit / 10:
            self._evict()

    @_careful
    def end(self) -> None:
        """This run needs nothing any more: bring the cache within its limit."""
        if self.mark:
            self._place.remove(self.mark)
            self.mark = ""
            self._evict()

    def _evict(self) -> None:
        def objects_of(path: str) -> frozenset[str]:
            made = self._record(path)
            return frozenset(map(_object, made.files.values())) if made else frozenset()

        if self._choice.limit is not None:
            evict(self._place, self._choice.limit, time.time(), objects_of)
        self._added = 0

    def _drop(self, path: str) -> None:
        """Remove what is not what it should be, if that is allowed."""
        if not self.read_only:
            with contextlib.suppress(Exception):
                self._place.remove(path)

    def _give_sign(self) -> None:
        if self.mark and time.monotonic() > self._sign + _SECONDS_BETWEEN_SIGNS:
            self._sign = time.monotonic()
            self._place.write(self.mark, b"")

    def _do_without(self, error: Exception, *, is_fatal: bool) -> None:
        """Go on without the cache. Raises LectureError where that ``is_fatal`` and the user named
        it."""
        if not isinstance(error, LectureError):
            told = one_line(f"{type(error).__name__}: {error}")
            found = from_os_error(error, "").found if isinstance(error, OSError) else told
            expected, where = "one that can be reached and written to", self._choice.url
            error = LectureError(where=where, field="store", expected=expected, found=found)
        if is_fatal and self._choice.named:
            raise error
        self._place = None
        self.failed = self._choice.named
        how = "the store is no longer used" if self.failed else "continuing without a store"
        self._say(f"{how}: {error}")


def _entry(kind: str, spec: Spec, made: Made) -> str:
    question = f"{told_of(kind, spec)}-{question_of(kind, made.inputs)[:16]}"
    return f"entries/{kind}/{question}/{made.key}.json"


def _data(made: Made) -> bytes:
    return json.dumps(made.to_json(), ensure_ascii=False).encode()


def _object(stamp: Stamp) -> str:
    return f"objects/{stamp.sha256[:2]}/{stamp.sha256}"
