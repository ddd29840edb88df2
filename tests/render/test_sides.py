"""Chapters, descriptions, and the side files of a video that has never been rendered."""

from __future__ import annotations

import dataclasses
import json
from io import StringIO
from pathlib import Path

import pytest
import webvtt

from engine.errors import LectureError
from engine.passes import Passes
from render.build.order import Order
from render.build.sides.keeper import Keeper, digest_of, key_of
from render.documents import about
from render.documents.story import Story, Told
from render.media.captions import chapters
from render.media.metadata import Chapter
from render.media.quality import QUALITIES
from render.media.sidefiles import SideFiles
from scenes import registry
from scenes.settings import Settings

SIZES = dict.fromkeys(("words", "size", "heads", "hidden", "encoder", "decoder"), "2")
SIZES |= {"source": "我爱水课", "target": "I love easy courses"}
FACTS = {
    "words": "I love",
    "source": "我爱水课",
    "target": "I love",
    "word": "I",
    "sentence": "我爱",
    "reversed": "爱我",
}


def told(info: registry.SceneInfo, seconds: float = 30.0) -> Told:
    name = "title" if info.number == 0 else "question"
    beat = {"name": name, "variant": "", "start": 0.0, "end": 5.0, "facts": FACTS}
    return Told(info.slug, info.number, info.steps, round(30 * seconds), [beat])


def film(track: str) -> Story:
    parts = [told(info, 30.0 if info.number else 5.5) for info in registry.film(track)]
    return Story("zh", 30, tuple(parts), track, True, SIZES)


def scene(info: registry.SceneInfo) -> Story:
    return Story("zh", 30, (told(info),), "full", False, SIZES)


EVERY = [film(track) for track in registry.TRACKS]
EVERY += [scene(info) for info in registry.film("full")]


class TestChapters:
    LIST = (Chapter("card", 0, 80), Chapter("one", 80, 900), Chapter("two\n2", 900, 1000))

    def test_short_ones_join_the_next_the_last_the_one_before(self) -> None:
        assert chapters.lines(self.LIST, 15) == ["0:00 one"]
        more = (*self.LIST[:2], Chapter("three", 900, 1200), Chapter("end", 1200, 1205))
        assert chapters.lines(more, 15) == ["0:00 one", "1:00 three"]
        assert chapters.lines((), 15) == []

    def test_ten_seconds_hold_between_the_times_as_written(self) -> None:
        # 9.9 s from 4.2 to 14.1 would read 0:04 and 0:14
        cut = (Chapter("a", 0, 252), Chapter("b", 252, 846), Chapter("c", 846, 2000))
        assert chapters.lines(cut, 60) == ["0:00 b", "0:14 c"]

    def test_clock(self) -> None:
        assert [chapters.clock(s) for s in (0, 65, 3599, 3605)] == [
            "0:00",
            "1:05",
            "59:59",
            "1:00:05",
        ]

    def test_webvtt_has_them_all_in_one_line_each(self) -> None:
        found = webvtt.from_buffer(StringIO(chapters.webvtt(self.LIST, 15)))
        assert [(c.start, c.text) for c in found][2] == ("00:01:00.000", "two 2")
        assert len(found) == 3

    @pytest.mark.parametrize("track", registry.TRACKS)
    def test_of_every_film_the_first_is_at_zero_and_none_is_short(self, track: str) -> None:
        story = film(track)
        for language in ("zh", "en"):
            lines = chapters.lines(story.chapters(language), 30)
            assert lines[0].startswith("0:00 ")
            assert len(lines) == len(story.told) - 1  # the title card is no chapter of its own
            times = [
                int(m) * 60 + int(s) for m, s in (line.split()[0].split(":") for line in lines)
            ]
            gaps = [b - a for a, b in zip(times, [*times[1:], int(story.seconds)], strict=True)]
            assert min(gaps) >= 10


