"""The course page in a real browser, opened from a folder: keys, dots, captions, text."""

from __future__ import annotations

import functools
import json
import re
import shutil
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from time import monotonic

import pytest

from render.documents.handout import html
from render.review.numbers import Recomputer
from scenes import lessons
from scenes.rounding import shown

from .lectures import BEATS, CUES, Lecture, make, make_clip


@pytest.fixture(scope="session")
def lectures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Lecture]:
    folder = tmp_path_factory.mktemp("讲义 page")
    clip = make_clip(folder / "clip.mp4")
    return {language: make(folder / language, language, clip=clip) for language in ("zh", "en")}


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Lecture:
    return make(tmp_path_factory.mktemp("whole"), "en", whole=True)


@pytest.fixture
def zh(lectures, open_page):
    return ready(open_page(lectures["zh"].index))


@pytest.fixture
def en(lectures, open_page):
    return ready(open_page(lectures["en"].index))


def ready(page):
    page.wait_for_function("document.getElementById('video').readyState >= 2")
    return page


def scene(page) -> str:
    return page.evaluate("lecture.state().scene")


def time(page) -> float:
    return page.evaluate("document.getElementById('video').currentTime")


def paused(page) -> bool:
    return page.evaluate("document.getElementById('video').paused")


def current(page, where: str) -> list[str]:
    return page.evaluate(
        f"[...document.querySelectorAll('{where} [aria-current]')].map(x => x.textContent)"
    )


def captions(page) -> list[list[str]]:
    """Language and text of the cues that are showing."""
    return page.evaluate(
        """[...document.getElementById('video').textTracks].filter(t => t.mode == 'showing')
        .flatMap(t => [...t.activeCues].map(c => [t.language, c.getCueAsHTML().textContent]))"""
    )


def test_arrows_go_from_scene_to_scene_and_stop_at_the_ends(zh):
    assert scene(zh) == "01_architecture"
    zh.keyboard.press("ArrowLeft")
    assert scene(zh) == "01_architecture"
    zh.keyboard.press("ArrowRight")
    assert scene(zh) == "02_decoder_inputs"
    assert paused(zh)
    for _ in range(20):
        zh.keyboard.press("ArrowRight")
    assert scene(zh) == "19_training_vs_inference"
    zh.keyboard.press("ArrowLeft")
    assert scene(zh) == "18_inference_step_3"


def labelled(page, word):
    """Waits for the play button's label: it follows the video's events, which come later."""
    page.wait_for_function(f"document.querySelector('#play').ariaLabel === '{word}'")


def test_space_plays_and_pauses_and_the_arrow_plays_on(en):
    en.select_option("#speed", "0.5")  # a busy machine looks late, when the next scene may be on
    en.keyboard.press(" ")
    en.wait_for_function("document.getElementById('video').currentTime > 0.2")
    assert not paused(en)
    labelled(en, "Pause")
    en.keyboard.press("ArrowRight")
    ready(en)
    assert scene(en) == "02_decoder_inputs"
    assert not paused(en)
    en.keyboard.press(" ")
    assert paused(en)
    labelled(en, "Play")
    assert en.evaluate("scrollY") == 0


def test_a_scene_that_is_only_looked_at_keeps_its_cover(zh):
    zh.evaluate(
        "addEventListener('seeking', () => (window.sought = (window.sought || 0) + 1), true)"
    )
    zh.keyboard.press("ArrowRight")
    ready(zh)
    zh.keyboard.press("ArrowRight")
    ready(zh)
    assert scene(zh) == "03_tokenization"
    assert zh.evaluate("window.sought || 0") == 0
    assert zh.locator("#seek").input_value() == "0"
    assert zh.locator("#time").text_content() == "0:00 / 0:06"
    zh.keyboard.press("Shift+ArrowRight")
    zh.wait_for_function("window.sought == 1")


def test_shift_and_arrows_go_from_sentence_to_sentence(zh):
    zh.keyboard.press("Shift+ArrowRight")
    zh.wait_for_function("document.getElementById('video').currentTime == 2")
    zh.keyboard.press("Shift+ArrowRight")
    zh.wait_for_function("document.getElementById('video').currentTime == 4")
    zh.keyboard.press("Shift+ArrowLeft")
    zh.wait_for_function("document.getElementById('video').currentTime == 2")
    zh.keyboard.press("Shift+ArrowRight")
    zh.keyboard.press("Shift+ArrowRight")
    assert scene(zh) == "02_decoder_inputs"


