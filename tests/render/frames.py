"""Frames of a scene as they reach the encoder, as digests; and whether changes were told right."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from typing import Any

import manim
import numpy as np
from manim.renderer.cairo_renderer import CairoRenderer

from render.draw.fast import FastRenderer, hooks
from render.draw.scene import StreamWriter


class Digests:
    """Stands in for the encoder."""

    def __init__(self) -> None:
        self.digests: list[str] = []
        self.lied = 0  # frames that differ where they were said not to
        self._before: Any = None

    @property
    def frames(self) -> int:
        return len(self.digests)

    def write(self, frame: Any, repeat: int = 1, changed: Any = None) -> None:
        if changed is not None:
            if self._before is not None:
                height, width = frame.shape[:2]
                told = changed.repeat(16, axis=0).repeat(16, axis=1)[:height, :width] != 0
                self.lied += bool(((frame != self._before).any(axis=2) & ~told).any())
            self._before = np.array(frame)
            changed[:] = 0
        self.digests += [hashlib.blake2b(frame.data, digest_size=8).hexdigest()] * repeat

    def finish(self) -> None: ...

    def abort(self) -> None: ...


def frames(kind: type[manim.Scene], renderer: type[CairoRenderer], **options: Any) -> Digests:
    """Of all frames of a scene, drawn with plain Manim's methods if with its renderer."""
    collector = Digests()
    writer = functools.partial(StreamWriter, encoder=collector, tell=lambda _: None)
    try:
        kind(renderer=renderer(file_writer_class=writer), **options).render()
    finally:
        hooks.remove()
    return collector


def main(renderer: str, file: str, name: str, size: str, folder: str) -> None:
    """In a process of its own, for scenes in any state: prints the digests as JSON."""
    import importlib.util

    width, height, fps = (int(part) for part in size.split(","))
    manim.config.update(
        {
            "pixel_width": width,
            "pixel_height": height,
            "frame_rate": fps,
            "media_dir": folder,
            "disable_caching": True,
            "progress_bar": "none",
            "verbosity": "ERROR",
        }
    )
    if file.endswith(".py"):
        spec = importlib.util.spec_from_file_location("drawn", file)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        module = importlib.import_module(file)
    kind = {"fast": FastRenderer, "plain": CairoRenderer}[renderer]
    collector = frames(getattr(module, name), kind)
    print(json.dumps({"digests": collector.digests, "lied": collector.lied}))


if __name__ == "__main__":
    main(*sys.argv[1:])
