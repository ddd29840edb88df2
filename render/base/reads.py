"""What makers read and what they made: plain data that says what a product depends on.

A maker gets a :class:`Reads`. Through it, and through nothing else, numbers, texts, files and
pauses for speech reach it; everything given is recorded as an :class:`Input`, also what was looked
for in vain. The :class:`Made` of a product is its record.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from engine import reads as engine_reads
from engine.passes import Passes
from engine.reads import digest_of, look_up, packed
from render.base.project import ROOT

#: plain data, as JSON has it
Json = Any
#: what a maker is told
Spec = Mapping[str, Json]
#: takes the number of frames that are done
Tell = Callable[[int], None]
#: what a maker leaves: files by role, and as ``facts`` plain data for other products
Output = dict[str, Any]
#: watches the play of a scene for another product
Observer = Callable[[Any], Callable[[Path], None]]
InputKind = Literal["spec", "value", "text", "file", "pause", "need", "code", "tool"]


class Input(NamedTuple):
    """One thing that a product depends on: ``kind`` and ``name`` (and ``arg``, plain data) say what
    was asked for, ``digest`` what the answer was; an empty one: that nothing was there."""

    kind: InputKind
    name: str
    arg: Json
    digest: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file as it was: size in bytes, time of its last change, SHA-256 of its contents."""

    size: int
    mtime_ns: int
    sha256: str

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """Raises OSError."""
        status = path.stat()
        return cls(status.st_size, status.st_mtime_ns, sha256(path))

    def holds(self, path: Path) -> bool:
        """Whether ``path`` is this file. Contents are read only where its time is another, as in a
        copied folder."""
        try:
            now = path.stat()
            same_time = now.st_mtime_ns == self.mtime_ns
            return now.st_size == self.size and (same_time or sha256(path) == self.sha256)
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class Made:
    """The record of a product. ``files`` by role; ``content`` stands for all that other products
    see of it; ``facts`` are plain data for them (frames, beats, cues).

    ``paths``: where the files are, for a maker that needs them; not in the record.
    """

    key: str
    inputs: tuple[Input, ...]
    files: Mapping[str, Stamp]
    content: str
    facts: Mapping[str, Json] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    def path(self, role: str) -> Path:
        """Where the file of a role is. Raises KeyError where there is none."""
        return Path(self.paths[role])

    def to_json(self) -> dict[str, Json]:
        """For the record: without ``paths``."""
        said: dict[str, Json] = msgspec.to_builtins(self)
        del said["paths"]
        return said


#: the products that a maker uses, by role
Needs = Mapping[str, Made]


