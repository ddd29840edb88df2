"""The command line: `python -m engine trace|generate|gradients|train|weights|errata`.

Results go to standard output, as JSON or text. A mistake is one line on standard error and exit
code 2; nothing shows a traceback.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer
from numpy.typing import NDArray

import engine
from engine import cli_options, cli_train, cli_weights
from engine import errata as errata_page
from engine.backward import TARGETS
from engine.cli_options import Source, Target, WeightsFile, exclude, one_of
from engine.generation import START, STEPS
from engine.weights import OBJECTIVES

app = cli_options.new_app()
app.add_typer(cli_weights.app, name="weights")
app.command()(cli_train.train)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code: 0, 1 if two weight files differ, 2 for a mistake."""
    return cli_options.run(app, arguments)


@app.callback()
def front() -> None:
    """The Transformer of the lecture, exactly: every value of every pass, by name."""


@app.command()
def trace(
    weights: WeightsFile = engine.TUTORIAL,
    source: Source = engine.SOURCE,
    target: Annotated[
        str | None,
        typer.Option(help="The whole target.", show_default=engine.TARGET),
    ] = None,
    decode: Annotated[
        str | None, typer.Option(metavar="PREFIX", help="An inference pass over these words.")
    ] = None,
) -> None:
    """Print every value of a pass as JSON."""
    exclude("trace", "--target", "--decode", target is not None, decode is not None)
    model = engine.load_weights(weights)
    if decode is None:
        _print_arrays(engine.training_pass(model, source, target or engine.TARGET))
    else:
        _print_arrays(engine.inference_pass(model, decode, source))


@app.command()
def generate(
    weights: WeightsFile = engine.TUTORIAL,
    source: Source = engine.SOURCE,
    start: Annotated[
        str | None,
        typer.Option(
            help=f"The first words of the target: the model's start token, or else {START}."
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            help=f"How many tokens: {STEPS}, or with an end token, until the model writes it."
        ),
    ] = None,
    uncached: Annotated[
        bool, typer.Option("--uncached", help="A whole pass for every token.")
    ] = False,
) -> None:
    """Decode greedily, a JSON line per step."""
    model = engine.load_weights(weights)
    for step in engine.generate(model, source, start, steps, not uncached):
        document = {
            "input": step.input,
            "logits": step.logits.tolist(),
            "probabilities": step.probabilities.tolist(),
            "choice": step.choice,
        }
        print(json.dumps(document, ensure_ascii=False))


@app.command()
def gradients(
    weights: WeightsFile = engine.TUTORIAL,
    source: Source = engine.SOURCE,
    target: Target = engine.TARGET,
    targets: Annotated[
        str | None,
        one_of(
            [*OBJECTIVES, *TARGETS],
            "next (or shifted): a row writes the following token; copy (or as-printed): the one "
            "it has read. Default: the model's own objective.",
        ),
    ] = None,
) -> None:
    """Print gradients of the mean loss."""
    model = engine.load_weights(weights)
    _print_arrays(engine.gradients(model, source, target, targets))


@app.command()
def errata() -> None:
    """Compute docs/errata.md and print it."""
    print(errata_page.page(), end="")


def _print_arrays(arrays: Mapping[str, NDArray[Any]]) -> None:
    """One JSON object, a name on each line, every float with all its digits."""
    lines = [f"{json.dumps(name)}: {json.dumps(array.tolist())}" for name, array in arrays.items()]
    print("{\n" + ",\n".join(lines) + "\n}")
