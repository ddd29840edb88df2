"""Another sound for a video whose pictures are as they should be: nothing is drawn."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.stamps import holds, read_json
from render.build.incremental.made import key_of
from render.build.task import Result, Task
from render.media.check import check_video
from render.media.content import pictures_of
from render.media.expected import Expected
from render.media.finish import Part, assemble
from render.voice.store import Store
from render.voice.timing import pause, placed, sounds_of
from render.voice.track import write_track


def resound(task: Task) -> Result:
    """Make ``task.video`` of the pictures and beats of the video that is kept and the recordings
    that there are now. Raises LectureError where it has just become another one."""
    assert task.kept is not None
    assert task.voice is not None
    began = time.monotonic()
    record, old = read_json(Path(task.kept["record"])), Path(task.folder) / "old.mp4"
    shutil.copyfile(task.kept["video"], old)
    shutil.copyfile(task.kept["numbers"], task.numbers)
    for kind, path in (("video", old), ("numbers", task.numbers)):
        if not record or not holds(path, record["files"][kind]):
            expected = "the video that was looked at"
            raise LectureError(where=task.kept[kind], expected=expected, found="another one")
    store, frames = Store(Path(task.voice["store"])), int(record["frames"])
    fps, sounds = task.quality.fps, task.voice["sounds"]
    made = {**record["made"], "voice": _noted(record["made"]["voice"], sounds, store, fps)}
    task.made.write_text(json.dumps(made), encoding="utf-8")
    origin = task.origin(key_of(made))
    track = write_track(
        task.video.with_suffix(".wav"),
        placed(sounds_of(record["beats"], sounds, fps), store),
        frames,
        task.quality.samples_per_frame,
    )
    assemble(
        task.ffmpeg,
        [Part(old, frames, task.title)],
        task.video,
        title=task.title,
        origin=origin,
        quality=task.quality,
        with_chapters=False,
        sound=track,
    )
    wanted = Expected(task.quality, frames, task.title, origin, pictures=pictures_of([old]))
    check_video(task.video, wanted, shown_as=task.slug)
    return Result(frames, time.monotonic() - began, 0, record["beats"])


def _noted(said: dict[str, Any], sounds: dict[str, str], store: Store, fps: int) -> dict[str, Any]:
    beats = {}
    for key, (_, busy, quiet, _) in said["beats"].items():
        digest = sounds.get(key, "")
        beats[key] = [digest, busy, quiet, pause(busy, quiet, store.seconds(digest), fps)]
    return {**said, "beats": beats}
