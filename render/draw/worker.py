"""``python -m render.draw.worker TASK.json FD``: render one scene in a process of its own.

Messages go to the file descriptor FD, prints to the task's log. The worker leads its own process
group; when its parent dies, even by ``kill -9``, its stdin ends and it takes the group with it.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import LectureError, one_line
from render.build.incremental.made import Notes, key_of, picture
from render.build.task import Failure, Message, Result, Task, encode_message
from render.draw import split
from render.media.encoding import FrameEncoder
from render.media.finish import Part, assemble

if TYPE_CHECKING:
    from render.voice.speaker import Speaker


def main(task_file: str, descriptor: str) -> None:
    """Run one task; how it ended is told in the last message."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    task = Task.from_json(Path(task_file).read_text(encoding="ascii"))
    report = functools.partial(_send, int(descriptor))
    with task.log.open("w", encoding="utf-8", errors="backslashreplace") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
    try:
        report(run(task, report))
    except LectureError as error:
        report(Failure(str(error), mistake=True))
    except BaseException as error:
        with contextlib.suppress(OSError):  # the log may be on the full disk
            traceback.print_exc()
            sys.stderr.flush()
        report(Failure(one_line(f"{type(error).__name__}: {error}"), mistake=False))


def run(task: Task, report: Any) -> Result:
    """Draw, encode, add sound, check. Leaves the video at ``task.video``."""
    if task.kept:
        from render.voice.resound import resound

        return resound(task)
    from render.draw.fast import choose
    from render.media.check import check_video
    from render.media.expected import Expected

    began = time.monotonic()
    notes = Notes(task.module, Path(task.code_kept))
    silent = Path(task.folder) / "pictures.mp4"
    renderer, helper = choose(task.renderer)
    speaker = _speaker(task)
    _collect_seldom()

    def draw_part(part: Task, share: split.Share) -> None:
        video = Path(part.folder) / "part.mp4"
        encoder = FrameEncoder(video, part.quality, helper, share)
        draw(part, renderer, encoder, _tell_nobody, speaker)

    places = split.places(task, compiled=helper is not None)
    with split.Helpers(task, places, draw_part) as helpers:
        encoder = FrameEncoder(silent, task.quality, helper, helpers.share)
        try:
            scene = draw(task, renderer, encoder, report, speaker)
        except BaseException:
            encoder.abort()
            raise
    if encoder.frames == 0:
        raise LectureError(where=task.module, expected="a scene that plays", found="no frames")
    silent, burned = _burned(task, scene, silent, encoder.frames)
    origin = task.origin(_write_made(task, notes, scene, speaker, burned))
    sound = speaker.track(task, scene.timeline, encoder.frames) if speaker else None
    assemble(
        task.ffmpeg,
        [Part(silent, encoder.frames, task.title)],
        task.video,
        title=task.title,
        origin=origin,
        quality=task.quality,
        with_chapters=False,
        sound=sound,
    )
    pictures = None if burned else encoder.digest  # burned ones have been encoded again
    expected = Expected(task.quality, encoder.frames, task.title, origin, pictures=pictures)
    check_video(task.video, expected, shown_as=task.slug)
    _check_clock(task, scene, encoder.frames)
    _write_numbers(task, scene)
    memory = _peak_memory() + helpers.memory
    return Result(encoder.frames, time.monotonic() - began, memory, _beats(scene))


def _tell_nobody(_: int) -> None:
    """The worker's own frames show how far a scene is."""


