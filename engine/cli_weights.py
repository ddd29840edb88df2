"""The command line for weight files: `python -m engine weights check|convert|diff|init|import`."""

from __future__ import annotations

import argparse
from dataclasses import replace

import engine
from engine import comparison, family
from engine.cli_import import add_import
from engine.cli_options import Commands, Parser, add_command, force_option, save
from engine.errors import LectureError
from engine.recipe import RECIPES
from engine.weights import OBJECTIVES
from engine.words import TOKEN_FIELDS


def add_commands(commands: Commands) -> None:
    """Hang the five commands under `weights`."""
    command = add_command(
        commands,
        "check",
        _check,
        "ask whether a file is sound and its model in the family",
    )
    command.add_argument("file")
    command = add_command(
        commands, "convert", _convert, "copy weights into another format, told by the endings"
    )
    command.add_argument("file")
    command.add_argument("result", help="a name ending in .json, .npz or .safetensors")
    _meaning_options(command)
    force_option(command)
    command = add_command(
        commands,
        "diff",
        _diff,
        "tell which matrices and which values of the training pass differ between two weight "
        "files, and by how much; exit code 0 if nothing does, 1 if something does, 2 for trouble",
    )
    command.add_argument("first")
    command.add_argument("second")
    command.add_argument("--source", help="the source sentence to run both on")
    command.add_argument("--target", help="the target sentence to run both on")
    _init_options(add_command(commands, "init", _init, "make a weight file"))
    add_import(commands)


def _meaning_options(command: Parser) -> None:
    """What version 2 says of a model and version 1 cannot."""
    command.add_argument(
        "--objective",
        choices=OBJECTIVES,
        help="what the model was trained for; writes version 2, for which the following are, too",
    )
    for name, part in (
        ("bos", "begins a target"),
        ("eos", "ends a target"),
        ("pad", "fills up sentences"),
        ("unk", "stands for unknown words"),
    ):
        command.add_argument(f"--{name}", metavar="WORD", help=f"the word that {part}")
    command.add_argument("--source-bos", action="store_true", help="it begins the source, too")
    command.add_argument("--source-eos", action="store_true", help="it ends the source, too")


def _init_options(command: Parser) -> None:
    command.add_argument("result", help="a name ending in .json, .npz or .safetensors")
    kind = command.add_mutually_exclusive_group()
    kind.add_argument("--recipe", choices=RECIPES, default=RECIPES[0], help="default %(default)s")
    kind.add_argument("--random", type=int, metavar="SEED", help="random numbers instead; then:")
    command.add_argument("--like", metavar="FILE", help="whose shapes and words; the tutorial's")
    command.add_argument("--low", type=float, help="the least number; -9.99")
    command.add_argument("--high", type=float, help="the greatest number; 9.99")
    command.add_argument("--decimals", type=int, help="digits after the point; 2")
    force_option(command)


def _check(options: argparse.Namespace) -> int:
    weights = engine.load_weights(options.file)
    family.check_model(weights)
    engine.training_pass(weights, *comparison.sample(weights))
    config = weights.config
    words = str(config.vocabulary_size)
    if config.source_vocabulary_size is not None:
        words = f"{config.source_vocabulary_size} and {words}"
    numbers = sum(matrix.size for matrix in weights.matrices.values())
    print(
        f"{options.file}: good; {words} words, d_model {config.d_model}, "
        f"{config.heads} heads, {len(config.encoder)} encoder and {len(config.decoder)} decoder "
        f"layers, {len(weights.matrices)} matrices, {numbers} numbers; "
        f"whether a lesson can be shown: ./render.sh check --weights {options.file}"
    )
    return 0


def _convert(options: argparse.Namespace) -> int:
    weights = engine.load_weights(options.file)
    tokens = {name: getattr(options, name) for name in TOKEN_FIELDS if getattr(options, name)}
    if options.objective or tokens:
        weights = replace(
            weights,
            objective=options.objective or _own_objective(weights, options.file),
            tokens=replace(weights.tokens, **tokens),
            version=2,
        )
    save(weights, options)
    return 0


def _own_objective(weights: engine.Weights, file: str) -> str:
    """The objective of a file of version 2, which says it. Raises LectureError."""
    if weights.version == 1:
        raise LectureError(
            where=file,
            field="--objective",
            expected=f"{' or '.join(OBJECTIVES)}, which version 1 does not say",
            found="none",
        )
    return weights.objective


def _diff(options: argparse.Namespace) -> int:
    first, second = engine.load_weights(options.first), engine.load_weights(options.second)
    lines = comparison.differences(first, second, options.source, options.target)
    print("\n".join(lines) if lines else "no difference")
    return 1 if lines else 0


def _init(options: argparse.Namespace) -> int:
    chosen = {
        name: getattr(options, name)
        for name in ("like", "low", "high", "decimals")
        if getattr(options, name) is not None
    }
    if options.random is not None:
        template = engine.load_weights(chosen.pop("like", engine.TUTORIAL))
        weights = engine.random_weights(template, options.random, **chosen)
    elif not chosen:
        weights = engine.tutorial_weights(options.recipe)
    else:
        raise LectureError(
            where="weights init", field=f"--{next(iter(chosen))}", expected="--random with it"
        )
    save(weights, options)
    return 0
