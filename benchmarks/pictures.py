"""Draw a scene once more: what does encoding alone cost, and how close are videos to the frames?

``python -m benchmarks.pictures SCENE QUALITY NAME=VIDEO...`` prints a line of JSON: CPU seconds of
the encoder, and the PSNR in dB of each video, over the red, green and blue of every fifth frame.
"""

from __future__ import annotations

import functools
import importlib
import json
import math
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace, Interpolation

from render.draw.fast import choose
from render.draw.scene import StreamWriter
from render.media.pictures import PictureFile
from render.media.quality import QUALITIES, Quality
from scenes import registry
from scenes.settings import Settings

_EVERY = 5  # frames
_EXACT = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
#: Manim converts with swscale's default and says nothing of it in the file
_MATRIX = {"ours": Colorspace.ITU709, "plain": Colorspace.ITU601}


class Comparer:
    """Stands in for the encoder: encodes and compares what it is given, in the same thread."""

    def __init__(self, quality: Quality, videos: dict[str, Path], helper: Any, target: Path):
        self.frames = 0
        self.seconds = 0.0  # of CPU, for encoding
        self._helper = helper
        self._planes = np.zeros((quality.height * 3 // 2, quality.width), np.uint8)
        self._decoded = {name: _decoded(path, _MATRIX[name]) for name, path in videos.items()}
        self._errors = dict.fromkeys(videos, 0.0)
        self._compared = 0
        self._file = PictureFile(target, quality)

    def write(self, frame: Any, repeat: int = 1, changed: Any = None) -> None:
        if changed is None or changed.any() or not self.frames:
            tiles = [-(-length // self._helper.TILE) for length in frame.shape[:2]]
            mask = np.ones(tiles, np.uint8) if changed is None else changed
            self._helper.to_yuv(frame, mask, self._planes)
            self._timed(self._file.add, self._planes.copy(), repeat)
        else:
            self._timed(self._file.add, None, repeat)
        if changed is not None:
            changed[:] = 0
        for _ in range(repeat):
            self._compare(frame)

    def _timed(self, work: Any, *arguments: Any) -> None:
        start = time.thread_time()
        work(*arguments)
        self.seconds += time.thread_time() - start

    def _compare(self, frame: Any) -> None:
        pictures = {name: next(decoded) for name, decoded in self._decoded.items()}
        if self.frames % _EVERY == 0:
            wanted = frame[:, :, :3].astype(np.int16)
            for name, picture in pictures.items():
                difference = picture().astype(np.int16) - wanted
                self._errors[name] += float(np.square(difference, dtype=np.int32).mean())
            self._compared += 1
        self.frames += 1

    def finish(self) -> None:
        self._timed(self._file.finish)

    def abort(self) -> None:
        self._file.abort()

    def found(self) -> dict[str, float]:
        psnr = {
            f"{name} dB": 10 * math.log10(255**2 * self._compared / error)
            for name, error in self._errors.items()
        }
        return {"encoding alone": self.seconds, "frames": self.frames, **psnr}


def _decoded(video: Path, matrix: Colorspace) -> Iterator[Any]:
    """For each frame how to get it, as height x width x RGB."""
    with av.open(str(video)) as container:
        for frame in container.decode(video=0):
            yield functools.partial(
                frame.to_ndarray,
                format="rgb24",
                src_colorspace=matrix,
                src_color_range=ColorRange.MPEG,
                dst_color_range=ColorRange.JPEG,
                interpolation=_EXACT,
            )


def main(name: str, quality_name: str, *videos: str) -> None:
    from manim import config

    scene, quality = registry.find(name), QUALITIES[quality_name]
    renderer, helper = choose("fast")
    pairs = dict(video.split("=", 1) for video in videos)
    with tempfile.TemporaryDirectory() as folder:
        config.update(
            {
                "pixel_width": quality.width,
                "pixel_height": quality.height,
                "frame_rate": quality.fps,
                "media_dir": folder,
                "disable_caching": True,
                "progress_bar": "none",
                "verbosity": "ERROR",
            }
        )
        paths = {key: Path(path) for key, path in pairs.items()}
        comparer = Comparer(quality, paths, helper, Path(folder) / "again.mp4")
        writer = functools.partial(StreamWriter, encoder=comparer, tell=lambda _: None)
        kind = getattr(importlib.import_module(scene.module), scene.class_name)
        settings = Settings.from_environment()
        kind(settings=settings, renderer=renderer(file_writer_class=writer)).render()
    print(json.dumps(comparer.found()))


if __name__ == "__main__":
    main(*sys.argv[1:])
