"""The SCORM package in Chromium, with scorm-again as the learning platform."""

from __future__ import annotations

import functools
import json
import re
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from render.combinations import Wish, orders
from render.publish.wanted import Wanted
from render.scorm import package
from render.scorm.make import make
from render.sidefiles import SideFiles

from . import lectures
from .conftest import HERE, node_module

SENTENCES = 20
#: As much of the course page as its hook: a sentence after the other is seen.
PAGE = """<!doctype html><html lang="zh"><head><meta charset="utf-8"><title>课</title>
<link rel="icon" href="data:,"></head><body><h1>课</h1><script>
const lecture = window.lecture = Object.assign({remember: true, enough: 1}, window.lecture);
let at = 0, seen = new Set();
lecture.state = () => ({
  scene: "08_attention_scores", time: at, seen: seen.size / 20,
  completed: seen.size >= 20 * lecture.enough, bookmark: `${at}|${[...seen].join(".")}`,
});
lecture.resume = (text) => {
  const [place, done] = text.split("|");
  at = Number(place);
  seen = new Set(done.split(".").filter(Boolean).map(Number));
};
function see(first, last) {
  for (at = first; at < last; at += 1) { seen.add(at); lecture.onprogress?.(lecture.state()); }
}
</script></body></html>"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """As much of a page as its hook, in a package, on a platform."""
    page = tmp_path / "page"
    page.mkdir()
    (page / "index.html").write_text(PAGE, encoding="utf-8")
    yield from served(page, tmp_path)


@pytest.fixture
def real_site(tmp_path: Path) -> Iterator[str]:
    """The real page with two scenes of six seconds, in a package, on a platform."""
    whole = lectures.make(tmp_path / "lecture", "zh").page
    page = replace(whole, sources=whole.sources[:2]).write(tmp_path / "page")
    yield from served(page, tmp_path)


def served(page: Path, tmp_path: Path) -> Iterator[str]:
    """A folder of the platform's, served; the package is unpacked in it."""
    folder, target = tmp_path / "site", tmp_path / "lecture.zip"
    package.write(page, target, item="lecture", title="课 & <more>")
    with zipfile.ZipFile(target) as archive:
        archive.extractall(folder / "package")
    shutil.copy(HERE / "scorm_player.html", folder / "index.html")
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
        page.wait_for_function("Boolean(frames[0] && frames[0].lecture && frames[0].lecture.state)")
        self.frame = page.frames[1]

    def see(self, first: int, last: int) -> None:
        self.frame.evaluate("([first, last]) => see(first, last)", [first, last])

    def play(self) -> None:
        """Play the real page's video, four times as fast."""
        self.frame.evaluate(
            "() => { const video = document.getElementById('video'); video.muted = true;"
            " video.addEventListener('play', () => { video.playbackRate = 4; }); video.play(); }"
        )

    def pause(self) -> None:
        self.frame.evaluate("document.getElementById('video').pause()")

    def state(self) -> dict[str, Any]:
        return dict(self.frame.evaluate("lecture.state()"))

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
    assert first.state()["seen"] == 0
    assert first.value("cmi.core.lesson_status") == "incomplete"
    assert first.page.evaluate("commits") == 1
    assert first.frame.evaluate("lecture.remember") is False


def test_resumes_where_it_was_left(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.see(0, 7)
    core = first.leave()["core"]
    assert core["lesson_location"] == "08_attention_scores 7"
    assert core["exit"] == "suspend"
    second = visit(open_page, site, first)
    assert second.state()["time"] == 7
    assert second.state()["seen"] == 7 / SENTENCES
    assert second.value("cmi.core.lesson_status") == "incomplete"


def test_completes_when_nine_tenths_were_seen(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.see(0, 12)
    first.leave()
    second = visit(open_page, site, first)
    second.see(12, 17)
    assert second.value("cmi.core.lesson_status") == "incomplete"
    second.see(18, 19)
    assert second.value("cmi.core.lesson_status") == "completed"
    assert second.leave()["core"]["lesson_status"] == "completed"
    third = visit(open_page, site, second)
    third.frame.evaluate("seen.clear()")
    third.see(0, 1)
    assert third.leave()["core"]["lesson_status"] == "completed", "never taken back"


def test_the_platform_is_not_asked_at_every_sentence(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.see(0, 15)
    assert first.page.evaluate("commits") <= 2
    first.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    assert first.leave()["suspend_data"].startswith("15|0.1.2")


def test_the_real_page_resumes_and_completes(open_page: Opener, real_site: str) -> None:
    first = visit(open_page, real_site)
    assert first.value("cmi.core.lesson_status") == "incomplete"
    first.play()
    first.page.wait_for_function("frames[0].lecture.state().seen >= 0.3")
    first.pause()
    left = first.state()
    assert first.leave()["suspend_data"] == left["bookmark"]
    second = visit(open_page, real_site, first)
    assert second.state() == left
    second.play()
    second.page.wait_for_function("frames[0].lecture.state().completed")
    assert second.value("cmi.core.lesson_status") == "completed"
    assert second.leave()["core"]["lesson_status"] == "completed"
    third = visit(open_page, real_site, second)
    assert third.state()["seen"] >= 0.9


def test_what_is_reported_is_as_scorm_wants_it(open_page: Opener, site: str) -> None:
    first = visit(open_page, site)
    first.see(0, 5)
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


def test_an_order_becomes_a_package(tmp_path: Path) -> None:
    lectures.make(tmp_path / "lecture", "en")
    wish = Wish(lang="en", track="inference", out=tmp_path / "lecture" / "videos")
    wanted = Wanted(wish, orders(wish))
    (order,) = wanted.orders
    texts = {"title": "The lecture", "description": "", "tags": []}
    about = SideFiles(order.out / order.film_name).about
    about.write_text(json.dumps({"zh": texts, "en": texts}), encoding="utf-8")
    target = make(wanted, order, tmp_path / "x.zip", "")
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        manifest = archive.read("imsmanifest.xml").decode()
    assert sum(name.endswith(".mp4") for name in names) == 5
    assert "<title>The lecture</title>" in manifest
    assert 'identifier="transformer-lecture-inference-en"' in manifest
    assert {path.name for path in tmp_path.iterdir()} == {"lecture", "x.zip"}


def test_without_a_platform_the_page_works_as_ever(open_page: Opener, site: str) -> None:
    page = open_page(f"{site}package/index.html", allow=(site,))
    assert page.evaluate("lecture.remember") is True
    page.evaluate("see(0, 3)")
