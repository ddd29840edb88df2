"""How things move from their parents."""

from __future__ import annotations

from collections.abc import Iterable

from manim import (
    Animation,
    AnimationGroup,
    ApplyMethod,
    FadeIn,
    FadeOut,
    Succession,
    TransformFromCopy,
    VMobject,
)

from .phrase import Glyphs


def fly(parent: VMobject, child: VMobject) -> Animation:
    """``child`` comes from ``parent``, which stays.

    The same text flies over; another text (a score that becomes its exponential) sets out from
    the parent's place and fades in on the way, since one number melting into another is unreadable.
    """
    same = isinstance(parent, Glyphs) and isinstance(child, Glyphs) and parent.text == child.text
    if same:
        return TransformFromCopy(parent, child)
    return FadeIn(child, target_position=parent)


def born_of(child: VMobject, *parents: VMobject) -> list[Animation]:
    """``child`` appears where copies of its parents come together and vanish; they themselves
    stay."""
    return [*(FadeOut(parent.copy(), target_position=child) for parent in parents), FadeIn(child)]


def born_each(children: Iterable[VMobject], *families: Iterable[VMobject]) -> list[Animation]:
    """:func:`born_of` for each child with its own parents, one of each family."""
    return [
        move
        for child, *parents in zip(children, *families, strict=True)
        for move in born_of(child, *parents)
    ]


def hand_over(parents: Iterable[VMobject], children: Iterable[VMobject]) -> list[Animation]:
    """Each parent flies to its child's place and gives way to it: the same number, but written
    otherwise (fewer decimals, another colour)."""
    return [
        Succession(
            ApplyMethod(parent.move_to, child, run_time=0.75),
            AnimationGroup(FadeOut(parent), FadeIn(child), run_time=0.25),
        )
        for parent, child in zip(parents, children, strict=True)
    ]
