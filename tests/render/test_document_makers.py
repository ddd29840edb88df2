"""Handout, course page and package as a build makes them: from what they are given alone."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from render.base.project import ASSETS
from render.base.reads import Made, Reads, shown
from render.documents import page, scorm
from render.documents.handout import write
from scenes import lessons

from .test_page import BEATS, SLUG, TOLD, made

SPEC = {"language": "zh", "weights": ["one.json", "two.json"]}


@pytest.fixture(scope="module")
def settings() -> dict[str, str]:
    own = lessons.settings("consistent", "zh")
    files = str(own.weights), str(own.weights_for_inference)
    return {
        **dict(zip(("weights", "inference_weights"), files, strict=True)),
        "source": own.source,
        "target": own.target,
    }


def needs_of(folder: Path) -> dict[str, Made]:
    """What the page of one scene needs; no film was ever drawn for it."""
    video, cover = folder / "0.mp4", folder / "1.png"
    video.write_bytes(b"video")
    cover.write_bytes(b"cover")
    cues = {"cues": [[5, 20, ["<b> one", "two"]]]}
    return {
        f"pictures {SLUG}": made({"frames": 95, "fps": 10, "beats": BEATS}),
        f"video {SLUG}": made({}, video=video),
        f"cover {SLUG}": made({}, cover=cover),
        **{f"cues {SLUG} {language}": made(cues) for language in ("zh", "en")},
    }


def files_read(reads: Reads) -> set[str]:
    return {one.name for one in reads.inputs() if one.kind == "file"}


def test_a_handout_is_made_and_says_what_it_read(settings: dict[str, str], tmp_path: Path) -> None:
    reads = Reads(settings)
    files = write.make(SPEC, {}, reads, tmp_path, lambda _: None)
    assert files["pdf"].read_bytes().startswith(b"%PDF-")
    assert "one.json" in files["html"].read_text(encoding="utf-8")
    assert set(files.values()) == set(tmp_path.iterdir())
    own = (
        "handout/zh.toml",
        "handout/handout.typ",
        "templates/handout.html",
        "templates/text.html",
    )
    styles = ("web/page/handout.css", "web/page/scroll.js")
    assert files_read(reads) == {shown(ASSETS / name) for name in (*own, *styles)}
    values = {one.name for one in reads.inputs() if one.kind == "value"}
    assert {"training memory", "inference 1 logits", "training loss.mean"} <= values
    texts = {one.name for one in reads.inputs() if one.kind == "text"}
    assert f"zh {SLUG}.title" in texts


def test_a_page_and_its_package_are_made_of_what_they_need(
    settings: dict[str, str], tmp_path: Path
) -> None:
    into, reads = tmp_path / "into", Reads(settings)
    into.mkdir()
    spec = {**SPEC, "name": "a test", "scenes": [TOLD]}
    files = page.make(spec, needs_of(tmp_path), reads, into, lambda _: None)
    assert {f"videos/{SLUG}_zh.mp4", f"videos/{SLUG}_zh.cover.png", "handout.pdf"} <= set(files)
    assert files[f"videos/{SLUG}_zh.mp4"].read_bytes() == b"video"
    script = files["lecture.js"].read_text(encoding="utf-8")
    assert '"start": 0.5,' in script
    assert "<b> one\\ntwo" in script
    assert {shown(path) for path in page.FILES.iterdir()} <= files_read(reads)
    beat = f"en {SLUG}.beats.question"
    assert beat in {one.name for one in reads.inputs() if one.kind == "text"}
    reads, pages = Reads({}), made({}, **files)
    asked = {"item": "a-b", "title": "<课>", "scenes": 1}
    (package,) = scorm.make(asked, {"page": pages}, reads, tmp_path, lambda _: None).values()
    with zipfile.ZipFile(package) as archive:
        assert {*files, "scorm.js", "imsmanifest.xml"} == set(archive.namelist())
        assert b"<title>&lt;\xe8\xaf\xbe&gt;</title>" in archive.read("imsmanifest.xml")
    about = tmp_path / "lecture.about.json"
    texts = {"title": "The lecture", "description": "", "tags": []}
    about.write_text(json.dumps({"en": texts}), encoding="utf-8")
    given = {"page": pages, "sides": made({}, **{"about.json": about})}
    untitled = {**asked, "title": "", "language": "en"}
    (package,) = scorm.make(untitled, given, Reads({}), tmp_path, lambda _: None).values()
    with zipfile.ZipFile(package) as archive:
        assert b"<title>The lecture</title>" in archive.read("imsmanifest.xml")
    used = (scorm.SCRIPT, ASSETS / "templates" / "imsmanifest.xml")
    assert files_read(reads) == set(map(shown, used))
