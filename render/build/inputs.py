"""The present state: the answers to everything that products depend on, each looked up once."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import engine
from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import NAMES, digest_of, look_up
from render.base.differences import values_moved
from render.base.project import ROOT
from render.base.reads import Input, Made, sha256, value_now
from render.build.code import Code, Facts, Table
from render.build.job import LANGUAGES
from render.build.product import BEFORE, Product, canonical, key_of
from scenes import texts

_MOST = 8  # values and files named; of more only how many


class Now:
    """``kept``: a folder of state for what was found out about files and packages, so that the next
    run is quick. ``made``: the records of products that are up to date, by id; None stands for one
    that could not be made."""

    def __init__(self, kept: Path | None = None) -> None:
        self.table = Table(kept / "files.json" if kept else None)
        self.code = Code(self.table)
        self.made: dict[str, Made | None] = {}
        self._passes: dict[tuple[str, ...], Passes] = {}
        self._values: dict[tuple[int, str], Input | None] = {}
        self._known: dict[str, tuple[Input, ...]] = {}
        for name in ("_of_code", "_file", "ffmpeg"):
            setattr(self, name, cache(getattr(self, name)))  # each is looked up once

    def passes(self, settings: Mapping[str, str]) -> Passes:
        """The passes that values come from. Raises LectureError for invalid weight files."""
        key = tuple(settings.values())
        if key not in self._passes:
            weights, inference = Path(settings["weights"]), Path(settings["inference_weights"])
            self._passes[key] = Passes(weights, inference, settings["source"], settings["target"])
            self._passes[key].check()
        return self._passes[key]

    def before(self, product: Product) -> tuple[Input, ...] | None:
        """The inputs known before the maker runs; None where a need is not up to date."""
        needs = self._of_needs(product)
        return (*self._of(product), *needs) if len(needs) == len(product.needs) else None

    def _of_needs(self, product: Product) -> list[Input]:
        """What is known of the contents of needs."""
        known = {role: need.id for role, need in product.needs.items() if need.id in self.made}
        made = {role: self.made[id] for role, id in known.items()}
        return [Input("need", role, None, one.content if one else "") for role, one in made.items()]

    def _of(self, product: Product) -> tuple[Input, ...]:
        if product.id not in self._known:
            told = (Input("spec", name, None, canonical(s)) for name, s in product.spec.items())
            self._known[product.id] = (*told, *self._of_code(product.roots))
        return self._known[product.id]

    def _of_code(self, roots: tuple[str, ...]) -> tuple[Input, ...]:
        tools = self.code.tools(roots)
        if "ffmpeg-python" in tools:
            tools["ffmpeg"] = self.ffmpeg()
        files = self.code.files(roots).items()
        found = [Input("code", name, None, digest) for name, digest in files]
        return (*found, *(Input("tool", name, None, version) for name, version in tools.items()))

    def asked_again(self, product: Product, made: Made) -> tuple[Input, ...] | None:
        """What ``made`` found by reading, with the answers of now; None where one is missing."""
        found = [self._answer(product, one) for one in made.inputs if one.kind not in BEFORE]
        return None if None in found else tuple(filter(None, found))

    def _answer(self, product: Product, asked: Input) -> Input | None:
        match asked.kind:
            case "value":
                return self._value(product, asked)
            case "text":
                language, path = asked.arg
                return asked._replace(digest=digest_of(look_up(texts.load(language), path)) or "")
            case "file":
                return asked._replace(digest=self._file(asked.name))
            case "pause":
                return product.pause(asked, self)
        return None

    def _value(self, product: Product, asked: Input) -> Input | None:
        passes = self.passes(product.settings)
        key = id(passes), canonical(asked.arg)
        if key not in self._values:
            try:
                self._values[key] = value_now(passes, asked.arg)[1]
            except (LectureError, LookupError, ValueError, AttributeError, TypeError):
                self._values[key] = None
        return self._values[key]

    def _file(self, name: str) -> str:
        path = _path_of(name)
        try:
            return self.table.about(path, path.stat(), lambda path: Facts(sha256(path))).digest
        except OSError:
            return ""

    def ffmpeg(self) -> str:
        """The version of the ffmpeg that is used; it is asked only if it is not the file that it
        was. Raises LectureError where there is none that can be used."""
        asked = os.environ.get("LECTURE_FFMPEG")
        carried = _path_of("site-packages/imageio_ffmpeg/binaries").glob("ffmpeg-*")
        path = shutil.which(asked or "ffmpeg") or (None if asked else next(carried, None))
        if path is None or not self.table.knows(path):
            from render.media import ffmpeg

            path = ffmpeg.find()
        return self.table.about(path, Path(path).stat(), _version_of).digest

    def paths(self, product: Product, made: Made | None) -> set[Path]:
        """The files that decide whether a product is up to date: code, weights, texts, and those
        that it has read."""
        settings, read = product.settings, made.inputs if made else ()
        return {
            *self.code.paths(product.roots),
            *Path(engine.__file__).parent.glob("*.py"),
            *(texts.FOLDER / f"{language}.toml" for language in LANGUAGES),
            *(Path(settings[name]) for name in ("weights", "inference_weights") if settings),
            *(
                _path_of(one.name)
                for one in read
                if one.kind == "file" and "site-packages" not in one.name
            ),
        }

    def why(self, product: Product, made: Made | None) -> list[str]:
        """Why a product is to be made, a line each; none: it is up to date, as far as its needs
        are."""
        if made is None:
            return ["it has no record"]
        if made.key != key_of(product.kind, made.inputs):
            return ["its record is invalid"]
        for role, path in product.places(made).items():
            if role not in made.files and role in product.may_lack:
                continue
            if not path.is_file():
                return [f"there is no {path.name}"]
            if role not in made.files or not made.files[role].holds(path):
                return [f"{path.name} was changed since it was made"]
        return list(self._differences(product, made))

    def _differences(self, product: Product, made: Made) -> Iterator[str]:
        """What is not as it was, worded by kind; needs only as far as they are known."""
        needs = self._of_needs(product)
        old, new = _by_kind(made.inputs), _by_kind((*self._of(product), *needs))
        yield from (_of_spec(*pair) for pair in _pairs(old["spec"], new["spec"]))
        moved = [one for one in old["value"].values() if self._value(product, one) != one]
        if moved:
            yield from _few(values_moved(moved, self.passes(product.settings)), "more values")
        for kind, word in _READ.items():
            for one in old[kind].values():
                if self._answer(product, one) != one:
                    yield word(one)
        yield from _few(
            [f"file {name}" for name, _, _ in _pairs(old["code"], new["code"])], "more files"
        )
        for name, was, now in _pairs(old["tool"], new["tool"]):
            yield f"{name} {was or 'none'}, now {now or 'none'}"
        unknown = product.needs.keys() - new["need"].keys()
        for role, was, now in _pairs(old["need"], new["need"]):
            if role not in unknown:
                kind, _, rest = role.partition(" ")
                told = f"recording {rest.replace(' ', '/')}" if kind == "sound" else role
                yield f"{told}: {'another one' if was and now else 'new' if now else 'gone'}"


_READ: Mapping[str, Callable[[Input], str]] = {
    "text": lambda one: f"text {'.'.join(one.arg[1]).removesuffix(f'.{NAMES}')}",
    "pause": lambda one: f"recording {one.name}: different length",
    "file": lambda one: "the font" if one.name.endswith(".ttc") else f"file {one.name}",
}


def _by_kind(inputs: Iterable[Input]) -> Mapping[str, dict[str, Input]]:
    found: Mapping[str, dict[str, Input]] = defaultdict(dict)
    for one in inputs:
        found[one.kind][one.name] = one
    return found


def _pairs(old: Mapping[str, Input], new: Mapping[str, Input]) -> Iterator[tuple[str, str, str]]:
    """The name of each input that is not as it was, with what it was and is; empty for nothing."""
    for name in dict.fromkeys([*new, *old]) if old != new else ():
        if old.get(name) != new.get(name):
            was, now = (each[name].digest if name in each else "" for each in (old, new))
            yield name, was, now


def _of_spec(name: str, was: str, now: str) -> str:
    if name == "voice":
        return f"voice: {'another one' if was and now else 'one so far' if was else 'none so far'}"
    if now and isinstance(json.loads(now), dict):
        return name
    said = (repr(json.loads(one)) if one else "none" for one in (was, now))
    return f"{name}: {', now '.join(said)}"


def _few(lines: list[str], rest: str) -> list[str]:
    more = [f"and {len(lines) - _MOST} {rest}"] if len(lines) > _MOST else []
    return [*lines[:_MOST], *more]


def _path_of(name: str) -> Path:
    """Where a file lies that ``render.base.reads.shown`` has named."""
    kind, _, rest = name.partition("/")
    if kind == "site-packages":
        package, _, tail = rest.partition("/")
        spec = importlib.util.find_spec(package)
        return Path(spec.origin if spec and spec.origin else "/none").parent / tail
    return ROOT / name  # a whole path stays what it is


def _version_of(binary: Path) -> Facts:
    said = subprocess.run([binary, "-version"], capture_output=True, text=True, timeout=30)
    lines = said.stdout.splitlines()
    return Facts(" ".join(lines[0].split()[:3]) if lines else "none")
