"""The command line for weight files: `python -m engine weights check|convert|diff|init|import`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import engine
from engine import cli_import, comparison, family
from engine.cli_options import (
    Bos,
    Eos,
    Force,
    Pad,
    Result,
    SourceBos,
    SourceEos,
    Unk,
    described,
    exclude,
    new_app,
    one_of,
    save,
)
from engine.errors import LectureError
from engine.recipe import RECIPES
from engine.weights import OBJECTIVES

app = new_app()
app.command("import")(cli_import.import_model)


@app.callback()
def front() -> None:
    """Check, convert, compare, create and import weight files."""


@app.command()
def check(file: Path) -> None:
    """Check that a file is sound and its model in the family."""
    weights = engine.load_weights(file)
    family.check_model(weights)
    engine.training_pass(weights, *comparison.sample(weights))
    config = weights.config
    words = str(config.vocabulary_size)
    if config.source_vocabulary_size is not None:
        words = f"{config.source_vocabulary_size} and {words}"
    numbers = sum(matrix.size for matrix in weights.matrices.values())
    print(
        f"{file}: good; {words} words, {described(weights)}, "
        f"{len(weights.matrices)} matrices, {numbers} numbers; "
        f"whether a lesson can be shown: ./render.sh check --weights {file}"
    )


@app.command()
def convert(
    file: Path,
    result: Result,
    objective: Annotated[
        str | None,
        one_of(
            OBJECTIVES,
            "What the model was trained for. Writes version 2, for which the following are, too.",
        ),
    ] = None,
    bos: Bos = None,
    eos: Eos = None,
    pad: Pad = None,
    unk: Unk = None,
    source_bos: SourceBos = False,
    source_eos: SourceEos = False,
    force: Force = False,
) -> None:
    """Copy weights into another format; the endings of the names decide."""
    weights = engine.load_weights(file)
    said: dict[str, Any] = {"bos": bos, "eos": eos, "pad": pad, "unk": unk}
    said |= {"source_bos": source_bos, "source_eos": source_eos}
    tokens = {name: value for name, value in said.items() if value}
    if objective or tokens:
        weights = replace(
            weights,
            objective=objective or _own_objective(weights, file),
            tokens=replace(weights.tokens, **tokens),
            version=2,
        )
    save(weights, result, force)


def _own_objective(weights: engine.Weights, file: Path) -> str:
    """The objective of a file of version 2, which says it. Raises LectureError."""
    if weights.version == 1:
        raise LectureError(
            where=file,
            field="--objective",
            expected=f"{' or '.join(OBJECTIVES)}, which version 1 does not say",
            found="none",
        )
    return weights.objective


@app.command()
def diff(
    first: Path,
    second: Path,
    source: Annotated[str | None, typer.Option(help="The source sentence to run both on.")] = None,
    target: Annotated[str | None, typer.Option(help="The target sentence to run both on.")] = None,
) -> int:
    """List the matrices and the values of the training pass that differ between two weight files,
    and by how much. Exit code 0 if nothing does, 1 if something does, 2 for a mistake."""
    models = engine.load_weights(first), engine.load_weights(second)
    lines = comparison.differences(*models, source, target)
    print("\n".join(lines) if lines else "no difference")
    return 1 if lines else 0


@app.command()
def init(
    result: Result,
    recipe: Annotated[
        str | None, one_of(RECIPES, f"Numbers of the tutorial. Default: {RECIPES[0]}.")
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(metavar="SEED", help="Random numbers instead; the following are for them."),
    ] = None,
    like: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Whose shapes and words; the tutorial's.")
    ] = None,
    low: Annotated[float | None, typer.Option(help="The least number; -9.99.")] = None,
    high: Annotated[float | None, typer.Option(help="The greatest number; 9.99.")] = None,
    decimals: Annotated[int | None, typer.Option(help="Digits after the point; 2.")] = None,
    force: Force = False,
) -> None:
    """Make a weight file."""
    exclude("weights init", "--recipe", "--random", recipe is not None, random is not None)
    limits = {"low": low, "high": high, "decimals": decimals}
    chosen = {name: value for name, value in limits.items() if value is not None}
    if random is not None:
        template = engine.load_weights(like or engine.TUTORIAL)
        weights = engine.random_weights(template, random, **chosen)  # type: ignore[arg-type]
    elif chosen or like:
        name = "like" if like else next(iter(chosen))
        raise LectureError(where="weights init", field=f"--{name}", expected="--random with it")
    else:
        weights = engine.tutorial_weights(recipe or RECIPES[0])
    save(weights, result, force)
