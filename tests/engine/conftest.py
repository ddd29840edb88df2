"""The tutorial's weights and passes, and other models, for all tests of the engine."""

from __future__ import annotations

import pytest

import engine
from engine import Config, Trace, Weights


@pytest.fixture(scope="session")
def tutorial() -> Weights:
    return engine.load_weights(engine.TUTORIAL)


@pytest.fixture(scope="session")
def other() -> Weights:
    """The weights of the tutorial's inference page."""
    return engine.load_weights(engine.TUTORIAL_INFERENCE)


@pytest.fixture(scope="session")
def training(tutorial: Weights) -> Trace:
    return engine.training_pass(tutorial)


@pytest.fixture(scope="session")
def odd() -> Weights:
    """Nothing like the tutorial: three heads, odd widths, sub-layers in unusual orders."""
    config = Config(
        vocabulary_size=5,
        d_model=9,
        heads=3,
        d_ff=7,
        max_length=6,
        encoder=(("ffn", "self_attn"), ("ffn",), ("self_attn",)),
        decoder=(("cross_attn", "ffn", "self_attn"), ("cross_attn", "ffn")),
    )
    return engine.random_weights(config, seed=7, low=-1.0, high=1.0)
