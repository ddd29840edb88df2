"""The sentences: complete in both languages, with the same facts, and drawable."""

import ast

import pytest

from engine.errors import LectureError
from scenes import fonts, registry, texts, theme

SCENES = registry.available()
BOTH = [texts.load("zh"), texts.load("en")]
by_slug = pytest.mark.parametrize("info", SCENES, ids=lambda info: info.slug)


def leaves(table, prefix=""):
    for key, value in table.items():
        if isinstance(value, dict):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def declared_beats(info):
    """The class attribute ``beats``, read from the source."""
    for node in ast.walk(ast.parse(info.path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "beats":
            return ast.literal_eval(node.value)
    raise AssertionError(f"{info.path} declares no beats")


def test_both_languages_have_the_same_texts():
    assert dict(leaves(BOTH[0])).keys() == dict(leaves(BOTH[1])).keys()


def test_no_table_is_without_a_scene():
    assert set(BOTH[0]) - {"labels", "wording"} <= {
        info.slug for info in (registry.TITLE_CARD, *registry.SCENES)
    }


@by_slug
def test_every_beat_has_its_sentence_in_both_languages(info):
    for table in BOTH:
        for name, _ in declared_beats(info):
            variants = [key for key in table[info.slug]["beats"] if key.startswith(f"{name}_")]
            assert name in table[info.slug]["beats"] or len(variants) > 1, name


@by_slug
def test_a_beat_quotes_the_same_facts_in_both_languages(info):
    zh, en = (dict(leaves(table[info.slug]["beats"])) for table in BOTH)
    for key in zh:
        facts = [{s.text for s in texts.parse(t[key]) if s.is_fact} for t in (zh, en)]
        # what a token is called is for each language to say, and often it is just "token"
        assert facts[0] - {"unit"} == facts[1] - {"unit"}, key


@pytest.mark.parametrize("table", BOTH, ids=["zh", "en"])
def test_texts_parse_and_can_be_drawn(table):
    for key, template in leaves(table):
        spans = texts.parse(template)
        assert not fonts.missing(template), key
        for span in spans:
            assert span.tag is None or span.tag in theme.MARKUP, key


@pytest.mark.parametrize("table", BOTH, ids=["zh", "en"])
def test_no_number_is_typed_into_a_sentence(table):
    from render.review.numbers import NAME

    for key, template in leaves(table):
        for span in texts.parse(template):
            rest = "" if span.is_fact else NAME.sub("", span.text)
            assert not any(c.isdecimal() for c in rest), (key, span.text)


@pytest.mark.parametrize("template", ["<q>open", "shut</q>", "<q><k>nested</k></q>", "<q>x</k>"])
def test_broken_markup_is_refused(template):
    with pytest.raises(ValueError):
        texts.parse(template)


def test_reading_time_follows_the_language():
    assert texts.reading_time("四个字读完" * 4, "zh") == 4.0
    assert texts.reading_time("a" * 60, "en") == 4.0
    assert texts.reading_time("短", "zh") == 1.5


def test_a_missing_text_is_named_with_its_file():
    with pytest.raises(
        LectureError, match=r"en\.toml: 08_attention_scores\.beats\.dot_x: expected"
    ):
        texts.entry("en", "08_attention_scores", "beats", "dot_x")
    with pytest.raises(LectureError, match=r"zh\.toml: 99_x\.title: expected a text"):
        texts.entry("zh", "99_x", "title")


def test_a_text_file_that_is_not_utf8_is_named(monkeypatch, tmp_path):
    (tmp_path / "en.toml").write_bytes(b'a = "\xff"')
    monkeypatch.setattr(texts, "FOLDER", tmp_path)
    with pytest.raises(LectureError, match=r"en\.toml: expected valid TOML"):
        texts.load.__wrapped__("en")
