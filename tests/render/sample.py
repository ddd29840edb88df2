"""A scene with room for a planted fault."""

from __future__ import annotations

from scenes import theme
from scenes.base import LectureScene


class Sample(LectureScene):
    """Two beats of scene 8 with room for a fault between them."""

    beats = (("question", 23), ("vectors", 23))
    color = theme.ENCODER
    lit = ("Enc 1",)

    def construct(self) -> None:
        with self.beat("question"):
            pass
        with self.beat("vectors", self.facts()):
            self.play(self.answer())
            self.middle()

    def facts(self) -> dict[str, object]:
        return {}

    def middle(self) -> None:
        """What is on screen besides."""