@dataclass(eq=False)
class Reads:
    """Gives a maker what it asks for, and records it.

    ``settings``: the weights and words that values are computed from: ``weights``,
    ``inference_weights`` (paths), ``source``, ``target``. ``key``: of what is being made, where all
    it depends on is known before. ``spoken``: what the speaker of a scene must know; None where
    nobody speaks. ``threads``: cores that may be used. ``observers``: called with a scene before it
    plays; what each returns is called with the folder afterwards. Neither may decide about what is
    made.
    """

    settings: Mapping[str, str]
    key: str = ""
    spoken: Mapping[str, Json] | None = None
    threads: int = 1
    observers: Sequence[Observer] = ()
    _values: engine_reads.Reads = field(default_factory=engine_reads.Reads, init=False)
    _found: dict[tuple[str, str], Input] = field(default_factory=dict, init=False)

    @cached_property
    def passes(self) -> Passes:
        """The passes that values come from; what is taken from them directly is not recorded."""
        own = self.settings
        files = Path(own["weights"]), Path(own["inference_weights"])
        return Passes(*files, own["source"], own["target"])

    def value(self, run: str, name: str, index: Json = ...) -> Any:
        """A value of a pass by its name (``engine.passes``), or the part of an array at ``index``.
        Raises LookupError, ValueError or LectureError where there is none."""
        found = self.passes.value(run, name)
        if not hasattr(found, "shape"):
            self._values.plain(run, name, found)
            return found
        self._values.array(run, name, found)[index] = True
        return found[index]

    def text(self, language: str, *path: str) -> Json:
        """A text of ``assets/text`` by its keys, or a table of texts; None where there is none."""
        from scenes import texts

        found = look_up(texts.load(language), path)
        self._note_text(language, path, digest_of(found))
        return found

    def entry(self, language: str, *path: str) -> Json:
        """The same; raises LectureError where there is none."""
        from scenes import texts

        found = self.text(language, *path)
        return texts.entry(language, *path) if found is None else found

    def file(self, path: Path) -> bytes:
        """A file's contents. Raises OSError; that it is not there is recorded too."""
        return self.uses(path).read_bytes()

    def uses(self, path: Path) -> Path:
        """``path``, recorded as read; for what others open (a font, a template's folder)."""
        digest = ""
        with contextlib.suppress(OSError):  # as if it were not there
            digest = sha256(path)
        self._note(Input("file", shown(path), None, digest))
        return path

    def pause(self, beat: str, busy: float, quiet: float, fps: int, spoken: float) -> int:
        """Frames that a beat waits after ``busy`` seconds of animation, ``quiet`` seconds in
        silence, longer where ``spoken``, the seconds of its speech, is."""
        frames = pause(busy, quiet, spoken, fps)
        self._note(Input("pause", beat, [busy, quiet, fps], str(frames)))
        return frames

    def take(self, scene: engine_reads.Reads, language: str) -> None:
        """Record what a scene has read: values, and texts in its language."""
        document = scene.document()
        for entry in document["values"]:
            self._note(input_of(entry))
        for path, digest in document["texts"]:
            self._note_text(language, path, digest)

    def inputs(self) -> tuple[Input, ...]:
        """Everything read so far, sorted."""
        for entry in self._values.document()["values"]:
            self._note(input_of(entry))
        return tuple(self._found[key] for key in sorted(self._found))

    def _note(self, read: Input) -> None:
        self._found[read.kind, read.name] = read

    def _note_text(self, language: str, path: Any, digest: str | None) -> None:
        name = f"{language} {'.'.join(path)}"
        self._note(Input("text", name, [language, list(path)], digest or ""))


def pause(busy: float, quiet: float, spoken: float, fps: int) -> int:
    """Frames that a beat waits when its animations are over: as ``scenes.base`` and Manim do."""
    return int(max(quiet, spoken - busy) / (1 / fps))


def input_of(entry: Mapping[str, Any]) -> Input:
    """An entry of ``engine.reads`` as an input: the answer is the data itself where that is little,
    so that a change can be put into numbers."""
    run, name = str(entry["run"]), str(entry["name"])
    asked = {key: entry[key] for key in ("shape", "type", "seen") if key in entry}
    if "plain" in entry:
        answer = json.dumps(entry["plain"], ensure_ascii=False)
    else:
        answer = str(entry.get("data", entry.get("digest")))
    return Input("value", f"{run} {name}", [run, name, asked or None], answer)


def value_now(passes: Passes, arg: Json) -> tuple[Any, Input | None]:
    """A value as it is now, and the input that would be recorded for the same elements; None where
    it has another shape. Raises LookupError, ValueError or LectureError where there is none."""
    run, name, asked = arg
    value = passes.value(run, name)
    if asked is None:
        return value, input_of({"run": run, "name": name, "plain": value})
    if list(value.shape) != asked["shape"]:
        return value, None
    entry = packed(value, engine_reads.seen_of(asked))
    return value, input_of({"run": run, "name": name, **entry})


def shown(path: Path) -> str:
    """A file's name that is the same on every machine, where it belongs to the project or to an
    installed package."""
    whole = path.absolute()
    _, site, inside = whole.as_posix().rpartition("/site-packages/")
    if site:
        return f"site-packages/{inside}"
    return (whole.relative_to(ROOT) if whole.is_relative_to(ROOT) else whole).as_posix()


def sha256(path: Path) -> str:
    """The digest of a regular file's contents; nothing waits for a pipe. Raises OSError."""
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return hashlib.file_digest(file, "sha256").hexdigest()
