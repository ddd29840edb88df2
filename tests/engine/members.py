"""Models from all over the family, by whatever picks one of several things."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import engine
from engine import Config, Weights
from engine.config import CHOICES, FinalNorm, Norm, Position
from engine.parameters import GROUPS
from engine.words import Tokens

Pick = Callable[[Sequence[Any]], Any]


def member(pick: Pick) -> Weights:
    """A small model with random numbers; every setting is picked."""
    said = {name: pick(allowed) for name, allowed in CHOICES.items() if name != "mask"}
    heads = pick([1, 2, 3])
    encoder = ("self_attn", "ffn")
    decoders = [encoder, ("self_attn", "cross_attn", "ffn")]
    config = Config(
        vocabulary_size=pick([4, 6]),
        source_vocabulary_size=pick([None, 5]),
        d_model=heads * pick([2, 3]),
        heads=heads,
        d_ff=pick([1, 3, 5]),
        max_length=7,
        encoder=(encoder,) * pick([1, 2]),
        decoder=(*[pick(decoders) for _ in range(pick([0, 1]))], decoders[1]),
        norm=Norm(*[said[f"norm.{name}"] for name in ("place", "variance", "eps_in")], eps=1e-3),
        final_norm=FinalNorm(said["final_norm.encoder"], said["final_norm.decoder"]),
        activation=said["activation"],
        embedding_scale=said["embedding_scale"],
        position=Position(said["position.kind"], said["position.order"]),
        tied_output=said["tied_output"],
        mask=pick([True, True, True, False]),
    )
    groups = [group for group in GROUPS if pick([True, False])]
    bos, eos = pick([None, "t0"]), pick([None, "t1"])
    tokens = Tokens(bos, eos, source_bos=bool(bos) and pick([True, False]), source_eos=bool(eos))
    weights = engine.random_weights(config, pick(range(1000)), -1.0, 1.0, groups=groups)
    source = config.source_vocabulary_size
    return replace(
        weights,
        source_vocabulary=source and ("t0", "t1", *weights.source_words[2:]),
        objective=pick(["next", "copy"]),
        tokens=tokens,
    )


def seeded(seed: int) -> Weights:
    """The same model for the same seed."""
    return member(random.Random(seed).choice)
