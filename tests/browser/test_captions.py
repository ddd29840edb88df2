"""A browser plays a video of ours with its side files: captions show, chapters are there."""

from __future__ import annotations

import functools
import io
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
from PIL import Image

from render.media import ffmpeg
from render.media.mp4 import Chapter, Origin
from render.media.mux import Part, Video, mux
from render.media.pictures import FrameEncoder
from render.media.quality import QUALITIES
from render.media.timedtext import Cue, Track, chapters_vtt, vtt

DRAFT, FRAMES = QUALITIES["draft"], 60
ZH = Track("zh", (Cue(0, 20, ("看「<bos>」和", "权重 & 分数。")), Cue(30, 58, ("第二句。",))), 15)
EN = Track("en", (Cue(0, 20, ("Look at <bos>.",)), Cue(30, 58, ("The second one.",))), 15)
PAGE = """<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>课</title>
<link rel="icon" href="data:,"></head><body><video width="854" height="480" muted preload="auto">
<track kind="captions" srclang="zh" label="中文" src="v.zh.vtt" default>
<track kind="captions" srclang="en" label="English" src="v.en.vtt">
<track kind="chapters" srclang="zh" src="v.chapters.zh.vtt">
</video></body></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A page with a video of four seconds, served."""
    binary = ffmpeg.find()
    encoder = FrameEncoder(tmp_path / "pictures.mp4", DRAFT)
    frame = np.full((DRAFT.height, DRAFT.width, 4), 20, np.uint8)
    encoder.write(frame, FRAMES)
    encoder.finish()
    video = Video(DRAFT, FRAMES, "课", Origin("zh", "draft", "0" * 16), (), (ZH, EN))
    mux(binary, video, [Part(tmp_path / "pictures.mp4", FRAMES)], tmp_path / "v.mp4")
    listed = Chapter("一", 0, 30), Chapter("二; = #", 30, FRAMES)
    for name, text in (
        ("v.zh.vtt", vtt(ZH.cues, 15)),
        ("v.en.vtt", vtt(EN.cues, 15)),
        ("v.chapters.zh.vtt", chapters_vtt(listed, 15)),
        ("index.html", PAGE),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    handler = functools.partial(Quiet, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


def test_captions_show_and_chapters_are_there(open_page: Callable[..., Any], site: str) -> None:
    page = open_page(site, allow=(site, "blob:"))
    page.evaluate(
        """async () => {
            const data = await (await fetch("v.mp4")).blob();
            const video = document.querySelector("video");
            video.src = URL.createObjectURL(data);
            for (const track of video.textTracks)
                track.mode = track.kind == "chapters" ? "hidden" : "showing";
        }"""
    )
    page.wait_for_function("document.querySelector('video').readyState >= 2")
    page.wait_for_function("[...document.querySelectorAll('track')].every(t => t.readyState == 2)")
    length = page.evaluate("document.querySelector('video').duration")
    assert abs(length - FRAMES / 15) < 0.05
    shows(page, 1.6, ["", "", "一"])
    without = picture(page)
    shows(page, 0.5, ["看「<bos>」和\n权重 & 分数。", "Look at <bos>.", "一"])
    end = monotonic() + 30
    while np.abs(picture(page) - without).max() <= 100:  # until there are letters on the picture
        assert monotonic() < end
    shows(page, 2.5, ["第二句。", "The second one.", "二; = #"])
    chapters_there = page.evaluate("[...document.querySelector('video').textTracks[2].cues].length")
    assert chapters_there == 2


def shows(page: Any, seconds: float, texts: list[str]) -> None:
    """Go to a time and wait until each track shows its text there: plain letters, markup read."""
    page.evaluate(
        """async seconds => {
            const video = document.querySelector("video");
            const sought = new Promise(done => video.onseeked = done);
            video.currentTime = seconds;
            await sought;
        }""",
        seconds,
    )
    page.wait_for_function(
        """texts => JSON.stringify(texts) == JSON.stringify(
            [...document.querySelector("video").textTracks].map(track => [...track.activeCues]
                .map(cue => cue.getCueAsHTML().textContent).join("|")))""",
        arg=texts,
    )


def picture(page: Any) -> np.ndarray:
    png = page.locator("video").screenshot()
    return np.asarray(Image.open(io.BytesIO(png)).convert("L")).astype(int)
