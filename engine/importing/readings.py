"""The questions that a state dict leaves open, and the models that their answers make.

Each question has the answers that occur in practice. What has been said answers a question; all
combinations of the answers that are left are the readings of a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.config import CHOICES, SETTINGS
from engine.errors import LectureError
from engine.head import FORMATS, weights_of
from engine.importing.said import Said
from engine.importing.structure import Structure
from engine.ops import Array
from engine.reader import Document, refuse
from engine.weights import Weights
from engine.words import Words

Answer = dict[str, Any]  # settings by their names in a weight file

_HEADS = range(1, 5)
_MAX_LENGTH = 16  # where neither learned positions nor anybody limits it
_EPS = (1e-5, 1e-6, 1e-3)
_BIASED = {"norm.variance": "biased", "norm.eps_in": "root"}  # as nn.LayerNorm does
_UNBIASED = {"norm.variance": "unbiased", "norm.eps_in": "outside"}  # Annotated, hkproj
_LABELS = {
    "norm.place": "norm",
    "embedding_scale": "scale",
    "position.kind": "position",
    "norm.eps": "eps",
    "norm.variance": "variance",
}
_OPEN_FAMILIES = ("--names", "this project")  # whose normalisation the names do not tell


@dataclass(frozen=True)
class Question:
    """What is asked, which option answers it, and the answers. `likely` is the answer that the
    names suggest: taken where there is no probe, and then said."""

    name: str
    option: str
    expected: str
    answers: tuple[Answer, ...]
    likely: Answer | None = None

    def answered(self, known: Answer) -> bool:
        """Whether all that is asked is known."""
        return all(name in known for name in self.answers[0])

    def narrowed(self, known: Answer) -> Question:
        """Without the answers that contradict what is known already."""
        left = [a for a in self.answers if all(known.get(n, v) == v for n, v in a.items())]
        likely = self.likely if self.likely in left else None
        return replace(self, answers=tuple(left or self.answers), likely=likely)


def _questions(structure: Structure) -> list[Question]:
    """All that a file may leave open, in the order in which one would ask."""
    d_model, family = structure.settings["d_model"], structure.names.family
    theirs = [name for names in structure.names.ours.values() for name in names]
    own_norm = any(name.endswith((".a_2", ".alpha")) for name in theirs)
    variance = _UNBIASED if own_norm else _BIASED
    told = family not in _OPEN_FAMILIES
    finals = _final_norms()  # the last is none, as no implementation adds one without arrays
    heads = tuple({"heads": h} for h in _HEADS if d_model % h == 0)
    return [
        Question("heads", "--heads", "how many there are", heads),
        Question("norm", "--norm", "post or pre", _choices("norm.place")),
        Question(
            "final norm",
            "--final-norm",
            "both, encoder, decoder or none",
            finals,
            finals[-1] if told else None,
        ),
        Question("activation", "--activation", "one of four", _choices("activation")),
        Question("scale", "--scale", "1 or sqrt, of embeddings", _choices("embedding_scale")),
        Question("position", "--position", "sinusoid, halves or none", _positions()),
        Question(
            "variance",
            "--variance",
            "biased or unbiased",
            (_BIASED, _UNBIASED),
            variance if told else None,
        ),
        Question(
            "eps",
            "--eps",
            "what normalisation adds",
            tuple({"norm.eps": eps} for eps in _EPS),
            {"norm.eps": 1e-6 if own_norm else 1e-5} if told else None,
        ),
    ]


def _choices(name: str) -> tuple[Answer, ...]:
    return tuple({name: value} for value in CHOICES[name])


def _final_norms() -> tuple[Answer, ...]:
    names = ("final_norm.encoder", "final_norm.decoder")
    both = itertools.product((True, False), repeat=2)
    return tuple(dict(zip(names, values, strict=True)) for values in both)


def _positions() -> tuple[Answer, ...]:
    kinds = (("sinusoid", "interleaved"), ("sinusoid", "halves"), ("none", "interleaved"))
    return tuple({"position.kind": kind, "position.order": order} for kind, order in kinds)


def settled(structure: Structure, said: Said) -> tuple[Answer, list[Question]]:
    """What is known, by the file first, and the questions that are still open. Raises LectureError
    where somebody says otherwise than the file."""
    facts = structure.settings
    for name, given in said.settings.items():
        found = facts.get(name, given)
        if isinstance(found, tuple) and isinstance(given, list):
            given = tuple(tuple(kinds) if isinstance(kinds, list) else kinds for kinds in given)
        if name != "max_length" and given != found:
            expected = f"{_text(found)}, as {structure.path.name} has it"
            refuse(said.where, f"config.{name}", expected, _text(given))
    known = {**said.defaults, **said.settings, **facts}
    longest = facts.get("max_length")
    wanted = said.settings.get("max_length", _MAX_LENGTH if longest is None else longest)
    if type(wanted) is int and longest is not None and wanted > longest:
        expected = f"at most {longest}, as there are no more positions"
        refuse(said.where, "config.max_length", expected, str(wanted))
    known["max_length"] = wanted
    asked = _questions(structure)
    return known, [q.narrowed(known) for q in asked if not q.answered(known)]


def readings(known: Answer, asked: list[Question]) -> Iterator[Answer]:
    """Every combination of answers to the questions, each with what is known."""
    for answers in itertools.product(*(question.answers for question in asked)):
        reading = dict(known)
        for answer in answers:
            reading.update(answer)
        yield reading


def only_reading(known: Answer, asked: list[Question], structure: Structure) -> Answer:
    """What is known, with the answers that the names suggest, which are noted. Raises LectureError
    where any other question is open: nothing is guessed."""
    unanswered = [question for question in asked if question.likely is None]
    if unanswered:
        *others, last = (question.option for question in unanswered)
        options = f"{', '.join(others)} and {last}" if others else last
        expected = (
            f"{unanswered[0].expected}, which a state dict does not say; "
            f"give {options}, or --probe (docs/weights.md)"
        )
        where, field = structure.path, unanswered[0].name
        raise LectureError(where=where, field=field, expected=expected)
    result = dict(known)
    for question in asked:
        answer = question.likely or {}
        result.update(answer)
        values = ", ".join(_text(value) for value in answer.values())
        whose = structure.names.family
        structure.notes.append(f"{question.name}: {values}, taken from {whose}; {question.option}")
    return result


def model(structure: Structure, reading: Answer, said: Said) -> Weights:
    """A reading of the file as a model. Raises LectureError where it is none."""
    if said.vocabularies is None:
        expected = "--vocabulary, or --source-vocabulary and --target-vocabulary"
        refuse(structure.path, "vocabulary", expected, "none of them")
    if said.objective is None:
        expected = "--objective next or copy, which a state dict does not say"
        refuse(structure.path, "objective", expected, "neither")
    source, target, matrices = _tables(structure, *said.vocabularies)
    length = reading["max_length"]
    matrices = {
        name: matrix[:length] if "position.weight" in name and type(length) is int else matrix
        for name, matrix in matrices.items()
    }
    vocabulary: Any = list(target)
    if source is not None:
        vocabulary = {"source": list(source), "target": list(target)}
    head: Document = {
        "format": FORMATS[2],
        "config": _config(reading),
        "vocabulary": vocabulary,
        "objective": said.objective,
        "tokens": {name: word for name, word in said.tokens.items() if word is not None},
    }
    return weights_of(head, matrices, structure.path)


def difference(first: Answer, second: Answer) -> str:
    """In what two readings differ."""
    return "; ".join(
        f"{_LABELS.get(name, name)} {_text(first[name])} or {_text(second[name])}"
        for name in first
        if first[name] != second[name]
    )


def _config(reading: Answer) -> Document:
    """A reading's settings as they stand in a file, in groups."""
    config: Document = {}
    for name in SETTINGS:
        group, _, part = name.partition(".")
        if part and name in reading:
            config.setdefault(group, {})[part] = reading[name]
        elif name in reading:
            config[group] = reading[name]
    return config


