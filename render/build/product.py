"""Something that can be made: what it depends on, whether it is up to date, how it is made.

A product names its maker, a function of a module that is imported in the worker only:

    def make(spec, needs, reads, into, tell) -> dict[str, Path]

``spec`` is plain JSON, ``needs`` has the records (with paths) of other products, ``reads`` gives
and records numbers, texts and files, ``into`` is a private folder, ``tell`` takes the number of
frames done so far. It returns its files by role; the role ``facts`` is a JSON file whose contents
become ``Made.facts`` (a fact ``cost`` depends on the machine and counts for nothing). A checker,
``check(spec, needs, files, facts)``, is called by the build on what the maker left; both raise
LectureError for a mistake in the input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from engine.errors import LectureError
from engine.reader import WEIGHT_BYTES
from render.base.reader import Reader
from render.base.reads import Input, Json, Made, Stamp

if TYPE_CHECKING:
    from render.build.inputs import Now
    from render.build.job import Job
    from scenes.registry import SceneInfo

#: on every key: another one whenever records, keys or contents are made in another way
FORM = 3
FACTS = "facts"
COST = "cost"
#: the role of a product that is only asked, see :meth:`Product.asks`
ASKS = "asks"
#: kinds of inputs that are known before a maker runs; the others it finds by reading
BEFORE = ("spec", "need", "code", "tool")


@dataclass(frozen=True, eq=False)
class Product:
    """``record``: where its record lies; stands for the product within a run. ``spec``: all that
    the maker is told; plain JSON, no path of this machine unless it is the input itself. ``needs``:
    other products, by role, whose contents count; ``asks``: what must be settled before it is
    looked at, though it counts for nothing.
    """

    kind: str
    maker: str
    record: Path
    job: Job
    spec: Mapping[str, Json]
    needs: Mapping[str, Product] = field(default_factory=dict)
    asks: tuple[Product, ...] = ()
    #: beginnings of the roles of needs that it can do without; ``asks`` for what it asks
    optional: tuple[str, ...] = ()
    #: the final name of each file by role; a file without one is not kept
    targets: Mapping[str, Path] = field(default_factory=dict)
    #: files of other products that hold a file of this one, by role: an MP4 its pictures
    carriers: Mapping[str, Path] = field(default_factory=dict)
    #: what all its files become together, by their roles, in the place of the one that was there
    folder: Path | None = None
    #: what values are computed from, see :class:`~render.base.reads.Reads`
    settings: Mapping[str, str] = field(default_factory=dict)
    #: modules besides the maker's whose code counts, such as a scene's
    modules: tuple[str, ...] = ()
    checker: str | None = None
    #: takes a slot of ``--jobs`` and a process of its own; the others run in threads beside them
    heavy: bool = False
    #: worth a place in the cache
    cached: bool = True
    #: roles of files that the maker may leave out
    may_lack: frozenset[str] = frozenset()
    #: roles of files that the maker opens in its needs; None: all of them
    opens: frozenset[str] | None = frozenset()
    #: files that dependents do not see by their bytes: a fact says what they see
    aside: frozenset[str] = frozenset()
    #: the scene that it is of, and the video that it is of or beside
    scene: SceneInfo | None = None
    path: Path | None = None
    #: ids: of the video that carries it, of another product that the same play yields
    carried_by: str = ""
    yields: str = ""
    #: frames to draw, as far as is known, and what a frame costs, in those of draft quality
    frames: Callable[[], float] = float
    weight: float = 1.0
    #: a pause for speech as it would be now; what the speaker of a scene must know
    pause: Callable[[Input, Now], Input | None] = lambda asked, now: None
    spoken: Callable[[Now], Mapping[str, Json] | None] = lambda now: None

    @cached_property
    def id(self) -> str:
        return str(self.record)

    @property
    def name(self) -> str:
        """For its private folder."""
        return self.record.stem

    @cached_property
    def told(self) -> str:
        """Stands for what the maker is told."""
        return told_of(self.kind, self.spec)

    @property
    def roots(self) -> tuple[str, ...]:
        """The modules whose code counts, with what they import."""
        return (self.maker.partition(":")[0], *self.modules)

    def places(self, made: Made) -> Mapping[str, Path]:
        """Where the files of its record should lie."""
        if self.folder is not None:
            return {role: self.folder / role for role in made.files}
        return {**self.carriers, **self.targets}

    def opened(self, need: Made) -> set[str]:
        """Roles of the files of a need that the maker opens; of the others it gets the facts."""
        return {role for role in need.files if self.opens is None or role in self.opens}

    def work(self) -> float:
        """For the order and the time left."""
        return self.frames() * self.weight

    def key(self, now: Now, made: Made | None = None) -> str | None:
        """Stands for everything it depends on at present: what is known before, and what ``made``
        found by reading, asked again. None where a need is not up to date, or an answer missing."""
        before, found = now.before(self), now.asked_again(self, made) if made else ()
        return None if before is None or found is None else key_of(self.kind, (*before, *found))


@dataclass(frozen=True, slots=True)
class Work:
    """All that a worker needs to make a product; plain data that can be pickled.

    ``inputs``: those known before, with the digests of code that the run was planned with.
    ``modules``: whose code counts, the maker's and others. ``folder``: private, made by the pool;
    files, log.txt and everything temporary go there.
    ``also``: another product that the same play yields (a scene's cover): the maker's module has
    ``observe``, see ``render.base.reads``; its record has the values and texts that were read for
    this one, and it is left out where it was not made.
    """

    step: str
    kind: str
    maker: str
    checker: str | None
    spec: Mapping[str, Json]
    needs: Mapping[str, Made]
    settings: Mapping[str, str]
    modules: tuple[str, ...]
    inputs: tuple[Input, ...]
    aside: tuple[str, ...]
    folder: str
    threads: int = 1
    heavy: bool = False
    spoken: Mapping[str, Json] | None = None
    also: Work | None = None

    @property
    def log(self) -> Path:
        """Everything that the maker, Manim and Python print."""
        return Path(self.folder) / "log.txt"


def key_of(kind: str, inputs: Iterable[Input]) -> str:
    """32 hexadecimal digits for a kind of product and all its inputs."""
    return digest([FORM, kind, sorted(inputs, key=_place)])


def told_of(kind: str, spec: Mapping[str, Json]) -> str:
    """Stands for what the makers of a kind are told."""
    return digest([FORM, kind, spec])[:16]


def question_of(kind: str, inputs: Iterable[Input]) -> str:
    """Stands for the spec and what was asked, without the answers of what was found."""
    asked = (one for one in inputs if one.kind not in ("code", "tool", "need"))
    without = (one if one.kind == "spec" else one._replace(digest="") for one in asked)
    return digest([FORM, kind, sorted(without, key=_place)])


def _place(one: Input) -> tuple[str, str]:
    return one.kind, one.name


def content_of(
    facts: Mapping[str, Json], files: Mapping[str, Stamp], aside: Iterable[str] = ()
) -> str:
    """Stands for what dependents see of a product."""
    seen = {role: stamp.sha256 for role, stamp in files.items() if role not in aside}
    said = {name: fact for name, fact in facts.items() if name != COST}
    return digest([FORM, seen, said])


def read_record(product: Product) -> Made | None:
    """A product's record; None where there is none that can be read."""
    try:
        return replace(Reader(WEIGHT_BYTES).json(product.record, Made), paths={})
    except LectureError:
        return None


#: what is a kind of ``str`` is written as one; TypeError for what is no plain data
_ENCODER = msgspec.json.Encoder(enc_hook=str.__str__, order="sorted")


def canonical(said: Json) -> str:
    """Plain data as text that is the same for the same data."""
    return _ENCODER.encode(said).decode()


def digest(said: Json) -> str:
    """32 hexadecimal digits for plain data."""
    return hashlib.sha256(_ENCODER.encode(said)).hexdigest()[:32]
