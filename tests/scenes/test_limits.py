"""The pre-flight: what is refused, what the layouts do not hold yet, and how wide words are."""

from __future__ import annotations

import ast
import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import Config, LectureError
from engine.config import CHOICES, FinalNorm
from engine.parameters import GROUPS, TWO_POSITIONS
from render.cli import app
from scenes import glyphs, lessons, limits, theme
from scenes.parts.phrase import Phrase
from scenes.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "lessons" / "adversarial"
LESSONS = sorted(path.name for path in FOLDER.iterdir())
#: In the family, but today's layouts are too small: the remade scenes empty this list. A lesson
#: that is laid out and still stands here fails the test.
NOT_YET_LAID_OUT = {
    "27_d_k_3",
    "29_four_heads",
    "31_three_layers",
    "38_one_token_source",
    "39_eight_and_eight",
    "40_fifty_words",
}


@pytest.mark.parametrize("name", LESSONS)
def test_the_verdict_on_a_lesson(name: str) -> None:
    expected = json.loads((FOLDER / name / "expect.json").read_text(encoding="utf-8"))
    found = lessons.check(str(FOLDER / name / "lesson.toml"))
    assert "\n" not in found.line
    assert found.line.startswith(f"{FOLDER / name}/")
    if expected["verdict"] == "refuse":
        assert found.code == 2
        for words in expected["line_has"]:
            assert words in found.line
    elif name in NOT_YET_LAID_OUT:
        assert found.code == 3
        assert "in the family; today's layouts hold" in found.line
    else:
        assert found.code == 0, found.line


def test_whoever_draws_is_refused_what_the_layouts_do_not_hold() -> None:
    path = FOLDER / "39_eight_and_eight" / "lesson.toml"
    with pytest.raises(limits.BeyondLayouts, match="at most"):
        lessons.settings(str(path), "en")
    weights = FOLDER / "31_three_layers" / "weights.json"
    found = lessons.check(weights=weights)
    assert (found.code, "layers, found 3" in found.line) == (3, True)


def with_words(folder: Path, **changed: str) -> Settings:
    """The tutorial's model with other words for I, love, easy, courses, or 我."""
    tutorial = engine.load_weights(engine.TUTORIAL)
    words = tuple(changed.get(word, word) for word in tutorial.vocabulary)
    path = folder / "own.json"
    engine.save_weights(dataclasses.replace(tutorial, vocabulary=words), path)
    target = " ".join(changed.get(word, word) for word in ("I", "love", "easy", "courses"))
    return Settings("en", path, path, f"{changed.get('我', '我')} 爱 水 课", target)


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        (
            {"love": "أنا"},
            'a.toml: target token 2 "أنا": expected a script written left to right, '
            'found "أنا", right to left',
        ),
        (
            {"我": "👍"},
            'a.toml: source token 1 "👍": expected characters of the lecture\'s font, '
            "found U+1F44D",
        ),
        (
            {"love": "M" * 31},
            'a.toml: target token 2 "MMMMMMMMMMMM…": expected a word at most as wide as '
            "20 letters, found one of 48",
        ),
        (
            {"love": "あ\u3099"},
            'a.toml: target token 2 "あ\u3099": expected a letter for each accent, found U+3099',
        ),
    ],
)
def test_words_that_cannot_be_drawn(tmp_path: Path, changed: dict[str, str], line: str) -> None:
    with pytest.raises(LectureError) as caught:
        limits.preflight(with_words(tmp_path, **changed), "a.toml")
    assert str(caught.value) == line
    assert not isinstance(caught.value, limits.BeyondLayouts)


def test_words_of_the_vocabulary_are_on_screen_too(tmp_path: Path) -> None:
    own = with_words(tmp_path, courses="👍")
    own = dataclasses.replace(own, target="I love easy")
    with pytest.raises(LectureError, match=r'own\.json: vocabulary\[7\] "👍": expected'):
        limits.preflight(own, "a.toml")


@pytest.mark.parametrize("words", [("schön", "Tee"), ("été", "garçon"), ("わたし", "水曜")])
def test_words_of_other_languages(tmp_path: Path, words: tuple[str, str]) -> None:
    limits.preflight(with_words(tmp_path, love=words[0], courses=words[1]))


