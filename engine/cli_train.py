"""`python -m engine train`: a model learns sentence pairs; docs/training.md shows how."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

import engine
from engine.cli_options import (
    Bos,
    Eos,
    Force,
    Result,
    Source,
    Target,
    WeightsFile,
    check_new,
    one_of,
    save,
)
from engine.corpus import Pair, read_corpus, words_in
from engine.errors import LectureError, from_os_error
from engine.files import load_weights
from engine.optimisers import OPTIMISERS, SCHEDULES
from engine.recipe import extended
from engine.tokenizer import words_of
from engine.training import LEARNING_RATE, STEPS, Record, Settings, Trainer
from engine.training_files import History, load_checkpoint, save_checkpoint
from engine.weights import OBJECTIVES, Weights

#: Options that a resumed training may be given; all others are as they were.
_OF_A_RUN = {
    *("result", "history", "checkpoints", "every", "resume", "until", "decimals", "force"),
}


def train(
    context: typer.Context,
    result: Result,
    weights: WeightsFile = engine.TUTORIAL,
    corpus: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sentence pairs: source, tab, target, tab, alignment."),
    ] = None,
    source: Source = engine.SOURCE,
    target: Target = engine.TARGET,
    extend: Annotated[
        int | None,
        typer.Option(
            metavar="SEED",
            help="Add the words that the model lacks, and --bos and --eos, with random rows.",
        ),
    ] = None,
    bos: Bos = None,
    eos: Eos = None,
    objective: Annotated[str, one_of(OBJECTIVES, "What each row is to write.")] = "next",
    steps: Annotated[int, typer.Option(help="How many.")] = STEPS,
    rate: Annotated[float, typer.Option(help="The learning rate.")] = LEARNING_RATE,
    optimiser: Annotated[str, one_of(OPTIMISERS)] = "adam",
    schedule: Annotated[
        str, one_of(SCHEDULES, "cosine: up over the first tenth, then down to 0.")
    ] = "constant",
    batch: Annotated[
        int | None, typer.Option(metavar="N", help="Pairs a step. Default: all of them.")
    ] = None,
    alignment: Annotated[
        float,
        typer.Option(metavar="X", help="The weight of the alignment's loss beside the words'."),
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of the order of pairs.")] = 0,
    mask: Annotated[
        bool, typer.Option("--mask/--no-mask", help="With the causal mask, or without, a what-if.")
    ] = True,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A line of JSON per step goes here.")
    ] = None,
    checkpoints: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Weight files on the way go here.")
    ] = None,
    every: Annotated[int, typer.Option(min=1, metavar="N", help="Steps from one to the next.")] = (
        100
    ),
    resume: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Go on from a checkpoint, as it was.")
    ] = None,
    until: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Stop after so many of the steps.")
    ] = None,
    decimals: Annotated[
        int | None, typer.Option(min=0, max=15, metavar="N", help="Round the trained numbers.")
    ] = None,
    force: Force = False,
) -> None:
    """Train a model on one sentence pair or a corpus, with the gradients of this engine."""
    check_new(result, force)
    if resume is None:
        options = Settings(objective, steps, rate, optimiser, schedule, batch, alignment, seed)
        model = load_weights(weights)
        pairs = () if corpus is None else read_corpus(corpus)
        model = _prepared(model, pairs, extend, bos, eos, mask)
        if corpus is None:
            said = words_of(source, model, "source"), words_of(target, model, "target")
            pairs = (Pair(*said),)
        name = "one pair" if corpus is None else corpus.as_posix()
        trainer = Trainer(model, pairs, options, command=_command(), corpus=name)
    else:
        _check_resumed(context)
        trainer = load_checkpoint(resume)
    last = _run(trainer, until, history, checkpoints, every)
    trained = trainer.result()
    if decimals is not None:
        rounded = {name: array.round(decimals) + 0.0 for name, array in trained.matrices.items()}
        trained = trained.with_matrices(rounded)
    save(trained, result, force)
    print(
        f"{result}: loss {last.loss:.4f} after {last.step} steps, "
        f"{100 * last.accuracy:.0f} % of the words right; "
        f"to film it: ./render.sh --weights {shlex.quote(str(result))}"
    )


def _prepared(
    model: Weights,
    pairs: tuple[Pair, ...],
    extend: int | None,
    bos: str | None,
    eos: str | None,
    mask: bool,
) -> Weights:
    """The model with the words and the settings that were asked for. Raises LectureError."""
    named = [word for word in (bos, eos) if word is not None]
    if extend is not None:
        model = extended(model, (*words_in(pairs), *named), extend)
    tokens = replace(
        model.tokens,
        bos=model.tokens.bos if bos is None else bos,
        eos=model.tokens.eos if eos is None else eos,
    )
    config = model.config if mask else replace(model.config, mask=False)
    return replace(model, config=config, tokens=tokens, training=None, path=None)


def _check_resumed(context: typer.Context) -> None:
    """Refuse options that the checkpoint has an answer to."""
    for name in context.params.keys() - _OF_A_RUN:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise LectureError(
                where="train",
                field=f"--{name.replace('_', '-')}",
                expected="nothing beside --resume, which has the settings of the checkpoint",
                found="a value",
            )


def _run(
    trainer: Trainer,
    until: int | None,
    history: Path | None,
    checkpoints: Path | None,
    every: int,
) -> Record:
    """All steps; returns the last record. Raises LectureError."""
    lines = None if history is None else History(history, trainer.step)
    try:
        if checkpoints is not None:
            checkpoints.mkdir(parents=True, exist_ok=True)
        with _progress(until or trainer.settings.steps) as advance:
            for record in trainer.run(until):
                if lines is not None:
                    lines.add(record)
                if checkpoints is not None and record.step % every == 0:
                    save_checkpoint(trainer, checkpoints)
                advance(record)
        return record
    except OSError as error:
        raise from_os_error(error, history or checkpoints or "train") from error
    finally:
        if lines is not None:
            lines.close()


@contextmanager
def _progress(steps: int) -> Iterator[Any]:
    """What is told of each record: a bar on a terminal, else a line every tenth of the way."""
    if sys.stderr is not None and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("training", total=steps)
            yield lambda record: bar.update(
                task, completed=record.step, description=f"loss {record.loss:.4f}"
            )
        return

    def line(record: Record) -> None:
        if sys.stderr is not None and record.step % max(1, steps // 10) == 0:
            print(f"step {record.step} of {steps}: loss {record.loss:.4f}", file=sys.stderr)

    yield line


def _command() -> str:
    """What was typed, nothing where this was called by other code."""
    if not sys.argv[0].endswith("__main__.py"):
        return ""
    return shlex.join(["python", "-m", "engine", *sys.argv[1:]])
