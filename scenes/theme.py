"""Colours, sizes and places. Colours are named by what they mean, and mean it in every scene."""

from __future__ import annotations

from typing import Final

from manim import BLACK, WHITE, ManimColor, interpolate_color

from . import glyphs

BACKGROUND: Final = ManimColor("#0E1116")
PANEL: Final = ManimColor("#171C24")
HAIRLINE: Final = ManimColor("#2A323E")
INK: Final = ManimColor("#E8ECF1")
MUTED: Final = ManimColor("#8B95A5")

ENCODER: Final = ManimColor("#3FB68B")
TRAINING: Final = ManimColor("#F2994A")
INFERENCE: Final = ManimColor("#E879B9")
QUERY: Final = ManimColor("#5BA8F5")
KEY: Final = ManimColor("#F2A65A")
VALUE: Final = ManimColor("#B58CF0")
WEIGHT: Final = ManimColor("#FFD166")
MASKED: Final = ManimColor("#EF6461")
#: Ground of a cell that the mask forbids; MASKED hatching goes over it.
CLOSED: Final = ManimColor("#3A1F26")
GRADIENT: Final = ManimColor("#4DD0E1")
NEGATIVE: Final = QUERY
POSITIVE: Final = ManimColor("#F28C4A")

#: Tags of the text files.
MARKUP: Final = {
    "b": INK,
    "q": QUERY,
    "k": KEY,
    "v": VALUE,
    "w": WEIGHT,
    "m": MASKED,
    "e": ENCODER,
    "t": TRAINING,
    "i": INFERENCE,
    "g": GRADIENT,
    "u": MUTED,
}

FONT: Final = glyphs.FAMILY

# Sizes are Manim's font sizes at a frame 8 units high.
TITLE: Final = 34
HEADING: Final = 26
BODY: Final = 24
SMALL: Final = 20
SMALLEST: Final = 18
MAP: Final = 14

#: Frame units of the em at font size 1 (Manim's Text, measured; tests check it).
EM: Final = glyphs.EM

# Places: the frame is 14.22 x 8 units, its margins are 4 %.
LEFT_EDGE: Final = -6.54
RIGHT_EDGE: Final = 6.54
WIDTH: Final = RIGHT_EDGE - LEFT_EDGE
HEADER_Y: Final = 3.38
RULE_Y: Final = 2.92
TOP: Final = 2.72
BOTTOM: Final = -2.2
NARRATION_Y: Final = -2.72
#: Below this line players put their captions.
CAPTION_ZONE: Final = -3.04

FADE: Final = 0.4
MOVE: Final = 0.8
SLOW: Final = 1.2
LEAVE: Final = 0.5

#: How far something dims that the beat has moved on from.
DIMMED: Final = 0.4


def luminance(color: ManimColor) -> float:
    """Relative luminance of WCAG 2.1, from 0 (black) to 1 (white)."""
    channels = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in color.to_rgb()]
    return 0.2126 * channels[0] + 0.7152 * channels[1] + 0.0722 * channels[2]


def contrast(one: ManimColor, other: ManimColor) -> float:
    """Contrast ratio of WCAG 2.1, from 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def ink_on(fill: ManimColor) -> ManimColor:
    """Ink or background colour, whichever is easier to read on ``fill``; pure white or black on
    the middling fills where neither reaches a contrast of 4.5."""
    best = max((INK, BACKGROUND), key=lambda ink: contrast(ink, fill))
    if contrast(best, fill) >= 4.6:
        return best
    return max((WHITE, BLACK), key=lambda ink: contrast(ink, fill))


def weight_fill(weight: float) -> ManimColor:
    """Fill of a cell for an attention weight from 0 to 1: panel to gold."""
    return interpolate_color(PANEL, WEIGHT, min(1.0, max(0.0, weight)) ** 0.75)


def signed_fill(value: float, scale: float) -> ManimColor:
    """Fill of a cell of a signed matrix: blue below zero, orange above, panel at zero.

    ``scale`` is the magnitude that gets the full colour.
    """
    share = 0.0 if scale == 0 else min(1.0, abs(value) / scale)
    return interpolate_color(PANEL, POSITIVE if value > 0 else NEGATIVE, 0.62 * share)
