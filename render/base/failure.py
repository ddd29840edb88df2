"""A failure of one step, as plain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a product was not made, in one line. ``mistake``: in the input, not in the code;
    ``lost``: its process was gone without a word, so that another try may help."""

    line: str
    mistake: bool
    lost: bool = False
