"""Where a model's numbers stand in the trace, from what it has: tables, sub-layers, biases, norms.
Imports no Manim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.parameters import (
    ATTENTION_IN,
    ATTENTION_OUT,
    FFN,
    NORM_GAIN,
    NORM_SHIFT,
    OUTPUT,
    TWO_POSITIONS,
)

from .values import Run, Values, Word

#: Groups of the biases that are none of queries, keys and values.
_BIASES = {"out_proj": ATTENTION_OUT, "linear1": FFN, "linear2": FFN, "output_projection": OUTPUT}


def has(run: Run, group: str) -> bool:
    """Whether the model has a group of optional arrays, such as "attention in"."""
    return group in run.model("groups")


def bias(run: Run, linear: str) -> Values | None:
    """The bias of a linear map such as ``encoder.0.ffn.linear1``, if it has one."""
    group = _BIASES.get(linear.rsplit(".", 1)[-1], ATTENTION_IN)
    return run.weight(f"{linear}.bias") if has(run, group) else None


def gain_and_shift(run: Run, norm: str) -> tuple[Values | None, Values | None]:
    """The learned γ and β of a norm such as ``encoder.0.norm1``, each None where there is none."""
    gain = run.weight(f"{norm}.weight") if has(run, NORM_GAIN) else None
    return gain, run.weight(f"{norm}.bias") if has(run, NORM_SHIFT) else None


# -- inputs ----------------------------------------------------------------------------------------


def has_two_tables(run: Run) -> bool:
    """Whether source and target have words, and an embedding table, of their own."""
    return run.setting("source_vocabulary_size") is not None


def embedding(run: Run, sentence: str) -> str:
    """The trace name of the embedding table of the "source" or the "target"."""
    return f"{sentence}_embedding" if has_two_tables(run) else "embedding"


def words_of(run: Run, sentence: str) -> tuple[Word, ...]:
    """The words of that table, row by row."""
    return run.source_vocabulary if sentence == "source" else run.vocabulary


def is_scaled(run: Run) -> bool:
    """Whether rows of the embedding table are multiplied by √d_model."""
    return bool(run.setting("embedding_scale") != 1)


def looked_up(run: Run, side: str) -> str:
    """The trace name of the rows of the embedding table that "encoder" or "decoder" reads, as
    they stand in it, (m, d)."""
    return f"{side}.unscaled" if is_scaled(run) else f"{side}.embedded"


def is_placed(run: Run) -> bool:
    """Whether anything is added to an embedding for its place."""
    return bool(run.setting("position.kind") != "none")


def has_two_positions(run: Run) -> bool:
    """Whether source and target have learned positions of their own."""
    return is_placed(run) and has(run, TWO_POSITIONS)


def positional(run: Run, sentence: str) -> Values | None:
    """What is added for the places of "source" or "target", (at least m, d); None if nothing."""
    if not is_placed(run):
        return None
    return run[f"{sentence}_positional" if has_two_positions(run) else "positional"]


def following(run: Run) -> tuple[Word, ...]:
    """The word to be written at each step of inference, by the training pass: with targets
    shifted by one, what training wants of its rows, an end token included; otherwise the rest of
    the target."""
    return run.goals if run.model("objective") == "next" else run.target[1:]


def spoken(run: Run, sentence: str) -> tuple[Word, ...]:
    """The "source" or the "target" as the lesson has it: without start and end tokens."""
    tokens = run.source if sentence == "source" else run.target
    ends = {run.model("tokens.bos"), run.model("tokens.eos")} - {None}
    if run.model("objective") == "next" and sentence == "target" and not ends:
        return (*tokens, *run.goals[-1:])  # whose last word is written, not read
    return tuple(token for token in tokens if token not in ends)


def in_one(tokens: Sequence[Word]) -> Word:
    """A sentence in one piece: single characters without spaces, words with them."""
    alone = all(len(token) == 1 and not token.isascii() for token in tokens)
    return Word(("" if alone else " ").join(tokens))


# -- layers ----------------------------------------------------------------------------------------


def is_pre(run: Run) -> bool:
    """Whether a sub-layer's norm comes before it, not after the addition."""
    return bool(run.setting("norm.place") == "pre")


@dataclass(frozen=True)
class SubLayer:
    """The trace names around a sub-layer, all (n, d).

    ``x`` comes to it and is added back; ``reads`` is what it works on, ``x`` or its norm;
    ``output`` leaves it, ``total`` is the sum, and ``leaves`` goes on: the sum, or its norm.
    ``norm`` is its norm, before or after.
    """

    kind: str
    norm: str
    x: str
    reads: str
    output: str
    total: str
    leaves: str


def sublayers(run: Run, side: str, layer: int) -> list[SubLayer]:
    """The sub-layers of a layer, in their order; its norms count them from 1."""
    made: list[SubLayer] = []
    x, pre = (layer_output_name(run, side, layer - 1) if layer else f"{side}.input"), is_pre(run)
    for number, kind in enumerate(run.layers(side)[layer], start=1):
        part = f"{side}.{layer}"
        norm, total = f"{part}.norm{number}", f"{part}.add{number}"
        reads, leaves = (f"{norm}.output", total) if pre else (x, f"{norm}.output")
        made.append(SubLayer(kind, norm, x, reads, f"{part}.{kind}.output", total, leaves))
        x = leaves
    return made


def sublayer(run: Run, side: str, layer: int, kind: str) -> SubLayer:
    """One of them. Raises LookupError where the layer has no such sub-layer."""
    for found in sublayers(run, side, layer):
        if found.kind == kind:
            return found
    raise LookupError(f"{side}.{layer}.{kind}")


def layer_output_name(run: Run, side: str, layer: int) -> str:
    """The trace name of what leaves a layer: its last norm's output, or its last sum."""
    last = len(run.layers(side)[layer])
    return f"{side}.{layer}." + (f"add{last}" if is_pre(run) else f"norm{last}.output")


def layer_output(run: Run, side: str, layer: int) -> Values:
    """What leaves a layer, shape (n, d)."""
    return run[layer_output_name(run, side, layer)]


def has_final_norm(run: Run, side: str) -> bool:
    """Whether one more norm, ``encoder.norm`` or ``decoder.norm``, follows the last layer."""
    return bool(run.setting(f"final_norm.{side}"))


def outputs(run: Run, side: str) -> list[str]:
    """Trace names of the input of a side, then of the output of each layer; after the last one
    that of the final norm, where there is one."""
    count = len(run.layers(side))
    ends = [layer_output_name(run, side, layer) for layer in range(count)]
    if has_final_norm(run, side):
        ends[-1] = f"{side}.norm.output"
    return [f"{side}.input", *ends]


def decoder_output(run: Run) -> Values:
    """What leaves the decoder, shape (m, d)."""
    return run[outputs(run, "decoder")[-1]]


def output_matrix(run: Run) -> Values:
    """The matrix that makes logits, (V, d): its own, or the target's embedding table."""
    tied = run.setting("tied_output")
    return run.weight(f"{embedding(run, 'target') if tied else 'output_projection'}.weight")
