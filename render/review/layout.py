"""The picture: margins, overlaps, sizes, contrast; and texts on their way. Works on Manim's
geometry, not on pixels.

While a transform bends the outlines of one text into those of another, neither can be read. So
each transform must have the same text at both ends, and keep its letters' shapes in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, zip_longest

import numpy as np
from manim import (
    Animation,
    AnimationGroup,
    FadeTransform,
    ManimColor,
    Mobject,
    Text,
    Transform,
    VMobject,
    interpolate_color,
)
from manim.animation.transform_matching_parts import TransformMatchingAbstractBase

from render.review.fault import Fault
from scenes import fonts, theme
from scenes.onscreen import Box, Item, Shape, TextItem, box_of, text_of
from scenes.parts.equation import Root
from scenes.parts.header import MiniMap
from scenes.parts.motion import Flight
from scenes.parts.phrase import Glyphs

#: Ink may come this close to the margin (rounding of glyph outlines), in frame units.
_SLACK = 0.02
_MARGIN_X, _MARGIN_Y = theme.RIGHT_EDGE, 4 * 0.92
#: Contrast of WCAG 2.1 AA for text, and for text that is dimmed on purpose.
READABLE, READABLE_DIMMED = 4.5, 3.0
#: How far a point of an outline may be from where a rigid move takes it, as a share of the height.
_TOLERANCE = 0.02

Ends = tuple[Mobject | None, Mobject | None]


def check_layout(items: Sequence[Item]) -> Iterator[Fault]:
    """All layout checks on what is on screen now, in drawing order."""
    texts = [item for item in items if isinstance(item, TextItem)]
    shapes = [item for item in items if isinstance(item, Shape)]
    yield from check_margins(items)
    yield from check_overlaps(texts)
    yield from check_lines(texts, shapes)
    yield from check_sizes(texts)
    yield from check_contrast(items)
    yield from check_glyphs(texts)


def check_margins(items: Sequence[Item]) -> Iterator[Fault]:
    """Everything inside the frame with its margin, text above the zone of captions. It must hold
    even while things move."""
    for item in items:
        is_text = isinstance(item, TextItem)
        name = item.text if isinstance(item, TextItem) else type(item.mobject).__name__
        left, bottom, right, top = item.box
        said = ""
        if left < -_MARGIN_X - _SLACK or right > _MARGIN_X + _SLACK:
            said = "closer than 4 % to a side"
        elif top > _MARGIN_Y + _SLACK or bottom < -_MARGIN_Y - _SLACK:
            said = "closer than 4 % to the edge"
        elif bottom < theme.CAPTION_ZONE - _SLACK and is_text:
            said = "where captions are shown"
        if said:
            yield Fault("margin", f"{name!r} is {said}", item.box)


def inner_box(item: TextItem) -> Box:
    """The box that the ink of a text really fills, a little smaller than its bounds."""
    left, bottom, right, top = item.box
    dx, dy = min(0.02, (right - left) * 0.05), (top - bottom) * 0.08
    return left + dx, bottom + dy, right - dx, top - dy


def _overlap(a: Box, b: Box) -> bool:
    return bool(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def check_overlaps(texts: Sequence[TextItem]) -> Iterator[Fault]:
    """Text over other text."""
    boxes = [inner_box(item) for item in texts]
    for (i, a), (j, b) in combinations(enumerate(texts), 2):
        if _overlap(boxes[i], boxes[j]):
            box = box_of(a.mobject, b.mobject)
            yield Fault("overlap", f"{a.text!r} and {b.text!r} overlap", box)


def check_lines(texts: Sequence[TextItem], shapes: Sequence[Shape]) -> Iterator[Fault]:
    """Text crossed by a line: the stroke of a shape that runs through its ink."""
    strokes = [
        shape
        for shape in shapes
        if shape.mobject.get_stroke_opacity() > 0.1 and shape.mobject.get_stroke_width() > 0
    ]
    outlines: dict[int, np.ndarray] = {}
    for item in texts:
        left, bottom, right, top = box = inner_box(item)
        roots = [ancestor for ancestor in item.path if isinstance(ancestor, Root)]
        for shape in strokes:
            if any(root in shape.path for root in roots) or not _overlap(box, shape.box):
                continue
            if id(shape) not in outlines:
                outlines[id(shape)] = _polyline(shape.mobject)
            x, y = outlines[id(shape)].T
            if ((x > left) & (x < right) & (y > bottom) & (y < top)).any():
                what = f"{item.text!r} is crossed by a {type(shape.mobject).__name__}"
                yield Fault("line", what, item.box)
                break


def _polyline(mobject: VMobject) -> np.ndarray:
    """Points along the outline, close enough that no text slips between two of them."""
    curves = mobject.points.reshape(-1, 4, 3)[:, :, :2]
    length = np.linalg.norm(curves[:, 3] - curves[:, 0], axis=1).max(initial=0.0)
    t = np.linspace(0, 1, int(np.clip(length / 0.05, 4, 300)))[:, None, None]
    a, b, c, d = (curves[None, :, k] for k in range(4))
    points = (1 - t) ** 3 * a + 3 * (1 - t) ** 2 * t * b + 3 * (1 - t) * t**2 * c + t**3 * d
    return np.asarray(points).reshape(-1, 2)


def check_sizes(texts: Sequence[TextItem]) -> Iterator[Fault]:
    """No text under the smallest size, the mini map's labels apart."""
    for item in texts:
        if isinstance(item.mobject, Glyphs):
            size = item.em / theme.EM
            in_map = any(isinstance(ancestor, MiniMap) for ancestor in item.path)
            least = theme.MAP if in_map else theme.SMALLEST
            if size < least - 0.3:
                what = f"{item.text!r} has size {size:.1f}, at least {least} is readable"
                yield Fault("size", what, item.box)


