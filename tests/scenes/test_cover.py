"""Covers: a moment of every scene, drawn so that it can be told apart at a glance."""

import numpy as np
import pytest
from PIL import Image

from scenes import cover, playthrough, registry, theme
from scenes.settings import Settings


def test_every_scene_has_a_moment_that_is_one_of_its_beats():
    assert [*cover.MOMENTS] == [info.slug for info in registry.SCENES]
    for info in registry.available():
        names = [name for name, _ in playthrough.scene_class(info).beats]
        assert cover.MOMENTS[info.slug][0] in names, info.slug


def test_a_title_in_two_parts_takes_two_lines():
    assert cover._title("注意力分数：谁该关注谁？", "zh") == ["注意力分数", "谁该关注谁？"]
    assert cover._title("Q, K, V: three roles of a token", "en") == [
        "Q, K, V",
        "three roles of a token",
    ]
    assert cover._title("Training and inference, stage by stage", "en") == [
        "Training and inference",
        "stage by stage",
    ]
    assert cover._title("第二层与 memory", "zh") == ["第二层与 memory"]


@pytest.mark.parametrize("info", [registry.TITLE_CARD, registry.SCENES[1]], ids=lambda i: i.slug)
def test_a_cover_is_drawn(info, tmp_path):
    path = tmp_path / "cover.png"
    cover.draw(info, Settings("en"), path)
    assert path.stat().st_size < 2_000_000
    with Image.open(path) as picture:
        assert picture.size == (1280, 720)
        pixels = np.asarray(picture.convert("RGB")).astype(int)
    ground = np.array(theme.BACKGROUND.to_int_rgb())
    drawn = np.abs(pixels - ground).max(axis=2) > 40
    assert 0.02 < drawn.mean() < 0.5
    margin = 20
    inner = np.zeros_like(drawn)
    inner[margin:-margin, margin:-margin] = True
    assert not (drawn & ~inner).any()  # nothing runs over the edge


def test_scenes_play_the_same_with_a_cover_in_mind(tmp_path):
    seen = []
    info = registry.TITLE_CARD

    class Watched(playthrough.scene_class(info)):
        def setup(self):
            self.on_beat = lambda: seen.append("before")
            seen.append(cover.Moment(self))
            super().setup()

    Watched.__name__ = info.class_name
    scene = playthrough.play_class(Watched, Settings("zh"))
    plain = playthrough.play(info, Settings("zh"))
    assert "before" in seen
    assert scene.clock == plain.clock
    assert len(scene.record.showings()) == len(plain.record.showings())
