"""Whether a lesson can be shown: glyphs, widths, and what today's layouts hold. Imports no Manim.

`engine.family` says which models and lessons are told; this is the other half, which knows the
font. Whatever draws gets its settings from `scenes.lessons`, which asks :func:`preflight` first,
so that nothing is drawn, or half drawn, of a lesson that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import engine
from engine import LectureError, Trace, Weights, family
from engine.config import CHOICES
from engine.errors import one_line
from engine.tokenizer import words_of

from . import glyphs
from .settings import Settings

#: The widest token, in frame units at the readable size in bold: 20 usual letters.
TOKEN_WIDTH, LETTERS = 4.05, 20
_CUT = 12  # letters of a word that an error quotes


class BeyondLayouts(LectureError):
    """A lesson of the family that the layouts of the day do not hold. ``expected`` is what they
    do."""

    def __str__(self) -> str:
        said = f"in the family; today's layouts hold {self.expected}, found {self.found}"
        return one_line(": ".join(part for part in (self.where, self.field, said) if part))


# What today's layouts hold, measured with the layout audit. A scene that learns to show more
# widens these; what is left is the list NOT_YET_LAID_OUT of tests/scenes/test_limits.py.

#: The least and the most of each number.
SIZES = {"config.d_model": (2, 4), "config.heads": (1, 2), "config.d_ff": (1, 8)}
LAYERS = (1, 2)
WORDS = 8
TOKENS = {"source": (2, 4), "target": (3, 4)}
LAYOUT_LETTERS, LAYOUT_WIDTH = 7, 1.395  # such as "courses"
#: What the scenes tell of each setting: everything, but for these.
SETTINGS: dict[str, tuple[object, ...]] = {
    **CHOICES,
    "mask": (True,),
}


def preflight(settings: Settings, lesson: str | Path = "lesson") -> None:
    """Refuse what cannot be told or shown; ``lesson`` names in errors where the sentences come
    from. Raises LectureError, of kind BeyondLayouts where only the layouts are too small."""
    for file in dict.fromkeys((settings.weights, settings.weights_for_inference)):
        weights = engine.load_weights(file)
        trace = family.check_lesson(weights, settings.source, settings.target, lesson)
        _check_letters(weights, settings, lesson)
        _check_model(weights)
        _check_lengths(trace, lesson)
        for where, field, word in _words(weights, settings, lesson):
            if glyphs.width(word) > LAYOUT_WIDTH:
                raise BeyondLayouts(
                    where=where,
                    field=field,
                    expected=f"words at most as wide as {LAYOUT_LETTERS} letters",
                    found=f"one of {max(letters_wide(word), LAYOUT_LETTERS + 1)}",
                )


def letters_wide(word: str) -> int:
    """The width of a word in usual letters, rounded up."""
    return -int(-glyphs.width(word) * LETTERS // TOKEN_WIDTH)


def _words(
    weights: Weights, settings: Settings, lesson: str | Path
) -> Iterator[tuple[str | Path | None, str, str]]:
    """Where each word that may be on screen stands, and the word: first those of the lesson."""
    for side, text in (("source", settings.source), ("target", settings.target)):
        for number, word in enumerate(words_of(text, weights, side), start=1):
            yield lesson, f"{side} token {number} {_quoted(word)}", word
    sides = {"vocabulary": weights.vocabulary}
    if weights.source_vocabulary is not None:
        sides = {
            "vocabulary.source": weights.source_vocabulary,
            "vocabulary.target": weights.vocabulary,
        }
    for field, words in sides.items():
        for number, word in enumerate(words):
            yield weights.path, f"{field}[{number}] {_quoted(word)}", word


def _quoted(word: str) -> str:
    return f'"{word if len(word) <= _CUT else word[:_CUT] + "…"}"'


def _check_letters(weights: Weights, settings: Settings, lesson: str | Path) -> None:
    """Refuse words that the font cannot draw, or that no layout has room for."""
    for where, field, word in _words(weights, settings, lesson):
        if glyphs.right_to_left(word):
            expected = "a script written left to right"
            found = f"{_quoted(word)}, right to left"
        elif lost := glyphs.missing(word) or glyphs.loose_marks(word):
            known = not glyphs.missing(word)
            expected = "a letter for each accent" if known else "characters of the lecture's font"
            found = " ".join(f"U+{ord(char):04X}" for char in lost)
        elif letters_wide(word) > LETTERS:
            expected = f"a word at most as wide as {LETTERS} letters"
            found = f"one of {letters_wide(word)}"
        else:
            continue
        raise LectureError(where=where, field=field, expected=expected, found=found)


def _check_model(weights: Weights) -> None:
    config, where = weights.config, weights.path
    for field, bounds in SIZES.items():
        found = config.setting(field.removeprefix("config."))
        _check_number(found, bounds, where, field, "")
    for side in ("encoder", "decoder"):
        _check_number(len(config.layers(side)), LAYERS, where, f"config.{side}", " layers")
    for path, told in SETTINGS.items():
        value = config.setting(path)
        if value not in told:
            raise BeyondLayouts(
                where=where,
                field=f"config.{path}",
                expected=" or ".join(map(_said, told)),
                found=_said(value),
            )
    for words in (weights.source_words, weights.vocabulary):
        _check_number(len(words), (1, WORDS), where, "vocabulary", " words")


def _said(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_lengths(trace: Trace, lesson: str | Path) -> None:
    read = {"source": trace.source_tokens, "target": trace.target_tokens}
    for side, tokens in read.items():
        _check_number(len(tokens), TOKENS[side], lesson, side, " tokens")


def _check_number(
    found: int, bounds: tuple[int, int], where: str | Path | None, field: str, what: str
) -> None:
    least, most = bounds
    if least <= found <= most:
        return
    expected = f"at most {most}{what}" if found > most else f"at least {least}{what}"
    raise BeyondLayouts(where=where, field=field, expected=expected, found=str(found))