def _collect_seldom() -> None:
    """Looking for garbage in cycles, of which a scene makes little, takes 5 % of drawing."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def _burned(task: Task, scene: Any, pictures: Path, frames: int) -> tuple[Path, dict[str, str]]:
    """The pictures with the captions that are wanted in them, and what to note of these."""
    if not task.burn:
        return pictures, {}
    from render.media.captions import burning

    track = burning.track_of(task.slug, _beats(scene), task.burn, task.quality.fps)
    target = pictures.with_name("burned.mp4")
    of_video = pictures, target, task.quality, task.threads
    burning.burn(task.ffmpeg, *of_video, track, frames)
    return target, {"language": task.burn, "digest": track.digest}


def _speaker(task: Task) -> Speaker | None:
    """Who speaks, if anybody does."""
    if task.voice is None:
        return None
    from render.voice.speaker import Speaker

    return Speaker(task.voice, task.slug, task.language)


def draw(
    task: Task, renderer: Any, encoder: FrameEncoder, report: Any, speaker: Speaker | None = None
) -> Any:
    """Play the scene into the encoder; returns the scene."""
    from manim import config

    from render.draw.writer import StreamWriter
    from scenes import cover, registry
    from scenes.settings import Settings

    config.update(_manim_settings(task))
    kind = registry.load(task.module, task.class_name)
    settings = Settings(
        language=task.language,
        weights=Path(task.weights),
        inference_weights=Path(task.inference_weights),
        source=task.source,
        target=task.target,
        track=task.track,
    )
    writer = functools.partial(StreamWriter, encoder=encoder, report=report)
    scene = kind(settings=settings, renderer=renderer(file_writer_class=writer))
    if speaker:
        scene.speech = speaker.seconds
    moment = cover.Moment(scene)
    scene.render()
    try:
        moment.save(task.cover)
    except Exception:  # a video without a cover is better than none; it is drawn by the next run
        traceback.print_exc()
        task.cover.unlink(missing_ok=True)
    return scene


def _manim_settings(task: Task) -> dict[str, Any]:
    """Everything that decides about the picture, so that no manim.cfg of the user can."""
    quality = task.quality
    return {
        "pixel_width": quality.width,
        "pixel_height": quality.height,
        "frame_rate": quality.fps,
        "media_dir": str(Path(task.folder) / "media"),
        "format": "mp4",
        "disable_caching": True,
        "save_sections": False,
        "progress_bar": "none",
        "verbosity": "WARNING",
        "renderer": "cairo",
        "preview": False,
        "background_opacity": 1.0,
        "from_animation_number": 0,
        "upto_animation_number": -1,
    }


def _write_made(
    task: Task, notes: Notes, scene: Any, speaker: Speaker | None, burned: dict[str, str]
) -> str:
    """Everything that the video depends on; returns the key made of it."""
    ordered = picture(task.slug, task.title, task.language, task.track, task.quality, task.renderer)
    made = notes.finish(scene.reads, ordered, task.ffmpeg)
    if speaker:
        made["voice"] = speaker.noted(scene.timeline, task.quality.fps)
    if burned:
        made["burned"] = burned
    task.made.write_text(json.dumps(made), encoding="utf-8")
    return key_of(made)


def _write_numbers(task: Task, scene: Any) -> None:
    """Every number in the video with its source, for ``./render.sh audit``."""
    record = scene.record.document(task.slug, scene.settings)
    text = json.dumps(record, ensure_ascii=False, indent=1)
    task.numbers.write_text(text + "\n", encoding="utf-8")


def _check_clock(task: Task, scene: Any, frames: int) -> None:
    """The scene's own clock, by which captions are timed, ends with the video."""
    if abs(scene.time * task.quality.fps - frames) > 1:
        raise LectureError(
            where=task.slug,
            field="length",
            expected=f"{scene.time:.3f} s by the scene's clock",
            found=f"{frames / task.quality.fps:.3f} s",
        )


def _beats(scene: Any) -> list[dict[str, Any]]:
    fields = ("name", "step", "last_step", "start", "end", "text", "variant")
    return [
        {
            **{key: getattr(beat, key) for key in fields},
            "facts": {name: str(fact) for name, fact in beat.facts.items()},
        }
        for beat in scene.timeline
    ]


def _peak_memory() -> int:
    """Bytes: this process's peak, or that of the largest program it called."""
    unit = 1 if sys.platform == "darwin" else 1024
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return unit * max(resource.getrusage(one).ru_maxrss for one in who)


def _send(descriptor: int, message: Message) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(descriptor, encode_message(message))


def _die_with_parent() -> None:
    """The parent never writes: an end of stdin means that it is gone."""
    while os.read(0, 1024):
        pass
    if os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
