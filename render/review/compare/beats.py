"""A scene's part of the page: why it is rendered anew, and each beat that differs, side by side."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from html import escape

from render.review.compare.pairs import Change, sentence
from render.review.compare.scene import BeatPair, Compared, Moment

Say = Callable[..., str]
_REASONS = 3
_CHIPS = 40  # numbers named under a beat or a scene; of more only how many
_KINDS = {"same": "{}", "old": "<del>{}</del>", "new": "<ins>{}</ins>"}


def data_url(data: bytes, kind: str) -> str:
    """A file inside the page."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


def scene_section(say: Say, scene: Compared) -> Iterator[str]:
    """Heading, reasons and beats of a scene that would be rendered anew."""
    number = scene.scene.number
    kind = "inference" if number >= 15 else "training" if number >= 12 else ""
    yield f'<section class="scene" id="scene{number}"><h2>'
    yield f'<span class="badge {kind}">{number}</span>{escape(scene.title)}</h2>'
    yield from _reasons(say, scene.reasons)
    old, new = (f"{seconds:.1f}" for seconds in scene.seconds)
    if old != new:
        yield f'<p class="note">{say("length", old=old, new=new)}</p>'
    if not scene.numbers and not scene.sentences:
        yield f'<p class="note">{say("nothing")}</p>'
    for beat in scene.beats:
        yield from _beat(say, beat)
    seen = {change for beat in scene.beats for change in beat.numbers}
    if set(scene.numbers) - seen:
        yield f'<details class="beat"><summary>{say("all_numbers", count=len(scene.numbers))}'
        yield "</summary>"
        yield from _chips(say, scene.numbers)
        yield "</details>"
    yield "</section>"


def _reasons(say: Say, reasons: tuple[str, ...]) -> Iterator[str]:
    def listed(lines: Iterable[str]) -> str:
        items = "".join(f"<li>{escape(line)}</li>" for line in lines)
        return f'<ul class="reasons">{items}</ul>'

    yield f'<p class="note">{say("because_of")}</p>{listed(reasons[:_REASONS])}'
    rest = reasons[_REASONS:]
    if rest:
        yield f"<details><summary>{say('more', count=len(rest))}</summary>{listed(rest)}</details>"


def _beat(say: Say, beat: BeatPair) -> Iterator[str]:
    first, last = beat.steps
    steps = f"{first}–{last}" if last > first else str(first)
    reworded = beat.old.variant != beat.new.variant
    tag = f'<span class="tag">{say("reworded")}</span>' if reworded else ""
    yield f'<div class="beat"><header><h3>{say("steps", steps=steps)}</h3>'
    yield f'<span class="muted name">{escape(beat.name)}</span>{tag}</header>'
    pieces = sentence(beat.old.text, beat.new.text)
    said = "".join(_KINDS[piece.kind].format(escape(piece.text)) for piece in pieces)
    yield f'<p class="said">{said}</p><div class="pair">'
    yield from _figure(say("old"), "before", beat.old)
    yield from _figure(say("new"), "after", beat.new)
    yield "</div>"
    if beat.numbers:
        yield from _chips(say, beat.numbers)
    elif not beat.other_sentence:
        yield f'<p class="note">{say("picture_only")}</p>'
    yield "</div>"


def _figure(caption: str, kind: str, moment: Moment) -> Iterator[str]:
    yield f'<figure class="{kind}"><div class="frame" tabindex="0" role="button">'
    source = data_url(moment.picture, "image/webp")
    yield f'<img loading="lazy" alt="{escape(moment.text)}" src="{source}">'
    for shown in moment.marked:
        if shown.box:
            left, top, width, height = shown.box
            place = f"left:{left}%;top:{top}%;width:{width}%;height:{height}%"
            yield f'<u style="{place}"></u>'
    yield f"</div><figcaption>{caption}</figcaption></figure>"


def _chips(say: Say, numbers: tuple[Change, ...]) -> Iterator[str]:
    yield '<ul class="chips">'
    for change in numbers[:_CHIPS]:
        title = escape(change.source.rpartition(" .")[0])
        if change.old is None or change.new is None:
            word = say("only_old" if change.new is None else "only_new")
            kind = "was" if change.new is None else "is"
            shown = escape(change.old or change.new or "")
            yield (
                f'<li title="{title}"><span class="{kind}">{shown}</span> '
                f"<small>{word}</small></li>"
            )
            continue
        yield (
            f'<li title="{title}"><span class="was">{escape(change.old)}</span> → '
            f'<span class="is">{escape(change.new)}</span></li>'
        )
    if len(numbers) > _CHIPS:
        yield f"<li>{say('more', count=len(numbers) - _CHIPS)}</li>"
    yield "</ul>"
