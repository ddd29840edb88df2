"""Everything beside the videos of one order, and the captions inside them, during a run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from engine.errors import LectureError
from engine.passes import Passes
from render.base.workspace import Workspace
from render.build.order import Order
from render.build.sides.covers import Covers, design
from render.build.sides.keeper import Keeper, digest_of
from render.build.store.finished import Finished
from render.build.task import Failure
from render.media.captions.tracks import Track
from render.media.metadata import Origin
from scenes.registry import SceneInfo

if TYPE_CHECKING:
    from render.build.sides.making import Making


class Beside:
    """``shown``: what stands before a video's name when something is told of it.

    What cannot be made is noted in ``failed``, by the video's name, and the video is left in peace.
    """

    def __init__(self, order: Order, passes: Passes, shown: str) -> None:
        self.failed: dict[str, Failure] = {}
        self._order = order
        self._keeper = Keeper(order, passes)
        self._covers = Covers(order)
        self._shown = shown

    def is_stale(self, scene: SceneInfo) -> bool:
        """Whether anything of a scene's video that is up to date is not."""
        return self._keeper.is_stale(scene) or self._covers.is_stale(scene)

    def film_is_stale(self) -> bool:
        """The same for the film."""
        return self._keeper.film_is_stale() or self._covers.film_is_stale()

    def refresh(self, space: Workspace, binary: str, scenes: Sequence[SceneInfo]) -> Iterator[str]:
        """Make what is stale beside and inside the videos of ``scenes``; a line for each."""
        making = self._making(space, binary)
        for scene in filter(self._keeper.is_stale, scenes):
            name = self._order.video_name(scene)
            with self._noting(name):
                making.refresh_scene(scene)
            yield self.told(name)
        coverless = [*filter(self._covers.is_stale, scenes)]
        done = self._covers.draw(space, coverless) if coverless else ()
        for scene, failure in zip(coverless, done, strict=True):
            name = self._order.video_name(scene)
            if failure:
                self.failed[f"{name}: cover"] = failure
            yield f"{self._order.out / name}: {failure.line if failure else 'cover drawn'}"

    def refresh_film(self, space: Workspace, binary: str) -> str:
        """The same for the film."""
        name = self._order.film_name
        with self._noting(name):
            self._making(space, binary).refresh_film()
            self._cover_film(space)
        return self.told(name)

    def captioned(
        self, space: Workspace, binary: str, scene: SceneInfo, finished: Finished
    ) -> Finished:
        """With the captions in its video, if they are not there; where they cannot be, without."""
        drawn = {"cover": design(), **finished.notes} if "cover" in finished.files else {}
        with self._noting(self._order.video_name(scene)):
            story = self._keeper.story(scene, asdict(finished.result))
            if finished.notes.get("captions") != digest_of(story.captions()):
                origin = Origin(self._order.language, self._order.quality.name, finished.key)
                making, title = self._making(space, binary), self._order.title(scene)
                notes = making.caption(finished.files["video"], story, origin, title)
                return replace(finished, notes={**drawn, **notes, **_pictures(finished.notes)})
        return replace(finished, notes={**drawn, **finished.notes})

    def put(self, space: Workspace, binary: str, scene: SceneInfo, finished: Finished) -> None:
        """Everything beside a video that has just been put in place, with its record."""
        name = self._order.video_name(scene)
        with self._noting(name):
            if "captions" in finished.notes:
                story = self._keeper.story(scene, asdict(finished.result))
                self._making(space, binary).write(name, story)
            if "cover" in finished.files and finished.notes["cover"] == design():
                self._covers.put(space, finished.files["cover"], name, scene)

    def film_captions(self) -> tuple[Track, ...]:
        """The tracks for the film; none where they cannot be made."""
        with self._noting(self._order.film_name):
            return self._keeper.film_story().captions()
        return ()

    def put_film(self, space: Workspace, binary: str, captions: Sequence[Track]) -> None:
        """Everything beside a film that has just been put in place."""
        name = self._order.film_name
        with self._noting(name):
            if captions:
                self._making(space, binary).write(name, self._keeper.film_story())
            self._cover_film(space)

    def told(self, name: str) -> str:
        """What to say of a video beside which something was made."""
        failure = self.failed.get(name)
        if failure:
            return f"{self._shown}{name}: no captions: {failure.line}"
        return f"{self._order.out / name}: captions and descriptions made anew"

    def complaint(self, name: str) -> str:
        """What to add to the line about a video, where something is missing beside it."""
        return f"; {self.told(name)}" if name in self.failed else ""

    def _making(self, space: Workspace, binary: str) -> Making:
        from render.build.sides.making import Making

        return Making(self._order, self._keeper, space, binary)

    @contextlib.contextmanager
    def _noting(self, name: str) -> Iterator[None]:
        try:
            yield
        except LectureError as error:
            self.failed[name] = Failure(str(error), mistake=True)

    def _cover_film(self, space: Workspace) -> None:
        """The film's cover, if its first scene has one by now: what hinders that is told there."""
        if self._covers.film_is_stale() and not self._covers.is_stale(self._order.everything[0]):
            self._covers.put_film(space)


def _pictures(notes: Mapping[str, Any]) -> dict[str, Any]:
    """Which video the captions were put into is told by the first who did it."""
    return {field: notes[field] for field in ("pictures",) if field in notes}