def _tables(
    structure: Structure, source: Words, target: Words
) -> tuple[Words | None, Words, dict[str, Array]]:
    """The words of a source of its own, or None, those of the target, and the matrices. One list
    with two tables that differ counts as two lists."""
    matrices = dict(structure.matrices)
    two = "embedding.weight" not in matrices
    names: tuple[str, ...] = ("source_embedding.weight", "target_embedding.weight")
    names = names if two else ("embedding.weight",)
    words = (source, target) if two else (target,)
    if not two and source != target:
        found = "one for the source and another for the target"
        refuse(structure.path, "vocabulary", "one, as there is one embedding table", found)
    for name, listed in zip(names, words, strict=True):
        rows, theirs = len(matrices[name]), structure.names.ours[name][0]
        if rows != len(listed):
            expected = f"{rows} words, as {theirs} has rows"
            refuse(structure.path, "vocabulary", expected, str(len(listed)))
    if two and source is target and np.array_equal(matrices[names[0]], matrices[names[1]]):
        matrices = {"embedding.weight": matrices.pop(names[0])} | matrices
        del matrices[names[1]]
        two = False
    return source if two else None, target, matrices


def _text(value: Any) -> str:
    """A setting as it is spelled in a file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return " + ".join(",".join(map(str, layer)) for layer in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
