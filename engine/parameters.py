"""The arrays of a model: which there are, of which shape, and in which order.

Besides the matrices that a configuration demands there are groups of arrays that a model has
everywhere or nowhere, such as the biases of its feed-forward networks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from engine.config import SUBLAYERS, Config
from engine.errors import LectureError, quoted

Shape = tuple[int, ...]

#: Groups of arrays that are there in every layer or in none.
ATTENTION_IN, ATTENTION_OUT, FFN, OUTPUT = "attention in", "attention out", "ffn", "output"
NORM_GAIN, NORM_SHIFT = "norm gain", "norm shift"
#: Learned positions: a table for either side instead of one for both.
TWO_POSITIONS = "two position tables"
GROUPS = (ATTENTION_IN, ATTENTION_OUT, FFN, NORM_GAIN, NORM_SHIFT, OUTPUT, TWO_POSITIONS)


def parameter_shapes(config: Config, groups: Collection[str] = ()) -> dict[str, Shape]:
    """Every array of the model with its shape, matrices as (out, in), in forward order."""
    return {
        name: shape
        for name, shape, group in _arrays(config, TWO_POSITIONS in groups)
        if group is None or group in groups
    }


def groups_of(names: Collection[str], config: Config) -> frozenset[str]:
    """The groups of which at least one array is among the names."""
    found = {group for name, _, group in _arrays(config, two=True) if group and name in names}
    return frozenset(found)


def check_names(
    names: Iterable[str], config: Config, groups: Collection[str], where: Path | None
) -> None:
    """Refuse names that the model does not have, and missing ones. Raises LectureError."""
    given = set(names)
    wanted = parameter_shapes(config, groups)
    missing = [name for name in wanted if name not in given]
    unknown = sorted(given - set(wanted), key=str)
    if unknown:
        expected = f"{missing[0]}, which is missing" if missing else "only the model's matrices"
        raise LectureError(
            where=where,
            field="matrices",
            expected=expected,
            found=f"the unknown name {quoted(unknown[0])}{_more(unknown)}",
        )
    if not missing:
        return
    demanded = parameter_shapes(config, [TWO_POSITIONS] if TWO_POSITIONS in groups else [])
    if missing[0] not in demanded:
        raise LectureError(
            where=where,
            field=missing[0],
            expected="it too, as other layers have it",
            found="no such name",
        )
    raise LectureError(
        where=where,
        field="matrices",
        expected=f"{missing[0]}{_more(missing)}",
        found="no such name",
    )


@lru_cache(maxsize=32)
def _arrays(config: Config, two: bool) -> tuple[tuple[str, Shape, str | None], ...]:
    """Name, shape and group (None: demanded) of each array there can be, in forward order. `two`:
    learned positions are a table for either side."""
    return tuple(_all_arrays(config, two))


def _all_arrays(config: Config, two: bool) -> Iterator[tuple[str, Shape, str | None]]:
    width, words = config.d_model, config.vocabulary_size
    if config.source_vocabulary_size is None:
        yield "embedding.weight", (words, width), None
    else:
        yield "source_embedding.weight", (config.source_vocabulary_size, width), None
        yield "target_embedding.weight", (words, width), None
    if config.position.kind == "learned":
        for name in ("source_position", "target_position") if two else ("position",):
            group = TWO_POSITIONS if two else None
            yield f"{name}.weight", (config.max_length, width), group
    for side in SUBLAYERS:
        for number, kinds in enumerate(config.layers(side)):
            for place, kind in enumerate(kinds, start=1):
                yield from _sublayer(f"{side}.{number}.{kind}", config)
                yield from _norm(f"{side}.{number}.norm{place}", width)
        if config.setting(f"final_norm.{side}"):
            yield from _norm(f"{side}.norm", width)
    if not config.tied_output:
        yield "output_projection.weight", (words, width), None
    yield "output_projection.bias", (words,), OUTPUT


def _sublayer(name: str, config: Config) -> Iterator[tuple[str, Shape, str | None]]:
    width = config.d_model
    if name.endswith("ffn"):
        linears = [("linear1", config.d_ff, width, FFN), ("linear2", width, config.d_ff, FFN)]
    else:
        linears = [(f"{role}_proj", width, width, ATTENTION_IN) for role in "qkv"]
        linears.append(("out_proj", width, width, ATTENTION_OUT))
    for linear, out, into, group in linears:
        yield f"{name}.{linear}.weight", (out, into), None
        yield f"{name}.{linear}.bias", (out,), group


def _norm(name: str, width: int) -> Iterator[tuple[str, Shape, str | None]]:
    yield f"{name}.weight", (width,), NORM_GAIN
    yield f"{name}.bias", (width,), NORM_SHIFT


def _more(names: list[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""
