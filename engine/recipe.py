"""Where weights come from: the tutorial's recipe, and random ones.

The tutorial prints its embedding table; all other matrices are one stream of uniform numbers from
seed 42, rounded to one decimal and cut into blocks.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from engine.config import Config, check_config
from engine.errors import LectureError, quoted
from engine.ops import Array
from engine.parameters import parameter_shapes
from engine.weights import Weights

WORDS = ("我", "爱", "水", "课", "I", "love", "easy", "courses")

CONFIG = Config(
    vocabulary_size=8,
    d_model=4,
    heads=2,
    d_ff=8,
    max_length=16,
    encoder=(("self_attn", "ffn"), ("self_attn", "ffn")),
    decoder=(("self_attn", "ffn"), ("self_attn", "cross_attn", "ffn")),
)

_EMBEDDING = (
    (0.5, -0.3, 0.8, 0.1),
    (-0.2, 0.6, -0.1, 0.4),
    (0.3, 0.2, 0.5, -0.4),
    (-0.6, 0.1, 0.3, 0.7),
    (0.4, 0.5, -0.2, 0.3),
    (0.7, -0.1, 0.6, -0.3),
    (-0.5, 0.4, 0.2, 0.6),
    (0.1, -0.6, 0.4, 0.2),
)

_SEED = 42
_STREAM_LENGTH = 672

# Offset of each sub-layer's block in the stream. The training pages and the first inference page
# of the tutorial used different weights for one sub-layer.
_BLOCKS = {
    "encoder.0.self_attn": 0,
    "encoder.0.ffn": 64,
    "encoder.1.self_attn": 128,
    "encoder.1.ffn": 192,
    "decoder.0.self_attn": 256,
    "decoder.0.ffn": 320,
    "decoder.1.cross_attn": 512,
    "decoder.1.ffn": 576,
    "output_projection": 640,
}
_RECIPES = {"tutorial": 384, "tutorial-inference": 448}

RECIPES = tuple(_RECIPES)


def tutorial_weights(recipe: str = "tutorial") -> Weights:
    """The tutorial's model, as its training pages use it ("tutorial") or as its inference step 1
    does ("tutorial-inference"). Raises LectureError for any other recipe."""
    if recipe not in _RECIPES:
        raise LectureError(
            field="recipe", expected=f"one of {', '.join(RECIPES)}", found=quoted(recipe)
        )
    stream = np.random.RandomState(_SEED).uniform(-1.0, 1.0, _STREAM_LENGTH).round(1) + 0.0
    matrices = {"embedding.weight": np.array(_EMBEDDING)}
    for name, offset in {**_BLOCKS, "decoder.1.self_attn": _RECIPES[recipe]}.items():
        block = stream[offset:]
        if name.endswith("attn"):
            matrices.update(_attention_matrices(name, block))
        elif name.endswith("ffn"):
            matrices[f"{name}.linear1.weight"] = block[:32].reshape(8, 4)
            matrices[f"{name}.linear2.weight"] = block[32:64].reshape(4, 8)
        else:
            matrices[f"{name}.weight"] = block[:32].reshape(8, 4)
    return Weights(CONFIG, WORDS, matrices)


def _attention_matrices(name: str, block: Array) -> dict[str, Array]:
    """A block holds WQ, WK, WV (2 x 4 each) of head 0, the same of head 1, then WO (4 x 4)."""
    heads = block[:48].reshape(2, 3, 2, 4)  # (head, projection, d_k, d_model)
    matrices = {
        f"{name}.{projection}.weight": heads[:, number].reshape(4, 4)
        for number, projection in enumerate(("q_proj", "k_proj", "v_proj"))
    }
    matrices[f"{name}.out_proj.weight"] = block[48:64].reshape(4, 4)
    return matrices


def extended(weights: Weights, words: Sequence[str], seed: int) -> Weights:
    """The same model with more words, those of ``words`` that it does not have. Their rows, first
    of the embedding, then of the output, are uniform in [-1, 1), rounded to one decimal; their
    biases 0. Raises LectureError for a bad seed, or where source and target have vocabularies of
    their own."""
    if not 0 <= seed < 2**32:
        raise LectureError(field="seed", expected="0 to 4294967295", found=quoted(seed))
    if weights.source_vocabulary is not None:
        raise LectureError(
            where=weights.path, field="vocabulary", expected="one to extend", found="two"
        )
    new = [word for word in dict.fromkeys(words) if word not in weights.vocabulary]
    source, matrices = np.random.RandomState(seed), dict(weights.matrices)
    for name in dict.fromkeys([weights.embedding("target"), weights.output()]):
        rows = source.uniform(-1.0, 1.0, (len(new), weights.config.d_model)).round(1) + 0.0
        matrices[name] = np.concatenate([matrices[name], rows])
    bias = "output_projection.bias"
    if bias in matrices:
        matrices[bias] = np.concatenate([matrices[bias], np.zeros(len(new))])
    vocabulary = (*weights.vocabulary, *new)
    config = replace(weights.config, vocabulary_size=len(vocabulary))
    return replace(weights, config=config, vocabulary=vocabulary, matrices=matrices, path=None)


def random_weights(
    template_or_config: Weights | Config,
    seed: int,
    low: float = -9.99,
    high: float = 9.99,
    decimals: int = 2,
    groups: Collection[str] = (),
) -> Weights:
    """Uniform random arrays in [low, high), rounded; the same seed gives the same weights.

    A template lends everything but the numbers and how they came to be. A bare configuration gets
    the tutorial's words if it has eight, else t0, t1, ... (a source of its own s0, s1, ...), and
    the `groups` of optional arrays (see `engine.parameters`). Raises LectureError for a bad seed,
    range or decimals.
    """
    if not 0 <= seed < 2**32:
        raise LectureError(field="seed", expected="0 to 4294967295", found=quoted(seed))
    if not (np.isfinite([low, high]).all() and low <= high and np.isfinite(high - low)):
        raise LectureError(
            field="range", expected="finite numbers, low <= high", found=f"{low} to {high}"
        )
    if not 0 <= decimals <= 15:
        raise LectureError(field="decimals", expected="0 to 15", found=quoted(decimals))
    given = template_or_config
    template = given if isinstance(given, Weights) else None
    config = given.config if isinstance(given, Weights) else given
    check_config(config)
    source = np.random.RandomState(seed)
    shapes = parameter_shapes(config, groups if template is None else template.groups)
    matrices = {
        name: source.uniform(low, high, shape).round(decimals) + 0.0
        for name, shape in shapes.items()
    }
    if template is not None:
        return replace(template, matrices=matrices, path=None, training=None)
    words = config.vocabulary_size
    return Weights(
        config,
        WORDS if words == len(WORDS) else tuple(f"t{i}" for i in range(words)),
        matrices,
        source_vocabulary=(
            None
            if config.source_vocabulary_size is None
            else tuple(f"s{i}" for i in range(config.source_vocabulary_size))
        ),
    )
