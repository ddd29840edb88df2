"""The watch over pages sees what it is there for."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from .conftest import Watch

FAULTY = """<!doctype html><html lang="en"><title>Faulty</title>
<main><h1>Faulty</h1><img src="missing.png"><p style="color:#ccc;background:#fff">faint</p></main>
<script>console.error("told"); setTimeout(() => { throw new Error("thrown"); }, 0);
fetch("http://127.0.0.1:9/away").catch(() => {});</script></html>"""

PROBLEMS = ("error: told", "exception: ", "request: http://127.0.0.1:9/away", "missing.png")


@pytest.fixture
def faulty(chromium, tmp_path: Path):
    file = tmp_path / "faulty 页.html"
    file.write_text(FAULTY, encoding="utf-8")
    page = chromium.new_page()
    watch = Watch(page, ())
    page.goto(file.as_uri())
    end = monotonic() + 30
    while not all(what in "\n".join(watch.problems) for what in PROBLEMS) and monotonic() < end:
        page.wait_for_timeout(50)
    yield page, watch
    page.close()


def test_errors_exceptions_and_requests_are_noticed(faulty):
    _, watch = faulty
    told = "\n".join(watch.problems)
    for what in PROBLEMS:
        assert what in told


def test_axe_notices_a_picture_without_words_and_faint_text(faulty, axe):
    rules = {line.split(":")[0] for line in axe(faulty[0])}
    assert {"image-alt", "color-contrast"} <= rules
