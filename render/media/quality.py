"""The four picture qualities and the encoder settings that go with them."""

from __future__ import annotations

from dataclasses import dataclass

AUDIO_RATE = 48_000  # samples a second; a whole number of them falls on every frame
KEYFRAME_SECONDS = 2  # longest distance of two keyframes


@dataclass(frozen=True)
class Quality:
    """Size in pixels, frames a second, and how x264 encodes: its preset and its quantizers (lower
    is better) for what moves, for keyframes, and for what has come to rest.
    """

    name: str
    width: int
    height: int
    fps: int
    preset: str
    quantizer: int
    keyframe_quantizer: int
    settled_quantizer: int

    @property
    def frame_bytes(self) -> int:
        """Bytes of one raw frame, four to a pixel."""
        return self.width * self.height * 4

    @property
    def samples_per_frame(self) -> int:
        return AUDIO_RATE // self.fps

    @property
    def keyframe_interval(self) -> int:
        """Frames from one keyframe to the next, at most."""
        return KEYFRAME_SECONDS * self.fps


#: of finished video, at the least: what surely does not fit is refused before it starts
BYTES_PER_SECOND = {"draft": 30_000, "standard": 80_000, "high": 90_000, "4k": 300_000}

QUALITIES: dict[str, Quality] = {
    quality.name: quality
    for quality in (
        Quality("draft", 854, 480, 15, "ultrafast", 24, 18, 10),
        Quality("standard", 1920, 1080, 30, "ultrafast", 24, 18, 10),
        Quality("high", 1920, 1080, 60, "ultrafast", 24, 18, 10),
        Quality("4k", 3840, 2160, 60, "ultrafast", 24, 18, 8),
    )
}
