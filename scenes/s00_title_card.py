"""The title card of a track: its subject and its sentence. Opens ``lecture*.mp4``.

Reads only the tokens of the training pass.
"""

from __future__ import annotations

from typing import ClassVar

from manim import DOWN, RIGHT, UP, FadeIn, LaggedStart, Line, ManimColor, VGroup

from scenes import theme
from scenes.base import LectureScene, Span
from scenes.parts.phrase import Facts, Phrase
from scenes.parts.shapes import arrow, token_row


class TitleCard(LectureScene):
    beats = (("title", 0),)
    colors: ClassVar[dict[str, ManimColor]] = {
        "full": theme.ENCODER,
        "training": theme.TRAINING,
        "inference": theme.INFERENCE,
    }

    def setup(self) -> None:
        self.camera.background_color = theme.BACKGROUND
        self.color_of_track = self.colors[self.settings.track]

    def construct(self) -> None:
        self.title()
        self.leave()

    def title(self) -> None:
        title = Phrase(self.words["title"], size=60, bold=True).place([0, 1.75, 0])
        track = Phrase(self.text(self.settings.track), size=32, color=self.color_of_track)
        track.place([0, 0.85, 0])
        rule = Line([-1.6, 0.3, 0], [1.6, 0.3, 0], stroke_width=3, color=self.color_of_track)
        sentences = self.sentences().move_to([0, -0.65, 0])
        promise = self.label("promise", size=theme.BODY).place([0, -2.05, 0])
        with self.beat("title"):
            self.play(FadeIn(title, shift=0.2 * UP), run_time=0.8)
            self.play(FadeIn(track, rule), run_time=0.6)
            self.play(LaggedStart(*map(FadeIn, sentences), lag_ratio=0.35), run_time=1.0)
            self.play(FadeIn(promise, shift=0.15 * DOWN), run_time=0.6)

    def sentences(self) -> VGroup:
        """The source sentence, an arrow, the target sentence."""
        size = {"height": 0.78, "size": 30, "gap": 0.16}
        source = token_row(self.training.source, color=theme.ENCODER, **size)
        target = token_row(self.training.target, color=theme.TRAINING, **size)
        between = arrow([0, 0, 0], [1.0, 0, 0], color=theme.MUTED, width=4, tip=0.2)
        whole = VGroup(source, between, target).arrange(RIGHT, buff=0.35)
        if whole.width > theme.WIDTH - 1:
            whole.scale((theme.WIDTH - 1) / whole.width)
        return whole

    def _announce(self, name: str, steps: Span, template: str, facts: Facts) -> None:
        """A title card has no header and says nothing at its foot."""