def test_keys_leave_controls_alone(zh):
    zh.locator("#seek").focus()
    for key, seconds in (("ArrowRight", "5"), ("ArrowUp", "6"), ("ArrowLeft", "1"), ("Home", "0")):
        zh.keyboard.press(key)
        assert zh.locator("#seek").input_value() == seconds
    assert scene(zh) == "01_architecture"
    zh.locator("#next").focus()
    zh.keyboard.press(" ")
    assert scene(zh) == "02_decoder_inputs"
    assert paused(zh)
    zh.keyboard.press("Control+ArrowRight")
    assert scene(zh) == "02_decoder_inputs"


def test_dots_and_the_list_of_scenes(zh):
    dots = zh.locator("#dots button")
    assert dots.count() == 19
    assert dots.nth(7).get_attribute("aria-label") == "8. 注意力分数：谁该关注谁？"
    dots.nth(7).click()
    assert scene(zh) == "08_attention_scores"
    assert zh.locator("#dots [aria-current]").get_attribute("data-scene") == "7"
    assert zh.locator("#scene-title").text_content() == "注意力分数：谁该关注谁？"
    zh.locator("#chapters a").nth(12).click()
    assert scene(zh) == "13_cross_attention"
    zh.wait_for_function("!document.getElementById('video').paused")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_captions_show_in_each_language(lectures, open_page, language):
    page = ready(open_page(lectures[language].index))
    assert captions(page) == []
    for chosen, tag in (("zh", "zh-CN"), ("en", "en")):
        page.select_option("#captions", chosen)
        for (_, start, _), said in zip(BEATS, CUES[chosen], strict=True):
            page.evaluate(f"lecture.go('05_positional_encoding', {start + 0.5})")
            page.wait_for_function(
                """want => [...document.getElementById('video').textTracks].some(t =>
                t.mode == 'showing' && t.activeCues.length == 1
                && t.activeCues[0].getCueAsHTML().textContent == want)""",
                arg=said,
            )
            assert captions(page) == [[tag, said]]
    page.select_option("#captions", "")
    assert captions(page) == []


def test_captions_are_drawn_on_the_picture(zh):
    def picture() -> bytes:
        """The video as it is once two screenshots are the same."""
        before, after = b"", zh.locator("#video").screenshot()
        while before != after:
            before, after = after, zh.locator("#video").screenshot()
        return after

    zh.evaluate("lecture.go('01_architecture', 4.5)")
    zh.wait_for_function("!document.getElementById('video').seeking")
    without = picture()
    zh.keyboard.press("c")
    assert zh.locator("#captions").input_value() == "zh"
    end = monotonic() + 30
    while picture() == without:
        assert monotonic() < end


def test_transcript_follows_and_jumps(en):
    lines = en.locator("#transcript button")
    assert lines.all_text_contents() == [f"01_architecture {name}" for name, _, _ in BEATS]
    lines.nth(1).click()
    en.wait_for_function("document.getElementById('video').currentTime == 2")
    assert current(en, "#transcript") == ["01_architecture middle"]
    en.evaluate("document.getElementById('video').currentTime = 3.8")
    en.keyboard.press("Escape")
    en.locator("#play").click()
    en.wait_for_function("document.querySelector('#transcript [aria-current]').dataset.beat == '2'")
    assert not paused(en)


def test_speed(zh):
    zh.select_option("#speed", "2")
    assert zh.evaluate("document.getElementById('video').playbackRate") == 2
    zh.keyboard.press("<")
    assert zh.evaluate("document.getElementById('video').playbackRate") == 1.5
    zh.keyboard.press("ArrowRight")
    ready(zh)
    assert zh.evaluate("document.getElementById('video').playbackRate") == 1.5


def test_a_scene_that_ends_goes_on_or_stays_with_its_last_picture(zh):
    zh.select_option("#speed", "2")
    zh.evaluate("lecture.go('03_tokenization', 5.6)")
    zh.locator("#play").click()
    zh.wait_for_function("lecture.state().scene > '03_tokenization'")  # or the one after, if late
    assert not paused(zh)
    zh.locator("#onward").uncheck()
    zh.evaluate("lecture.go('03_tokenization', 5.6)")
    zh.locator("#play").click()
    zh.wait_for_function("document.getElementById('video').currentTime == 5.9")
    assert scene(zh) == "03_tokenization"
    assert paused(zh)


def test_the_text_is_in_step_with_the_video(zh):
    zh.evaluate("lecture.go('08_attention_scores', 4.5)")
    assert zh.locator("#step-now").get_attribute("href") == "#step-24"
    told = zh.evaluate("[...document.querySelectorAll('.step.told')].map(x => x.id)")
    assert told == ["step-24", "step-25", "step-26"]
    assert zh.locator("#step-now").text_content() == "步骤 24–26"
    zh.locator("#step-33 .watch").click()
    assert scene(zh) == "09_encoder_layer"
    zh.wait_for_function("!document.getElementById('video').paused")
    zh.wait_for_function("document.querySelector('#screen.mini')")
    zh.locator(".close").click()
    assert paused(zh)
    assert zh.locator("#screen.mini").count() == 0


