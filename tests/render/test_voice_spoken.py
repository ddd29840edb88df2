"""What is read aloud: numbers, symbols, and every sentence of the lecture."""

from __future__ import annotations

import re
import unicodedata

import pytest

from render.voice import script, spoken
from render.voice.spoken import spell
from scenes import registry, texts
from scenes.settings import Settings


@pytest.mark.parametrize(
    ("written", "zh", "en"),
    [
        ("−0.32", "负零点三二", "minus zero point three two"),
        ("-0.05", "负零点零五", "minus zero point zero five"),
        ("+1.5", "正一点五", "plus one point five"),
        ("12.5%", "百分之十二点五", "twelve point five percent"),
        ("−5 %", "负百分之五", "minus five percent"),
        ("10", "十", "ten"),
        ("19", "十九", "nineteen"),
        ("110", "一百一十", "one hundred and ten"),
        ("628", "六百二十八", "six hundred and twenty-eight"),
        ("100.040", "一百点零四零", "one hundred point zero four zero"),
        ("−1e9", "负十的九次方", "minus ten to the power of nine"),
        ("3e-4", "三乘以十的负四次方", "three times ten to the power of minus four"),
        ("0", "零", "zero"),
    ],
)
def test_numbers(written: str, zh: str, en: str) -> None:
    assert spell(written, "zh") == zh
    assert spell(written, "en") == en


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("2 个头", "两 个头"),
        ("2 行", "两 行"),
        ("12 个", "十二 个"),
        ("第 2 行", "第 二 行"),
        ("都是 2 维", "都是 二 维"),
        ("−2 个", "负二 个"),
        ("2.5 倍", "二点五 倍"),
    ],
)
def test_two_is_said_as_chinese_has_it(written: str, said: str) -> None:
    assert spell(written, "zh") == said


@pytest.mark.parametrize(
    ("language", "template", "said"),
    [
        ("zh", "X = E + PE：一个\n向量", "X 等于 E 加 PE：一个向量。"),
        ("zh", "最看重「课」→「水」（{n}）", "最看重「课」到「水」，零点六八九。"),
        ("zh", "{n} ≈ √d_k，q·k", "零点六八九约等于根号 d k，q 点乘 k。"),
        ("zh", "Kᵀ 是 2×2", "K 的转置是二乘二。"),
        ("zh", "W_Q 和 WK", "W Q 和 W K。"),
        ("en", "Kᵀ is a 2 × 4 matrix", "K transpose is a two by four matrix"),
        ("en", "{w} → {w} ({n}), W_Q", "“love” to “love”, zero point six eight nine, W Q"),
        ("en", "q·k over √d_k ≈ {n}", "Q dot k over the root of d k is about zero"),
        ("en", "a = b\nc?", "A equals b c?"),
    ],
)
def test_symbols(language: str, template: str, said: str) -> None:
    facts = {"n": Shown("0.689"), "w": "love"}
    assert spoken.speak(template, facts, language).startswith(said)


class Shown:
    """A fact that is a number, as ``scenes.parts.Say``."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def sentences(language: str) -> list[tuple[str, str, str]]:
    table = texts.load(language)
    slugs = [info.slug for info in (registry.TITLE_CARD, *registry.available())]
    return [(slug, key, text) for slug in slugs for key, text in table[slug]["beats"].items()]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_sentence_can_be_spoken(language: str) -> None:
    """Whatever its numbers are: no digit and no symbol is left to guess at."""
    for slug, key, template in sentences(language):
        for number in ("2", "−0.32", "17"):
            names = {span.text for span in texts.parse(template) if span.is_fact}
            facts = {name: "词" if name == "unit" else Shown(number) for name in names}
            said = spoken.sentence(language, slug, key, template, facts)
            letters = re.sub(r"[\w\s「」，。：；？！、“”'’,.:;?!-]", "", said)
            assert not letters, (slug, key, said)
            odd = [c for c in said if unicodedata.category(c) in ("Lm", "No", "Nd", "Sm", "Pc")]
            assert not odd, (slug, key, said)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_spoken_sentences_are_those_of_the_lecture(language: str) -> None:
    written = {(slug, key): text for slug, key, text in sentences(language)}
    table = spoken.load(language)
    for slug in table.keys() - {"patterns", "symbols"}:
        for key, template in table[slug].items():
            shown = {s.text for s in texts.parse(written[slug, key]) if s.is_fact}
            assert {s.text for s in texts.parse(template) if s.is_fact} == shown, (slug, key)


def test_the_script_of_a_scene() -> None:
    part = script.part((registry.find("8"), Settings("zh")))
    lines = {line.key: line for line in part.lines}
    scale = lines["08_attention_scores/scale"]
    assert scale.text == "再除以 key 的维数二的平方根：维数再多，分数也不会跟着膨胀。"
    assert 4 < scale.seconds < 9
    assert "零点" in lines["08_attention_scores/takeaway_one"].text
    text = list(script.as_text([part]))
    assert text[0].startswith("# 08_attention_scores: 注意力分数：谁该关注谁？ (")
    assert f"08_attention_scores/scale ({scale.seconds:.1f} s)" in text
