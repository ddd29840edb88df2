"""Cutting text into tokens."""

from __future__ import annotations

import pytest

import engine
from engine import LectureError, Weights
from engine.tokenizer import tokenize

WORDS = (
    "我",
    "爱",
    "水",
    "课",
    "水课",
    "I",
    "love",
    "lovely",
    "easy",
    "don't",
    "don",
    "café",
    "Ｉ",
    "ｌｏｖｅ",
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我爱", ["我", "爱"]),
        ("我爱水课", ["我", "爱", "水课"]),
        ("水 课", ["水", "课"]),
        ("I love", ["I", "love"]),
        ("  I\n\tlove　", ["I", "love"]),
        ("lovely love", ["lovely", "love"]),
        ("我love水I", ["我", "love", "水", "I"]),
        ("Ｉｌｏｖｅ", ["Ｉ", "ｌｏｖｅ"]),  # full-width: cut like Chinese
        ("don't don", ["don't", "don"]),
        ("cafe\u0301", ["café"]),
        ("", []),
        (" \n", []),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokenize(text, WORDS) == tuple(tokens)


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("Ilove", "Ilove"),
        ("I lovelyy", "lovelyy"),
        ("loves", "loves"),
        ("love2", "love2"),
        ("i", "i"),
        ("我猫爱", "猫"),
        ("I love!", "!"),
        ("I \u0301", "\u0301"),
        ("I \udcff", "\udcff"),
    ],
)
def test_unknown_token_is_named(text: str, piece: str) -> None:
    with pytest.raises(LectureError) as caught:
        tokenize(text, WORDS, "source")
    assert caught.value.found == f"the unknown {piece!r}"
    assert "我 爱 水 课" in str(caught.value)
    assert str(caught.value).startswith("source: token: expected words of the vocabulary")


def test_unknown_token_in_a_sequence(tutorial: Weights) -> None:
    with pytest.raises(LectureError, match=r"prefix: token: .* found the unknown 'I love'"):
        engine.inference_pass(tutorial, ["I love"])


@pytest.mark.parametrize("empty", ["", "  ", [], ()])
def test_nothing_to_read(empty: str | list[str], tutorial: Weights) -> None:
    with pytest.raises(LectureError, match=r"prefix: length: expected 1 to 16 tokens .*none"):
        engine.inference_pass(tutorial, empty)
    with pytest.raises(LectureError, match="source: length"):
        engine.training_pass(tutorial, empty)


def test_too_long(tutorial: Weights) -> None:
    assert len(engine.inference_pass(tutorial, "I " * 16).target_tokens) == 16
    with pytest.raises(LectureError, match=r"expected 1 to 16 tokens .*, found 17"):
        engine.inference_pass(tutorial, "I " * 17)
    with pytest.raises(LectureError, match=r"source: length: .* found 17"):
        engine.training_pass(tutorial, "我" * 17)
