"""Equations read off the screen: whatever stands in a line is put together and worked out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, DivisionByZero, InvalidOperation

from render.review.audit.fault import Fault, box_of
from scenes.onscreen import Item, TextItem
from scenes.parts import Glyphs, Root
from scenes.rounding import MINUS, as_decimal, rounds_to

_NUMBER = rf"\(?[{MINUS}+]?\d+(?:\.\d+)?\)?"
_OPERAND = rf"(?:√\s?)?{_NUMBER}"
_EQUATION = re.compile(
    rf"(?<![\w.√])({_OPERAND}(?:\s*[+{MINUS}×÷]\s*{_OPERAND})+)\s*=\s*({_NUMBER})(?![\w.]|\s*[×÷])"
)
#: Texts farther apart than this many ems are not one line.
_GAP = 1.3


def lines(items: Sequence[Item]) -> list[list[TextItem]]:
    """The text items in lines: same midline, close together, from left to right."""
    texts = [i for i in items if isinstance(i, TextItem) and isinstance(i.mobject, Glyphs)]
    texts.sort(key=lambda item: item.box[0])
    found: list[list[TextItem]] = []
    for item in texts:
        for line in found:
            last = line[-1]
            gap = item.box[0] - last.box[2]
            level = abs(last.midline - item.midline) < 0.06
            if level and -0.1 < gap < _GAP * max(last.em, item.em):
                line.append(item)
                break
        else:
            found.append([item])
    return found


def check_equations(items: Sequence[Item]) -> list[Fault]:
    """Equations with ``=`` whose shown digits do not come to the shown result."""
    faults = []
    for line in lines(items):
        text = " ".join(_text(item) for item in line)
        for match in _EQUATION.finditer(text):
            left, result = match.groups()
            if not rounds_to(work_out(left), result.strip("()").removeprefix("+")):
                what = f"{left} = {result} does not add up in the shown digits"
                faults.append(Fault("equation", what, box_of(*(i.mobject for i in line))))
    return faults


def _text(item: TextItem) -> str:
    root = any(isinstance(ancestor, Root) for ancestor in item.path)
    return f"√{item.text}" if root else item.text


def work_out(expression: str) -> Decimal:
    """The value of a shown expression, × and ÷ first. NaN where it divides by zero."""
    total, product, sign, operator = Decimal(0), Decimal(1), 1, "×"
    expects_operand = True
    for root, number, symbol in _tokens(expression):
        if expects_operand:
            value = as_decimal(number.strip("()").removeprefix("+"))
            try:
                value = value.sqrt() if root else value
                product = product / value if operator == "÷" else product * value
            except (DivisionByZero, InvalidOperation):
                return Decimal("NaN")
        elif symbol in ("+", MINUS):
            total += sign * product
            product, sign, operator = Decimal(1), 1 if symbol == "+" else -1, "×"
        else:
            operator = symbol
        expects_operand = not expects_operand
    return total + sign * product


def _tokens(expression: str) -> list[tuple[str, str, str]]:
    """Operands and operators by turns; a minus where an operator is due is an operator."""
    tokens: list[tuple[str, str, str]] = []
    position = 0
    while position < len(expression):
        rest = expression[position:]
        if len(tokens) % 2 == 1:
            match = re.match(rf"\s*([+{MINUS}×÷])\s*", rest)
            entry = ("", "", match.group(1)) if match else None
        else:
            match = re.match(rf"\s*(√\s?)?({_NUMBER})\s*", rest)
            entry = (match.group(1) or "", match.group(2), "") if match else None
        if match is None or entry is None:
            break
        tokens.append(entry)
        position += match.end()
    return tokens
