"""What the arrays of a state dict say about the model: its sizes, layers, tables and positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine import family, ops
from engine.arrays import Arrays, Shape
from engine.config import SUBLAYERS, Layers
from engine.importing.names import SIDES, Names, layer_of
from engine.ops import Array
from engine.reader import refuse
from engine.weights import shape_text

_ROLES = ("q_proj", "k_proj", "v_proj")
_TABLES = ("embedding.weight", "source_embedding.weight", "target_embedding.weight")
_POSITIONS = ("position", "source_position", "target_position")
_BUFFER_ERROR = {"bfloat16": 2e-2}  # of a stored sinusoid; else:
_FLOAT_ERROR = 1e-3


@dataclass
class Structure:
    """A model as far as its file tells. `settings` are by their names in a weight file, such as
    "position.kind"; `matrices` have our names; `notes` are remarks for the reader."""

    path: Path
    names: Names
    settings: dict[str, Any]
    matrices: dict[str, Array]
    notes: list[str] = field(default_factory=list)

    @property
    def normalised_by_arrays(self) -> bool:
        """Whether layer normalisations have a gain or a shift, so that the file shows them all."""
        return any(".norm" in name for name in self.matrices)


def structure(arrays: Arrays, names: Names, path: Path, learned: bool) -> Structure:
    """Sort out a file. `learned`: positions are learned, whatever they look like. Raises
    LectureError for what is none of the family or does not fit together."""
    settings = _sizes(arrays.shapes, names, path)
    _check_heads(arrays.shapes, names, settings["d_model"], path)
    load = partial(_load, arrays, path)
    result = Structure(path, names, settings, {})
    for ours, theirs in names.ours.items():
        if ours not in _POSITIONS:
            array = load(ours, theirs)
            if ".in_proj." in ours and (not array.ndim or len(array) != 3 * settings["d_model"]):
                wanted = f"{3 * settings['d_model']} rows, of query, key and value"
                refuse(path, theirs[0], wanted, shape_text(array.shape))
            result.matrices.update(_converted(ours, array, settings["d_model"]))
    _join_tables(result)
    _find_positions(arrays, result, learned)
    _find_tie(result)
    for side in SIDES:
        if result.normalised_by_arrays:
            found = any(name.startswith(f"{side}.norm.") for name in result.matrices)
            settings[f"final_norm.{side}"] = found
    if names.left_out:
        result.notes.append(f"left out: {', '.join(names.left_out)}")
    return result


def _sizes(shapes: Mapping[str, Shape], names: Names, path: Path) -> dict[str, Any]:
    """d_model, d_ff and the layers, from names and shapes."""
    table = next((names.ours[name][0] for name in reversed(_TABLES) if name in names.ours), None)
    if table is None:
        refuse(path, "names", "an embedding table for the target's words", "none")
    if len(shapes[table]) != 2:
        refuse(path, table, "a table, words x d_model", shape_text(shapes[table]))
    layers = {side: _layers(names, side, path) for side in SIDES}
    first = next((n for n in names.ours if n.endswith("ffn.linear1.weight")), None)
    if first is None:
        refuse(path, "names", "a feed-forward network in the layers, linear1 and linear2", "none")
    inner = shapes[names.ours[first][0]]
    sizes = {"d_model": shapes[table][1], "d_ff": inner[0] if inner else 0}
    for name, (least, most) in (("d_model", family.D_MODEL), ("d_ff", family.D_FF)):
        if not least <= sizes[name] <= most:
            expected = f"{least} to {most}, {family.READABLE}"
            refuse(path, f"config.{name}", expected, str(sizes[name]))
    return {**sizes, **layers}


def _layers(names: Names, side: str, path: Path) -> Layers:
    """The sub-layers of each layer of a side, in the order in which the family has them."""
    kinds: dict[int, set[str]] = {}
    for ours in names.ours:
        layer = layer_of(ours)
        if layer and layer[0] == side:
            kinds.setdefault(layer[1], set()).add(layer[2].split(".")[0])
    if not kinds:
        refuse(path, f"config.{side}", "1 to 3 layers", "none")
    for number in range(len(kinds)):
        if number not in kinds:
            found = f"layer {max(kinds)} and none with the number {number}"
            refuse(path, f"config.{side}", "layers numbered from 0 on", found)
    return tuple(
        tuple(kind for kind in SUBLAYERS[side] if kind in kinds[number])
        for number in range(len(kinds))
    )


def _check_heads(shapes: Mapping[str, Shape], names: Names, d_model: int, path: Path) -> None:
    """The projections of attention must be square, d_model x d_model."""
    for ours, theirs in names.ours.items():
        layer = layer_of(ours)
        if not layer or not layer[2].endswith("_proj.weight"):
            continue
        rows = 3 * d_model if ".in_proj." in ours else d_model
        found = shapes[theirs[0]]
        if found != (rows, d_model):
            wider = len(found) == 2 and d_model in found
            why = ": heads wider than d_model / heads are not told" if wider else ""
            wanted = f"{rows} x {d_model}"
            refuse(path, ours, wanted, f"{shape_text(found)}{why}")


def _load(arrays: Arrays, path: Path, ours: str, theirs: list[str]) -> Array:
    """The array of one of our names, float64. Where a file has it twice, both must agree."""
    loaded: list[NDArray[Any]] = [arrays[name] for name in theirs]
    first = loaded[0]
    if first.dtype.kind not in "fiu":
        refuse(path, theirs[0], "real numbers", f"type {first.dtype}")
    for name, other in zip(theirs[1:], loaded[1:], strict=True):
        if not np.array_equal(first, other):
            refuse(path, name, f"the same numbers as {theirs[0]}, as both are {ours}", "others")
    return first.astype(np.float64)


def _converted(ours: str, array: Array, d_model: int) -> dict[str, Array]:
    """An array of theirs as one or three of ours."""
    stem, _, kind = ours.rpartition(".")
    if stem.endswith(".in_proj"):
        start = stem.removesuffix("in_proj")
        return {
            f"{start}{role}.{kind}": part
            for role, part in zip(_ROLES, np.split(array, 3), strict=True)
        }
    if ".linear" in ours and array.ndim == 3 and array.shape[-1] == 1:
        array = array[:, :, 0]  # a convolution of width 1 is a matrix
    if ".norm" in ours and array.size == 1:
        array = np.full(d_model, array.item())  # one gain or shift for all
    if ours == "output_projection.bias":
        array = array.reshape(-1)
    return {ours: array}


def _join_tables(result: Structure) -> None:
    """One embedding table, or one for the source and one for the target."""
    matrices, path = result.matrices, result.path
    shared, source, target = (matrices.get(name) for name in _TABLES)
    if shared is not None:
        for name, table in zip(_TABLES[1:], (source, target), strict=True):
            if table is None:
                continue
            if not np.array_equal(shared, table):
                refuse(path, name, "the numbers of the shared table", "others")
            del matrices[name]
    elif source is None or target is None:
        missing = "source" if source is None else "target"
        refuse(path, "names", f"an embedding table for the {missing}'s words too", "none")


def _find_tie(result: Structure) -> None:
    """Whether the output projection is the target's table: there is none, or the same again."""
    matrices = result.matrices
    table = matrices.get("embedding.weight", matrices.get("target_embedding.weight"))
    output = matrices.get("output_projection.weight")
    tied = output is None or (table is not None and np.array_equal(output, table))
    if tied:
        matrices.pop("output_projection.weight", None)
        result.notes.append("the output projection is the target's embedding table")
    result.settings["tied_output"] = tied


