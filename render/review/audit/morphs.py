"""Texts on their way: moved and scaled as a whole, never melted into other letters.

While a transform bends the outlines of one text into those of another, neither can be read. So
each transform must have the same text at both ends, and keep its letters' shapes in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

import numpy as np
from manim import Animation, AnimationGroup, FadeTransform, Mobject, Transform, VMobject
from manim.animation.transform_matching_parts import TransformMatchingAbstractBase

from render.review.audit.fault import Fault, box_of
from scenes.onscreen import text_of
from scenes.parts import Flight

#: How far a point of an outline may be from where a rigid move takes it, as a share of the height.
_TOLERANCE = 0.02

Ends = tuple[Mobject | None, Mobject | None]


def check_morphs(animations: Iterable[Animation]) -> list[Fault]:
    """Faults of the animations that are playing now."""
    found = []
    for animation in flat(animations):
        if isinstance(animation, Flight) and animation.has_landed:
            continue  # the new text is there, whole
        faults = [_melting(*pair) for ends in ends_of(animation) for pair in text_pairs(*ends)]
        if not any(faults) and isinstance(animation, Transform):
            faults = [_bent(*pair) for pair in _on_the_way(animation)]
        found += [fault for fault in faults if fault is not None]
    return found


def flat(animations: Iterable[Animation]) -> Iterator[Animation]:
    """The animations that groups, lagged starts and successions are made of; what transforms
    matching parts stays whole, since its parts no longer know their texts."""
    for animation in animations:
        if isinstance(animation, AnimationGroup) and not _is_matching(animation):
            yield from flat(animation.animations)
        else:
            yield animation


def _is_matching(animation: Animation) -> bool:
    return isinstance(animation, TransformMatchingAbstractBase)


def ends_of(animation: Animation) -> Iterator[Ends]:
    """What a transform starts from and what it turns that into; nothing for other animations."""
    if _is_matching(animation):
        yield animation.to_remove[0], animation.to_add
    elif isinstance(animation, FadeTransform):
        yield animation.mobject[0], animation.to_add_on_completion
    elif isinstance(animation, Transform) and type(animation.target_mobject) is not Mobject:
        yield animation.mobject, animation.target_mobject  # a bare mobject: not begun


def text_pairs(one: Mobject | None, other: Mobject | None) -> Iterator[Ends]:
    """The texts in two mobjects, each with what stands in its place in the other."""
    if text_of(one) is not None or text_of(other) is not None:
        yield one, other
        return
    for pair in zip_longest(_parts(one), _parts(other)):
        yield from text_pairs(*pair)


def _parts(mobject: Mobject | None) -> Sequence[Mobject]:
    return mobject.submobjects if mobject is not None else ()


def _melting(one: Mobject | None, other: Mobject | None) -> Fault | None:
    before, after = text_of(one), text_of(other)
    if before == after:
        return None
    said = [repr(text) if text is not None else "no text" for text in (before, after)]
    what = f"a transform turns {said[0]} into {said[1]}"
    return Fault("morph", what, box_of(*(end for end in (one, other) if end is not None)))


def _on_the_way(animation: Transform) -> Iterator[Ends]:
    start = animation.starting_mobject
    if type(start) is not Mobject:  # a bare mobject: not begun
        yield from text_pairs(animation.mobject, start)


def _bent(now: Mobject | None, before: Mobject | None) -> Fault | None:
    if now is None or before is None or is_rigid(_points(before), _points(now)):
        return None
    return Fault("morph", f"a transform bends {text_of(now)!r} out of shape", box_of(now))


def _points(text: Mobject) -> np.ndarray:
    """All points of a text's outlines, shape (points, 2)."""
    points = [part.points[:, :2] for part in text.get_family() if isinstance(part, VMobject)]
    return np.concatenate(points) if points else np.zeros((0, 2))


def is_rigid(before: np.ndarray, now: np.ndarray) -> bool:
    """Whether ``now`` is ``before`` moved and scaled by one factor; both of shape (points, 2)."""
    if before.shape != now.shape:
        return False
    if not len(before):
        return True
    before, now = before - before.mean(axis=0), now - now.mean(axis=0)
    factor = (before * now).sum() / ((before**2).sum() or 1.0)
    height = float(np.ptp(now[:, 1])) or 1.0
    return bool(np.abs(now - factor * before).max() <= _TOLERANCE * height)
