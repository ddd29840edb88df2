"""`python -m engine weights import`: a model trained elsewhere becomes a weight file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from engine.cli_options import Commands, add_command, force_option, save
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

_SUMMARY = "make a weight file of a PyTorch state dict; docs/pytorch.md shows how"


def add_import(commands: Commands) -> None:
    """Hang `import` under `weights`."""
    command = add_command(commands, "import", _import, _SUMMARY)
    command.add_argument("file", help=".pt, .pth, .bin, .safetensors, .npz, or a folder")
    command.add_argument("-o", "--output", dest="result", required=True, metavar="FILE")
    force_option(command)
    words = command.add_argument_group("words, one a line or JSON")
    for option in ("--vocabulary", "--source-vocabulary", "--target-vocabulary"):
        words.add_argument(option, metavar="FILE")
    words.add_argument("--objective", choices=OBJECTIVES, help="what each row is to write")
    for name in ("bos", "eos", "pad", "unk"):
        words.add_argument(f"--{name}", metavar="WORD")
    words.add_argument("--source-bos", action="store_true", help="the source begins with it, too")
    words.add_argument("--source-eos", action="store_true", help="the source ends with it, too")
    what = command.add_argument_group("what a state dict does not say")
    what.add_argument("--heads", type=int, metavar="N")
    what.add_argument("--norm", choices=CHOICES["norm.place"])
    what.add_argument("--final-norm", choices=FINAL_NORMS)
    what.add_argument("--eps", type=float, metavar="X")
    what.add_argument("--variance", choices=CHOICES["norm.variance"])
    what.add_argument("--eps-in", choices=CHOICES["norm.eps_in"])
    what.add_argument("--activation", choices=CHOICES["activation"])
    what.add_argument("--scale", choices=SCALES, help="what embeddings are multiplied by")
    what.add_argument("--position", choices=POSITIONS)
    what.add_argument("--max-length", type=int, metavar="N", help="most tokens of a sentence")
    what.add_argument("--case", metavar="FILE", help="all of the above as JSON")
    what.add_argument("--names", metavar="FILE", help="their names and ours, as TOML")
    what.add_argument("--probe", metavar="FILE", help="what the model computes, as .npz")


def _import(options: argparse.Namespace) -> int:
    file = read_model(Path(options.file))
    table = {} if options.names is None else read_names(Path(options.names))
    mapped = mapped_names(file.arrays, table)
    told = said(options, file)
    names = recognise(file.arrays, mapped, file.path)
    found = structure(
        file.arrays, names, file.path, told.settings.get("position.kind") == "learned"
    )
    known, asked = settled(found, told)
    if options.probe is None:
        weights = model(found, only_reading(known, asked, found), told)
        verdict = "not compared with your model's own output; --probe does that"
    else:
        result = fit(read_probe(Path(options.probe)), found, readings(known, asked), told)
        weights = result.weights
        verdict = f"the probe's logits to {result.error:.1g}"
        if result.next_error is not None:
            verdict += f"; of {result.tried} readings the next is {result.next_error:.1g} away"
    check_model(weights)
    save(weights, options)
    config = weights.config
    words = {"": len(weights.vocabulary)}
    if weights.source_vocabulary is not None:
        words = {"source ": len(weights.source_words), "target ": len(weights.vocabulary)}
    counted = " and ".join(f"{count} {side}words" for side, count in words.items())
    print(
        f"{options.result}: {counted}, d_model {config.d_model}, {config.heads} heads, "
        f"{len(config.encoder)} encoder and {len(config.decoder)} decoder layers; "
        f"names of {names.family}"
    )
    for note in [*found.notes, *_forgotten(weights), verdict]:
        print(note)
    return 0


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
