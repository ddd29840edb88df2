"""The maker of a scene's pictures: plays the scene once, into a silent MP4."""

from __future__ import annotations

import functools
import gc
import importlib
import json
import resource
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from manim import SceneFileWriter, config

from engine.errors import LectureError
from render.base.project import font_file
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.draw import settings_of
from render.draw.fast import choose
from render.media.pictures import FrameEncoder
from render.media.quality import Quality
from scenes import registry

_REPORT_EVERY = 10  # frames


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """``pictures``: an MP4 without sound; ``numbers``: every number in it with its source; of a
    synthetic voice ``sound``, all that it says.

    Facts: ``frames``, ``fps``, ``pictures`` (a digest of the packets), ``beats`` (seconds of the
    scene's clock, sentences and what they were filled with), ``cost`` (peak bytes, seconds); of a
    synthetic voice ``sentences``, by which their sounds are kept.
    """
    began = time.monotonic()
    quality, slug = Quality(**spec["quality"]), spec["slug"]
    speaker, speech = _speaker(reads, spec)
    renderer, helper = choose(spec["renderer"])
    gc.freeze()  # looking for cycles, of which a scene makes few, takes 5 % of drawing
    gc.set_threshold(50_000, 20, 20)
    config.update(_manim_settings(quality, into))
    found: Output = {"pictures": into / "pictures.mp4"}
    encoder = FrameEncoder(found["pictures"], quality, helper)
    try:
        writer = functools.partial(StreamWriter, encoder=encoder, tell=tell)
        scene: Any = registry.load(spec["module"], spec["class_name"])(
            settings=settings_of(spec, reads), renderer=renderer(file_writer_class=writer)
        )
        if speech:
            scene.speech = speech
        watching = [observe(scene) for observe in reads.observers]
        scene.render()
    except BaseException:
        encoder.abort()
        raise
    _check_length(scene, spec, encoder.frames, quality.fps)
    _record(reads, scene, spec, quality.fps)
    for finish in watching:
        try:
            finish(into)
        except Exception:  # what it makes is made by itself then, and its failure is reported
            traceback.print_exc()
    facts = {
        "frames": encoder.frames,
        "fps": quality.fps,
        "pictures": encoder.digest,
        "beats": _beats(scene),
        "cost": {"memory": _peak_memory(), "seconds": time.monotonic() - began},
    }
    if speaker:
        track = into / "sound.wav"
        found["sound"] = speaker.track(track, scene.timeline, encoder.frames, quality)
        facts["sentences"] = speaker.sentences
        reads.uses(speaker.table)
    numbers = json.dumps(scene.record.document(slug, scene.settings), ensure_ascii=False, indent=1)
    found["numbers"] = into / "numbers.json"
    found["numbers"].write_text(numbers + "\n", encoding="utf-8")
    return {**found, "facts": facts}


def _speaker(reads: Reads, spec: Spec) -> tuple[Any, Callable[..., float] | None]:
    """The synthetic voice, if it is one that speaks, and how long a beat is spoken, if anybody
    speaks. The voice comes by its name, as other pictures do not depend on its code."""
    said: Any = reads.spoken
    if said is None:
        return None, None
    if "seconds" in said:
        return None, lambda key, *_: float(said["seconds"].get(key, 0.0))
    speaker = importlib.import_module(said["module"]).Speaker(said, spec["slug"], spec["language"])
    return speaker, speaker.seconds


def _record(reads: Reads, scene: Any, spec: Spec, fps: int) -> None:
    """Note everything that the pictures depend on besides the code and what was told."""
    reads.take(scene.reads, spec["language"])
    reads.uses(font_file())
    seconds: Any = (reads.spoken or {}).get("seconds")
    for beat in scene.timeline if seconds is not None else ():
        name, spoken = f"{spec['slug']}/{beat.key}", seconds.get(beat.key, 0.0)
        reads.pause(name, beat.busy, beat.quiet, fps, spoken)


def _manim_settings(quality: Quality, folder: Path) -> dict[str, Any]:
    """Everything that decides about the picture, so that no manim.cfg of the user can."""
    return {
        "pixel_width": quality.width,
        "pixel_height": quality.height,
        "frame_rate": quality.fps,
        "media_dir": str(folder / "media"),
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


def _check_length(scene: Any, spec: Spec, frames: int, fps: int) -> None:
    """The scene's own clock, by which captions are timed, ends with the pictures."""
    if frames == 0:
        raise LectureError(where=spec["module"], expected="a scene that plays", found="no frames")
    if abs(scene.time * fps - frames) > 1:
        expected, found = f"{scene.time:.3f} s by the scene's clock", f"{frames / fps:.3f} s"
        raise LectureError(where=spec["slug"], field="length", expected=expected, found=found)


def _beats(scene: Any) -> list[dict[str, Any]]:
    fields = ("name", "step", "last_step", "start", "end", "text", "variant", "key")
    found = [{key: getattr(beat, key) for key in fields} for beat in scene.timeline]
    for said, beat in zip(found, scene.timeline, strict=True):
        said["facts"] = {name: str(fact) for name, fact in beat.facts.items()}
    return found


def _peak_memory() -> int:
    """Bytes: this process's peak, or that of the largest program it called."""
    unit = 1 if sys.platform == "darwin" else 1024
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return unit * max(resource.getrusage(one).ru_maxrss for one in who)


class StreamWriter(SceneFileWriter):  # type: ignore[misc]  # Manim is untyped for us
    """Manim's file writer, replaced: sends every frame to ``encoder``, reports their number.

    Plain Manim encodes each ``play()`` into a file of its own and joins them afterwards; here the
    hooks of ``SceneFileWriter`` (Manim 0.22) lead to one encoder. The frames, and so their number,
    are those that plain Manim would write.
    """

    def __init__(self, settings: Any, encoder: FrameEncoder, tell: Tell) -> None:
        super().__init__(settings)
        self._encoder = encoder
        self._tell = tell
        self._told = 0
        self._in_play = False

    def open_partial_movie_stream(self, **_: Any) -> None:
        """A ``play()`` begins: frames drawn from now on belong to the film."""
        self._in_play = True

    def close_partial_movie_stream(self) -> None:
        self._in_play = False

    def write_frame(self, pixels: Any, *, repeat: int = 1, changed: Any = None) -> None:
        """Take one RGBA frame, shown ``repeat`` times; ``changed``: see the encoder."""
        if not self._in_play or repeat < 1:
            return
        self._encoder.write(pixels, repeat, changed)
        if self._encoder.frames >= self._told + _REPORT_EVERY:
            self._told = self._encoder.frames
            self._tell(self._told)

    def is_already_cached(self, hash_invocation: str) -> bool:
        """Never: there are no partial files."""
        return False

    def join_all_encode_jobs(self) -> None:
        """Nothing to wait for: the encoder is finished in :meth:`finish`."""

    def abort_encode_jobs(self, reraise_encoder_failures: bool = False) -> None:
        """The scene failed; its video is dropped."""
        self._in_play = False
        self._encoder.abort()

    def finish(self) -> None:
        """All plays are drawn: close the video. Raises LectureError if encoding failed."""
        if self.includes_sound:
            found = "a call of add_sound()"
            raise LectureError(field="sound", expected="a silent scene", found=found)
        self._encoder.finish()
        if self._encoder.frames > self._told:
            self._tell(self._encoder.frames)
