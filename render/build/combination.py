"""One order of a session: what of it is to be rendered, its film, and how it went."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from engine.errors import LectureError
from render.base.stamps import stamp
from render.base.workspace import Workspace
from render.build.incremental.state import State
from render.build.order import Order
from render.build.progress import duration
from render.build.records import write_record
from render.build.sides.beside import Beside
from render.build.sides.keeper import digest_of
from render.build.store.finished import Finished
from render.build.task import Failure, Task
from render.media.metadata import Origin
from render.voice.parts import film_sounds, kept, settle
from scenes.registry import SceneInfo

Say = Callable[[str], None]
_MB = 1_000_000


class Combination:
    """An order, looked at when this is made. ``like``: another one of the session. ``alone``: there
    is no other, so that lines need not name the folder."""

    def __init__(self, order: Order, like: Combination | None, alone: bool) -> None:
        self.order = order
        self.state: State = State(order, like.state if like else None)
        if self.state.voice:
            film = {scene.slug: None for scene in (*order.scenes, *order.everything)}
            self.state.voice.make_ready(list(film), order.jobs)
        self.scenes = [s for s in order.scenes if order.force or self.state.reasons(s)]
        self.up_to_date = [s for s in order.scenes if s not in self.scenes]
        self.waiting = {order.video_name(scene) for scene in self.scenes}
        self.failures: dict[str, Failure] = {}  # by the scene's slug, or the film's name
        self.made = self.taken = 0
        self.complaints: list[str] = []  # of recordings
        self.film = ""  # what became of it
        self._shown = "" if alone else f"{order.out.name}/"
        self.beside: Beside = Beside(order, self.state.now.passes, self._shown)
        self._brief = not alone or bool(os.environ.get("LECTURE_WATCHED"))

    def idle_lines(self) -> list[str] | None:
        """With nothing to render and nothing to join, how things stand; else None."""
        if self.scenes or any(map(self.beside.is_stale, self.up_to_date)):
            return None
        parts = self.state.parts()
        if isinstance(parts, str):
            film = self._no_film(parts)
        elif self.state.film_is_up_to_date(parts) and not self.beside.film_is_stale():
            film = self._film_stays()
        else:
            return None
        return [*self.lines_of_the_rest(), film]

    def refresh(self, space: Workspace, binary: str) -> Iterator[str]:
        """Captions and the like of videos that are up to date, where they are not; then a line per
        such video, and what :meth:`lines_of_the_rest` says."""
        yield from self.beside.refresh(space, binary, self.up_to_date)
        yield from self.lines_of_the_rest()

    def lines_of_the_rest(self) -> Iterator[str]:
        """A line per video that is up to date; one for all of them where there are many orders,
        and under --watch."""
        order, count = self.order, len(self.up_to_date)
        if not self._brief:
            yield from (f"{order.out / order.video_name(s)}: up to date" for s in self.up_to_date)
        elif count:
            yield f"{order.out}{order.of_track}: {count} of {len(order.scenes)} scenes up to date"

    def task(
        self, scene: SceneInfo, folder: Path, binary: str, threads: int, expected_frames: int
    ) -> Task:
        """The rendering of a scene in the private ``folder``."""
        order = self.order
        return Task(
            slug=scene.slug,
            module=scene.module,
            class_name=scene.class_name,
            title=order.title(scene),
            language=order.language,
            quality_name=order.quality.name,
            weights=str(order.settings.weights.absolute()),
            inference_weights=str(order.settings.weights_for_inference.absolute()),
            source=order.settings.source,
            target=order.settings.target,
            track=order.settings.track,
            code_kept=str(order.code_kept.absolute()),
            folder=str(folder),
            ffmpeg=binary,
            threads=threads,
            expected_frames=expected_frames,
            renderer=order.renderer,
            voice=self.state.voice.for_task(scene.slug) if self.state.voice else None,
            kept=kept(self.state, scene),
            burn=order.burn,
        )

    def publish(self, space: Workspace, binary: str, scene: SceneInfo, finished: Finished) -> Path:
        """Put a video in place and what belongs beside it; returns where."""
        out, name, described = self.order.out, self.order.video_name(scene), finished.describe()
        space.publish(finished.files["numbers"], self.order.numbers_name(scene), out)
        final = space.publish(finished.files["video"], name, out)
        write_record(out, name, self.order.quality.fps, finished.result, described)
        self.beside.put(space, binary, scene, finished)
        return final

    def not_captioned(self, scene: SceneInfo) -> str:
        """What to add to the line about a video where it has no captions."""
        return self.beside.complaint(self.order.video_name(scene))

    def ended(
        self, scene: SceneInfo, failure: Failure | None = None, *, taken: bool = False
    ) -> None:
        """Take note of how a scene ended; ``taken``: from the store."""
        self.waiting.discard(self.order.video_name(scene))
        if failure:
            self.failures[scene.slug] = failure
        elif taken:
            self.taken += 1
        else:
            self.made += 1

    def told(self, task: Task, failure: Failure) -> str:
        """What to say of a scene that has failed; keeps its log."""
        where = "" if failure.mistake else f" (log: {self._keep_log(task)})"
        return f"{self._shown}{task.slug}: no video: {failure.line}{where}"

    def _keep_log(self, task: Task) -> Path | str:
        logs = self.order.out / "logs"
        try:
            logs.mkdir(exist_ok=True)
            return Path(shutil.copyfile(task.log, logs / f"{task.slug}_{task.language}.txt"))
        except OSError as error:
            return f"could not be kept, {error.strerror}"

    def make_film(self, space: Workspace, binary: str) -> str:
        """Join the scenes, if all are there and it is not the film there is; returns what to say.

        Raises LectureError where the film cannot be written.
        """
        from render.media import film

        order, state = self.order, self.state
        checked = "not all scenes could be rendered" if self.failures else state.parts()
        if isinstance(checked, str):
            return self._no_film(checked)
        name = order.film_name
        if state.film_is_up_to_date(checked):
            if not self.beside.film_is_stale():
                return self._film_stays()
            return self.beside.refresh_film(space, binary)
        videos = [film.SceneVideo(part.name, part.title, part.origin) for part in checked]
        parts = film.snapshot(space, videos, order.out)
        if isinstance(parts, str):
            return self._no_film(parts)
        key = state.film_key(checked)
        origin = Origin(order.language, order.quality.name, key)
        captions = self.beside.film_captions()
        sounds = film_sounds(state, parts, checked)
        finished = film.join(name, parts, origin, order.quality, binary, captions, sounds)
        stamped = stamp(finished)
        path = space.publish(finished, name, order.out)
        shutil.rmtree(finished.parent, ignore_errors=True)
        state.note_film(key, stamped, digest_of(captions))
        self.beside.put_film(space, binary, captions)
        self.film = "made"
        seconds = sum(part.frames for part in parts) / order.quality.fps
        track = order.settings.track
        whole = "lecture" if track == "full" else f"{track} track"
        told = f"{path}: the whole {whole}, {duration(seconds)}, {len(parts)} chapters"
        return told + self.beside.complaint(name)

    def settle(self) -> list[str]:
        """At the end of a run: what is to be said of recordings."""
        self.complaints = settle(self.state)
        return self.complaints

    def _film_stays(self) -> str:
        self.film = "up to date"
        return f"{self.order.out / self.order.film_name}: up to date"

    def _no_film(self, why: str) -> str:
        self.film = "not made"
        order = self.order
        there = (order.out / order.film_name).exists()
        name = f"{self._shown}{order.film_name}"
        if not there and not self.failures and len(order.scenes) < len(order.everything):
            have = sum((order.out / order.video_name(s)).exists() for s in order.everything)
            return (
                f"{name}: {have} of its {len(order.everything)} scenes are there; the same command "
                "without scene numbers makes the others and joins all"
            )
        return f"{name} {'left as it was' if there else 'not made'}: {why}"

    def film_failed(self, error: LectureError) -> str:
        """Take note that the film could not be written; returns what to say."""
        self.failures[self.order.film_name] = Failure(str(error), mistake=True)
        return self._no_film(str(error))


def summary(combinations: list[Combination]) -> Iterator[str]:
    """The end of a run with many orders: how much was made, and everything that was not."""
    made = sum(each.made for each in combinations)
    taken = sum(each.taken for each in combinations)
    from_store = f"{taken} taken from the store, " if taken else ""
    same = sum(len(each.up_to_date) for each in combinations)
    failed = sum(len(each.failures) for each in combinations)
    films = sum(each.film == "made" for each in combinations)
    yield (
        f"{len(combinations)} renders: {made} scenes made, {from_store}"
        f"{same} up to date, {failed} failed; {films} films joined"
    )
    for each in combinations:
        for name, failure in (*each.failures.items(), *each.beside.failed.items()):
            yield f"    {each.order.out.name}/{name}{each.order.of_track}: {failure.line}"


def exit_code(combinations: list[Combination]) -> int:
    """0 all well, 2 a mistake in the input, 1 in the code or among the recordings."""
    failures = [
        failure
        for each in combinations
        for failure in (*each.failures.values(), *each.beside.failed.values())
    ]
    if not failures:
        return 1 if any(each.complaints for each in combinations) else 0
    return 2 if all(failure.mistake for failure in failures) else 1
