"""The present state: the answers to everything that products depend on, each looked up once."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import engine
from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import NAMES, digest_of, look_up
from render.base.differences import values_moved
from render.base.project import ROOT
from render.base.reads import Input, Made, Reason, sha256, value_now
from render.build.code import Code
from render.build.job import LANGUAGES
from render.build.product import BEFORE, Product, canonical, key_of
from render.build.table import Facts, Table
from scenes import texts

NO_RECORD = "it has no record"
UNREADABLE = "its record is invalid"
_MOST = 8  # values and files named; of more only how many


class Now:
    """``kept``: a folder of state for what was found out about files and packages, so that the next
    run is quick. ``made``: the records of products that are up to date, by id; None stands for one
    that could not be made."""

    def __init__(self, kept: Path | None = None) -> None:
        self.table = Table(kept / "files.json" if kept else None)
        self.code = Code(self.table)
        self.made: dict[str, Made | None] = {}
        self._looked: dict[str, str] = {}
        self._passes: dict[tuple[str, ...], Passes] = {}
        self._values: dict[tuple[int, str], Input | None] = {}
        self._code: dict[tuple[str, ...], tuple[Input, ...]] = {}
        self._known: dict[str, tuple[Input, ...]] = {}
        self._version = ""

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
        needs = tuple(self._of_needs(product))
        return (*self._of(product), *needs) if len(needs) == len(product.needs) else None

    def _of_needs(self, product: Product) -> Iterator[Input]:
        """What is known of the contents of needs."""
        for role, need in product.needs.items():
            if need.id in self.made:
                made = self.made[need.id]
                yield Input("need", role, None, made.content if made else "")

    def _of(self, product: Product) -> tuple[Input, ...]:
        """What is told to the maker, and its code."""
        if product.id not in self._known:
            told = (Input("spec", name, None, canonical(s)) for name, s in product.spec.items())
            self._known[product.id] = (*told, *self._of_code(_roots(product)))
        return self._known[product.id]

    def _of_code(self, roots: tuple[str, ...]) -> tuple[Input, ...]:
        if roots not in self._code:
            files = self.code.files(roots).items()
            tools = self.code.tools(roots)
            if "ffmpeg-python" in tools:
                tools["ffmpeg"] = self.ffmpeg()
            found = [Input("code", name, None, digest) for name, digest in files]
            found += [Input("tool", name, None, version) for name, version in tools.items()]
            self._code[roots] = tuple(found)
        return self._code[roots]

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
                digest = digest_of(look_up(texts.load(language), path))
                return Input("text", asked.name, asked.arg, digest or "")
            case "file":
                return Input("file", asked.name, asked.arg, self._file(asked.name))
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
        """The digest of a file that was read."""
        if name not in self._looked:
            path = _path_of(name)
            try:
                facts = self.table.about(str(path), path.stat(), lambda path: Facts(sha256(path)))
                self._looked[name] = facts.digest
            except OSError:
                self._looked[name] = ""
        return self._looked[name]

    def ffmpeg(self) -> str:
        """The version of the ffmpeg that is used; it is asked only if it is not the file that it
        was. Raises LectureError where there is none that can be used."""
        if not self._version:
            asked = os.environ.get("LECTURE_FFMPEG")
            carried = _path_of("site-packages/imageio_ffmpeg/binaries").glob("ffmpeg-*")
            path = shutil.which(asked or "ffmpeg") or (None if asked else next(carried, None))
            if path is None or not self.table.knows(str(path)):
                from render.media import ffmpeg

                path = ffmpeg.find()
            self._version = self.table.about(str(path), Path(path).stat(), _version_of).digest
        return self._version

    def paths(self, product: Product, made: Made | None) -> set[Path]:
        """The files that decide whether a product is up to date: code, weights, texts, and those
        that it has read."""
        found = self.code.paths(_roots(product))
        found |= set(Path(engine.__file__).parent.glob("*.py"))
        found |= {texts.FOLDER / f"{language}.toml" for language in LANGUAGES}
        settings = product.settings
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
        for role, path in product.places(made).items():
            if role not in made.files and role in product.may_lack:
                continue
            if not path.is_file():
                return [Reason(f"there is no {path.name}")]
            if role not in made.files or not made.files[role].holds(path):
                return [Reason(f"{path.name} was changed since it was made")]
        return list(self._differences(product, made))

    def _differences(self, product: Product, made: Made) -> Iterator[Reason]:
        """What is not as it was, worded by kind; needs only as far as they are known."""
        old, known = _by_kind(made.inputs), self._of(product)
        same = made.inputs[: len(known)] == known
        new = old if same else _by_kind(known)
        yield from (Reason(_of_spec(*pair), pair[1]) for pair in _pairs(old["spec"], new["spec"]))
        moved = [one for one in old["value"].values() if self._value(product, one) != one]
        if moved:
            yield from _few(values_moved(moved, self.passes(product.settings)), "more values")
        for kind, word in _READ.items():
            for one in old[kind].values():
                if self._answer(product, one) != one:
                    yield Reason(word(one), one)
        files = [Reason(f"file {pair[0]}", pair[1]) for pair in _pairs(old["code"], new["code"])]
        yield from _few(files, "more files")
        for name, was, now in _pairs(old["tool"], new["tool"]):
            versions = (one.digest if one else "none" for one in (was, now))
            yield Reason(f"{name} {', now '.join(versions)}", now or was)
        needs = {one.name: one for one in self._of_needs(product)}
        unknown = product.needs.keys() - needs.keys()
        for role, was, now in _pairs(old["need"], needs):
            if role not in unknown:
                there = now is not None and now.digest
                how = "another one" if there and was and was.digest else "new" if there else "gone"
                kind, _, rest = role.partition(" ")
                told = f"recording {rest.replace(' ', '/')}" if kind == "sound" else role
                yield Reason(f"{told}: {how}", was or now)


_READ: Mapping[str, Callable[[Input], str]] = {
    "text": lambda one: f"text {'.'.join(one.arg[1]).removesuffix(f'.{NAMES}')}",
    "pause": lambda one: f"recording {one.name}: different length",
    "file": lambda one: "the font" if one.name.endswith(".ttc") else f"file {one.name}",
}
Pair = tuple[str, Input | None, Input | None]


def _roots(product: Product) -> tuple[str, ...]:
    return (product.maker.partition(":")[0], *product.modules)


def _by_kind(inputs: Iterable[Input]) -> Mapping[str, dict[str, Input]]:
    found: Mapping[str, dict[str, Input]] = defaultdict(dict)
    for one in inputs:
        found[one.kind][one.name] = one
    return found


def _pairs(old: Mapping[str, Input], new: Mapping[str, Input]) -> list[Pair]:
    """The name of each input that is not as it was, with what it was and is."""
    names = dict.fromkeys([*new, *old]) if old != new else ()
    pairs = ((name, old.get(name), new.get(name)) for name in names)
    return [(name, was, now) for name, was, now in pairs if was != now]


def _of_spec(name: str, was: Input | None, now: Input | None) -> str:
    if name == "voice":
        how = "another one" if was and now else "one so far" if was else "none so far"
        return f"voice: {how}"
    if now is not None and isinstance(json.loads(now.digest), dict):
        return name
    said = (repr(json.loads(one.digest)) if one else "none" for one in (was, now))
    return f"{name}: {', now '.join(said)}"


def _few(lines: list[Reason], rest: str) -> list[Reason]:
    if len(lines) <= _MOST:
        return lines
    return [*lines[:_MOST], Reason(f"and {len(lines) - _MOST} {rest}")]


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
