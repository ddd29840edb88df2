"""The store as one run of the front door uses it: what it has is taken, what is made goes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from engine.errors import LectureError
from render.build.incremental.changes import Now
from render.build.order import Order
from render.build.store.choice import StoreChoice
from render.build.store.finished import Finished
from render.build.store.store import Store
from scenes.registry import SceneInfo
from scenes.settings import Settings, file_digest


class Supply:
    """``with Supply(choice, say) as supply``. ``say`` takes a line for the user.

    A store that the user named and that cannot be used when the run begins is a LectureError;
    later, a line, and ``failed``. The default store is done without, with a line. Scenes with a
    voice or captions in the picture are not stored: both depend on more than an order says.
    """

    def __init__(self, choice: StoreChoice, say: Callable[[str], None]) -> None:
        self.failed = False
        self.has_more = False  # than it had when the run began
        self._choice = choice
        self._say = say
        self._store: Store | None = None

    def __enter__(self) -> Supply:
        try:
            self._store = Store.chosen(self._choice)
            if self._store:
                self._store.begin()
        except LectureError as error:
            if self._choice.named:
                raise
            self._do_without(error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._store:
            try:
                self._store.end()
            except LectureError as trouble:
                self._do_without(trouble)

    @property
    def mark(self) -> str:
        """By which a worker elsewhere knows the store of this run; empty without a store."""
        return self._store.mark if self._store else ""

    def take(self, order: Order, scene: SceneInfo, now: Now, folder: Path) -> Finished | None:
        """The scene as ordered, its files in the private ``folder``; None if it is not stored."""
        if not self._store or order.voice or order.burn:
            return None
        try:
            entry = self._store.find(scene.module, order.picture(scene), now)
            finished = self._store.get(entry, folder) if entry else None
        except LectureError as error:
            self._do_without(error)
            return None
        if finished and "numbers" in finished.files:
            name_weights(finished.files["numbers"], order.settings)
        return finished

    def keep(self, finished: Finished) -> None:
        """Store what has just been rendered."""
        if self._store and not {"voice", "burned"} & set(finished.made):
            try:
                self._store.put(finished)
                self.has_more = True
            except LectureError as error:
                self._do_without(error)

    def _do_without(self, error: LectureError) -> None:
        self._store = None
        self.failed = self._choice.named
        self._say(f"the store is not used any more: {error}" if self.failed else _warning(error))


def _warning(error: LectureError) -> str:
    return f"going on without a store: {error}"


def has(order: Order, scene: SceneInfo, now: Now) -> bool:
    """Whether the store would be asked and has the scene as ordered. Nothing is written.

    Raises LectureError where a store that the user named cannot be reached.
    """
    try:
        store = None if order.voice or order.burn else Store.chosen(order.store)
        return store is not None and bool(store.find(scene.module, order.picture(scene), now))
    except LectureError:
        if order.store.named:
            raise
        return False


def name_weights(numbers: Path, settings: Settings) -> None:
    """The numbers are those of the present weight files, but may have been made with others or
    on another machine: let them name the present ones."""
    said: dict[str, Any] = json.loads(numbers.read_text(encoding="utf-8"))
    said |= {field: getattr(settings, field) for field in ("source", "target") if field in said}
    files = {"weights": settings.weights, "inference_weights": settings.weights_for_inference}
    for field, path in files.items():
        if field in said:
            said[field] = {"file": str(path.absolute()), "sha256": file_digest(path)}
    text = json.dumps(said, ensure_ascii=False, indent=1) + "\n"
    if text != numbers.read_text(encoding="utf-8"):
        numbers.unlink()  # it may be the store's own file by another name
        numbers.write_text(text, encoding="utf-8")
