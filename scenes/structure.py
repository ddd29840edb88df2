"""Where a layer's numbers stand in the trace, from the sub-layers that it has. Imports no Manim."""

from __future__ import annotations

from .values import Run, Values


def norm_of(run: Run, side: str, layer: int, kind: str) -> str:
    """The norm that follows a sub-layer: ``decoder.1.norm2`` after its cross-attention.

    Norms count the sub-layers of their layer from 1. Raises ValueError where there is no such
    sub-layer.
    """
    number = run.layers(side)[layer].index(kind) + 1
    return f"{side}.{layer}.norm{number}"


def layer_output(run: Run, side: str, layer: int) -> Values:
    """What leaves a layer, shape (n, d): the output of its last norm."""
    return run[f"{norm_of(run, side, layer, run.layers(side)[layer][-1])}.output"]


def decoder_output(run: Run) -> Values:
    """What leaves the last layer of the decoder, shape (m, d)."""
    return layer_output(run, "decoder", len(run.layers("decoder")) - 1)
