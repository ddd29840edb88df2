"""Text and numbers: every letter on the screen is made here.

Pango lays glyphs out on whole pixels, so small text comes out badly spaced; we lay out once at a
large size and scale. The layout of a string is kept and copied, since making it costs 15-40 ms.
Digits are put together one by one, each with the same width.
"""

from __future__ import annotations

import tempfile
from functools import cache
from typing import Any

import numpy as np
from manim import (
    BOLD,
    DOWN,
    LEFT,
    NORMAL,
    ORIGIN,
    RIGHT,
    ManimColor,
    Text,
    VGroup,
    VMobject,
    config,
)

from engine.errors import LectureError

from .. import fonts, texts, theme
from ..texts import Facts, Say, fill
from ..values import Scalar
from . import outlines

_BASE_SIZE = 100
_PROBE = "x"
#: Pango breaks lines at the picture's width in pixels; text must not depend on that.
_NEVER_WRAPS = 1_000_000
#: Positions of repeated tokens are digits of this size, this far below the baseline in em.
SUBSCRIPT, SUBSCRIPT_DROP = 0.62, 0.12
_RAISED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
#: Height above the baseline, in em, of the line through the middle of digits and capitals.
MIDLINE = 0.3665


@cache
def _layout(text: str, weight: str) -> tuple[tuple[VMobject, ...], float]:
    """One glyph per character of ``text`` (spaces are empty) at size 100, and their baseline."""
    key = (text, weight, theme.FONT, str(_BASE_SIZE))
    kept = outlines.load(*key)
    if kept is None:
        kept = _set(text, weight)
        outlines.save(*kept, *key)
    return tuple(map(_plain, kept[0])), kept[1]


def _set(text: str, weight: str) -> tuple[list[np.ndarray], float]:
    """Points of the glyphs, and the baseline, from Pango."""
    letters = text.translate(_RAISED)
    lost = fonts.missing(letters)
    if lost:
        raise LectureError(
            where=theme.FONT, field=repr(text), expected="a glyph for each", found=repr(lost)
        )
    before = config.pixel_width, config.text_dir
    with tempfile.TemporaryDirectory() as folder:  # Manim takes what it finds under a text's name
        # tempconfig sets every option anew, which takes 20 ms
        config.pixel_width, config.text_dir = _NEVER_WRAPS, folder
        try:
            made = Text(
                _PROBE + letters,
                font=theme.FONT,
                weight=weight,
                font_size=_BASE_SIZE,
                disable_ligatures=True,
                warn_missing_font=False,
            )
        finally:
            config.pixel_width, config.text_dir = before
    probe, *glyphs = made.submobjects
    baseline = float(probe.get_bottom()[1])
    return _lower([glyph.points for glyph in glyphs], text, baseline), baseline


def _lower(points: list[np.ndarray], text: str, baseline: float) -> list[np.ndarray]:
    """The outlines with spaces empty and subscripts small, each where the text has room for it:
    the font has no subscripts."""
    placed, back = [], 0.0
    for char, outline in zip(text, points, strict=True):
        if char.isspace():
            placed.append(np.zeros((0, 3)))
            continue
        outline = outline - [back, 0, 0]
        if ord(char) in _RAISED:
            left, right = outline[:, 0].min(), outline[:, 0].max()
            corner = np.array([left, baseline, 0])
            drop = np.array([0, SUBSCRIPT_DROP * theme.EM * _BASE_SIZE, 0])
            outline = corner + SUBSCRIPT * (outline - corner) - drop
            back += (1 - SUBSCRIPT) * (right - left)
        placed.append(outline)
    return placed


def _plain(points: np.ndarray) -> VMobject:
    """The outline alone, as the cheapest kind of mobject to copy."""
    outline = VMobject(stroke_width=0, fill_opacity=1)
    if len(points):
        outline.set_points(points)
    return outline


