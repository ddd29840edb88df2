"""What a training leaves on disk: a history, a line of JSON per record, and checkpoints.

A checkpoint is an ordinary weight file; beside it lies its state, ``NAME.state.npz``: moments,
step, the state of the generator, settings, pairs, and the digest of the weight file that it
belongs to. The state is written first, so that a weight file is never without it.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from engine import json_file, npz_file
from engine.errors import LectureError, quoted
from engine.files import FORMATS, load_weights, write_aside
from engine.ops import Array
from engine.reader import WEIGHT_BYTES, read_bytes, read_text
from engine.training import Record, Trainer
from engine.weights import Weights

_FORM = "lecture-training/1"


def state_beside(checkpoint: Path) -> Path:
    """Where the state of a checkpoint lies."""
    return checkpoint.with_name(f"{checkpoint.stem}.state.npz")


def save_checkpoint(trainer: Trainer, folder: Path) -> Path:
    """Write ``folder/step-000100.json`` and its state. Raises LectureError, and then leaves no
    weight file without its state."""
    path = folder / f"step-{trainer.step:06}.json"
    data = FORMATS[".json"].write(trainer.result())
    said = {"form": _FORM, "weights": hashlib.sha256(data).hexdigest(), **trainer.state()}
    text = np.array(json.dumps(said, ensure_ascii=False))
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, said=text, **trainer.moments)
    write_aside(state_beside(path), file.getvalue())
    write_aside(path, data)
    return path


def load_checkpoint(path: Path) -> Trainer:
    """A training as it was. Raises LectureError for a state that does not belong to the file."""
    beside = state_beside(path)
    weights = load_weights(path)
    arrays = npz_file.read_arrays(read_bytes(beside, WEIGHT_BYTES), beside, "fU")
    digest = hashlib.sha256(read_bytes(path, WEIGHT_BYTES)).hexdigest()
    said = _said(arrays, beside)
    if said["weights"] != digest:
        raise LectureError(
            where=beside, field="weights", expected=f"the state of {path.name}", found="another's"
        )
    moments = {name: np.array(arrays[name]) for name in arrays if name != "said"}
    _check_moments(moments, weights, beside)
    try:
        return Trainer.resumed(weights, said, moments)
    except (LookupError, TypeError, ValueError) as error:
        raise _bad(beside, str(error)) from error


def _said(arrays: Any, path: Path) -> dict[str, Any]:
    if "said" not in arrays or arrays.shapes["said"]:
        raise _bad(path, "none")
    said: dict[str, Any] = json_file.parse(str(arrays["said"]).encode(), path, "said")
    if said.get("form") != _FORM or not isinstance(said.get("weights"), str):
        raise _bad(path, quoted(said.get("form")))
    return said


def _check_moments(moments: dict[str, Array], weights: Weights, path: Path) -> None:
    for name, moment in moments.items():
        matrix = weights.matrices.get(name.partition(".")[2])
        if matrix is None or matrix.shape != moment.shape or not np.isfinite(moment).all():
            raise _bad(path, f"an unknown array {quoted(name)}")


def _bad(path: Path, found: str) -> LectureError:
    expected = f"the state of a training ({_FORM})"
    return LectureError(where=path, field="said", expected=expected, found=found)


class History:
    """A file with a line of JSON per record. Of a file that exists, the records before ``step``
    are kept; the rest is written again. Raises LectureError."""

    def __init__(self, path: Path, step: int = 0) -> None:
        kept = _records_before(path, step) if step else ()
        write_aside(path, "".join(f"{line}\n" for line in kept).encode())
        self._file = path.open("a", encoding="utf-8")

    def add(self, record: Record) -> None:
        self._file.write(json.dumps(asdict(record)) + "\n")
        self._file.flush()

    def close(self) -> None:
        self._file.close()


def _records_before(path: Path, step: int) -> Iterable[str]:
    """The lines of whole records before a step; a last line that was cut off is none."""
    if not path.exists():
        return []
    kept = []
    for line in read_text(path, WEIGHT_BYTES).splitlines():
        try:
            if json.loads(line)["step"] < step:
                kept.append(line)
        except (ValueError, LookupError, TypeError):
            break
    return kept


def read_history(path: Path) -> list[Record]:
    """The records of a file. Raises LectureError, with the number of the line."""
    records = []
    for number, line in enumerate(read_text(path, WEIGHT_BYTES).splitlines(), start=1):
        try:
            said = json.loads(line)
            records.append(Record(**{**said, "p": tuple(map(float, said["p"]))}))
        except (ValueError, LookupError, TypeError):
            raise LectureError(
                where=path,
                field=f"line {number}",
                expected="a record of a training",
                found=quoted(line),
            ) from None
    return records