def check_contrast(items: Sequence[Item]) -> Iterator[Fault]:
    """Every text against what lies behind it."""
    for position, item in enumerate(items):
        if not isinstance(item, TextItem):
            continue
        for color, opacity, where in _inks(item):
            behind = _behind(items[:position], where)
            ink = interpolate_color(behind, color, min(1.0, opacity))
            least = READABLE if opacity > 0.99 else READABLE_DIMMED
            ratio = theme.contrast(ink, behind)
            if ratio < least - 0.05:
                what = f"{item.text!r} has contrast {ratio:.1f}, at least {least} is readable"
                yield Fault("contrast", what, item.box)
                break


def _inks(item: TextItem) -> list[tuple[ManimColor, float, np.ndarray]]:
    """Each colour in a text once, with its opacity and a place where it stands."""
    found: dict[tuple[str, float], tuple[ManimColor, float, np.ndarray]] = {}
    for glyph in item.mobject.get_family():
        if isinstance(glyph, VMobject) and glyph.has_points():
            color, opacity = glyph.get_fill_color(), round(float(glyph.get_fill_opacity()), 2)
            if opacity > 0:
                key = (color.to_hex(), opacity)
                found.setdefault(key, (color, opacity, glyph.get_center()))
    return list(found.values())


def _behind(below: Sequence[Item], where: np.ndarray) -> ManimColor:
    """The colour behind a place: the filled shapes drawn before, one over the other."""
    color = theme.BACKGROUND
    for item in below:
        if isinstance(item, Shape):
            left, bottom, right, top = item.box
            if not (left < where[0] < right and bottom < where[1] < top):
                continue
            opacity = float(item.mobject.get_fill_opacity())
            if opacity > 0.02:
                color = interpolate_color(color, item.mobject.get_fill_color(), min(1, opacity))
    return color


def check_glyphs(texts: Sequence[TextItem]) -> Iterator[Fault]:
    """Characters without a glyph, in raw Manim text as well; and raw text in another font."""
    for item in texts:
        if isinstance(item.mobject, (Glyphs, Text)) and (lost := fonts.missing(item.text)):
            yield Fault("glyph", f"{item.text!r}: no glyph for {lost!r}", item.box)
        if isinstance(item.mobject, Text) and item.mobject.font != theme.FONT:
            what = f"{item.text!r} is set in {item.mobject.font or 'the system font'}"
            yield Fault("glyph", what, item.box)


def check_morphs(animations: Iterable[Animation]) -> Iterator[Fault]:
    """Faults of the animations that are playing now."""
    for animation in flat(animations):
        if isinstance(animation, Flight) and animation.has_landed:
            continue  # the new text is there, whole
        pairs = [pair for ends in ends_of(animation) for pair in text_pairs(*ends)]
        faults = [fault for pair in pairs if (fault := _melting(*pair))]
        start = getattr(animation, "starting_mobject", None)
        if not faults and isinstance(animation, Transform) and type(start) is not Mobject:
            pairs = [*text_pairs(animation.mobject, start)]  # a bare mobject: not begun
            faults = [fault for pair in pairs if (fault := _bent(*pair))]
        yield from faults


def flat(animations: Iterable[Animation]) -> Iterator[Animation]:
    """The animations that groups, lagged starts and successions are made of; what transforms
    matching parts stays whole, since its parts no longer know their texts."""
    for animation in animations:
        if isinstance(animation, AnimationGroup) and not isinstance(
            animation, TransformMatchingAbstractBase
        ):
            yield from flat(animation.animations)
        else:
            yield animation


def ends_of(animation: Animation) -> Iterator[Ends]:
    """What a transform starts from and what it turns that into; nothing for other animations."""
    if isinstance(animation, TransformMatchingAbstractBase):
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