@cache
def _digit(char: str, weight: str) -> tuple[VMobject, float]:
    """A glyph whose pen position is the origin, and its advance, in frame units at size 100."""
    glyphs, baseline = _layout(char + char, weight)
    advance = float(glyphs[1].get_left()[0] - glyphs[0].get_left()[0])
    zero, _ = _layout("00", weight)
    digit_width = float(zero[1].get_left()[0] - zero[0].get_left()[0])
    if char.isdigit() or char in "+\u2212":
        advance = digit_width
    glyph = glyphs[0].copy()
    left = (advance - glyph.width) / 2
    glyph.shift(RIGHT * (left - glyph.get_left()[0]) + DOWN * baseline)
    return glyph, advance


def _forms(outlines: list[VMobject]) -> np.ndarray:
    """Each outline's box, area and centre of mass relative to the whole: alike however the text
    is placed or scaled, and however its curves are subdivided. Shape (outlines, 7)."""
    if not outlines:
        return np.zeros((0, 7))
    every = np.concatenate([outline.points[:, :2] for outline in outlines])
    corner = every.min(axis=0)
    height = float(every[:, 1].max() - corner[1]) or 1.0
    return np.array([_form((outline.points[:, :2] - corner) / height) for outline in outlines])


def _form(points: np.ndarray) -> list[float]:
    """Box, area and centre of mass of an outline of cubic curves, ``points`` of shape (4 n, 2)."""
    curves = points.reshape(-1, 4, 2)
    t = np.linspace(0, 1, 9)[:, None, None]
    a, b, c, d = (curves[None, :, k] for k in range(4))
    path = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
    start, end = path[:-1], path[1:]
    cross = start[..., 0] * end[..., 1] - end[..., 0] * start[..., 1]
    area = cross.sum() / 2
    mass = ((start + end) * cross[..., None]).sum(axis=(0, 1)) / (6 * area) if area else [0, 0]
    low, high = points.min(axis=0), points.max(axis=0)
    return [*low, *high, abs(area), *(mass if abs(area) > 1e-3 else low)]


class Glyphs(VGroup):
    """Letters that know their size, their baseline, and where to stand."""

    def __init__(self, *glyphs: VMobject, text: str, size: float, baseline: float) -> None:
        super().__init__(*glyphs)
        self.text = text
        self.size = size
        inked = float(self.height) or 1.0
        self._rise = (baseline - self.get_bottom()[1]) / inked
        self._em = size * theme.EM / inked

    def glyphs_wanted(self) -> list[VMobject]:
        """The outlines that ``text`` should have, somewhere and of some size."""
        raise NotImplementedError

    def is_intact(self) -> bool:
        """Whether the outlines are still those of ``text``, moved and scaled at most."""
        # a transform that needed more outlines leaves invisible ones behind
        inked = [m for m in self.get_family() if m.has_points() and m.get_fill_opacity() > 0]
        now, wanted = _forms(inked), _forms(self.glyphs_wanted())
        return now.shape == wanted.shape and bool(np.allclose(now, wanted, atol=0.02))

    @property
    def em(self) -> float:
        """The em in frame units, as scaled now."""
        return self._em * self.height

    @property
    def baseline(self) -> float:
        return float(self.get_bottom()[1] + self._rise * self.height)

    @property
    def midline(self) -> float:
        """Height of the line through the middle of digits and capitals."""
        return self.baseline + MIDLINE * self.em

    def place(self, point: Any, align: np.ndarray = ORIGIN) -> Any:
        """Stand at ``point``: the midline at its height, the edge in direction ``align`` (LEFT,
        RIGHT or the centre) at its x."""
        x = self.get_center()[0] if align is ORIGIN else self.get_edge_center(align)[0]
        return self.shift([point[0] - x, point[1] - self.midline, 0])

    def beside(self, other: Any, gap: float = 0.2, side: np.ndarray = RIGHT) -> Any:
        """Stand left or right of ``other`` at its midline."""
        line = other.midline if isinstance(other, Glyphs) else other.get_center()[1]
        x = other.get_edge_center(side)[0] + gap * side[0]
        return self.place([x, line, 0], align=-side)


