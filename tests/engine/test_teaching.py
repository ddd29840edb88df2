"""What encoder and decoder read, and what is to be written: start, end and padding tokens."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import engine
from engine import LectureError, Weights
from engine.tokenizer import encode, teach
from engine.words import Tokens

WORDS = ("<pad>", "<s>", "</s>", "我", "爱", "I", "love", "tea")


@pytest.fixture(scope="module")
def plain(tutorial: Weights) -> Weights:
    return replace(tutorial, vocabulary=WORDS, objective="next", path=None)


BOTH = Tokens("<s>", "</s>", "<pad>")
TAUGHT: dict[str, tuple[str, Tokens, str, str]] = {
    # objective, tokens, what is read, what is to be written
    "copy": ("copy", Tokens(), "I love tea", "I love tea"),
    "copy, with tokens": ("copy", BOTH, "I love tea", "I love tea"),
    "next": ("next", BOTH, "<s> I love tea", "I love tea </s>"),
    "next without tokens": ("next", Tokens(), "I love", "love tea"),
    "next without an end": ("next", Tokens(bos="<s>"), "<s> I love tea", "I love tea"),
    "next without a start": ("next", Tokens(eos="</s>"), "I love tea", "love tea </s>"),
}


@pytest.mark.parametrize("how", TAUGHT)
def test_what_is_taught(how: str, plain: Weights) -> None:
    objective, tokens, read, goals = TAUGHT[how]
    weights = replace(plain, objective=objective, tokens=tokens)
    teaching = teach("I love tea", weights)
    assert (" ".join(teaching.read), " ".join(teaching.goals)) == (read, goals)
    assert [WORDS[i] for i in teaching.read_ids] == read.split()
    assert [WORDS[i] for i in teaching.goal_ids] == goals.split()
    trace = engine.training_pass(weights, "我爱", "I love tea")
    assert (trace.target_tokens, trace.goal_tokens) == (teaching.read, teaching.goals)
    rows = np.arange(len(teaching.goals))
    p = trace["probabilities"][rows, teaching.goal_ids]
    np.testing.assert_allclose(trace["loss.per_position"], -np.log(p), rtol=1e-12)
    assert trace["loss.mean"] == trace["loss.per_position"].mean()
    if weights.version > 1:
        np.testing.assert_array_equal(trace["goal.ids"], teaching.goal_ids)


@pytest.mark.parametrize(
    ("start", "end", "read"),
    [(False, False, "我 爱"), (True, False, "<s> 我 爱"), (True, True, "<s> 我 爱 </s>")],
)
def test_what_the_encoder_reads(start: bool, end: bool, read: str, plain: Weights) -> None:
    weights = replace(plain, tokens=replace(BOTH, source_bos=start, source_eos=end))
    tokens, ids = encode("我爱", weights, "source")
    assert " ".join(tokens) == read
    assert [WORDS[i] for i in ids] == list(tokens)
    assert engine.training_pass(weights, "我爱", "I tea").source_tokens == tokens
    assert encode("我爱", weights, "prefix")[0] == ("我", "爱")


def test_two_vocabularies_are_kept_apart(plain: Weights) -> None:
    config = replace(plain.config, vocabulary_size=4, source_vocabulary_size=3)
    weights = replace(
        engine.random_weights(config, 3),
        vocabulary=("<s>", "I", "love", "我"),
        source_vocabulary=("我", "爱", "<s>"),
        objective="next",
        tokens=Tokens(bos="<s>", source_bos=True),
    )
    trace = engine.training_pass(weights, "爱我", "我 I")
    assert trace["source.ids"].tolist() == [2, 1, 0]
    assert trace["target.ids"].tolist() == [0, 3, 1]
    assert trace["goal.ids"].tolist() == [3, 1]
    tables = (
        weights.matrices["source_embedding.weight"],
        weights.matrices["target_embedding.weight"],
    )
    np.testing.assert_array_equal(trace["encoder.embedded"], tables[0][[2, 1, 0]])
    np.testing.assert_array_equal(trace["decoder.embedded"], tables[1][[0, 3, 1]])
    assert trace["probabilities"].shape == (3, 4)
    with pytest.raises(LectureError, match=r"source: token: .* \(我 爱 <s>\), found .* 'I'"):
        engine.training_pass(weights, "I", "我 I")
    with pytest.raises(LectureError, match=r"target: token: .*found the unknown '爱'"):
        engine.training_pass(weights, "我", "爱")


def test_room_is_needed_for_what_is_added(plain: Weights) -> None:
    config = replace(plain.config, max_length=3)
    weights = replace(plain, config=config, tokens=replace(BOTH, source_bos=True, source_eos=True))
    engine.training_pass(weights, "我", "I love")
    for source, target in (("我爱", "I love"), ("我", "I love tea")):
        with pytest.raises(LectureError, match="length: expected 1 to 3 tokens"):
            engine.training_pass(weights, source, target)


def test_one_word_teaches_with_a_start_or_an_end(plain: Weights) -> None:
    for tokens in (Tokens("<s>"), Tokens(eos="</s>"), Tokens("<s>", "</s>")):
        assert teach("I", replace(plain, tokens=tokens)).goals
    with pytest.raises(LectureError, match="target: length: expected 2 tokens or more to shift"):
        teach("I", plain)


@pytest.mark.parametrize("cached", [True, False])
def test_generation_begins_and_ends_by_itself(cached: bool, plain: Weights) -> None:
    """Trained on a pair, the model writes the sentence and stops."""
    weights = replace(plain, tokens=BOTH)
    trained = engine.train(weights, "我爱", "I love tea", steps=150).weights
    steps = engine.generate(trained, "我爱", cached=cached)
    assert steps[0].input == ("<s>",)
    assert [step.choice for step in steps] == ["I", "love", "tea", "</s>"]
    assert len(engine.generate(trained, "我爱", steps=2, cached=cached)) == 2


def test_without_an_end_token_it_stops_when_it_is_told_to(plain: Weights) -> None:
    weights = replace(plain, tokens=Tokens("<s>"))
    assert len(engine.generate(weights, "我爱")) == 3
    assert len(engine.generate(weights, "我爱", steps=16)) == 16


def test_training_tells_what_it_was_for(tutorial: Weights) -> None:
    kinds: dict[str | None, Any] = {"copy": "copy", "as-printed": "copy", "shifted": "next"}
    for targets, objective in kinds.items():
        trained = engine.train(tutorial, targets=targets, steps=1).weights
        assert trained.objective == objective
        assert trained.version == (2 if objective == "next" else 1)
