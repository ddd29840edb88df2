"""The cover of a scene: its number and title, and a moment of it, enlarged.

Drawn from copies of what is on screen at the end of one beat, so that every number on it is one
of the film.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from manim import (
    LEFT,
    Camera,
    Line,
    ManimColor,
    Mobject,
    RoundedRectangle,
    VGroup,
    VMobject,
    tempconfig,
)
from PIL import Image

from engine.reads import Reads

from . import playthrough, theme
from .base import LectureScene
from .parts.phrase import Phrase
from .registry import SceneInfo
from .settings import Settings

WIDTH, HEIGHT = 1280, 720  # pixels
Box = tuple[float, float, float, float]  # left, bottom, right, top, in frame units

#: the part of the frame between header and sentence
STAGE: Box = (-7.2, -2.36, 7.2, theme.RULE_Y - 0.05)

#: the beat whose last picture is shown, and which part of it
MOMENTS: dict[str, tuple[str, Box]] = {
    "01_architecture": ("pair", STAGE),
    "02_decoder_inputs": ("grow", STAGE),
    "03_tokenization": ("target", STAGE),
    "04_embedding": ("table", STAGE),
    "05_positional_encoding": ("wave", STAGE),
    "06_input": ("source", STAGE),
    "07_qkv": ("roles", STAGE),
    "08_attention_scores": ("heatmap", STAGE),
    "09_encoder_layer": ("contract", (-7.2, -2.36, 7.2, 2.0)),
    "10_memory": ("kept", STAGE),
    "11_mask": ("weights", STAGE),
    "12_decoder_self_attention": ("compare", STAGE),
    "13_cross_attention": ("arrows", STAGE),
    "14_output_loss": ("loss", STAGE),
    "15_autoregressive_loop": ("last", STAGE),
    "16_inference_step_1": ("hoped", STAGE),
    "17_inference_step_2": ("mask", STAGE),
    "18_inference_step_3": ("beam", STAGE),
    "19_training_vs_inference": ("takeaway", STAGE),
}

# Places on the cover, in frame units.
_LEFT, _RIGHT = -6.5, 6.5
_TITLE_Y, _SECOND_Y = 2.95, 1.95
_PICTURE_BOTTOM = -3.6
_LARGEST = 1.7  # how far a picture is enlarged at most
_LONG_TITLE = 30  # characters
_CARD = 1.18  # how far a title card is


@dataclass
class Moment:
    """``Moment(scene)``, made before the scene plays, keeps what its cover needs."""

    scene: LectureScene
    _shapes: list[VMobject] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._before = self.scene.on_beat
        self.scene.on_beat = self._look

    def _look(self) -> None:
        if self._before is not None:
            self._before()
        wanted, box = MOMENTS.get(self.scene.info.slug, (self.scene.beats[-1][0], STAGE))
        if self.scene.beat_now == wanted:
            card = self.scene.info.number == 0
            self._shapes = _copied(self.scene.mobjects, None if card else box)

    def save(self, path: Path) -> None:
        """Draw the cover as a PNG."""
        card = self.scene.info.number == 0
        shapes = self._shapes
        whole = VGroup(*shapes).scale(_CARD) if card else _composed(self.scene, shapes)
        with tempconfig({"pixel_width": WIDTH, "pixel_height": HEIGHT}):
            camera = Camera(
                background_color=theme.BACKGROUND, pixel_width=WIDTH, pixel_height=HEIGHT
            )
            camera.capture_mobjects([whole])
            pixels: np.ndarray = camera.pixel_array
            Image.fromarray(pixels[:, :, :3]).save(path, optimize=True)


def _copied(mobjects: list[Mobject], box: Box | None) -> list[VMobject]:
    """Copies of what is drawn, in order; with a ``box`` only of what lies inside it."""
    found = []
    for mobject in mobjects:
        for shape in mobject.family_members_with_points():
            if isinstance(shape, VMobject) and (box is None or _inside(shape, box)):
                copy = VMobject() if type(shape) is not VMobject else shape.copy()
                if type(shape) is not VMobject:
                    copy.match_style(shape)
                    copy.set_points(shape.points)
                found.append(copy)
    return found


def _inside(shape: VMobject, box: Box) -> bool:
    left, bottom, right, top = box
    low, high = shape.points.min(axis=0), shape.points.max(axis=0)
    return bool(low[0] >= left and high[0] <= right and low[1] >= bottom and high[1] <= top)


def _composed(scene: LectureScene, shapes: list[VMobject]) -> VGroup:
    titles = _title(scene.words["title"], scene.settings.language)
    badge = _badge(str(scene.info.number), scene.color)
    rows = VGroup()
    for line, y in zip(titles, (_TITLE_Y, _SECOND_Y), strict=False):
        first = line is titles[0]
        left = badge.get_right()[0] + 0.3 if first else _LEFT
        size = 70 if first else 46
        row = Phrase(line, size=size, color=theme.INK if first else theme.MUTED, bold=first)
        if row.width > _RIGHT - left:
            row.scale((_RIGHT - left) / row.width)
        rows.add(row.place([left, y, 0], LEFT))
    badge.shift([0, _TITLE_Y - badge.get_y(), 0])
    y = (_TITLE_Y if len(titles) == 1 else _SECOND_Y) - 0.72
    rule = Line([_LEFT, y, 0], [_RIGHT, y, 0], stroke_width=5, color=scene.color)
    return VGroup(rows, badge, rule, _picture(shapes, y - 0.35))


def _title(title: str, language: str) -> list[str]:
    """The title, in two lines where it has two parts, or is long and has a comma."""
    marks = ("：", "，") if language == "zh" else (": ", ", ")
    for mark in marks if len(title) > _LONG_TITLE else marks[:1]:
        first, found, second = title.partition(mark)
        if found:
            return [first, second]
    return [title]


def _badge(number: str, color: ManimColor) -> VGroup:
    """The scene's number on a pill of its part's colour, from the left margin."""
    label = Phrase(number, size=64, color=theme.ink_on(color), bold=True)
    pill = RoundedRectangle(
        width=label.width + 0.55,
        height=1.06,
        corner_radius=0.3,
        stroke_width=0,
        fill_color=color,
        fill_opacity=1,
    )
    pill.move_to([_LEFT + pill.width / 2, 0, 0])
    label.place(pill.get_center())
    return VGroup(pill, label)


def _picture(shapes: list[VMobject], top: float) -> VGroup:
    """The moment, as large as there is room for."""
    picture = VGroup(*shapes)
    if not shapes:
        return picture
    room = (_RIGHT - _LEFT) / max(picture.width, 0.01), (top - _PICTURE_BOTTOM) / picture.height
    picture.scale(min(*room, _LARGEST), scale_stroke=True)
    return picture.move_to([0, (top + _PICTURE_BOTTOM) / 2, 0])


def draw(info: SceneInfo, settings: Settings, path: Path) -> Reads:
    """Play a scene without drawing it, for its cover alone; returns what was read. Raises
    LectureError."""
    kept: list[Moment] = []

    class Watched(playthrough.scene_class(info)):  # type: ignore[misc]
        def setup(self) -> None:
            kept.append(Moment(self))
            super().setup()

    Watched.__name__ = info.class_name
    playthrough.play_class(Watched, settings)
    kept[0].save(path)
    return kept[0].scene.reads
