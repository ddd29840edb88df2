"""The SCORM package in Chromium, with scorm-again as the learning platform."""

from __future__ import annotations

import functools
import json
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from render.documents import scorm

from . import lectures
from .conftest import HERE, node_module

SCENES = 3
LENGTH = 20.0  # seconds of each
#: As much of the course page as asks where to begin.
PAGE = """<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>课</title>
<link rel="icon" href="data:,"></head><body><h1>课</h1>
<script>const begun = window.lectureHost ? lectureHost.start() : null;</script></body></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """As much of a page as its hook, in a package, on a platform."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text(PAGE, encoding="utf-8")
    yield from served(page, tmp_path, SCENES)


@pytest.fixture
def real_site(tmp_path: Path) -> Iterator[str]:
    """The real page with two scenes of six seconds, in a package, on a platform."""
    page = lectures.make(tmp_path / "lecture", "zh", count=2).folder
    yield from served(page, tmp_path, 2)


def served(page: Path, tmp_path: Path, scenes: int) -> Iterator[str]:
    """A folder of the platform's, served; the package is unpacked in it."""
    folder, target = tmp_path / "site", tmp_path / "lecture.zip"
    paths = (path for path in page.rglob("*") if path.is_file())
    files = {path.relative_to(page).as_posix(): path for path in paths}
    scorm.pack(files, target, item="lecture", title="课 & <more>", scenes=scenes)
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder / "package")
    shutil.copy(HERE / "scorm_player.html", folder / "index.html")
    player = (HERE / "scorm_player.html").read_text(encoding="utf-8")
    (folder / "opener.html").write_text(re.sub(r"<iframe.*", "", player), encoding="utf-8")
    frame = '<!doctype html><title>popup</title><iframe src="package/index.html"></iframe>'
    (folder / "popup.html").write_text(frame, encoding="utf-8")
    shutil.copy(node_module("scorm-again/dist/scorm12.min.js"), folder)
    handler = functools.partial(Quiet, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class Visit:
    """A learner's visit: the platform's page with the package in its frame."""

    def __init__(self, page: Any) -> None:
        self.page = page
        page.wait_for_function("Boolean(frames[0] && frames[0].lectureHost)")
        self.frame = page.frames[1]

    def begun(self) -> Any:
        return self.frame.evaluate("begun")

    def play(self, scene: int, start: float, end: float, step: float = 0.5) -> None:
        """Report as a video does while it plays."""
        self.frame.evaluate(
            "([scene, from, to, step, length]) => { for (let t = from; t < to; t += step)"
            " lectureHost.at(scene, t, length); lectureHost.at(scene, to, length); }",
            [scene, start, end, step, LENGTH],
        )

    def play_video(self) -> None:
        """Play the real page's video, twice as fast."""
        self.frame.evaluate(
            "() => { const video = document.getElementById('video'); video.muted = true;"
            " video.addEventListener('play', () => { video.playbackRate = 2; }); video.play(); }"
        )

    def pause_video(self) -> None:
        self.frame.evaluate("document.getElementById('video').pause()")

    def value(self, name: str) -> str:
        return str(self.page.evaluate("name => API.LMSGetValue(name)", name))

    def leave(self) -> dict[str, Any]:
        """Go away; what the platform remembers."""
        self.page.evaluate("document.querySelector('iframe').src = 'about:blank'")
        self.page.wait_for_function("localStorage.getItem('finished') === 'yes'")
        return json.loads(self.page.evaluate("localStorage.getItem('kept')"))


Opener = Callable[..., Any]


def visit(open_page: Opener, site: str, before: Visit | None = None) -> Visit:
    context = before.page.context if before else None
    return Visit(open_page(site, allow=(site,), context=context))


def test_loads_and_says_that_it_has_begun(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    assert first.begun() is None
    assert first.value("cmi.core.lesson_status") == "incomplete"
    assert first.page.evaluate("commits") == 1


def test_resumes_where_it_was_left(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.play(0, 0, LENGTH)
    first.play(1, 0, 7.3)
    core = first.leave()["core"]
    assert core["lesson_location"] == "1 7.3"
    assert core["exit"] == "suspend"
    second = visit(open_page, site, first)
    assert second.begun() == {"scene": 1, "seconds": 7.3}
    assert second.value("cmi.core.lesson_status") == "incomplete"


def test_completes_when_nine_tenths_of_every_scene_were_seen(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.play(0, 0, LENGTH)
    first.play(2, 0, LENGTH)
    first.play(1, 0, LENGTH * 0.6)
    first.leave()
    second = visit(open_page, site, first)
    assert second.value("cmi.core.lesson_status") == "incomplete"
    second.play(1, LENGTH * 0.6, LENGTH * 0.85)
    assert second.value("cmi.core.lesson_status") == "incomplete"
    second.play(1, LENGTH * 0.85, LENGTH * 0.92)
    assert second.value("cmi.core.lesson_status") == "completed"
    kept = second.leave()
    assert kept["core"]["lesson_status"] == "completed"
    third = visit(open_page, site, second)
    third.play(0, 0, 1)
    assert third.value("cmi.core.lesson_status") == "completed", "never taken back"


def test_reports_that_come_late_lose_nothing(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    for scene in range(SCENES):
        first.play(scene, 3, 11, 4)
    first.leave()
    second = visit(open_page, site, first)
    second.play(2, 15, LENGTH, 2)
    for scene in (0, 1):
        second.play(scene, 11, LENGTH, 4)
    assert second.value("cmi.core.lesson_status") == "completed"


def test_jumping_to_the_end_is_not_seeing(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    for scene in range(SCENES):
        first.play(scene, 0, 1)
        first.play(scene, LENGTH - 1, LENGTH)
    assert first.value("cmi.core.lesson_status") == "incomplete"


def test_the_platform_is_not_asked_four_times_a_second(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.play(0, 0, LENGTH, 0.25)
    assert first.page.evaluate("commits") <= 2
    first.leave()
    assert first.page.evaluate("commits") <= 3


def test_the_real_page_resumes_and_completes(open_page: Opener, real_site: str) -> None:
    first = visit(open_page, real_site)
    assert first.value("cmi.core.lesson_status") == "incomplete"
    first.play_video()
    first.page.wait_for_function(
        "() => { const state = frames[0].lecture.state();"
        " return state.scene === '02_decoder_inputs' && state.time > 1; }"
    )
    first.pause_video()
    scene, seconds = first.leave()["core"]["lesson_location"].split(" ")
    second = visit(open_page, real_site, first)
    assert scene == "1"
    state = second.frame.evaluate("lecture.state()")
    assert state == {"scene": "02_decoder_inputs", "time": float(seconds)}
    assert not second.page.evaluate("told.some(one => one.name === 'cmi.suspend_data')")
    second.play_video()
    second.page.wait_for_function("API.LMSGetValue('cmi.core.lesson_status') === 'completed'")
    assert second.leave()["core"]["lesson_status"] == "completed"


def test_what_is_reported_is_as_scorm_wants_it(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.play(0, 0, LENGTH)
    assert len(first.leave()["suspend_data"]) < 4096
    told = first.page.evaluate("told")
    assert {one["taken"] for one in told} == {"true"}
    values = {one["name"]: one["value"] for one in told}
    assert set(values) == {
        "cmi.core.lesson_status",
        "cmi.core.exit",
        "cmi.core.lesson_location",
        "cmi.core.session_time",
        "cmi.suspend_data",
    }
    assert re.fullmatch(r"\d{4}:\d\d:\d\d\.\d\d", values["cmi.core.session_time"])


def test_without_a_platform_the_page_works_as_ever(open_page: Opener, site: str) -> None:
    page = open_page(f"{site}package/index.html", allow=(site,))
    assert page.evaluate("begun") is None
    assert page.evaluate("typeof lectureHost") == "undefined"


def test_a_popup_whose_page_is_a_frame_finds_the_platform(open_page: Opener, site: str) -> None:
    page = open_page(f"{site}opener.html", allow=(site,))
    with page.context.expect_page() as opened:
        page.evaluate("window.open('popup.html') && null")
    opened.value.wait_for_function("Boolean(frames[0] && frames[0].lectureHost)")
    assert page.evaluate("API.LMSGetValue('cmi.core.lesson_status')") == "incomplete"


def test_the_pdf_does_not_end_the_attempt(open_page: Opener, real_site: str) -> None:
    first = visit(open_page, real_site)
    with first.page.context.expect_page():
        first.frame.click('a[href="handout.pdf"]')
    assert first.frame.url.endswith("/package/index.html")
    assert first.page.evaluate("localStorage.getItem('finished')") is None
    assert first.frame.evaluate("lectureHost.at(0, 1, 6)") is True


BROKEN = """() => {
  for (const name of ["LMSSetValue", "LMSCommit"]) {
    API["kept" + name] = API[name];
    API[name] = () => { throw new Error("the session is over"); };
  }
}"""
REPAIRED = """() => {
  for (const name of ["LMSSetValue", "LMSCommit"]) API[name] = API["kept" + name];
}"""


def test_a_platform_that_throws_stops_nothing_and_is_told_of(
    open_page: Opener, real_site: str
) -> None:
    first = visit(open_page, real_site)
    notice = first.frame.locator("#unrecorded")
    assert notice.is_hidden()
    first.page.evaluate(BROKEN)
    first.play_video()
    first.frame.wait_for_function("!document.getElementById('unrecorded').hidden")
    assert "没有被记录" in notice.text_content()
    first.frame.wait_for_function(
        "document.getElementById('time').textContent.startsWith('0:02')"
        " && document.querySelector('#transcript [aria-current]').dataset.beat === '1'"
    )
    first.page.evaluate(REPAIRED)
    first.frame.wait_for_function("document.getElementById('unrecorded').hidden")


def test_a_platform_that_refuses_to_begin_is_told_of(open_page: Opener, real_site: str) -> None:
    page = open_page(f"{real_site}opener.html", allow=(real_site,))
    page.evaluate(
        "() => { API.LMSInitialize = () => 'false'; const frame = document.createElement('iframe');"
        " frame.src = 'package/index.html'; frame.width = 1200; document.body.append(frame); }"
    )
    first = Visit(page)
    first.play_video()
    first.frame.wait_for_function("!document.getElementById('unrecorded').hidden")
    first.frame.wait_for_function("document.getElementById('time').textContent.startsWith('0:01')")
