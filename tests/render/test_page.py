"""The folder of a course page: what goes in, and what is never lost. tests/browser opens it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LectureError
from render.base.reads import Made, Stamp
from render.build import making
from render.build.job import BuildOptions, jobs_of
from render.build.lecture import Lecture
from render.build.making import put_whole
from render.build.materials import page as page_of_lecture
from render.documents.handout.content import Handout, Section, Step
from render.documents.page import FILES, scene, write

from .conftest import ROOT, FrontDoor, one_line

SLUG = "08_attention_scores"
BEATS = [
    {
        "name": "question",
        "variant": "",
        "facts": {"unit": "chinese"},
        "step": 23,
        "last_step": 23,
        "start": 0.0,
        "end": 4.2,
        "text": "一句话里有好几个字，\n每个字该去看谁？",
    },
    {
        "name": "heads",
        "variant": "pair_two_cell",
        "facts": {
            "query": "<b>",
            "key": "</script>",
            "weight_1": "0.9",
            "weight_2": "0.8",
        },
        "step": 24,
        "last_step": 26,
        "start": 4.2,
        "end": 9.0,
        "text": "…",
    },
]


TOLD = {
    "number": 8,
    "slug": SLUG,
    "title": "标题 <&>",
    "steps": [23, 26],
    "video": f"{SLUG}_zh.mp4",
}


def made(facts: dict[str, Any], **paths: Path) -> Made:
    return Made("", (), {}, "", facts, {role: str(path) for role, path in paths.items()})


def needs(**more: Made) -> dict[str, Made]:
    cues = {f"cues {SLUG} {language}": made({"cues": []}) for language in ("zh", "en")}
    return {f"pictures {SLUG}": made({"frames": 95, "fps": 10, "beats": BEATS}), **cues, **more}


def keys() -> list[str]:
    from render.documents.handout import book
    from scenes import texts

    return list(book.load("zh", texts.load("zh")["wording"])["names"])


KEYS = keys()


def test_sentences_come_in_both_languages():
    said = scene(TOLD, needs())
    assert (said["seconds"], said["video"], said["poster"]) == (9.5, f"videos/{SLUG}_zh.mp4", "")
    one, two = said["beats"]
    assert one["text"]["zh"] == "一句话里有好几个字，每个字该去看谁？"
    assert one["text"]["en"].startswith("The characters of a sentence:")
    assert "<b> → </script>" in two["text"]["en"]
    assert (two["step"], two["last"]) == (24, 26)


def test_captions_are_those_of_the_video():
    cues = made({"cues": [[5, 20, ["<b> & one", "<two>"]], [36022, 36030, ["three"]]]})
    said = scene(TOLD, needs(**{f"cues {SLUG} en": cues}))["captions"]["en"]
    assert said == [
        {"start": 0.5, "end": 2.0, "text": "<b> & one\n<two>"},
        {"start": 3602.2, "end": 3603.0, "text": "three"},
    ]


def test_the_data_cannot_end_the_script_nor_a_title_the_markup(tmp_path):
    words = {key: key for key in KEYS}
    text = Handout("zh", "课 <1>", "subtitle", words, "w.json")
    text.sections = [Section(SLUG, "标题 <&>", "encoder", [Step(23, ("甲 <i>",), [])])]
    write(tmp_path, text, [scene(TOLD, needs())], "a test")
    names = {path.name for path in tmp_path.iterdir()}
    own = (path.name for path in FILES.iterdir())
    assert names == {"index.html", "lecture.js", "handout.pdf", *own}
    script = (tmp_path / "lecture.js").read_text(encoding="utf-8")
    assert "</" not in script
    data = json.loads(script.partition("window.LECTURE = ")[2].rstrip(";\n"))
    assert data["scenes"][0]["beats"][1]["text"]["en"].count("</script>") == 1
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "标题 &lt;&amp;&gt;" in page
    assert "<i>" not in page
    assert not re.search(r"https?:", page)


def test_an_older_page_is_replaced_and_nothing_else_ever(tmp_path):
    (tmp_path / "new").write_text("new")
    stamp = Stamp.of(tmp_path / "new")
    page = made({}, **{"lecture.js": tmp_path / "new"})
    page = replace(page, files={"lecture.js": stamp})
    target = tmp_path / "page"
    put_whole(page, target)
    (target / "old.txt").write_text("old")
    (job,) = jobs_of(BuildOptions(out=tmp_path / "o"))
    page_of_lecture(Lecture(job), target).refuse()
    put_whole(page, target)
    assert [path.name for path in target.iterdir()] == ["lecture.js"]
    other, file = tmp_path / "mine", tmp_path / "file"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    file.write_text("x")
    for wrong in (other, file):
        with pytest.raises(LectureError, match=r"--out: expected a new folder"):
            page_of_lecture(Lecture(job), wrong).refuse()


def test_a_page_that_cannot_be_put_in_place_leaves_the_old_one(tmp_path, monkeypatch):
    (tmp_path / "new").write_text("new")
    page = made({}, **{"lecture.js": tmp_path / "new"})
    page = replace(page, files={"lecture.js": Stamp.of(tmp_path / "new")})
    target = tmp_path / "page"
    put_whole(page, target)
    (target / "lecture.js").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(making.files, "bring", full)
    with pytest.raises(LectureError, match="no space left"):
        put_whole(page, target)
    assert (target / "lecture.js").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "page"]


def test_the_front_door_says_what_to_render(front_door: FrontDoor, tmp_path):
    root = str(ROOT)
    done = front_door("page", "--no-render", "--videos", tmp_path / "none", PYTHONPATH=root)
    said = one_line(done)
    assert "01_architecture_zh.mp4: expected a video (type: ./render.sh --out" in said
    assert not (tmp_path / "none").exists()
