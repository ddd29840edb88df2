"""What the fast renderer replaces or counts on in Manim is as it was when it was written.

If one of these fails after an update of Manim: read what changed in that method, see whether
render/draw/fast still does the same, run ``./render.sh test -m slow -k test_fast``, then put the
new digest here. Until then ``./render.sh --renderer plain`` draws with Manim itself.
"""

from __future__ import annotations

import hashlib
import inspect

import manim
import pytest
from manim.renderer.cairo_renderer import CairoRenderer
from manim.utils import bezier, family, iterables

from render.draw.fast import hooks

DEPENDS_ON = [
    (manim.Mobject.get_family, "d0b2953532b4"),
    (manim.Mobject._iter_family, "50a525fb52d5"),
    (manim.Mobject.family_members_with_points, "fc69ac2726f2"),
    (manim.Mobject.__deepcopy__, "8a1349b6fc8a"),
    (manim.Mobject.interpolate, "398eaf3ece84"),
    (manim.VMobject.interpolate_color, "1f9f95a1383f"),
    (manim.VMobject.get_subpath_split_indices_from_points, "f6390df4e190"),
    (manim.VMobject.consider_points_equals_2d, "921342a98a9f"),
    (manim.VMobject.get_stroke_width, "2c990262bbc9"),
    (manim.VMobject.get_fill_rgbas, "0a9fe8988031"),
    (manim.VMobject.get_stroke_rgbas, "6661389968a6"),
    (manim.Animation.interpolate_mobject, "6df42ab42e16"),
    (manim.Animation.get_sub_alpha, "0e40f96921a7"),
    (manim.Transform.get_all_families_zipped, "cf5fcb6ffe0a"),
    (manim.Transform.interpolate_submobject, "cb3c7233b8c1"),
    (bezier.interpolate, "a2a2d9f04594"),
    (family.extract_mobject_family_members, "90b769a1324e"),
    (iterables.remove_list_redundancies, "4fd66b34afb4"),
    (manim.Camera.get_mobjects_to_display, "ef93088d70b3"),
    (manim.Camera.capture_mobjects, "958b8f23af48"),
    (manim.Camera.type_or_raise, "c22469b70ba6"),
    (manim.Camera.get_cairo_context, "52cd4d27b913"),
    (manim.Camera.display_vectorized, "4d9d158f2a42"),
    (manim.Camera.set_cairo_context_path, "0e53e5837e78"),
    (manim.Camera.set_cairo_context_color, "2c53d3a7c71e"),
    (manim.Camera.apply_fill, "021a92466cd3"),
    (manim.Camera.apply_stroke, "81447e68863e"),
    (manim.Camera.transform_points_pre_display, "04eaaf6f29c6"),
    (CairoRenderer.play, "5affbe0f311d"),
    (CairoRenderer.update_frame, "8f79c10a4826"),
    (CairoRenderer.render, "924e3bd668b2"),
    (CairoRenderer.add_frame, "eadf486029f0"),
    (CairoRenderer.freeze_current_frame, "a95825fff9f7"),
    (CairoRenderer.save_static_frame_data, "bd2d2188c208"),
    (manim.Scene.play_internal, "c83eff575fd7"),
]


def digest(thing: object) -> str:
    return hashlib.sha256(inspect.getsource(thing).encode()).hexdigest()[:12]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("thing", "known"), DEPENDS_ON, ids=lambda value: getattr(value, "__qualname__", value)
)
def test_manims_method_is_the_one_we_know(thing: object, known: str) -> None:
    assert digest(thing) == known, f"Manim {manim.__version__} changed {thing}: see this file's top"


def test_hooks_come_and_go() -> None:
    before = [getattr(kind, name) for kind, name in hooks.REPLACED]
    hooks.install()
    hooks.install()
    try:
        assert all(
            getattr(k, n) is not old for (k, n), old in zip(hooks.REPLACED, before, strict=True)
        )
    finally:
        hooks.remove()
    assert [getattr(kind, name) for kind, name in hooks.REPLACED] == before


def test_a_copy_is_as_deep_and_as_shared_as_manims() -> None:
    group = manim.VGroup(manim.Square(), manim.Circle(color=manim.RED))
    group.again, group.facts = group[0], {"circle": group[1], "list": [group[0].points]}
    group.add_updater(lambda mobject: None)
    plain = group.copy()
    hooks.install()
    try:
        ours = group.copy()
    finally:
        hooks.remove()
    assert sorted(vars(ours)) == sorted(vars(plain))
    for copied in (ours, plain):
        assert copied.again is copied[0] is not group[0]
        assert copied.facts["circle"] is copied[1]
        assert copied.facts["list"][0] is copied[0].points
        assert copied[0].points is not group[0].points
        assert (copied[1].points == group[1].points).all()
        assert copied.updaters == group.updaters and copied.updaters is not group.updaters
        assert copied.original_id == str(id(group))
