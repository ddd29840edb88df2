"""Training and inference side by side: large with pictures, or in one line of a table."""

from __future__ import annotations

from collections.abc import Sequence

from manim import LEFT, Mobject, VGroup, interpolate_color

from .. import theme
from ..values import constant
from .flow import Block
from .phrase import Number, Phrase

#: Edges of the two panels; the sign stands between them.
LEFT_PANEL = -3.86, 0.98
RIGHT_PANEL = 1.7, 6.54
SIGN_X = (LEFT_PANEL[1] + RIGHT_PANEL[0]) / 2
MIDDLES = sum(LEFT_PANEL) / 2, sum(RIGHT_PANEL) / 2


def sign_of(same: bool, y: float, size: float) -> Phrase:
    """``=`` or ``≠``, in its colour."""
    color = theme.ENCODER if same else theme.WEIGHT
    sign = Phrase("=" if same else "≠", size=size, color=color, bold=True)
    return sign.place([SIGN_X, y, 0]).set_z_index(1)


def panels(shared: bool, top: float, bottom: float, tint: float) -> VGroup:
    """One green panel over both sides for what they share, else one in each side's colour."""
    if shared:
        sides = [(LEFT_PANEL[0], RIGHT_PANEL[1], theme.ENCODER)]
    else:
        sides = [(*LEFT_PANEL, theme.TRAINING), (*RIGHT_PANEL, theme.INFERENCE)]
    made = VGroup()
    for left, right, color in sides:
        fill = interpolate_color(theme.PANEL, color, tint)
        made.add(Block((left, top), (right, bottom), color=color, fill=fill, stroke=2))
    return made


def named(number: int, name: str, y: float, size: float, indent: float) -> VGroup:
    """A stage's number and its name, which may have two lines."""
    digit = Number(constant(number), 0, size=size, color=theme.MUTED, bold=True)
    group = VGroup(digit.place([theme.LEFT_EDGE, y, 0], LEFT))
    lines = name.split("\n")
    for i, text in enumerate(lines):
        line = Phrase(text, size=size, bold=True)
        up = (len(lines) - 1) / 2 - i
        group.add(line.place([theme.LEFT_EDGE + indent, y + 0.36 * up, 0], LEFT))
    return group


def one_line(name: str) -> str:
    """A name of two lines in one."""
    return name.replace("-\n", "-").replace("\n", " ")


class Contrast(VGroup):
    """A stage of the model: its name, and what it is in training and in inference, as pictures.

    ``shared`` says that both do the same thing, ``same`` that the same comes out.
    """

    HEIGHT = 1.26

    def __init__(
        self,
        number: int,
        name: str,
        y: float,
        training: Mobject,
        inference: Mobject,
        *,
        shared: bool = False,
        same: bool = False,
    ) -> None:
        self.name_of_stage = named(number, name, y, 23, 0.34)
        self.panels = panels(shared, y + self.HEIGHT / 2, y - self.HEIGHT / 2, 0.05)
        self.sign = sign_of(same, y, 40)
        self.training = training.move_to([MIDDLES[0], y, 0])
        self.inference = inference.move_to([MIDDLES[1], y, 0])
        super().__init__(self.panels, self.name_of_stage, self.sign, self.training, self.inference)


class TableLine(VGroup):
    """The same in one line; a single text stands over both sides."""

    HEIGHT = 0.42

    def __init__(self, number: int, name: str, y: float, texts: Sequence[Phrase]) -> None:
        shared = len(texts) == 1
        self.name_of_stage = named(number, one_line(name), y, 19, 0.28)
        self.panels = panels(shared, y + self.HEIGHT / 2, y - self.HEIGHT / 2, 0.1)
        self.texts = VGroup(*texts)
        for text, x in zip(texts, [SIGN_X] if shared else MIDDLES, strict=True):
            text.place([x, y, 0]).set_z_index(1)
        super().__init__(self.panels, self.name_of_stage, self.texts)
        if not shared:
            self.add(sign_of(False, y, theme.HEADING))
