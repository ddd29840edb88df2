"""A real scene through the front door: its captions as other programs read them."""

from __future__ import annotations

import html
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import av
import pysubs2
import pytest
import webvtt
from PIL import Image

from render.media.captions.breaking import GAP, LINES, RULES
from render.media.sidecars import SideFiles

from .conftest import ROOT


def faults(video: Path, fps: int) -> list[str]:
    """What is wrong with the captions of a video, from the files alone."""
    found: list[str] = []
    side = SideFiles(video)
    with av.open(str(video)) as container:
        inside = {stream.metadata["language"]: stream for stream in container.streams.subtitles}
        assert set(inside) == {"zho", "eng"}
        for language, code in (("zh", "zho"), ("en", "eng")):
            cues = list(webvtt.read(str(side.captions(language))))
            texts = [html.unescape(cue.text) for cue in cues]
            srt = pysubs2.load(str(side.captions(language, "srt")))
            assert [event.plaintext for event in srt] == texts
            container.seek(0)
            packets = [bytes(packet) for packet in container.demux(inside[code])]
            shown = [data[2:].decode() for data in packets if len(data) > 2]
            assert shown == texts
            rules = RULES[language]
            for cue, text in zip(cues, texts, strict=True):
                lines = text.split("\n")
                seconds = second(cue.end) - second(cue.start)
                speed = len(rules.space.join(lines)) / seconds
                if len(lines) > LINES or max(map(len, lines)) > rules.line:
                    found.append(f"too much text: {cue.text!r}")
                if speed > rules.speed:
                    found.append(f"{speed:.2f} characters a second: {cue.text!r}")
            for one, next_one in pairwise(cues):
                gap = second(next_one.start) - second(one.end)
                if gap < GAP / fps - 1e-6:
                    found.append(f"{gap:.3f} s before {next_one.text!r}")
        assert container.duration is not None
        assert second(cues[-1].end) <= container.duration / 1e6
    return found


def second(clock: str) -> float:
    """``00:01:02.500`` in seconds."""
    hours, minutes, seconds = clock.split(":")
    return 3600 * int(hours) + 60 * int(minutes) + float(seconds)


@pytest.mark.slow
def test_a_rendered_scene_has_captions_that_programs_read(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "render", "16", "--quality", "draft", "--out", str(tmp_path)]
    subprocess.run([*command, "--store", "none"], cwd=ROOT, check=True, env=dict(os.environ))
    video = tmp_path / "16_inference_step_1_zh.mp4"
    assert faults(video, 15) == []
    with Image.open(SideFiles(video).cover) as cover:
        assert cover.size == (1280, 720)
        assert len(cover.convert("RGB").getcolors(1 << 24) or ()) > 50
    assert SideFiles(video).cover.stat().st_size < 2_000_000
