"""Tokens are data: whatever a word looks like, it is shown letter by letter and is nothing else."""

from __future__ import annotations

import dataclasses
import string
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import engine
from render.review.numbers import stray_digits
from scenes import playthrough, registry, texts
from scenes.onscreen import TextItem
from scenes.parts.header import break_template
from scenes.parts.phrase import Phrase, Quoted
from scenes.settings import Settings
from scenes.texts import Say, Template, fill, typed
from scenes.values import Run, Word, constant, joined

#: What other programs would take for something: markup, templates, Typst, printf, LaTeX, paths.
NASTY = (
    *("<unk>", "</s>", "<b>", "</q>", "<q>", "{x}", "{{x}}", "{largest.*}", "%s", "%(a)d", "&"),
    *("&amp;", "&lt;", "\\", "\\n", "$", "$x$", "#", "#let", "@a", "_a_", "*a*", "`a`", "~", "^2"),
    *("-->", "WEBVTT", "../x", "a/b", '"', "'", "''", "word16", "2024", "−1", "0.5", "L1", "[PAD]"),
)
words = st.one_of(
    st.sampled_from(NASTY),
    st.text(
        string.ascii_letters + string.digits + string.punctuation + "我爱é", min_size=1, max_size=8
    ),
)


@given(words, words)
@example("{b}", "{a}")
@example("</q>", "<q>")
def test_a_fact_is_never_parsed(one: str, other: str) -> None:
    facts = {"a": Word(one), "b": Word(other), "n": Say(constant(3), 0)}
    template = Template("{a} and <q>{b}</q>: {n}{a}")
    assert fill(template, facts) == f"{one} and {other}: 3{one}"
    assert typed(template, facts) == "  and  :   "
    assert fill(Word(one), {}) == fill(str(one), {}) == one
    assert "".join(fill(half, facts) for half in break_template(template, facts)).replace(
        " ", ""
    ) == fill(template, facts).replace(" ", "")


@given(words)
def test_only_the_text_files_make_templates(word: str) -> None:
    assert texts.spans(word) == texts.spans(Word(word))
    assert [span.is_fact for span in texts.spans(word)] == [False]
    assert isinstance(texts.entry("en", "labels", "source"), Template)
    assert all(isinstance(line, Template) for line in Template("{a}\n<q>b</q>").split("\n"))


@given(st.lists(words, min_size=1, max_size=4))
def test_several_words_are_as_little_parsed_as_one(several: list[str]) -> None:
    together = joined([Word(word) for word in several])
    assert isinstance(together, Word)
    assert fill(Template("{a}"), {"a": together}) == " ".join(several)


@pytest.mark.parametrize("word", NASTY)
def test_a_word_is_drawn_as_it_is_written(word: str) -> None:
    alone = Phrase(Word(word))
    assert (alone.text, alone.is_intact()) == (word, True)
    said = Phrase(Template("<q>{word}</q> {n}"), {"word": Word(word), "n": Say(constant(5), 0)})
    assert said.text == f"{word} 5"
    assert [quoted.text for quoted in said if isinstance(quoted, Quoted)] == ["5"]


@settings(max_examples=25, deadline=None)
@given(words)
def test_any_word_has_a_glyph_for_each_letter(word: str) -> None:
    assert Phrase(Word(word)).text == word


def stray(phrase: Phrase) -> str:
    return stray_digits(TextItem(phrase, (), 1.0))


def test_the_digits_of_a_word_are_its_own() -> None:
    assert stray(Phrase(Word("word16"))) == ""
    assert stray(Phrase(Template("{w}: {n}"), {"w": Word("16"), "n": Say(constant(1), 0)})) == ""
    assert stray(Phrase("word16")) == "16"
    assert stray(Phrase(Template("{w} 16"), {"w": Word("16")})) == "16"
    assert stray(Phrase(Template("{w}"), {"w": "16"})) == "16"


def test_a_position_is_small_and_below_the_line() -> None:
    word, digit = Phrase(Word("我₂")), Phrase("2")
    assert word.is_intact()
    assert word[-1].height == pytest.approx(0.62 * digit[0].height, rel=0.05)
    assert word[-1].get_bottom()[1] < word.baseline - 0.05 * word.em


class Fixed:
    """Passes that know one lesson."""

    def value(self, _: str, name: str) -> object:
        return {
            "tokens:source": ["{x}"],
            "tokens:goal": ["<b>"],
            "tokens:vocabulary": ["{x}", "<b>"],
            "model:tokens.bos": "<bos>",
            "model:objective": "next",
        }[name]


def test_a_run_gives_words() -> None:
    run = Run("training", Fixed())  # type: ignore[arg-type]
    given_words = [*run.source, *run.goals, *run.vocabulary, run.model("tokens.bos")]
    assert all(isinstance(word, Word) for word in given_words)
    assert not isinstance(run.model("objective"), Word)


def lesson_of(folder: Path, target: tuple[str, ...]) -> Settings:
    tutorial = engine.load_weights(engine.TUTORIAL)
    kept = tutorial.vocabulary[:4]
    path = folder / "own.json"
    own = dataclasses.replace(tutorial, vocabulary=(*kept, *target))
    engine.save_weights(own, path)
    return Settings("en", path, path, "我爱水课", " ".join(target))


@pytest.mark.parametrize("number", ["2", "8"])
def test_a_scene_of_such_words_plays(tmp_path: Path, number: str) -> None:
    own = lesson_of(tmp_path, ("<b>", "{x}", "</s>", "w16"))
    scene = playthrough.play(registry.find(number), own, words_only=True)
    assert scene.timeline
