"""Pages in a headless Chromium, watched: an error or a request leaving the machine fails the test.

Chromium is the system's; Playwright only speaks to it. ``./.ci/run`` installs what is used here;
where it is missing the tests are skipped and say what to install. In CI they fail instead.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
MODULES = HERE / "node_modules"
#: No profile is kept: Playwright starts each browser with a new user-data-dir.
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
)
#: What a page may load: files, and what it has made itself.
_LOCAL = ("file:", "data:", "blob:", "about:")
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def need(found: Any, install: str) -> None:
    """Skip the test where something is missing; in CI, fail it."""
    if found:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"missing in CI: {install}")
    pytest.skip(install)


def node_module(path: str) -> Path:
    """A file of an npm package, such as ``axe-core/axe.min.js``; the test is skipped without."""
    file = MODULES / path
    need(file.is_file(), f"install the packages of {HERE.name}: npm ci --prefix tests/browser")
    return file


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for the tests of a process: ``chromium.new_context(…)``."""
    binary = next(filter(None, map(shutil.which, _NAMES)), None)
    need(binary, "install Chromium (Debian: apt-get install chromium)")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=binary, headless=True, args=list(FLAGS))
        yield browser
        browser.close()


class Watch:
    """What went wrong on a page: console errors, exceptions, requests that left the machine."""

    def __init__(self, page: Any, allowed: tuple[str, ...]) -> None:
        self.problems: list[str] = []
        self._allowed = (*_LOCAL, *allowed)
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"exception: {error}"))
        page.on("request", self._request)
        page.on("requestfailed", self._failed)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"{message.type}: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith(self._allowed):
            self.problems.append(f"request: {request.url}")

    def _failed(self, request: Any) -> None:
        # a video that is left before it is loaded is no fault
        if request.failure != "net::ERR_ABORTED":
            self.problems.append(f"{request.failure}: {request.url}")


@pytest.fixture
def open_page(chromium: Any) -> Iterator[Callable[..., Any]]:
    """``open_page(path_or_url, width=…, height=…, allow=("http://127.0.0.1:8000/",), **context)``.

    Each page has a context of its own, so nothing is remembered from test to test; give
    ``context=page.context`` to open a second page that does remember. At the end of the test every
    page must have been free of problems.
    """
    watched: list[Watch] = []
    contexts: list[Any] = []

    def open_one(
        where: Path | str,
        *,
        width: int = 1280,
        height: int = 800,
        allow: tuple[str, ...] = (),
        context: Any = None,
        **options: Any,
    ) -> Any:
        if context is None:
            options.setdefault("viewport", {"width": width, "height": height})
            context = chromium.new_context(**options)
            contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine is late
        watched.append(Watch(page, allow))
        page.goto(where.absolute().as_uri() if isinstance(where, Path) else where)
        return page

    yield open_one
    for context in contexts:
        context.close()
    problems = [problem for watch in watched for problem in watch.problems]
    assert problems == []


@pytest.fixture
def axe() -> Callable[..., list[str]]:
    """``axe(page)``: the serious and critical violations that axe-core finds, one line each; looks
    at the whole page, which may take seconds, or at what ``within`` selects."""
    script = node_module("axe-core/axe.min.js")

    def run(page: Any, within: str = "html") -> list[str]:
        page.evaluate(script.read_text(encoding="utf-8"))
        # preload: it would fetch the style sheets, which a page opened as a file may not
        options = "{resultTypes: ['violations'], preload: false}"
        found = page.evaluate(f"within => axe.run({{include: [within]}}, {options})", within)
        return [
            f"{item['id']}: {item['help']}: {node['target']}"
            for item in found["violations"]
            if item["impact"] in ("serious", "critical")
            for node in item["nodes"]
        ]

    return run
