"""The folder of a course page: what goes in, and what is never lost. tests/browser opens it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.errors import LectureError
from render.documents import page as pages
from render.documents.handout.content import Handout, Section, Step
from render.documents.page import Cue, Page, Source, scene
from render.media.sidecars import SideFiles

from .conftest import ROOT, FrontDoor, one_line

SLUG = "08_attention_scores"
BEATS = [
    {
        "name": "question",
        "variant": "",
        "facts": {},
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


def rendered(folder: Path, beats: list | None = None) -> Path:
    """A video (any bytes do) and the record of its pictures."""
    video = folder / f"{SLUG}_zh.mp4"
    (folder / ".render").mkdir(parents=True)
    video.write_bytes(b"pictures")
    facts = {"fps": 10, "frames": 95, "beats": BEATS if beats is None else beats}
    record_of(video).write_text(json.dumps({"facts": facts}), encoding="utf-8")
    return video


def record_of(video: Path) -> Path:
    return video.parent / ".render" / f"{video.stem}.json"


def source_of(video: Path) -> Source:
    return Source.beside(8, SLUG, "标题 <&>", (23, 26), video)


def page_of(video: Path) -> Page:
    words = {key: key for key in KEYS}
    text = Handout("zh", "课 <1>", "subtitle", words, "w.json")
    text.sections = [Section(SLUG, "标题 <&>", "encoder", [Step(23, ("甲 <i>",), [])])]
    return Page(text, [source_of(video)], "a test")


def keys() -> list[str]:
    from render.documents.handout import words
    from scenes import texts

    return list(words.load("zh", texts.load("zh")["wording"])["names"])


KEYS = keys()


def test_sentences_come_in_both_languages(tmp_path):
    made = scene(source_of(rendered(tmp_path / "zh")), "zh")
    assert made.seconds == 9.5
    assert made.beats[0].text["zh"] == "一句话里有好几个字，每个字该去看谁？"
    assert made.beats[0].text["en"].startswith("The characters of a sentence:")
    assert "<b> → </script>" in made.beats[1].text["en"]
    assert (made.beats[1].step, made.beats[1].last) == (24, 26)
    assert made.captions["en"][0] == Cue(0.0, 4.2, made.beats[0].text["en"])


def test_an_old_record_gives_the_sentences_of_its_own_language(tmp_path):
    old = [{key: beat[key] for key in beat if key not in ("variant", "facts")} for beat in BEATS]
    made = scene(source_of(rendered(tmp_path / "zh", old)), "zh")
    assert made.beats[0].text == {"zh": "一句话里有好几个字，每个字该去看谁？"}
    assert made.captions["en"] == ()


def test_captions_beside_the_video_are_taken(tmp_path):
    video = rendered(tmp_path / "zh")
    file = SideFiles(video).captions("en")
    file.write_text(
        "WEBVTT\n\n1\n00:00:00.500 --> 00:00:02.000\n&lt;b&gt; &amp; one\n&lt;two&gt;\n\n"
        "01:00:02.250 --> 01:00:03.000\nthree\n",
        encoding="utf-8",
    )
    cues = [Cue(0.5, 2.0, "<b> & one\n<two>"), Cue(3602.25, 3603.0, "three")]
    assert list(scene(source_of(video), "zh").captions["en"]) == cues


@pytest.mark.parametrize(
    "spoil",
    ["gone", "{", '{"facts": {"fps": 0, "frames": 1, "beats": []}}', '{"facts": {"beats": 3}}'],
)
def test_a_video_without_a_usable_record_is_named(tmp_path, spoil):
    video = rendered(tmp_path / "zh")
    record = record_of(video)
    record.unlink() if spoil == "gone" else record.write_text(spoil)
    with pytest.raises(LectureError, match=r"expected the record of a rendered scene"):
        scene(source_of(video), "zh")


def test_the_folder_holds_everything_and_the_data_cannot_end_the_script(tmp_path):
    video = rendered(tmp_path / "zh")
    SideFiles(video).cover.write_bytes(b"cover")
    target = page_of(video).write(tmp_path / "a page")
    names = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert names == {
        *("index.html", "lecture.js", "handout.pdf", f"videos/{video.name}"),
        *(path.name for path in pages.FILES.iterdir()),
        f"videos/{SLUG}_zh.cover.png",
    }
    assert (target / "videos" / video.name).samefile(video)
    script = (target / "lecture.js").read_text(encoding="utf-8")
    assert "</" not in script
    data = json.loads(script.partition("window.LECTURE = ")[2].rstrip(";\n"))
    assert data["scenes"][0]["beats"][1]["text"]["en"].count("</script>") == 1
    text = (target / "index.html").read_text(encoding="utf-8")
    assert "标题 &lt;&amp;&gt;" in text
    assert "<i>" not in text
    assert not re.search(r"https?:", text)


def test_an_older_page_is_replaced_and_nothing_else_ever(tmp_path):
    video = rendered(tmp_path / "zh")
    page = page_of(video)
    target = page.write(tmp_path / "page")
    (target / "old.txt").write_text("old")
    page.write(target)
    assert not (target / "old.txt").exists()
    other = tmp_path / "mine"
    other.mkdir()
    (other / "thesis.txt").write_text("years of work")
    file = tmp_path / "file"
    file.write_text("x")
    for wrong in (other, file):
        with pytest.raises(LectureError, match=r"--out: expected a new folder"):
            page.write(wrong)
    assert (other / "thesis.txt").read_text() == "years of work"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine", "page", "zh"]


def test_a_page_that_cannot_be_finished_leaves_the_old_one(tmp_path, monkeypatch):
    page = page_of(rendered(tmp_path / "zh"))
    target = page.write(tmp_path / "page")
    before = (target / "index.html").read_bytes()

    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pages.pdf, "write", full)
    with pytest.raises(LectureError, match="no space left"):
        page.write(target)
    assert (target / "index.html").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["page", "zh"]


def test_the_front_door_says_what_to_render(front_door: FrontDoor, tmp_path):
    root = str(ROOT)
    done = front_door("page", "--no-render", "--videos", tmp_path / "none", PYTHONPATH=root)
    said = one_line(done)
    assert "01_architecture_zh.mp4: expected a video (type: ./render.sh --out" in said
    assert not (tmp_path / "none").exists()
