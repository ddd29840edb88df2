"""How what was made comes to its place: files first, then the record; then the cache."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.errors import LectureError, shortened
from render.base.files import (
    Workspace,
    bring,
    put_file,
    put_folder,
    staging_folder,
    write_state,
)
from render.base.reader import Reader
from render.base.reads import Made, Stamp
from render.build.plan import Plan
from render.build.product import Product, Step
from render.build.storage.cache import Cache
from render.build.workers.worker import function_of
from scenes.settings import Settings, file_digest


class Delivery:
    """Of one run. Pictures wait for the video that carries them."""

    def __init__(self, plan: Plan, cache: Cache, space: Workspace) -> None:
        self._plan, self._cache, self._space = plan, cache, space
        #: pictures whose video is not in place yet
        self._held: dict[str, tuple[Product, Made, bool]] = {}

    def taken(self, product: Product) -> Made | None:
        """A product that the cache has, in a private folder, checked as if it had been made."""

        def check(made: Made) -> Made:
            if product.kind == "pictures":
                numbers = made.path("numbers")
                name_weights(numbers, product.job.settings)
                made = replace(made, files={**made.files, "numbers": Stamp.of(numbers)})
            if product.checker:
                files = {role: Path(path) for role, path in made.paths.items()}
                look = function_of(product.checker)
                look(product.spec, self.needs(product), files, made.facts)
            return made

        folder = self._space.fresh_folder("taken")
        return self._cache.take(product, self._plan.now, folder, check)

    def needs(self, product: Product) -> dict[str, Made]:
        """The records of the needs that could be made, with safe copies of the files that the maker
        opens. Raises LectureError where one has just become another file."""
        found = {}
        for role, need in product.needs.items():
            made = self._plan.steps[need.id].made
            if made is not None:
                files = [(role, made.files[role]) for role in product.opened(made)]
                paths = {each: str(self._safe(need, each, stamp)) for each, stamp in files}
                found[role] = replace(made, paths=paths)
        return found

    def _safe(self, need: Product, role: str, stamp: Stamp) -> Path:
        """A file of a need that no other run can exchange."""
        path = self._plan.paths[need.id, role]
        if path.is_relative_to(self._space.folder):
            return path
        return safe_copy(path, stamp, self._space.fresh_folder("needs") / path.name)

    def put(self, step: Step, made: Made, *, taken: bool) -> None:
        """Put a product in place; what depends on it is looked at again. Raises LectureError
        where that cannot be done."""
        product = step.product
        if product.carriers:
            self._held[step.id] = (product, made, taken)
        else:
            made = self._place(product, made, taken=taken)
        self._plan.done(step, made, taken=taken)
        self._place_held()

    def _place_held(self) -> None:
        """Put the pictures in place whose video is."""
        for id, (product, made, taken) in list(self._held.items()):
            placed = self._plan.steps[product.carried_by].made
            if placed is not None:
                del self._held[id]
                carriers = product.carriers
                files = {**made.files, **dict.fromkeys(carriers, placed.files["video"])}
                paths = {**made.paths, **{role: str(path) for role, path in carriers.items()}}
                carried = replace(made, files=files, paths=paths)
                self._plan.steps[id].made = self._place(product, carried, taken=taken)

    def _place(self, product: Product, made: Made, *, taken: bool) -> Made:
        """Move the files of a product to their places, then write its record."""
        targets = {role: path for role, path in product.targets.items() if role in made.paths}
        for role, target in targets.items():
            with contextlib.suppress(OSError):  # put_file reports it
                target.parent.mkdir(parents=True, exist_ok=True)
            put_file(made.path(role), target)
        folder = product.folder
        if folder is not None:
            made = put_whole(made, folder)
        paths = {**made.paths, **{role: str(path) for role, path in targets.items()}}
        made = replace(made, paths=paths)
        write_state(product.record, made.to_json())
        for role, path in paths.items():
            self._plan.paths[product.id, role] = Path(path)
        if product.cached and not taken:
            self._cache.put(product.kind, product.spec, made)
        return made


def put_whole(made: Made, folder: Path) -> Made:
    """Put all files of a record into a folder, in the place of the one that was there. Raises
    LectureError, and leaves everything as it was, where that cannot be."""
    with staging_folder(folder) as fresh:
        for role in made.files:
            path = fresh / role
            if not path.is_relative_to(fresh) or ".." in path.parts:  # from a cache of others
                expected, found = "the name of a file within", shortened(role, 80)
                raise LectureError(where=folder, expected=expected, found=found)
            path.parent.mkdir(parents=True, exist_ok=True)
            bring(made.path(role), path)
        put_folder(fresh, folder)
    paths = {role: folder / role for role in made.files}
    stamps = made.files.items()  # a copy on another disk has a time of its own
    files = {role: replace(was, mtime_ns=paths[role].stat().st_mtime_ns) for role, was in stamps}
    return replace(made, files=files, paths={role: str(path) for role, path in paths.items()})


def safe_copy(path: Path, stamp: Stamp, copy: Path) -> Path:
    """A second name for a file in place, so that no other run can exchange it. Raises LectureError
    where it is not the file that was stamped."""
    try:
        bring(path, copy)
    except OSError as error:
        raise LectureError(where=path.name, expected="a file", found="none any more") from error
    if not stamp.holds(copy):
        raise LectureError(where=path.name, expected="the one there was", found="another one")
    return copy


def name_weights(numbers: Path, settings: Settings) -> None:
    """The numbers are those of the present weight files, but may have been made with others or on
    another machine: let them name the present ones."""
    reader = Reader(most=64 << 20)
    said = reader.json(numbers, dict[str, Any])
    said |= {name: getattr(settings, name) for name in ("source", "target") if name in said}
    files = {"weights": settings.weights, "inference_weights": settings.weights_for_inference}
    for name, path in files.items():
        if name in said:
            said[name] = {"file": str(path.absolute()), "sha256": file_digest(path)}
    text = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
    if text != reader.text(numbers):
        numbers.unlink()  # it may be the cache's own file by another name
        numbers.write_text(text, encoding="utf-8")
