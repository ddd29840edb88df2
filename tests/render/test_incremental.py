"""Only what changed is rendered: the front door on stand-in scenes, and what it explains."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from render.base.reads import Input
from render.build.code import Code, recheck

from .conftest import STANDIN
from .rendered import ALL_UP_TO_DATE, TEXTS, UP_TO_DATE, K, Q, Rendered


def test_nothing_to_do_is_done_at_once(house: Rendered) -> None:
    before = house.files()
    said = house.run()
    assert [Path(line.split(": ")[0]).name for line in said] == [
        *("01_square_zh.mp4", "02_circle_zh.mp4", "lecture.mp4")
    ]
    assert all(line.endswith(": up to date") for line in said)
    for name in ("code.json", "files.json"):
        before.pop(str(house.out / ".render" / name), None)
    after = house.files()
    assert before.items() <= after.items()
    assert house.explain() == ALL_UP_TO_DATE


def test_no_manim_and_no_av_where_nothing_is_to_be_done(house: Rendered) -> None:
    (house.folder / "poison").mkdir()
    for name in ("manim", "av", "ffmpeg", "PIL"):
        (house.folder / "poison" / f"{name}.py").write_text("raise SystemExit('imported')")
    path = os.pathsep.join(map(str, (house.folder / "poison", house.scenes, STANDIN.parents[2])))
    assert len(house.run(PYTHONPATH=path)) == 3
    assert house.explain(PYTHONPATH=path) == ALL_UP_TO_DATE


def test_force_renders_anyway(house: Rendered) -> None:
    before = house.files()
    assert house.explain("--force", "1")[0] == f"{UP_TO_DATE[0]}, rendered anyway (--force)"
    assert "1.2 s of film" in house.run("--force", "1")[0]
    video = str(house.out / "01_square_zh.mp4")
    assert house.files()[video] != before[video]


def test_a_weight_renders_the_scene_that_reads_what_it_moves(house: Rendered) -> None:
    house.edit(K, 0.25)
    said = house.explain()
    assert said[:2] == [UP_TO_DATE[0], "02_circle_zh.mp4: to be rendered"]
    assert said[2].startswith("    training encoder.0.self_attn.k: changed by at most 0.")
    assert said[3].startswith("lecture.mp4: 02_circle_zh.mp4 is out of date: training encoder")
    told = house.run()
    assert [line.rpartition("/")[2].split(":")[0] for line in told] == [
        *("01_square_zh.mp4", "02_circle_zh.mp4", "lecture.mp4")
    ]
    assert told[0].endswith("up to date")
    assert told[1].endswith("at most")
    assert told[2].endswith("up to date")  # the circle is drawn again, and looks as before
    assert house.explain() == ALL_UP_TO_DATE


def test_a_weight_that_moves_nothing_shown_renders_nothing(house: Rendered) -> None:
    house.edit("output_projection.weight", 1.0)
    house.weights.write_bytes(house.weights.read_bytes() + b"\n")
    assert house.explain() == ALL_UP_TO_DATE


def test_the_smallest_change_counts(house: Rendered) -> None:
    house.edit(Q, 1e-15)
    assert house.explain()[0] == "01_square_zh.mp4: to be rendered"


def test_a_text_touches_the_scene_that_shows_it_in_its_language_only(house: Rendered) -> None:
    house.texts.write_text(json.dumps({**TEXTS, "en": {"sentence": "two"}}))
    assert house.explain() == ALL_UP_TO_DATE
    house.texts.write_text(json.dumps({**TEXTS, "zh": {"sentence": "二", "other": "三"}}))
    said = house.explain()
    assert said[:3] == ["01_square_zh.mp4: to be rendered", "    text sentence", UP_TO_DATE[1]]


def test_another_title_renders_its_scene(house: Rendered) -> None:
    house.replace("texts.py", '"[CHAPTER]', '"[PART]')
    said = house.explain()
    assert "02_circle_zh.mp4: to be rendered" in said
    assert any(line.startswith("    title: '[CHAPTER]") for line in said)


def test_comments_and_docstrings_touch_nothing(house: Rendered) -> None:
    house.replace("tiny.py", "class Square(Tiny):", "# a remark\n\n\nclass Square(Tiny):")
    house.replace("tiny.py", "Each lasts about a second", "Each lasts one second")
    assert house.explain() == ALL_UP_TO_DATE


def test_code_touches_the_scenes_that_run_it(house: Rendered) -> None:
    house.replace("tiny.py", "run_time=1)", "run_time=2)")
    said = house.explain()
    assert said.count("    file scenes/tiny.py") == 2
    (house.scenes / "scenes" / "other.py").write_text("x = 1\n")
    house.replace("registry.py", "tiny scenes", "small scenes")
    assert house.explain() == said


def test_another_font_version_or_quality_is_told(house: Rendered) -> None:
    record = house.out / ".render" / "01_square_zh.json"
    said = {kind: name for kind, name, *_ in json.loads(record.read_text())["inputs"]}
    assert {"tool", "file", "spec", "code", "value"} <= set(said)
    assert house.explain("--quality", "high")[1] == "    quality"


def test_another_version_of_manim(house: Rendered) -> None:
    """As if manim had been brought up to date: its metadata says so."""
    info = house.folder / "fake" / "manim-9.9.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: manim\nVersion: 9.9\n")
    path = os.pathsep.join(map(str, (house.folder / "fake", house.scenes, STANDIN.parents[2])))
    said = house.explain(PYTHONPATH=path)
    assert said[0] == "01_square_zh.mp4: to be rendered"
    assert said[1].startswith("    manim 0.22")
    assert said[1].endswith(", now 9.9")


def spoil_version(record: dict[str, Any]) -> None:
    next(one for one in record["inputs"] if one[1] == "numpy")[3] = "0"


def spoil_values(record: dict[str, Any]) -> None:
    next(one for one in record["inputs"] if one[0] == "value")[3] = "AAAA"


def spoil_key(record: dict[str, Any]) -> None:
    record["key"] = "0" * 32


UNUSABLE = "    its record is invalid"


@pytest.mark.parametrize("spoil", [spoil_version, spoil_values, spoil_key])
def test_a_tampered_record_is_not_believed(
    spoil: Callable[[dict[str, Any]], None], house: Rendered
) -> None:
    path = house.out / ".render" / "01_square_zh.json"
    record = json.loads(path.read_text())
    spoil(record)
    path.write_text(json.dumps(record))
    assert house.explain()[:2] == ["01_square_zh.mp4: to be rendered", UNUSABLE]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"files": 3}', '{"files": {"video": []}}'])
def test_a_broken_record_is_none(text: str, house: Rendered) -> None:
    (house.out / ".render" / "01_square_zh.json").write_text(text)
    said = house.explain()
    assert said[0] == "01_square_zh.mp4: to be rendered"
    assert "record" in said[1]


def test_files_that_are_gone_or_spoilt(house: Rendered) -> None:
    (house.out / "01_square_zh.numbers.json").unlink()
    with (house.out / "02_circle_zh.mp4").open("ab") as video:
        video.write(b"x")
    said = house.explain()
    assert said[1] == "    there is no 01_square_zh.numbers.json"
    assert said[3] == "    02_circle_zh.mp4 was changed since it was made"
    (house.out / "02_circle_zh.mp4").unlink()
    assert house.explain()[3:] == [
        "    there is no video",
        "lecture.mp4: 01_square_zh.mp4 is out of date: there is no 01_square_zh.numbers.json",
    ]


def test_a_folder_copied_without_its_times_is_still_up_to_date(house: Rendered) -> None:
    for path in house.out.glob("*.*"):
        os.utime(path, (1, 1))
    assert house.explain() == ALL_UP_TO_DATE


def test_only_the_film_is_missing(house: Rendered) -> None:
    (house.out / "lecture.mp4").unlink()
    assert house.explain() == [*UP_TO_DATE, "lecture.mp4: to be joined"]
    assert "whole lecture" in house.run()[2]
    assert house.explain() == ALL_UP_TO_DATE


def test_a_run_killed_between_video_and_record_renders_again(house: Rendered) -> None:
    """The new video is in place, the record is still that of the old one."""
    house.replace("tiny.py", "run_time=0.7", "run_time=0.8")
    kept = (house.out / ".render" / "01_square_zh.json").read_bytes()
    house.run("1")
    (house.out / ".render" / "01_square_zh.json").write_bytes(kept)
    assert house.explain()[1] == "    01_square_zh.mp4 was changed since it was made"


def test_a_file_edited_while_it_was_drawn_counts_as_changed() -> None:
    roots = ("scenes.s08_attention_scores",)
    planned = Code().files(roots)
    inputs = [Input("code", name, None, digest) for name, digest in planned.items()]
    assert recheck(inputs, roots) == tuple(inputs)
    before = [
        one._replace(digest="old") if one.name == "scenes/theme.py" else one for one in inputs
    ]
    changed = [one.name for one in recheck(before, roots) if not one.digest]
    assert changed == ["scenes/theme.py"]
