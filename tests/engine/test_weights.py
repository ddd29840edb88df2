"""Weights in memory: the recipe, random ones, and what is checked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import engine
from engine import Config, LectureError, Weights
from engine.parameters import parameter_shapes


@pytest.mark.parametrize(
    ("recipe", "path"),
    [("tutorial", engine.TUTORIAL), ("tutorial-inference", engine.TUTORIAL_INFERENCE)],
)
def test_recipe_gives_the_same_file(recipe: str, path: Path, tmp_path: Path) -> None:
    engine.save_weights(engine.tutorial_weights(recipe), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


def test_the_printed_projection_matrix(tutorial: Weights) -> None:
    """The one matrix, besides the embedding, that the tutorial prints."""
    matrix = tutorial.matrices["encoder.0.self_attn.q_proj.weight"][:2]
    assert matrix.tolist() == [[-0.3, 0.9, 0.5, 0.2], [-0.7, -0.7, -0.9, 0.7]]


def test_the_two_files_differ_in_one_sublayer(tutorial: Weights, other: Weights) -> None:
    differing = [
        name
        for name in tutorial.matrices
        if not np.array_equal(tutorial.matrices[name], other.matrices[name])
    ]
    projections = ("q_proj", "k_proj", "v_proj", "out_proj")
    assert differing == [f"decoder.1.self_attn.{p}.weight" for p in projections]


def test_unknown_recipe() -> None:
    with pytest.raises(LectureError, match="tutorial, tutorial-inference, found 'mine'"):
        engine.tutorial_weights("mine")


def test_weights_describe_themselves(tutorial: Weights) -> None:
    config = tutorial.config
    assert (config.vocabulary_size, config.d_model, config.heads, config.d_k) == (8, 4, 2, 2)
    assert (config.d_ff, config.layer_norm_eps, config.max_length) == (8, 1e-5, 16)
    assert config.decoder == (("self_attn", "ffn"), ("self_attn", "cross_attn", "ffn"))
    assert tutorial.path == engine.TUTORIAL
    assert list(tutorial.matrices) == list(parameter_shapes(config))
    assert len(tutorial.matrices) == 30
    for matrix in tutorial.matrices.values():
        assert matrix.dtype == np.float64
        assert not matrix.flags.writeable


def test_weights_keep_their_own_copy(tutorial: Weights) -> None:
    mine = np.ones((8, 4))
    weights = tutorial.with_matrices({"output_projection.weight": mine})
    mine[:] = 5.0
    assert (weights.matrices["output_projection.weight"] == 1.0).all()
    with pytest.raises(TypeError):
        weights.matrices["output_projection.weight"] = mine  # type: ignore[index]


@pytest.mark.parametrize(
    "matrix", [[["x"] * 4] * 8, [[1.0], [2.0, 3.0]], [[1j] * 4] * 8, [[True] * 4] * 8, None]
)
def test_weights_in_memory_are_checked_too(matrix: object, tutorial: Weights) -> None:
    with pytest.raises(LectureError, match=r"matrices\.embedding\.weight: expected real numbers"):
        tutorial.with_matrices({"embedding.weight": matrix})  # type: ignore[dict-item]


def test_vocabulary_must_fit_the_configuration(tutorial: Weights) -> None:
    with pytest.raises(LectureError, match="vocabulary: expected 8 words, found 1"):
        Weights(tutorial.config, ("I",), tutorial.matrices)


def test_random_weights(tutorial: Weights) -> None:
    one, same, two = (engine.random_weights(tutorial, seed) for seed in (1, 1, 2))
    values = np.concatenate([matrix.ravel() for matrix in one.matrices.values()])
    assert (one.config, one.vocabulary) == (tutorial.config, tutorial.vocabulary)
    assert values.min() < -9
    assert values.max() > 9
    assert np.abs(values).max() <= 9.99
    np.testing.assert_array_equal(values, values.round(2))
    for name in one.matrices:
        np.testing.assert_array_equal(one.matrices[name], same.matrices[name])
    assert any((one.matrices[name] != two.matrices[name]).any() for name in one.matrices)


def test_random_weights_from_a_config(tutorial: Weights) -> None:
    assert engine.random_weights(tutorial.config, 0).vocabulary == tutorial.vocabulary
    small = Config(3, 2, 1, 2, 4, encoder=(), decoder=(("ffn",),))
    assert engine.random_weights(small, 0).vocabulary == ("t0", "t1", "t2")


@pytest.mark.parametrize(
    "options",
    [
        {"seed": -1},
        {"seed": 2**32},
        {"seed": 0, "low": 1.0, "high": 0.0},
        {"seed": 0, "low": float("nan")},
        {"seed": 0, "low": -1e308, "high": 1e308},
    ],
)
def test_random_weights_refuse(options: dict[str, float], tutorial: Weights) -> None:
    with pytest.raises(LectureError):
        engine.random_weights(tutorial, **options)  # type: ignore[arg-type]