def test_the_text_scrolls_along_when_asked(zh):
    zh.emulate_media(reduced_motion="reduce")
    zh.locator("#follow").check()
    zh.evaluate("scrollTo(0, 0)")
    zh.evaluate("lecture.go('14_output_loss', 3.5)")
    zh.locator("#play").click()
    zh.wait_for_function(
        "Math.abs(document.getElementById('step-88').getBoundingClientRect().top) < 60"
    )


@pytest.mark.parametrize("language", ["zh", "en"])
def test_every_step_is_in_the_page_in_order_and_can_be_watched(lectures, open_page, language):
    page = ready(open_page(lectures[language].index))
    steps = page.evaluate("[...document.querySelectorAll('.step')].map(x => +x.dataset.step)")
    assert steps == list(range(96))
    assert page.locator(".watch").count() == 96
    assert page.locator("#text-key_numbers td").count() > 80
    assert page.locator("#text-errata .erratum").count() == 27
    assert page.evaluate("document.documentElement.lang").startswith(language)


def test_numbers_in_the_page_are_the_engines(whole, open_page):
    page = ready(open_page(whole.index))
    numbers = page.evaluate(
        "[...document.querySelectorAll('.n')].map(x => [x.dataset.v, +x.dataset.d, x.textContent])"
    )
    recompute = Recomputer(lessons.settings("tutorial", "en"))

    def value(source: str) -> float:
        if source.startswith("{"):
            return recompute.value(json.loads(source))
        run, name, index = source.split("|")
        places = [int(i) for i in index.split(",") if i]
        return recompute.value({"run": run, "name": name, "index": places})

    assert len(numbers) > 3000
    assert [n for n in numbers if shown(value(n[0]), n[1]) != n[2]] == []


@pytest.mark.slow
def test_the_whole_text_is_accessible(whole, open_page, axe):
    assert axe(ready(open_page(whole.index, width=390, height=844))) == []


def test_what_was_chosen_is_remembered(lectures, open_page):
    page = ready(open_page(lectures["en"].index))
    page.select_option("#captions", "zh")
    page.select_option("#speed", "1.5")
    page.locator("#onward").uncheck()
    page.evaluate("lecture.go('07_qkv', 2.5)")
    page.locator("#play").click()
    page.wait_for_function("document.getElementById('video').currentTime > 3.6")
    page.locator("#play").click()
    again = ready(open_page(lectures["en"].index, context=page.context))
    assert scene(again) == "07_qkv"
    assert time(again) > 3.5
    assert again.locator("#captions").input_value() == "zh"
    assert again.locator("#speed").input_value() == "1.5"
    assert not again.locator("#onward").is_checked()


HOST = """window.told = []; window.lectureHost = {
start: () => ({ scene: 2, seconds: 3.5 }), at: (...place) => window.told.push(place) };"""


def test_a_host_says_where_to_begin_and_is_told_what_plays(lectures, open_page, tmp_path):
    """As a package does it: its script is the first in the page."""
    folder = tmp_path / "package"
    shutil.copytree(lectures["zh"].folder, folder)
    text = (folder / "index.html").read_text(encoding="utf-8")
    hosted = text.replace("<head>", f"<head><script>{HOST}</script>", 1)
    (folder / "index.html").write_text(hosted, encoding="utf-8")
    page = ready(open_page(folder / "index.html"))
    assert page.evaluate("lecture.state()") == {"scene": "03_tokenization", "time": 3.5}
    assert page.evaluate("told") == []
    page.select_option("#speed", "2")
    page.locator("#play").click()
    page.wait_for_function("told.some(([scene]) => scene === 3)")
    told = page.evaluate("told")
    own = [seconds for scene, seconds, length in told if scene == 2 and length == 6]
    assert own == sorted(own)
    assert own[0] >= 3.5
    assert own[-1] == 6
    assert page.evaluate("localStorage.length") == 0


def test_a_video_that_is_gone_is_named(lectures, chromium, tmp_path):
    broken = tmp_path / "broken"
    shutil.copytree(lectures["en"].folder, broken)
    (broken / "videos" / "01_architecture_en.mp4").unlink()
    page = chromium.new_page()
    page.goto((broken / "index.html").as_uri())
    page.wait_for_selector("#trouble:not([hidden])")
    said = page.locator("#trouble").text_content()
    assert said == "This video cannot be opened: videos/01_architecture_en.mp4"
    page.close()