def test_accents_may_stand_apart_from_their_letters(tmp_path: Path) -> None:
    own = with_words(tmp_path, love="scho\u0308n")
    limits.preflight(own)
    assert Phrase("scho\u0308n").text == "schön"


@pytest.mark.parametrize("bold", [True, False])
@pytest.mark.parametrize("text", ["MMMMMMMMMM", "我爱水课我爱水课", "Überraschung", "<unk>&%s"])
def test_widths_are_those_of_what_is_drawn(text: str, bold: bool) -> None:
    drawn = float(Phrase(text, size=glyphs.READABLE, bold=bold).width)
    room = 0.1 * glyphs.READABLE * theme.EM * 2  # what letters leave free on either side
    assert drawn <= glyphs.width(text) + 1e-6
    if bold:
        assert glyphs.width(text) - drawn < room + 0.05


ALONE = """
import manimpango
from manim import BOLD, Text
from scenes import glyphs
from scenes.parts.phrase import Phrase
Text("x", font=glyphs.FAMILY, weight=BOLD)  # one that a scene sets itself, before any of ours
manimpango.unregister_font(str(glyphs.FILE))  # as Fontconfig does when it reads its settings again
print(manimpango.list_fonts())
print(glyphs.width("MMMM"), Phrase("MMMM", size=glyphs.READABLE, bold=True).width)
"""


def test_no_other_font_can_take_the_place_of_ours() -> None:
    """Fontconfig knows this one font and no other, and does not forget it."""
    command = [sys.executable, "-c", ALONE]
    environment = os.environ | {"LECTURE_OUTLINES": "0", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    known, widths = done.stdout.splitlines()[-2:]
    others = {name for name in ast.literal_eval(known) if not name.startswith("Noto Sans CJK ")}
    assert glyphs.FAMILY in known and others <= {"Monospace", "Sans", "Serif", "System-ui"}
    wide, drawn = map(float, widths.split())
    assert 0 < wide - drawn < 0.2


def test_twenty_usual_letters_are_as_wide_as_a_word_may_be() -> None:
    assert limits.letters_wide("abcdefghijklmnopqrst") == limits.LETTERS
    assert limits.letters_wide("M" * 20) > limits.LETTERS


def test_widths_are_kept_under_the_fonts_digest(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made = np.full(glyphs._CODES, 500, dtype=np.uint16)
    monkeypatch.setattr(glyphs, "_measured", lambda: made)
    assert glyphs.widths.__wrapped__() is made
    (kept,) = (tmp_path / "transformer-lecture").iterdir()
    monkeypatch.setattr(glyphs, "_measured", lambda: pytest.fail("it is kept"))
    assert (glyphs.widths.__wrapped__() == made).all()
    other = tmp_path / "other.ttc"
    other.write_bytes(b"another font")
    monkeypatch.setattr(glyphs, "FILE", other)
    assert glyphs._kept() != kept
    kept.write_bytes(b"damaged")
    monkeypatch.setattr(glyphs, "_kept", lambda: kept)
    monkeypatch.setattr(glyphs, "_measured", lambda: made)
    assert (glyphs.widths.__wrapped__() == made).all()


def test_the_pre_flight_needs_no_manim() -> None:
    code = (
        "import sys; from scenes import lessons; lessons.check();"
        "assert not {'manim', 'manimpango', 'fontTools'} & set(sys.modules)"
    )
    glyphs.widths()
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_plain_manim_is_refused_too(monkeypatch, capsys) -> None:
    monkeypatch.setenv("LECTURE_WEIGHTS", str(FOLDER / "31_three_layers" / "weights.json"))
    with pytest.raises(SystemExit) as caught:
        Settings.from_environment()
    assert caught.value.code == 2
    assert "today's layouts hold at most 2 layers" in capsys.readouterr().err


TUTORIAL = engine.load_weights(engine.TUTORIAL)
#: Every setting with every value that the scenes do not tell yet.
UNTOLD = [
    (path, value)
    for path, told in limits.SETTINGS.items()
    for value in CHOICES[path]
    if value not in told
]


def with_setting(path: str, value: object) -> Config:
    group, _, name = path.rpartition(".")
    config = TUTORIAL.config
    if not group:
        return dataclasses.replace(config, **{path: value})
    changed = dataclasses.replace(config.setting(group), **{name: value})
    return dataclasses.replace(config, **{group: changed})


def refused(folder: Path, config: Config, groups: tuple[str, ...] = ()) -> str:
    """The line about a random model with the tutorial's words."""
    made = engine.random_weights(config, 1, -1.0, 1.0, groups=groups)
    words = TUTORIAL.vocabulary
    source = None if config.source_vocabulary_size is None else words
    made = dataclasses.replace(made, vocabulary=words, source_vocabulary=source)
    path = folder / "own.json"
    engine.save_weights(made, path)
    with pytest.raises(limits.BeyondLayouts) as caught:
        limits.preflight(Settings("en", path, path))
    return str(caught.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize(("path", "value"), UNTOLD)
def test_a_setting_that_no_scene_tells_yet(tmp_path: Path, path: str, value: object) -> None:
    said = str(value).lower() if isinstance(value, bool) else str(value)
    line = refused(tmp_path, with_setting(path, value))
    assert line.startswith(f"config.{path}: in the family; today's layouts hold ")
    assert line.endswith(f", found {said}")


def test_what_nn_transformer_has_is_shown(tmp_path: Path) -> None:
    """Biases, gains and shifts, final norms, scaled embeddings, a vocabulary for each side."""
    config = dataclasses.replace(
        TUTORIAL.config,
        source_vocabulary_size=8,
        final_norm=FinalNorm(True, True),
        embedding_scale="sqrt(d_model)",
    )
    groups = set(GROUPS) - {TWO_POSITIONS}
    made = engine.random_weights(config, 1, -1.0, 1.0, groups=groups)
    words = TUTORIAL.vocabulary
    made = dataclasses.replace(made, vocabulary=words, source_vocabulary=words, objective="next")
    path = tmp_path / "own.json"
    engine.save_weights(made, path)
    limits.preflight(Settings("en", path, path))


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"heads": 4}, "config.heads: in the family; today's layouts hold at most 2, found 4"),
        ({"d_ff": 9}, "config.d_ff: in the family; today's layouts hold at most 8, found 9"),
        ({"d_model": 6}, "config.d_model: in the family; today's layouts hold at most 4, found 6"),
        (
            {"decoder": (("self_attn", "cross_attn", "ffn"),) * 3},
            "config.decoder: in the family; today's layouts hold at most 2 layers, found 3",
        ),
    ],
)
def test_sizes_beyond_the_layouts(tmp_path: Path, changed: dict[str, object], line: str) -> None:
    assert refused(tmp_path, dataclasses.replace(TUTORIAL.config, **changed)) == line


