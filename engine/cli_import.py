"""`python -m engine weights import`: a model trained elsewhere becomes a weight file."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from engine.cli_options import (
    Bos,
    Eos,
    Force,
    Pad,
    SourceBos,
    SourceEos,
    Unk,
    described,
    one_of,
    save,
)
from engine.config import CHOICES
from engine.errors import quoted
from engine.family import check_model
from engine.importing.names import recognise
from engine.importing.probe import fit, read_probe
from engine.importing.readings import model, only_reading, readings, settled
from engine.importing.said import FINAL_NORMS, POSITIONS, SCALES, said
from engine.importing.sources import mapped_names, read_model, read_names
from engine.importing.structure import structure
from engine.weights import OBJECTIVES, Weights

_WORDS = typer.Option(metavar="FILE", help="Words, one a line or a JSON list.")


def import_model(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help=".pt, .pth, .bin, .safetensors, .npz, or a folder.")],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="Ends in .json, .npz or .safetensors."),
    ],
    force: Force = False,
    vocabulary: Annotated[Path | None, _WORDS] = None,
    source_vocabulary: Annotated[Path | None, _WORDS] = None,
    target_vocabulary: Annotated[Path | None, _WORDS] = None,
    objective: Annotated[str | None, one_of(OBJECTIVES, "What each row is to write.")] = None,
    bos: Bos = None,
    eos: Eos = None,
    pad: Pad = None,
    unk: Unk = None,
    source_bos: SourceBos = False,
    source_eos: SourceEos = False,
    heads: Annotated[int | None, typer.Option(metavar="N")] = None,
    norm: Annotated[str | None, one_of(CHOICES["norm.place"])] = None,
    final_norm: Annotated[str | None, one_of(FINAL_NORMS)] = None,
    eps: Annotated[float | None, typer.Option(metavar="X")] = None,
    variance: Annotated[str | None, one_of(CHOICES["norm.variance"])] = None,
    eps_in: Annotated[str | None, one_of(CHOICES["norm.eps_in"])] = None,
    activation: Annotated[str | None, one_of(CHOICES["activation"])] = None,
    scale: Annotated[str | None, one_of(SCALES, "What embeddings are multiplied by.")] = None,
    position: Annotated[str | None, one_of(POSITIONS)] = None,
    max_length: Annotated[
        int | None, typer.Option(metavar="N", help="Most tokens of a sentence.")
    ] = None,
    case: Annotated[
        Path | None, typer.Option(metavar="FILE", help="All of the above as JSON.")
    ] = None,
    names: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Their names and ours, as TOML.")
    ] = None,
    probe: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What the model computes, as .npz.")
    ] = None,
) -> None:
    """Make a weight file of a PyTorch state dict; docs/pytorch.md shows how. The options say what
    a state dict does not."""
    given = read_model(file)
    table = {} if names is None else read_names(names)
    mapped = mapped_names(given.arrays, table)
    told = said(SimpleNamespace(**context.params), given)
    known_names = recognise(given.arrays, mapped, given.path)
    learned = told.settings.get("position.kind") == "learned"
    found = structure(given.arrays, known_names, given.path, learned)
    known, asked = settled(found, told)
    if probe is None:
        weights = model(found, only_reading(known, asked, found), told)
        verdict = "not compared with your model's own output; --probe does that"
    else:
        result = fit(read_probe(probe), found, readings(known, asked), told)
        weights = result.weights
        verdict = f"the probe's logits to {result.error:.1g}"
        if result.next_error is not None:
            verdict += f"; of {result.tried} readings the next is {result.next_error:.1g} away"
    check_model(weights)
    save(weights, output, force)
    words = {"": len(weights.vocabulary)}
    if weights.source_vocabulary is not None:
        words = {"source ": len(weights.source_words), "target ": len(weights.vocabulary)}
    counted = " and ".join(f"{count} {side}words" for side, count in words.items())
    print(f"{output}: {counted}, {described(weights)}; names of {known_names.family}")
    for note in [*found.notes, *_forgotten(weights), verdict]:
        print(note)


def _forgotten(weights: Weights) -> list[str]:
    """Remarks on words that look like start and end tokens and have not been said to be any."""
    remarks = []
    for name, usual in (("bos", _STARTS), ("eos", _ENDS)):
        there = [word for word in weights.vocabulary if usual.fullmatch(word)]
        if there and getattr(weights.tokens, name) is None:
            remarks.append(f"--{name} was not given, though the vocabulary has {quoted(there[0])}")
    return remarks


_STARTS = re.compile(r"<s>|[<\[]?(?:bos|sos)[>\]]?|[<\[]start[>\]]", re.IGNORECASE)
_ENDS = re.compile(r"</s>|[<\[]?eos[>\]]?|[<\[]end[>\]]", re.IGNORECASE)