class Number(Glyphs):
    """A value of the trace as digits: the only way for a number to reach the screen.

    ``scalar`` says where it comes from, ``decimals`` and ``text`` how it is written.
    """

    def __init__(
        self,
        scalar: Scalar,
        decimals: int = 4,
        *,
        size: float = theme.BODY,
        color: ManimColor = theme.INK,
        bold: bool = False,
        signed: bool = False,
        bracket: bool = False,
    ) -> None:
        text = scalar.written(decimals, signed=signed)
        if bracket and text.startswith("\u2212"):
            text = f"({text})"
        super().__init__(*_set_digits(text, bold), text=text, size=_BASE_SIZE, baseline=0.0)
        self.scalar = scalar
        self.decimals = decimals
        self.bold = bold
        self.size = size
        self.scale(size / _BASE_SIZE, about_point=ORIGIN)
        self.set_color(color)

    def glyphs_wanted(self) -> list[VMobject]:
        return _set_digits(self.text, self.bold)


def _set_digits(text: str, bold: bool) -> list[VMobject]:
    weight = BOLD if bold else NORMAL
    pen = 0.0
    glyphs = []
    for char in text:
        if char == " ":
            pen += _digit("0", weight)[1] / 2
            continue
        glyph, advance = _digit(char, weight)
        glyphs.append(glyph.copy().shift(RIGHT * pen))
        pen += advance
    return glyphs


class Quoted(Glyphs):
    """A value of the trace inside a sentence, set by Pango with the words around it."""

    def __init__(self, glyphs: list[VMobject], scalar: Scalar, decimals: int, text: str) -> None:
        baseline = min(float(glyph.get_bottom()[1]) for glyph in glyphs)
        super().__init__(*glyphs, text=text, size=_BASE_SIZE, baseline=baseline)
        self.scalar = scalar
        self.decimals = decimals


class Phrase(Glyphs):
    """A line of text; numbers in it stay traceable. A :class:`~scenes.texts.Template` is filled
    with facts, any other text is shown as it is. ``typed``: what neither numbers nor tokens say.

    Raises KeyError where a fact is missing and LectureError where the font lacks a glyph.
    """

    def __init__(
        self,
        template: str,
        facts: Facts | None = None,
        *,
        size: float = theme.BODY,
        color: ManimColor = theme.INK,
        bold: bool = False,
    ) -> None:
        facts = facts or {}
        text = fill(template, facts)
        glyphs, baseline = _layout(text, BOLD if bold else NORMAL)
        copies = [glyph.copy() for glyph in glyphs]
        parts = _colour_spans(template, facts, copies, color)
        super().__init__(*parts, text=text, size=_BASE_SIZE, baseline=baseline)
        self.size = size
        self.template = template
        self.typed = texts.typed(template, facts)
        self.bold = bold
        self.scale(size / _BASE_SIZE, about_point=ORIGIN).move_to(ORIGIN)

    def glyphs_wanted(self) -> list[VMobject]:
        glyphs, _ = _layout(self.text, BOLD if self.bold else NORMAL)
        return [glyph for glyph in glyphs if glyph.has_points()]


def _colour_spans(
    template: str, facts: Facts, glyphs: list[VMobject], color: ManimColor
) -> list[VMobject]:
    """Colour the glyphs by markup, and group those of a number. Spaces are left out."""
    parts: list[VMobject] = []
    position = 0
    for span in texts.spans(template):
        fact = facts[span.text] if span.is_fact else None
        length = len(span.text if fact is None else texts.letters(fact))
        mine = [glyph for glyph in glyphs[position : position + length] if glyph.has_points()]
        position += length
        for glyph in mine:
            glyph.set_color(theme.MARKUP[span.tag] if span.tag else color)
        if isinstance(fact, Say):
            parts.append(Quoted(mine, fact.scalar, fact.decimals, fact.text))
        else:
            parts.extend(mine)
    return parts


def row(*items: Glyphs, gap: float = 0.16, at: Any = ORIGIN, align: np.ndarray = LEFT) -> VGroup:
    """Set pieces side by side on one midline; ``align`` edge of the whole at ``at``."""
    x = 0.0
    for item in items:
        item.place([x, 0, 0], align=LEFT)
        x = item.get_right()[0] + gap
    whole = VGroup(*items)
    edge = whole.get_center()[0] if align is ORIGIN else whole.get_edge_center(align)[0]
    return whole.shift([at[0] - edge, at[1], 0])


__all__ = ["Facts", "Glyphs", "Number", "Phrase", "Quoted", "Say", "fill", "row"]
