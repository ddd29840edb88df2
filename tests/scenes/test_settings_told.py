"""Models with other settings than the tutorial's: every scene tells them, and can be read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.config import Config, FinalNorm, Norm, Position
from engine.parameters import GROUPS, TWO_POSITIONS
from engine.words import Tokens
from render.review.audit import audit
from scenes import limits, playthrough, registry, wording
from scenes.base import LectureScene
from scenes.parts.phrase import Phrase
from scenes.parts.weight_map import WeightMap
from scenes.settings import Settings

SOURCE = ("我", "你", "爱", "学", "水", "课")
TARGET = ("<bos>", "<eos>", "I", "you", "love", "study", "water", "courses")
GERMAN = ("<bos>", "<eos>", "ich", "mag", "Kurse", "trinke", "Kaffee")
ENDS = Tokens(bos="<bos>", eos="<eos>")
SCENES = range(1, 20)
BIASED = frozenset(set(GROUPS) - {TWO_POSITIONS})


@dataclasses.dataclass(frozen=True)
class Model:
    """A small model: ``changed`` settings, groups of optional arrays, words, sentences."""

    layers: int = 1
    changed: tuple[tuple[str, Any], ...] = ()
    groups: frozenset[str] = BIASED
    source_words: tuple[str, ...] | None = SOURCE
    tokens: Tokens = ENDS
    source: str = "我爱课"
    target: str = "I love courses"

    def settings(self, folder: Path, language: str) -> Settings:
        """Random weights of this kind, checked by the pre-flight."""
        config = Config(
            vocabulary_size=len(TARGET),
            d_model=4,
            heads=2,
            d_ff=8,
            max_length=16,
            encoder=(("self_attn", "ffn"),) * self.layers,
            decoder=(("self_attn", "cross_attn", "ffn"),) * self.layers,
            source_vocabulary_size=len(self.source_words) if self.source_words else None,
        )
        config = dataclasses.replace(config, **dict(self.changed))
        made = engine.random_weights(config, 7, -1.0, 1.0, groups=self.groups)
        made = dataclasses.replace(
            made,
            vocabulary=TARGET,
            source_vocabulary=self.source_words,
            objective="next",
            tokens=self.tokens,
        )
        path = folder / "own.json"
        engine.save_weights(made, path)
        found = Settings(language, path, path, self.source, self.target)
        limits.preflight(found)
        return found


#: What ``nn.Transformer`` has, with sinusoids and embeddings times √d_model, as its tutorial does.
USUAL = (("final_norm", FinalNorm(True, True)), ("embedding_scale", "sqrt(d_model)"))
MODELS = {
    "nn_transformer": Model(changed=USUAL),
    "two_layers": Model(layers=2, changed=USUAL),
    "german": Model(
        changed=USUAL,
        source_words=GERMAN,
        tokens=dataclasses.replace(ENDS, source_eos=True),
        source="ich trinke Kaffee",
    ),
    "pre": Model(
        layers=2,
        changed=(*USUAL, ("norm", Norm(place="pre")), ("activation", "gelu")),
    ),
    "annotated": Model(
        changed=(
            *USUAL,
            ("position", Position("learned")),
            ("norm", Norm("pre", variance="unbiased", eps_in="outside", eps=1e-6)),
            ("activation", "silu"),
            ("tied_output", True),
        ),
        source_words=None,
        source="I love water",
    ),
    "halves": Model(changed=(*USUAL, ("position", Position(order="halves")))),
    "no_positions": Model(layers=2, changed=(*USUAL, ("position", Position("none")))),
    "two_position_tables": Model(
        changed=(("position", Position("learned")),), groups=BIASED | {TWO_POSITIONS}
    ),
}
Tell = Callable[[int], dict[str, Any]]


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Tell:
    """The beats of a scene of the usual model, by name."""
    settings = MODELS["nn_transformer"].settings(tmp_path_factory.mktemp("usual"), "en")

    def tell(number: int) -> dict[str, Any]:
        info = registry.find(str(number))
        scene: LectureScene = playthrough.play(info, settings, words_only=True)
        return {beat.name: beat for beat in scene.timeline}

    return tell


def test_3_has_two_vocabularies_and_a_start_token(usual: Tell) -> None:
    beats = usual(3)
    assert "<bos> is put where a sentence starts" in beats["split"].text
    assert "6 and 8 tokens" in beats["vocabulary"].text
    assert "own vocabulary" in beats["target"].text


def test_4_scales_the_vectors(usual: Tell) -> None:
    beats = usual(4)
    assert "times the root of d_model 4" in beats["source"].text
    assert "table of its own" in beats["target"].text


@pytest.mark.parametrize(
    ("name", "number", "beat", "words"),
    [
        ("halves", 5, "formula", "Sine in the first half of the dimensions"),
        (
            "halves",
            5,
            "worked",
            "the wave of d0 reads 0.8415, that of d2 reads 0.5403",
        ),
        ("halves", 5, "slow", "d1 and d3 are 100 times slower"),
        ("no_positions", 5, "takeaway", "This model adds no position"),
        ("no_positions", 6, "add", "Nothing is added"),
        ("no_positions", 6, "order", "its row would be the same"),
        ("no_positions", 6, "takeaway", "X = √d × E"),
        ("no_positions", 16, "input", "is the whole input"),
        ("two_position_tables", 5, "takeaway", "a table each"),
        ("two_position_tables", 6, "target", "a PE table of its own"),
    ],
)
def test_a_sentence_about_positions(
    tmp_path: Path, name: str, number: int, beat: str, words: str
) -> None:
    settings = MODELS[name].settings(tmp_path, "en")
    scene = playthrough.play(registry.find(str(number)), settings, words_only=True)
    assert words in next(each.text for each in scene.timeline if each.name == beat)


@pytest.mark.parametrize(
    ("name", "unit"),
    [("nn_transformer", "字"), ("german", "词"), ("annotated", "词")],
)
def test_what_a_token_of_the_source_is_called(tmp_path: Path, name: str, unit: str) -> None:
    settings = MODELS[name].settings(tmp_path, "zh")
    for number, beat in ((1, "encoder"), (8, "question"), (9, "all"), (13, "memory")):
        scene = playthrough.play(registry.find(str(number)), settings, words_only=True)
        assert f"个{unit}" in next(each.text for each in scene.timeline if each.name == beat)


@pytest.mark.parametrize(
    ("words", "read", "called"),
    [
        (("我", "爱", "课"), ("我", "课"), "chinese"),
        (("我", "爱", "</s>"), ("我", "</s>"), "mixed"),
        (("I", "love"), ("I", "love"), "words"),
        (("lo", "##ve", "I"), ("I", "lo"), "mixed"),
        (("▁I", "▁lo", "ve"), ("▁I",), "mixed"),
        (("lo@@", "ve", "I"), ("I",), "mixed"),
    ],
)
def test_a_vocabulary_of_pieces(words: Any, read: Any, called: str) -> None:
    class Read:
        source, vocabulary = read, words
        source_vocabulary = words

        def setting(self, path: str) -> None:
            return None

    assert wording.unit(Read()).name == called  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("number", "beat", "words"),
    [
        (6, "takeaway", "√d"),
        (7, "first", "plus its bias"),
        (9, "project", "plus a bias"),
        (9, "normalise", "then times γ, plus β, both learned"),
        (10, "vector", "the final norm"),
        (13, "query", "plus a bias"),
        (13, "norm_again", "the final LayerNorm"),
        (14, "logit", "plus the word's bias"),
        (14, "shift", "shifted by one"),
        (15, "last", "<eos> is added"),
    ],
)
def test_a_sentence_of_the_usual_model(usual: Tell, number: int, beat: str, words: str) -> None:
    assert words in usual(number)[beat].text


def test_17_marks_norms_that_are_not_the_same(tmp_path: Path) -> None:
    """Gains and shifts have boxes of their own, also those of a norm after the last layer."""
    settings = MODELS["two_layers"].settings(tmp_path, "en")
    weights = engine.load_weights(settings.weights)
    changed = {"encoder.norm.bias", "decoder.1.norm3.weight", "decoder.0.self_attn.q_proj.bias"}
    matrices = {n: m + 1 if n in changed else m for n, m in weights.matrices.items()}
    other = tmp_path / "other.json"
    engine.save_weights(dataclasses.replace(weights, matrices=matrices), other)
    settings = dataclasses.replace(settings, inference_weights=other)
    scene = playthrough.play(registry.find("17"), settings, words_only=True)
    assert set(scene.differing) == changed
    plan = WeightMap(scene.training, [Phrase("head")] * 3)
    assert set(plan.lit(scene.differing)) == {
        f"{name.rpartition('.')[0]}.weight" for name in changed
    }
    assert audit(playthrough.scene_class(registry.find("17")), settings) == []


@pytest.mark.slow
@pytest.mark.parametrize(("number", "language"), [(4, "zh"), (9, "en"), (14, "zh")])
def test_a_scene_of_the_usual_model_can_be_read(tmp_path: Path, number: int, language: str) -> None:
    settings = MODELS["nn_transformer"].settings(tmp_path, language)
    assert audit(playthrough.scene_class(registry.find(str(number))), settings) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", SCENES)
@pytest.mark.parametrize("name", MODELS)
def test_every_scene_can_be_read(tmp_path: Path, name: str, number: int) -> None:
    """In one language, turn and turn about; captions are checked in both."""
    language = ("zh", "en")[(number + list(MODELS).index(name)) % 2]
    settings = MODELS[name].settings(tmp_path, language)
    assert audit(playthrough.scene_class(registry.find(str(number))), settings) == []