@pytest.mark.parametrize(("language", "width", "height"), [("zh", 1280, 800), ("en", 390, 844)])
def test_accessible_and_nothing_wider_than_the_window(
    lectures, open_page, axe, language, width, height
):
    page = ready(open_page(lectures[language].index, width=width, height=height))
    page.select_option("#captions", language)
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_with_the_keyboard_alone(en):
    en.keyboard.press("Tab")
    assert en.evaluate("document.activeElement.className") == "skip"
    assert en.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    reached = set()
    for _ in range(45):
        en.keyboard.press("Tab")
        reached.add(en.evaluate("document.activeElement.id || document.activeElement.className"))
        outline = en.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", en.evaluate("document.activeElement.outerHTML")
    assert {"play", "next", "seek", "captions", "speed", "onward", "transcript"} <= reached


def test_on_paper_there_is_only_the_text(zh):
    zh.emulate_media(media="print")
    assert not zh.locator("#player").is_visible()
    assert zh.locator("#step-24").is_visible()
    assert not zh.locator("#step-24 .watch").is_visible()


def test_readable_without_a_script(lectures, open_page):
    page = open_page(lectures["zh"].index, java_script_enabled=False)
    assert page.locator("#chapters a").nth(2).get_attribute("href") == (
        "videos/03_tokenization_zh.mp4"
    )
    assert page.locator("#step-95").is_visible()
    assert not page.locator("#bar").is_visible()
    assert page.locator("#video").get_attribute("controls") is not None


def test_the_handout_as_a_page_of_its_own(lectures, open_page, axe, tmp_path):
    file = tmp_path / "讲义 handout.html"
    file.write_text(html.document(lectures["zh"].text), encoding="utf-8")
    page = open_page(file, width=390, height=844)
    assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert re.search("步骤", page.locator(".contents").text_content())


def test_a_link_to_a_scene_or_a_sentence_works_in_an_open_page(zh):
    for link, place in (
        ("#scene-12", {"scene": "12_decoder_self_attention", "time": 0}),
        ("#scene-3-3", {"scene": "03_tokenization", "time": 4}),
        ("#scene-3-99", {"scene": "03_tokenization", "time": 0}),
    ):
        zh.evaluate("link => { location.hash = link; }", link)
        want = json.dumps(place, separators=(",", ":"))
        zh.wait_for_function("want => JSON.stringify(lecture.state()) === want", arg=want)
    zh.evaluate("location.hash = '#scene-99'")
    zh.evaluate("location.hash = '#text'")
    assert scene(zh) == "03_tokenization"


@pytest.fixture
def plain_server(lectures) -> Iterator[str]:
    """A server that cannot send a part of a file, as Python's own cannot."""
    handler = functools.partial(Quiet, directory=str(lectures["en"].folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def test_the_wanted_place_is_reached_without_byte_ranges(plain_server, open_page):
    page = open_page(f"{plain_server}index.html#scene-3-2", allow=(plain_server,))
    page.wait_for_function("document.getElementById('video').currentTime == 2")
    assert page.evaluate("lecture.state()") == {"scene": "03_tokenization", "time": 2}
    page.keyboard.press("Shift+ArrowRight")
    page.wait_for_function("document.getElementById('video').currentTime == 4")
    page.keyboard.press("ArrowRight")
    page.locator("#play").click()
    page.wait_for_function("document.getElementById('video').currentTime > 0.2")
    assert scene(page) == "04_embedding"
    assert not page.locator("#trouble").is_visible()


def test_a_place_that_cannot_be_reached_is_said(plain_server, chromium):
    page = chromium.new_page()

    def answer(route):
        route.abort() if route.request.resource_type == "fetch" else route.continue_()

    page.route("**/*.mp4", answer)
    page.goto(f"{plain_server}index.html#scene-3-2")
    page.wait_for_selector("#trouble:not([hidden])")
    said = page.locator("#trouble").text_content()
    assert "the wanted place cannot be reached: videos/03_tokenization_en.mp4" in said
    page.locator("#play").click()
    page.wait_for_function("document.getElementById('video').currentTime > 0.2")
    page.close()


@pytest.mark.parametrize(
    ("allow", "hidden"), [("fullscreen 'none'", True), ("fullscreen *", False)]
)
def test_no_button_for_a_full_screen_that_is_forbidden(
    lectures, open_page, tmp_path, allow, hidden
):
    around = tmp_path / "around.html"
    source = lectures["en"].index.as_uri()
    around.write_text(f'<iframe src="{source}" allow="{allow}" width="1200" height="700"></iframe>')
    frame = open_page(around).frames[1]
    frame.wait_for_selector("#bar")
    assert frame.locator("#full").is_hidden() == hidden


@pytest.mark.parametrize("language", ["zh", "en"])
def test_dark_where_the_system_is_dark(lectures, open_page, axe, language):
    page = ready(open_page(lectures[language].index, color_scheme="dark"))
    background = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(background) == "rgb(20, 24, 31)"
    page.evaluate("lecture.go('08_attention_scores', 4.5)")
    assert axe(page) == []
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
