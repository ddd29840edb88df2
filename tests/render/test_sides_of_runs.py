"""Side files of videos that are up to date: what is made anew, and what is left alone."""

from __future__ import annotations

import json
import shutil

from render.media.content import same_packets
from render.media.sidefiles import SideFiles

from .rendered import ALL_UP_TO_DATE, TEXTS, UP_TO_DATE, Rendered


def test_an_english_sentence_makes_captions_anew_and_draws_nothing(house: Rendered) -> None:
    names = "01_square_zh.mp4", "02_circle_zh.mp4", "lecture.mp4"
    for name in names:
        shutil.copy(house.out / name, house.folder / name)
    house.texts.write_text(json.dumps({**TEXTS, "en": {**TEXTS["en"], "said": "Quite another."}}))
    to_be_made = "captions and descriptions are to be made anew"
    assert house.explain() == [f"{name}: up to date; {to_be_made}" for name in names]
    told = [line for line in house.run() if "made anew" in line]
    assert len(told) == 3
    assert house.explain() == ALL_UP_TO_DATE
    for name in names:
        assert same_packets(house.out / name, house.folder / name)
        assert (house.out / name).read_bytes() != (house.folder / name).read_bytes()
        side = SideFiles(house.out / name)
        assert "Quite another." in side.captions("en").read_text()
        assert "Quite another." not in side.captions("zh").read_text()


def test_a_scene_is_described_alike_in_every_track(house: Rendered) -> None:
    """So a run for one track does not undo what a run for another has made."""
    (line, *_) = house.explain("1", "--track", "training")
    assert line == UP_TO_DATE[0]


def test_a_missing_sentence_costs_only_the_captions(house: Rendered) -> None:
    house.texts.write_text(json.dumps({**TEXTS, "en": {**TEXTS["en"], "said": "{nothing}"}}))
    before = (house.out / "lecture.mp4").read_bytes()
    result = house.result()
    assert result.returncode == 2
    assert "01_square_zh.mp4: no captions: " in result.stdout
    assert "01_square.beats.only: expected a sentence with the facts language" in result.stdout
    assert (house.out / "lecture.mp4").read_bytes() == before
    house.texts.write_text(json.dumps(TEXTS))
    house.run()
    assert house.explain() == ALL_UP_TO_DATE


def test_a_cover_that_is_gone_is_drawn_again(house: Rendered) -> None:
    SideFiles(house.out / "02_circle_zh.mp4").cover.unlink()
    assert house.explain()[1] == f"{UP_TO_DATE[1]}; its cover is to be drawn"
    assert any(line.endswith("cover drawn") for line in house.run())
    assert house.explain() == ALL_UP_TO_DATE
