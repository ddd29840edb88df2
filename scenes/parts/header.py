"""What frames every scene: step badge, title, mini map, narration line, takeaway."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from manim import (
    LEFT,
    RIGHT,
    Animation,
    FadeIn,
    FadeOut,
    Line,
    ManimColor,
    Rectangle,
    RoundedRectangle,
    VGroup,
)

from .. import texts, theme
from ..values import Run, constant
from .phrase import Facts, Number, Phrase, fill, row

LAST_STEP = 95


def stations(run: Run) -> dict[str, str]:
    """What the mini map shows of a model: the name of each part, and how it is written there."""
    inputs = "E" if run.setting("position.kind") == "none" else "E+PE"
    layers = [
        f"{side} {n + 1}"
        for side, name in (("Enc", "encoder"), ("Dec", "decoder"))
        for n in range(len(run.layers(name)))
    ]
    return {"E+PE": inputs, **{name: name for name in (*layers, "Out")}}


class Badge(VGroup):
    """The pill with the step number: ``24 / 95``, or ``40–44 / 95`` for several steps."""

    HEIGHT = 0.42

    def __init__(
        self, steps: tuple[int, int], color: ManimColor, least_width: float = 1.16
    ) -> None:
        style: dict[str, Any] = {"size": theme.SMALL, "color": theme.ink_on(color), "bold": True}
        first, last, end = (Number(constant(step), 0, **style) for step in (*steps, LAST_STEP))
        several = [Phrase("–", **style), last] if steps[0] < steps[1] else []
        label = VGroup(row(first, *several, gap=0.05))
        label.add(row(Phrase("/", **style), end, gap=0.09, at=(label.get_right()[0] + 0.09, 0)))
        pill = RoundedRectangle(
            width=max(least_width, label.width + 0.36),
            height=self.HEIGHT,
            corner_radius=self.HEIGHT / 2,
            stroke_width=0,
            fill_color=color,
        ).set_fill(opacity=1)
        label.shift(pill.get_center() - [label.get_x(), first.midline, 0])
        super().__init__(pill, label)


class MiniMap(VGroup):
    """The model as a row of boxes, ``parts`` as :func:`stations` has them; those now told are
    lit up."""

    def __init__(self, parts: Mapping[str, str], lit: tuple[str, ...], color: ManimColor) -> None:
        super().__init__()
        boxes = VGroup()
        for name, written in parts.items():
            on = name in lit
            box = RoundedRectangle(
                width=0.72,
                height=0.3,
                corner_radius=0.08,
                stroke_width=1.5,
                stroke_color=color if on else theme.HAIRLINE,
                fill_color=color if on else theme.BACKGROUND,
                fill_opacity=1,
            )
            ink = theme.ink_on(color) if on else theme.MUTED
            label = Phrase(written, size=theme.MAP, color=ink, bold=on)
            label.place(box.get_center())
            boxes.add(VGroup(box, label))
        boxes.arrange(RIGHT, buff=0.1)
        wires = VGroup(
            *(
                Line(a.get_right(), b.get_left(), stroke_width=1.5, color=theme.HAIRLINE)
                for a, b in itertools.pairwise(boxes)
            )
        )
        self.add(wires, boxes)


class Header(VGroup):
    """Title, mini map and the hairline under them; the badge, which changes, stands by itself.

    ``spans`` are the first and last steps of all beats: the badge is as wide as the widest needs.
    """

    def __init__(
        self,
        title: str,
        spans: Sequence[tuple[int, int]],
        color: ManimColor,
        parts: Mapping[str, str],
        lit: tuple[str, ...],
        size: float,
    ) -> None:
        super().__init__()
        self._parts = parts
        self.color_of_part = color
        self._badge_width = max(Badge(span, color).width for span in spans)
        self.badge = Badge(spans[0], color, self._badge_width)
        self.badge.move_to([theme.LEFT_EDGE, theme.HEADER_Y, 0], LEFT)
        self.minimap = MiniMap(parts, lit, color).move_to(
            [theme.RIGHT_EDGE, theme.HEADER_Y, 0], RIGHT
        )
        self.title = Phrase(title, size=size, bold=True)
        room = self.minimap.get_left()[0] - self.badge.get_right()[0] - 0.6
        if self.title.width > room:
            self.title.scale(room / self.title.width)
        self.title.place([self.badge.get_right()[0] + 0.28, theme.HEADER_Y, 0], align=LEFT)
        self.rule = Line(
            [theme.LEFT_EDGE, theme.RULE_Y, 0],
            [theme.RIGHT_EDGE, theme.RULE_Y, 0],
            stroke_width=1.5,
            color=theme.HAIRLINE,
        )
        self.add(self.title, self.minimap, self.rule)

    def relight(self, lit: tuple[str, ...]) -> list[Animation]:
        """The animations after which the mini map lights other boxes."""
        old, new = self.minimap, MiniMap(self._parts, lit, self.color_of_part)
        self.minimap = new.move_to(old)
        self.remove(old).add(new)
        return [FadeOut(old), FadeIn(new)]

    def badge_for(self, steps: tuple[int, int]) -> Badge:
        """A badge for other steps, in the same place."""
        return Badge(steps, self.color_of_part, self._badge_width).move_to(self.badge)


class Narration(VGroup):
    """The sentence of a beat, at the foot of the picture, with a bar in the part's colour.

    One line where it fits, else two, broken where the language allows.
    """

    def __init__(
        self,
        template: str,
        facts: Facts,
        color: ManimColor,
        *,
        size: float = theme.BODY,
        ink: ManimColor = theme.INK,
        bold: bool = False,
    ) -> None:
        super().__init__()
        self.text = fill(template, facts)
        room = theme.WIDTH - 0.25
        lines = VGroup(Phrase(template, facts, size=size, color=ink, bold=bold))
        if lines.width > room:
            halves = break_template(template, facts)
            lines = VGroup(*(Phrase(h, facts, size=size, color=ink, bold=bold) for h in halves))
            if lines.width > room:
                for line in lines:
                    line.scale(room / lines.width)
        x = theme.LEFT_EDGE + 0.25
        pitch = 0.44
        for index, line in enumerate(lines):
            y = theme.NARRATION_Y + pitch * (len(lines) - 1 - index)
            line.place([x, y, 0], align=LEFT)
        bar = Rectangle(
            width=0.07,
            height=pitch * len(lines) - 0.04,
            stroke_width=0,
            fill_color=color,
            fill_opacity=1,
        )
        bar.move_to([theme.LEFT_EDGE + 0.035, theme.NARRATION_Y + pitch * (len(lines) - 1) / 2, 0])
        self.lines = lines
        self.add(bar, lines)


_AFTER = "，。；：！？、,;:"


def break_template(template: str, facts: Facts) -> tuple[str, str]:
    """Split a template where its two halves come out most alike: after punctuation if it can be,
    else at a space or between two CJK letters; never inside a tag or a fact."""
    depth = 0
    candidates: list[tuple[float, int]] = []
    total = _measure(template, facts)
    for position, (char, after) in enumerate(itertools.pairwise(template), start=1):
        depth += {"<": 1, "{": 1, ">": -1, "}": -1}.get(char, 0)
        cost = _cost_of_break(char, after)
        if depth or cost is None:
            continue
        try:
            first = _measure(texts.Template(template[:position]), facts)
        except ValueError:  # inside a pair of tags
            continue
        candidates.append((abs(first / total - 0.52) + cost, position))
    if not candidates:
        raise ValueError(f"no place to break {template!r}")
    _, best = min(candidates)
    halves = template[:best].rstrip(), template[best:].lstrip()
    return texts.Template(halves[0]), texts.Template(halves[1])


def _cost_of_break(char: str, after: str) -> float | None:
    if after in _AFTER or after in "」）":
        return None
    if char in _AFTER:
        return 0.0
    if char == " ":
        return 0.12
    return 0.3 if _is_cjk(char) and _is_cjk(after) else None


def _is_cjk(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff"


def _measure(template: str, facts: Facts) -> float:
    """A rough width: CJK letters count double."""
    return float(sum(2 if ord(c) > 0x2E80 else 1 for c in fill(template, facts))) or 1.0