def test_a_word_too_wide_for_the_layouts_alone(tmp_path: Path) -> None:
    with pytest.raises(limits.BeyondLayouts) as caught:
        limits.preflight(with_words(tmp_path, love="Überraschungen"), "a.toml")
    assert str(caught.value) == (
        'a.toml: target token 2 "Überraschung…": in the family; today\'s layouts hold words at '
        "most as wide as 7 letters, found one of 15"
    )


@pytest.mark.parametrize(
    ("lessons_given", "code"),
    [
        ("04_twin_words", 0),
        ("39_eight_and_eight", 3),
        ("24_no_cross_at_all", 2),
        ("04_twin_words 39_eight_and_eight 24_no_cross_at_all", 2),
        ("04_twin_words 39_eight_and_eight", 3),
    ],
)
def test_the_command_answers_in_a_line_for_each(lessons_given: str, code: int, capsys) -> None:
    paths = [str(FOLDER / name / "lesson.toml") for name in lessons_given.split()]
    assert app.run(["check", "--lesson", ",".join(paths)]) == code
    said = capsys.readouterr()
    assert len((said.out + said.err).splitlines()) == len(paths)
    assert bool(said.err) == bool(code)


@pytest.mark.parametrize("command", [["--explain"], ["audit", "8"], ["sheet", "8"], ["handout"]])
def test_every_command_that_draws_asks_first(command: list[str], tmp_path, capsys) -> None:
    lesson = str(FOLDER / "39_eight_and_eight" / "lesson.toml")
    out = ["--out", str(tmp_path / "out")]
    assert app.run([*command, "--lesson", lesson, *out]) == 2
    assert "in the family; today's layouts hold" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