def _find_positions(arrays: Arrays, result: Structure, learned: bool) -> None:
    """Stored positions: sines and cosines, which are computed anew, or learned ones."""
    kinds = set()
    tables: dict[str, Array] = {}
    for ours in _POSITIONS:
        if ours not in result.names.ours:
            continue
        theirs = result.names.ours[ours][0]
        table = _load(arrays, result.path, ours, result.names.ours[ours])
        table = _position_table(table, theirs, result)
        limit = _BUFFER_ERROR.get(arrays.dtype(theirs), _FLOAT_ERROR)
        order = None if learned else _order(table, limit)
        kinds.add(order)
        if order is None:
            _check_learned(table, theirs, learned, result)
            tables[f"{ours}.weight"] = table
    if len(kinds) > 1:
        refuse(result.path, "positions", "the same kind for source and target", "two kinds")
    if not kinds:
        return
    order = kinds.pop()
    result.settings["position.kind"] = "sinusoid" if order else "learned"
    result.settings["position.order"] = order or "interleaved"
    if tables:
        length = min(len(table) for table in tables.values())
        result.settings["max_length"] = length
        result.matrices.update({name: table[:length] for name, table in tables.items()})


def _position_table(table: Array, theirs: str, result: Structure) -> Array:
    """Positions without the axes of length 1 that broadcasting wants: (length, d_model)."""
    width = result.settings["d_model"]
    long = [side for side in table.shape[:-1] if side != 1]
    if table.ndim < 2 or table.shape[-1] != width or len(long) > 1:
        refuse(result.path, theirs, f"positions x {width}", shape_text(table.shape))
    return table.reshape(-1, width)


def _order(table: Array, limit: float) -> str | None:
    """ "interleaved" or "halves" if these are sines and cosines, else None."""
    for order in ("interleaved", "halves"):
        wave = ops.positional_encoding(len(table), table.shape[1], order == "halves")
        if len(table) and np.abs(table - wave).max() <= limit:
            return order
    return None


def _check_learned(table: Array, theirs: str, learned: bool, result: Structure) -> None:
    """An nn.Embedding is learned; anything else only if the reader says so."""
    if not learned and not theirs.endswith(".weight"):
        wave = ops.positional_encoding(*table.shape)
        found = (
            f"numbers up to {np.abs(table - wave).max():.2g} away; --position learned takes them"
        )
        refuse(result.path, theirs, "the sines and cosines of positions", found)
