"""What the lecture does not tell is refused in one line, before anything is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import LectureError, Weights, family
from engine.config import Position
from engine.words import Tokens

SELF, CROSS = ("self_attn", "ffn"), ("self_attn", "cross_attn", "ffn")
Call = Callable[..., tuple[int, str, str]]


def model(vocabulary: tuple[str, ...] | None = None, **settings: Any) -> Weights:
    """The tutorial's, but for some settings, from a file."""
    config = replace(engine.tutorial_weights().config, **settings)
    weights = engine.random_weights(config, 4, -1.0, 1.0)
    return replace(weights, path=Path("w.json"), vocabulary=vocabulary or weights.vocabulary)


SIZES: dict[str, tuple[dict[str, Any], str]] = {
    "narrow": ({"d_model": 1, "heads": 1}, "config.d_model: expected 2 to 8, {}, found 1"),
    "wide": ({"d_model": 16}, "config.d_model: expected 2 to 8, {}, found 16"),
    "odd": (
        {"d_model": 5, "heads": 1},
        "config.d_model: expected an even number, as sine and cosine come in pairs, found 5",
    ),
    "heads": ({"d_model": 8, "heads": 8}, "config.heads: expected 1 to 4, {}, found 8"),
    "d_ff": ({"d_ff": 17}, "config.d_ff: expected 1 to 16, {}, found 17"),
    "no encoder": ({"encoder": ()}, "config.encoder: expected 1 to 3 layers, found none"),
    "deep": ({"decoder": (CROSS,) * 4}, "config.decoder: expected 1 to 3 layers, found 4"),
    "few words": ({"vocabulary_size": 3}, "vocabulary: expected at least 4 words, found 3"),
    "many words": (
        {"vocabulary_size": 2001},
        "vocabulary: expected at most 2000 words, found 2001",
    ),
    "many source words": (
        {"source_vocabulary_size": 2001},
        "vocabulary.source: expected at most 2000 words, found 2001",
    ),
    "few target words": (
        {"source_vocabulary_size": 5, "vocabulary_size": 2},
        "vocabulary.target: expected at least 4 words, found 2",
    ),
    "order": (
        {"encoder": (SELF, SELF[::-1])},
        "config.encoder[1]: expected self_attn, ffn in this order, found ffn, self_attn",
    ),
    "order in the decoder": (
        {"decoder": (SELF, ("cross_attn", "self_attn", "ffn"))},
        "config.decoder[1]: expected self_attn, cross_attn, ffn in this order, "
        "found cross_attn, self_attn, ffn",
    ),
    "no FFN": (
        {"decoder": (("self_attn",), CROSS)},
        "config.decoder[0]: expected self_attn, ffn in this order, found self_attn",
    ),
    "no cross-attention": (
        {"decoder": (CROSS, SELF)},
        "config.decoder[1]: expected cross_attn too, as the scenes tell how the target asks the "
        "source, found self_attn, ffn",
    ),
}


@pytest.mark.parametrize("what", SIZES)
def test_models_refused(what: str) -> None:
    settings, line = SIZES[what]
    with pytest.raises(LectureError) as caught:
        family.check_model(model(**settings))
    assert str(caught.value) == f"w.json: {line.format('which can be read on screen')}"


@pytest.mark.parametrize(
    "settings",
    [
        {"d_model": 2, "heads": 1, "d_ff": 1, "encoder": (SELF,), "decoder": (CROSS,)},
        {"d_model": 8, "heads": 4, "d_ff": 16, "encoder": (SELF,) * 3, "decoder": (CROSS,) * 3},
        {"d_model": 5, "heads": 1, "position": Position("learned")},
        {"d_model": 3, "heads": 3, "position": Position("none")},
        {"vocabulary_size": 2000},
        {"vocabulary_size": 4, "source_vocabulary_size": 4},
        {"mask": False, "decoder": (CROSS, SELF, CROSS)},
    ],
)
def test_models_told(settings: dict[str, Any]) -> None:
    family.check_model(model(**settings))


@pytest.mark.parametrize("number", [1000.5, -1000.001])
def test_numbers_refused(number: float) -> None:
    matrix = np.zeros((8, 4))
    matrix[3, 2] = number
    name = "encoder.0.ffn.linear1.weight"
    weights = replace(model().with_matrices({name: matrix}), path=Path("w.json"))
    with pytest.raises(LectureError) as caught:
        family.check_model(weights)
    assert str(caught.value) == (
        f"w.json: {name}: expected numbers from -1000 to 1000, which can be read on screen, "
        f"found {number}"
    )
    family.check_model(weights.with_matrices({name: matrix.clip(-1000, 1000)}))


