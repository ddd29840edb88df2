"""The names of what lies beside a video."""

import json
from pathlib import Path

import pytest

from engine.errors import LectureError
from render.media.sidecars import SideFiles

FILES = SideFiles(Path("out/zh_standard/08_attention_scores_zh.mp4"))


def test_names_are_recognisable_and_all_different():
    assert FILES.captions("en").name == "08_attention_scores_zh.en.vtt"
    assert FILES.captions("zh", "srt").name == "08_attention_scores_zh.zh.srt"
    assert FILES.cover.parent == FILES.video.parent
    both = ("zh", "en")
    files = [
        FILES.about,
        FILES.cover,
        *(FILES.captions(lang, f) for lang in both for f in ("vtt", "srt")),
    ]
    files += [of(lang) for lang in both for of in (FILES.chapters, FILES.description)]
    names = [path.name for path in files]
    assert len(names) == len(set(names)) == 10
    assert all(name.startswith("08_attention_scores_zh.") for name in names)


def test_a_description_is_read_whole_or_refused(tmp_path):
    files = SideFiles(tmp_path / "lecture.mp4")
    with pytest.raises(LectureError, match=r"lecture\.about\.json"):
        files.read_about()
    entry = {"title": "t", "description": "d", "tags": []}
    files.about.write_text(json.dumps({"zh": entry}), encoding="utf-8")
    with pytest.raises(LectureError, match="en"):
        files.read_about()
    files.about.write_text(json.dumps({"zh": entry, "en": entry}), encoding="utf-8")
    assert files.read_about()["en"] == entry