class TestDescriptions:
    @pytest.mark.parametrize("language", ["zh", "en"])
    @pytest.mark.parametrize("story", EVERY, ids=lambda story: story.told[-1].slug + story.track)
    def test_of_every_video_platforms_take_it(self, story: Story, language: str) -> None:
        found = about.description(story, language)
        assert 0 < len(found["title"]) <= 80
        assert 100 < len(found["description"]) <= 2000
        assert not set("<>{}") & set(found["title"] + found["description"])
        assert 3 <= len(found["tags"]) <= 10
        assert all(0 < len(tag) <= about.TAG and "," not in tag for tag in found["tags"])
        assert found["tags"] == list(dict.fromkeys(found["tags"]))

    def test_every_scene_says_what_one_learns(self) -> None:
        for language in ("zh", "en"):
            scenes = about.load(language)["scenes"]
            assert [*scenes] == [info.slug for info in registry.film("full")]
            assert all(entry["learn"] for entry in scenes.values())

    def test_titles_are_all_different(self) -> None:
        for language in ("zh", "en"):
            titles = [about.description(story, language)["title"] for story in EVERY]
            assert len(set(titles)) == len(titles)

    def test_a_film_lists_its_chapters(self) -> None:
        found = about.description(film("inference"), "en")["description"]
        assert "Chapters:\n0:00 " in found
        assert found.count("\n0:") + found.count("\n1:") + found.count("\n2:") == 6

    def test_a_scene_of_ones_own_needs_no_entry(self) -> None:
        own = dataclasses.replace(told(registry.SCENES[0]), slug="20_mine", number=20)
        with pytest.raises(LectureError, match="20_mine"):
            about.description(Story("zh", 30, (own,), "full", False, SIZES), "zh")


@pytest.fixture
def keeper(tmp_path: Path) -> Keeper:
    settings = Settings("zh")
    everything = registry.film("inference")
    order = Order(everything, everything, QUALITIES["standard"], settings, tmp_path, 1)
    (tmp_path / ".render").mkdir()
    words = settings.source, settings.target
    return Keeper(order, Passes(settings.weights, settings.weights_for_inference, *words))


class TestKeeper:
    def record(self, out: Path, name: str, info: registry.SceneInfo) -> None:
        part = told(info)
        said = {"fps": 30, "frames": part.frames, "beats": part.beats}
        (out / ".render" / f"{Path(name).stem}.json").write_text(json.dumps(said))

    def test_files_are_written_and_then_up_to_date(self, keeper: Keeper, tmp_path: Path) -> None:
        info = registry.find("17")
        self.record(tmp_path, "v.mp4", info)
        self.record(tmp_path, "17_inference_step_2_zh.mp4", info)
        story = keeper.story(info)
        name = "17_inference_step_2_zh.mp4"
        assert keeper.is_stale(info)
        tracks = story.captions()
        assert [track.language for track in tracks] == ["zh", "en"]
        keeper.write(name, story, tracks)
        assert not keeper.is_stale(info)
        side = SideFiles(tmp_path / name)
        assert len(side.present()) == 7
        assert side.read_about()["en"]["title"].startswith("Inference: the second step")
        assert "8 tokens" in side.read_about()["en"]["description"]
        assert webvtt.read(str(side.captions("en")))[0].text.startswith("Inference has read I love")
        before = side.captions("en").stat().st_mtime_ns
        keeper.write(name, story, tracks)
        assert side.captions("en").stat().st_mtime_ns == before

    @pytest.mark.parametrize("spoil", ["delete", "edit", "record"])
    def test_whatever_is_not_as_it_was_left_is_noticed(
        self, spoil: str, keeper: Keeper, tmp_path: Path
    ) -> None:
        info = registry.find("17")
        name = "17_inference_step_2_zh.mp4"
        self.record(tmp_path, name, info)
        story = keeper.story(info)
        keeper.write(name, story, story.captions())
        side = SideFiles(tmp_path / name)
        if spoil == "delete":
            side.captions("en", "srt").unlink()
        elif spoil == "edit":
            side.captions("zh").write_text("WEBVTT\n")
        else:
            (tmp_path / ".render" / f"{Path(name).stem}.json").write_text('{"beats": 3}')
            with pytest.raises(LectureError, match="what is said in the video"):
                keeper.story(info)
        assert keeper.is_stale(info)

    def test_the_key_stands_for_all_that_is_told(self) -> None:
        story = film("inference")
        keys = {key_of(story)}
        keys.add(key_of(dataclasses.replace(story, fps=60)))
        keys.add(key_of(dataclasses.replace(story, sizes={**SIZES, "heads": "4"})))
        keys.add(key_of(dataclasses.replace(story, told=story.told[1:])))
        assert len(keys) == 4
        one, other = story.captions(), dataclasses.replace(story, language="en").captions()
        assert digest_of(one) != digest_of(other)  # the order of the tracks
