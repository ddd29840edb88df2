"""The four picture qualities and the encoder settings that go with them."""

from __future__ import annotations

from dataclasses import dataclass

AUDIO_RATE = 48_000  # samples a second; a whole number of them falls on every frame
KEYFRAME_SECONDS = 2  # longest distance of two keyframes


@dataclass(frozen=True)
class Quality:
    """Size in pixels, frames a second, and how x264 encodes: preset, CRF (lower is better), and
    how many B-frames may stand in a row. 4k takes a preset that looks ahead less, for memory.
    """

    name: str
    width: int
    height: int
    fps: int
    preset: str
    crf: int
    b_frames: int

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


QUALITIES: dict[str, Quality] = {
    quality.name: quality
    for quality in (
        Quality("draft", 854, 480, 15, "veryfast", 20, 2),
        Quality("standard", 1920, 1080, 30, "veryfast", 18, 2),
        Quality("high", 1920, 1080, 60, "veryfast", 18, 2),
        Quality("4k", 3840, 2160, 60, "superfast", 20, 0),
    )
}
