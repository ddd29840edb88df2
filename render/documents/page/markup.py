"""The page itself: what can be read without a script, which the script then brings to life."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from render.documents.handout import html
from render.documents.handout.content import Handout
from render.documents.page.lecture import Scene

_SPEEDS = ("0.5", "0.75", "1", "1.25", "1.5", "2")


def page(handout: Handout, scenes: Sequence[Scene], made_from: str) -> str:
    """``index.html``."""
    words = {key: escape(value) for key, value in handout.words.items()}
    lang = {"zh": "zh-CN", "en": "en"}[handout.language]
    first = scenes[0]
    poster = f' poster="{escape(first.poster)}"' if first.poster else ""
    return f"""<!doctype html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{words["title"]}</title>
<link rel="stylesheet" href="handout.css">
<link rel="stylesheet" href="page.css">
<link rel="icon" href="data:,">
</head>
<body>
<a class="skip" href="#text">{words["skip"]}</a>
<header class="top">
<h1>{words["title"]}</h1>
<nav aria-label="{words["on_this_page"]}">
<a href="#chapters">{words["chapters"]}</a>
<a href="#text">{words["text"]}</a>
<a href="#text-key_numbers">{words["key_numbers"]}</a>
<a href="handout.pdf">PDF</a>
</nav>
</header>
<main>
<section class="theatre" id="player" aria-label="{words["player"]}">
<div class="stage">
<div class="screen-place"><div class="screen" id="screen">
<video id="video" src="{escape(first.video)}"{poster} preload="metadata" playsinline controls
 aria-label="{words["video"]}"></video>
<p id="trouble" class="trouble" role="alert" hidden></p>
</div></div>
{_bar(words)}
{_dots(words, scenes)}
</div>
<section class="script" aria-labelledby="scene-title">
<header>
<p class="now"><span id="scene-number"></span><a id="step-now" href="#text"></a></p>
<h2 id="scene-title">{escape(first.title)}</h2>
</header>
<ol id="transcript" class="transcript" tabindex="0" aria-label="{words["transcript"]}"></ol>
</section>
</section>
{_chapters(words, scenes)}
<section class="handout" id="text" aria-labelledby="text-title">
<header class="text-head">
<h2 id="text-title">{words["text"]}</h2>
<p class="subtitle">{words["subtitle"]}</p>
<p class="small">{words["rounding"]}</p>
<p class="small">{escape(made_from)}</p>
<label class="follow"><input type="checkbox" id="follow"> {words["follow"]}</label>
<nav class="contents" aria-label="{words["contents"]}">{html.contents(handout)}</nav>
</header>
{html.body(handout)}
</section>
</main>
<footer>
<p>{words["keys"]}</p>
</footer>
<script src="lecture.js"></script>
<script src="page.js"></script>
<script src="scroll.js"></script>
</body>
</html>
"""


def _button(name: str, label: str, more: str = "") -> str:
    """A button whose picture the style sheet draws."""
    return (
        f'<button id="{name}" type="button" aria-label="{label}"{more}>'
        '<span aria-hidden="true"></span></button>'
    )


def _bar(words: dict[str, str]) -> str:
    """The controls; shown by the script, since they are nothing without it."""
    speeds = "".join(
        f'<option value="{speed}"{" selected" * (speed == "1")}>{speed}×</option>'
        for speed in _SPEEDS
    )
    return f"""<div class="bar" id="bar" role="group" aria-label="{words["controls"]}" hidden>
{_button("play", words["play"])}
{_button("previous", words["previous"])}
{_button("next", words["next_scene"])}
<input id="seek" type="range" min="0" max="100" step="0.1" value="0"
 aria-label="{words["seek"]}">
<span class="time" id="time">0:00</span>
<label><span>{words["captions"]}</span>
<select id="captions">
<option value="">{words["off"]}</option>
<option value="zh" lang="zh-CN">中文</option>
<option value="en" lang="en">English</option>
</select></label>
<label><span>{words["speed"]}</span>
<select id="speed">{speeds}</select></label>
<label><input type="checkbox" id="onward" checked>
<span>{words["onward"]}</span></label>
{_button("sound", words["mute"], ' aria-pressed="false"')}
{_button("full", words["fullscreen"])}
</div>"""


def _dots(words: dict[str, str], scenes: Sequence[Scene]) -> str:
    dots = "\n".join(
        f'<li><button type="button" class="dot part-{scene.part}" data-scene="{n}" '
        f'aria-label="{scene.number}. {escape(scene.title)}" title="{scene.number}. '
        f'{escape(scene.title)}"></button></li>'
        for n, scene in enumerate(scenes)
    )
    label = words["scenes"]
    return f'<nav aria-label="{label}" id="dots" hidden><ol class="dots">\n{dots}\n</ol></nav>'


def _chapters(words: dict[str, str], scenes: Sequence[Scene]) -> str:
    """A list of links to the videos; the script makes them play above."""
    items = []
    for n, scene in enumerate(scenes):
        first, last = scene.steps
        steps = words["steps" if first != last else "one_step"].format(first=first, last=last)
        minutes, seconds = divmod(round(scene.seconds), 60)
        items.append(
            f'<li><a class="part-{scene.part}" href="{escape(scene.video)}" data-scene="{n}">'
            f'<span class="number">{scene.number}</span>'
            f'<span class="name">{escape(scene.title)}</span>'
            f'<span class="about">{steps} · {minutes}:{seconds:02d}</span></a></li>'
        )
    listed = "\n".join(items)
    return f"""<section class="chapters" id="chapters" aria-labelledby="chapters-title">
<h2 id="chapters-title">{words["chapters"]}</h2>
<ol>
{listed}
</ol>
</section>"""