WORDS = ("<pad>", "<s>", "</s>", "a", "b", "c", "d")
PLAIN = Tokens()
ENDS = Tokens("<s>", "</s>", "<pad>", source_bos=True, source_eos=True)
SENTENCES: dict[str, tuple[Tokens, str, str, str]] = {
    "source": (
        PLAIN,
        "a b c d a b c d a",
        "a b c d",
        "source: expected at most 8 tokens, which can be read on screen, found 9",
    ),
    "source with ends": (
        ENDS,
        "a b c d a b c",
        "a b c",
        "source: expected at most 8 tokens with <s> and </s>, which can be read on screen, found 9",
    ),
    "target": (
        PLAIN,
        "a",
        "a b c",
        "target: expected 3 tokens or more before the last, as there are three inference scenes, "
        "found 2",
    ),
    "target with a start": (
        ENDS,
        "a",
        "a",
        "target: expected 3 tokens or more with <s>, as there are three inference scenes, found 2",
    ),
    "target without a start": (
        Tokens(eos="</s>"),
        "a",
        "a b",
        "target: expected 3 tokens or more, as there are three inference scenes, found 2",
    ),
    "long target": (
        ENDS,
        "a",
        "a b c d a b c d",
        "target: expected at most 8 tokens with <s>, which can be read on screen, found 9",
    ),
    "padding": (
        ENDS,
        "a b <pad>",
        "a b c",
        'source token 3 "<pad>": expected the sentence without padding; the model masks it, so '
        "nothing changes",
    ),
    "padding in the target": (
        ENDS,
        "a",
        "<pad> a b c",
        'target token 1 "<pad>": expected the sentence without padding; the model masks it, so '
        "nothing changes",
    ),
    "a start token": (
        ENDS,
        "a",
        "<s> a b",
        'target token 1 "<s>": expected the sentence without start and end tokens, which are put '
        "there",
    ),
    "an end token": (
        ENDS,
        "a </s>",
        "a b",
        'source token 2 "</s>": expected the sentence without start and end tokens, which are put '
        "there",
    ),
    "an unknown word": (
        PLAIN,
        "a x",
        "a b c d",
        "source: expected words of the vocabulary (<pad> <s> </s> a b c d), found the unknown 'x'",
    ),
    "nothing": (
        PLAIN,
        "",
        "a b c d",
        "source: expected 1 to 16 tokens (the model's max_length), found none",
    ),
}


def lesson(tokens: Tokens, **more: Any) -> Weights:
    return replace(model(WORDS, vocabulary_size=7), tokens=tokens, objective="next", **more)


@pytest.mark.parametrize("what", SENTENCES)
def test_sentences_refused(what: str) -> None:
    tokens, source, target, line = SENTENCES[what]
    with pytest.raises(LectureError) as caught:
        family.check_lesson(lesson(tokens), source, target, "lesson.toml")
    assert str(caught.value) == f"lesson.toml: {line}"


@pytest.mark.parametrize(
    ("tokens", "objective", "source", "target"),
    [
        (ENDS, "next", "a b c d a b", "a b c d a b c"),
        (ENDS, "next", "a", "a b"),
        (PLAIN, "next", "a b c d a b c d", "a b c d a b c d a"),
        (PLAIN, "copy", "<pad> <s> </s>", "<s> a </s>"),
    ],
)
def test_sentences_told(tokens: Tokens, objective: str, source: str, target: str) -> None:
    weights = replace(lesson(tokens), objective=objective)
    trace = family.check_lesson(weights, source, target)
    assert trace.kind == "training"
    assert 1 <= len(trace.source_tokens) <= 8
    assert 3 <= len(trace.target_tokens) <= 8


def test_check_on_the_command_line(call: Call, tmp_path: Path, odd: Weights) -> None:
    path = tmp_path / "odd.json"
    engine.save_weights(odd, path)
    code, out, err = call("weights", "check", str(path))
    assert (code, out) == (2, "")
    assert err == (
        f"error: {path}: config.encoder[0]: expected self_attn, ffn in this order, "
        "found ffn, self_attn\n"
    )
    two = tmp_path / "two.json"
    engine.save_weights(model(source_vocabulary_size=5), two)
    code, out, err = call("weights", "check", str(two))
    assert (code, err) == (0, "")
    assert out.startswith(f"{two}: good; 5 and 8 words, d_model 4, 2 heads, ")
