"""The present state: the answers to everything that products depend on, each looked up once."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import engine
from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import NAMES, digest_of, look_up
from render.base.differences import values_moved
from render.base.files import write_state
from render.base.project import ROOT
from render.base.reader import read_state
from render.base.reads import Input, Made, Reason, Stamp, value_now
from render.build.code import Code
from render.build.job import LANGUAGES
from render.build.product import BEFORE, Product, canonical, key_of
from scenes import texts

NO_RECORD = "it has no record"
UNREADABLE = "its record is invalid"
_MOST = 8  # values and files named; of more only how many
_FORM = 1  # of the file of digests


class Now:
    """``kept``: a folder of state for what was found out about code, large files and the ffmpeg,
    so that the next run is quick. ``contents``: of products that are up to date, by id; an empty
    one is that of a product that could not be made."""

    def __init__(self, kept: Path | None = None) -> None:
        self.code = Code(kept / "code.json" if kept else None)
        self.contents: dict[str, str] = {}
        self._kept = kept / "files.json" if kept else None
        said = read_state(self._kept) if self._kept else {}
        self._files: dict[str, Any] = said.get("files", {}) if said.get("form") == _FORM else {}
        self._ffmpeg: dict[str, Any] = said.get("ffmpeg") or {}
        self._new = False
        self._looked: dict[str, str] = {}
        self._passes: dict[str, Passes] = {}
        self._values: dict[tuple[str, str], tuple[Any, Input] | None] = {}
        self._before: dict[str, tuple[Input, ...]] = {}
        self._version = ""

    def keep(self) -> None:
        """Leave for the next run what made this one slow."""
        self.code.keep()
        if self._kept and self._new:
            said = {"form": _FORM, "files": self._files, "ffmpeg": self._ffmpeg}
            write_state(self._kept, said)

    def passes(self, settings: Mapping[str, str]) -> Passes:
        """The passes that values come from. Raises LectureError for invalid weight files."""
        key = canonical({name: settings[name] for name in sorted(settings)})
        if key not in self._passes:
            own = settings
            files = Path(own["weights"]), Path(own["inference_weights"])
            self._passes[key] = Passes(*files, own["source"], own["target"])
            self._passes[key].check()
        return self._passes[key]

    def before(self, product: Product) -> tuple[Input, ...] | None:
        """The inputs known before the maker runs; None where a need is not up to date."""
        needs = []
        for role, need in product.needs().items():
            content = self.contents.get(need.id)
            if content is None:
                return None
            needs.append(Input("need", role, None, content))
        if product.id not in self._before:
            self._before[product.id] = tuple(self._known(product))
        return (*self._before[product.id], *needs)

    def _known(self, product: Product) -> Iterator[Input]:
        for name, said in product.spec().items():
            yield Input("spec", name, None, canonical(said))
        roots = _roots(product)
        for name, digest in self.code.files(roots).items():
            yield Input("code", name, None, digest)
        for name, version in self.code.tools(roots).items():
            yield Input("tool", name, None, version)
            if name == "ffmpeg-python":
                yield Input("tool", "ffmpeg", None, self.ffmpeg())

    def asked_again(self, product: Product, made: Made) -> tuple[Input, ...] | None:
        """What ``made`` found by reading, with the answers of now; None where one is missing."""
        found = []
        for one in made.inputs:
            if one.kind not in BEFORE:
                answer = self._answer(product, one)
                if answer is None:
                    return None
                found.append(answer)
        return tuple(found)

    def _answer(self, product: Product, asked: Input) -> Input | None:
        match asked.kind:
            case "value":
                found = self._value(product, asked)
                return found[1] if found else None
            case "text":
                language, path = asked.arg
                digest = digest_of(look_up(texts.load(language), path))
                return Input("text", asked.name, asked.arg, digest or "")
            case "file":
                return Input("file", asked.name, asked.arg, self._file(asked.name))
            case "pause":
                return product.pause(asked)
        return None

    def _holds(self, product: Product, asked: Input) -> bool:
        found = self._value(product, asked)
        return found is not None and found[1] == asked

    def _value(self, product: Product, asked: Input) -> tuple[Any, Input] | None:
        settings = product.settings()
        key = canonical(dict(settings)), canonical(asked.arg)
        if key not in self._values:
            try:
                self._values[key] = value_now(self.passes(settings), asked.arg)
            except (LectureError, LookupError, ValueError, AttributeError, TypeError):
                self._values[key] = None
        return self._values[key]

    def _file(self, name: str) -> str:
        """The digest of a file that was read; read again only where its size or time is new."""
        if name not in self._looked:
            path, digest = _path_of(name), ""
            try:
                status = path.stat()
                said = self._files.get(name) or {}
                if (said.get("size"), said.get("mtime_ns")) == (status.st_size, status.st_mtime_ns):
                    digest = str(said["sha256"])
                else:
                    stamp = Stamp.of(path)
                    digest = stamp.sha256
                    size, time = stamp.size, stamp.mtime_ns
                    self._files[name] = {"size": size, "mtime_ns": time, "sha256": digest}
                    self._new = True
            except (OSError, KeyError):
                digest = ""
            self._looked[name] = digest
        return self._looked[name]

    def ffmpeg(self) -> str:
        """The version of the ffmpeg that is used; it is asked only if it is not the file that it
        was. Raises LectureError where there is none that can be used."""
        if not self._version:
            said = self._ffmpeg
            if said and _is_first_choice(str(said["path"])):
                status = Path(said["path"]).stat()
                if (status.st_size, status.st_mtime_ns) == (said["size"], said["mtime_ns"]):
                    self._version = str(said["version"])
        if not self._version:
            from render.media import ffmpeg

            self._ffmpeg, self._new = _ffmpeg_of(ffmpeg.find()), True
            self._version = str(self._ffmpeg["version"])
        return self._version

    def paths(self, product: Product, made: Made | None) -> set[Path]:
        """The files that decide whether a product is up to date: code, weights, texts, and those
        that it has read."""
        found = set(self.code.paths(_roots(product)))
        found |= set(Path(engine.__file__).parent.glob("*.py"))
        found |= {texts.FOLDER / f"{language}.toml" for language in LANGUAGES}
        settings = product.settings()
        found |= {Path(settings[name]) for name in ("weights", "inference_weights") if settings}
        read = (one.name for one in (made.inputs if made else ()) if one.kind == "file")
        return found | {_path_of(name) for name in read if "site-packages" not in name}

    def why(self, product: Product, made: Made | None) -> list[Reason]:
        """Why a product is to be made, a line each; none: it is up to date, as far as its needs
        are."""
        if made is None:
            return [Reason(NO_RECORD)]
        if made.key != key_of(product.kind, made.inputs):
            return [Reason(UNREADABLE)]
        places = {**product.carriers(), **product.targets()}
        for role, path in places.items():
            if role not in made.files and role in product.may_lack:
                continue
            if not path.is_file():
                return [Reason(f"there is no {path.name}")]
            if role not in made.files or not made.files[role].holds(path):
                return [Reason(f"{path.name} was changed since it was made")]
        return list(self._differences(product, made))

    def _differences(self, product: Product, made: Made) -> Iterator[Reason]:
        said = {kind: [one for one in made.inputs if one.kind == kind] for kind in _WORDED}
        known = self._before.get(product.id)
        if known is None:
            known = self._before[product.id] = tuple(self._known(product))
        yield from _specs(said["spec"], known)
        read = [one for one in said["value"] if not self._holds(product, one)]
        if read:
            moved = values_moved(read, self.passes(product.settings()))
            yield from _few(moved, "more values")
        for kind in ("text", "pause", "file"):
            for one in said[kind]:
                if self._answer(product, one) != one:
                    yield Reason(_WORDED[kind](one), one)
        yield from _few(_names(said["code"], known, "code", "file "), "more files")
        yield from _names(said["tool"], known, "tool", "")
        yield from self._needs_changed(product, {one.name: one for one in said["need"]})

    def _needs_changed(self, product: Product, said: Mapping[str, Input]) -> Iterator[Reason]:
        """Needs whose contents are known to be others than they were."""
        needs = product.needs()
        for role in dict.fromkeys([*said, *needs]):
            old = said[role].digest if role in said else ""
            now = self.contents.get(needs[role].id) if role in needs else ""
            if now is not None and now != old:
                how = "another one" if now and old else "new" if now else "gone"
                kind, _, rest = role.partition(" ")
                told = f"recording {rest.replace(' ', '/')}" if kind == "sound" else role
                yield Reason(f"{told}: {how}", Input("need", role, None, old))


_WORDED: dict[str, Any] = {
    "spec": None,
    "value": None,
    "text": lambda one: f"text {'.'.join(one.arg[1]).removesuffix(f'.{NAMES}')}",
    "pause": lambda one: f"recording {one.name}: different length",
    "file": lambda one: "the font" if one.name.endswith(".ttc") else f"file {one.name}",
    "code": None,
    "tool": None,
    "need": None,
}


def _roots(product: Product) -> tuple[str, ...]:
    return (product.maker.partition(":")[0], *product.modules())


def _specs(said: list[Input], known: tuple[Input, ...]) -> Iterator[Reason]:
    before = {one.name: one for one in said}
    now = {one.name: one for one in known if one.kind == "spec"}
    for name in dict.fromkeys([*now, *before]):
        old, new = before.get(name), now.get(name)
        if old is not None and new is not None and old.digest == new.digest:
            continue
        if name == "voice":
            how = "another one" if old and new else "one so far" if old else "none so far"
            yield Reason(f"voice: {how}", old or new)
        elif new is not None and isinstance(json.loads(new.digest), dict):
            yield Reason(name, new)
        else:
            was, is_now = (repr(json.loads(one.digest)) if one else "none" for one in (old, new))
            yield Reason(f"{name}: {was}, now {is_now}", old or new)


def _names(said: list[Input], known: tuple[Input, ...], kind: str, word: str) -> list[Reason]:
    """Files or tools that differ from those that were used."""
    before = {one.name: one for one in said}
    now = {one.name: one for one in known if one.kind == kind}
    found = []
    for name in dict.fromkeys([*before, *now]):
        old, new = before.get(name), now.get(name)
        if old is None or new is None or old.digest != new.digest:
            line = f"{word}{name}"
            if kind == "tool":
                line += f" {old.digest if old else 'none'}, now {new.digest if new else 'none'}"
            found.append(Reason(line, new or old))
    return found


def _few(lines: list[Reason], rest: str) -> list[Reason]:
    if len(lines) <= _MOST:
        return lines
    return [*lines[:_MOST], Reason(f"and {len(lines) - _MOST} {rest}")]


def _path_of(name: str) -> Path:
    """Where a file lies that ``render.base.reads.shown`` has named."""
    kind, _, rest = name.partition("/")
    if kind == "site-packages":
        package, _, tail = rest.partition("/")
        return _folder_of(package) / tail
    return ROOT / name  # a whole path stays what it is


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    return Path(spec.origin).parent if spec and spec.origin else Path("/none")


def _ffmpeg_of(binary: str) -> dict[str, Any]:
    """The version of an ffmpeg, with what tells quickly that it is still the same file."""
    said = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=30)
    lines, status = said.stdout.splitlines(), Path(binary).stat()
    version = " ".join(lines[0].split()[:3]) if lines else "none"
    size, time = status.st_size, status.st_mtime_ns
    return {"path": binary, "size": size, "mtime_ns": time, "version": version}


def _is_first_choice(path: str) -> bool:
    """Whether ``ffmpeg.find`` would look at this one first, if it can be used."""
    if not Path(path).is_file():
        return False
    chosen = shutil.which(os.environ.get("LECTURE_FFMPEG") or "ffmpeg")
    if chosen is None and not os.environ.get("LECTURE_FFMPEG"):
        return _folder_of("imageio_ffmpeg") in Path(path).parents
    return chosen == path
