"""The comparison as one HTML file that needs no network: styles, script and pictures are inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

from render.base import files
from render.base.project import ASSETS
from render.review.compare.beats import scene_section
from render.review.compare.matrices import matrix_panel
from render.review.compare.scene import Compared
from render.review.compare.weights import Both, Value
from render.review.compare.words import WORDS

_FILES = ASSETS / "web" / "compare"


@dataclass(frozen=True)
class Names:
    """What was compared, for the head of the page."""

    old: Path
    new: Path
    lesson: str
    language: str

    def say(self, key: str, **facts: object) -> str:
        """A text of the page, filled in and safe for HTML."""
        filled = {name: escape(str(fact)) for name, fact in facts.items()}
        return WORDS[self.language][key].format(**filled)

    def count(self, key: str, number: int) -> str:
        """What stands under a number, in the singular where there is one."""
        single = f"{key}_1"
        return self.say(single if number == 1 and single in WORDS[self.language] else key)


def write(path: Path, names: Names, both: Both, scenes: Sequence[Compared]) -> None:
    """Put the page in place, whole or not at all. Raises LectureError."""
    files.write(path, "\n".join(_page(names, both, scenes)))


def _page(names: Names, both: Both, scenes: Sequence[Compared]) -> Iterator[str]:
    say = names.say
    title = say("title", new=names.new.name)
    anew = [scene for scene in scenes if scene.reasons]
    language = "zh-CN" if names.language == "zh" else "en"
    yield f'<!doctype html><html lang="{language}"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{(_FILES / 'compare.css').read_text('utf-8')}</style>"
    yield f"</head><body><header><div><h1>{title}</h1>"
    yield (
        f'<p class="files"><b>{escape(str(names.old))}</b><span class="arrow">→</span>'
        f"<b>{escape(str(names.new))}</b> · {say('lesson')} {escape(names.lesson)}</p>"
    )
    yield from _tiles(names, both, scenes)
    yield "</div></header>"
    yield from _navigation(names, scenes)
    yield "<main>"
    yield from _overview(names, scenes)
    yield from _weights(names, both)
    for scene in anew:
        yield from scene_section(names.say, scene)
    yield "</main>"
    yield f"<footer>{say('hint')}</footer>"
    yield '<dialog><div><div class="frame"></div></div><p><b></b><span class="hide">'
    yield f"{say('keys')}</span></p></dialog>"
    yield f"<script>{(_FILES / 'compare.js').read_text('utf-8')}</script></body></html>"


def _tiles(names: Names, both: Both, scenes: Sequence[Compared]) -> Iterator[str]:
    say = names.say
    yield '<div class="tiles">'
    numbers = sum(len(scene.numbers) for scene in scenes)
    sentences = sum(scene.sentences for scene in scenes)
    for count, text in (
        (len(both.matrices), names.count("matrices", len(both.matrices))),
        (len(both.values), say("values", all=both.all_values)),
        (sum(bool(scene.reasons) for scene in scenes), say("scenes", all=len(scenes))),
        (numbers, names.count("numbers", numbers)),
        (sentences, names.count("sentences", sentences)),
    ):
        yield f'<div class="tile"><strong>{count}</strong><span>{text}</span></div>'
    loss = [f"{value:.4f}" for value in both.loss]
    yield f'<div class="tile"><strong>{_was_is(*loss)}</strong><span>{say("loss")}</span></div>'
    yield '<div class="tile wide">'
    yield f"<strong>{_was_is(*both.writes)}</strong><span>{say('writes')}</span></div></div>"


def _was_is(old: str, new: str) -> str:
    if old == new:
        return escape(new)
    return f'<span class="was">{escape(old)}</span> → <span class="is">{escape(new)}</span>'


def _navigation(names: Names, scenes: Sequence[Compared]) -> Iterator[str]:
    yield '<nav><div><div class="links">'
    for scene in scenes:
        number, title = scene.scene.number, escape(scene.title)
        if scene.reasons:
            yield f'<a class="anew" href="#scene{number}" title="{title}">{number}</a>'
        else:
            yield f'<a title="{title}: {names.say("same")}">{number}</a>'
    yield '</div><label><input type="checkbox" id="outline" checked> '
    yield f"{names.say('outline')}</label></div></nav>"


def _overview(names: Names, scenes: Sequence[Compared]) -> Iterator[str]:
    say = names.say
    heads = [("scene", 2, ""), ("beats", 1, "number"), ("numbers", 1, "number")]
    heads += [("sentences", 1, "number"), ("because", 1, "")]
    yield f"<h2>{say('overview')}</h2><table><tr>"
    for key, span, kind in heads:
        yield f'<th colspan="{span}" class="{kind}">{say(key)}</th>'
    yield "</tr>"
    for scene in scenes:
        number, title = scene.scene.number, escape(scene.title)
        if not scene.reasons:
            yield f'<tr class="same"><td>{number}</td><td>{title}</td>'
            yield f'<td colspan="4">{say("same")}</td></tr>'
            continue
        yield f'<tr><td>{number}</td><td><a href="#scene{number}">{title}</a></td>'
        for count in (f"{len(scene.beats)} / {scene.all_beats}", len(scene.numbers)):
            yield f'<td class="number">{count}</td>'
        reworded = f' <span class="tag">{say("reworded")}</span>' if scene.variants else ""
        yield f'<td class="number">{scene.sentences}{reworded}</td>'
        yield f'<td class="why">{escape(scene.because)}</td></tr>'
    yield "</table>"


def _weights(names: Names, both: Both) -> Iterator[str]:
    say = names.say
    yield f"<h2>{say('weights')}</h2>"
    yield from (f"<p>{escape(line)}</p>" for line in both.others)
    if not both.matrices:
        yield f'<p class="muted">{say("matrix_none")}</p>'
    yield '<div class="matrices">'
    for matrix in both.matrices:
        yield from matrix_panel(names.say, matrix)
    yield "</div>"
    if both.values:
        yield f'<h2>{say("moved")}</h2><details class="panel">'
        yield f"<summary>{say('moved_note')}</summary>"
        yield from _values(partial(say, "elements"), both.values)
        yield "</details>"


def _values(elements: partial[str], values: Iterable[Value]) -> Iterator[str]:
    values = list(values)
    widest = max((value.largest or 0.0 for value in values), default=0.0) or 1.0
    yield "<table>"
    for value in values:
        largest = "" if value.largest is None else f"{value.largest:.4g}"
        width = 100 if value.largest is None else value.largest / widest * 100
        yield (
            f'<tr><td class="name">{escape(value.name)}</td>'
            f'<td class="number">{elements(moved=value.moved, size=value.size)}</td>'
            f'<td class="number">{largest}</td>'
            f'<td style="width:40%"><span class="bar" style="width:{width:.1f}%"></span></td></tr>'
        )
    yield "</table>"
