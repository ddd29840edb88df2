"""Publishing: rules, what files are found to be, the folder, and that it is whole or not there."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import subprocess
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.errors import LectureError
from render.base.failure import Failure
from render.base.files import staging_folder
from render.build import making, materials
from render.build.job import BuildOptions, jobs_of
from render.media import timedtext
from render.media.sidecars import SideFiles
from render.platforms import checklist, facts, folder, rules
from render.platforms.facts import Fact
from render.platforms.rules import Finding

from . import published as made
from .conftest import ROOT, FrontDoor, one_line

PLATFORMS = rules.platforms()
RULES = [(p, rule) for p in PLATFORMS.values() for rule in p.rules]


@pytest.fixture(scope="module")
def film(ffmpeg_tool: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.film(ffmpeg_tool, tmp_path_factory.mktemp("film"))


@pytest.fixture
def video(film: Path, tmp_path: Path) -> Path:
    """A copy of the film and everything beside it, to be spoiled."""
    target = tmp_path / "videos"
    shutil.copytree(film.parent, target)
    return target / film.name


def test_the_page_says_what_is_checked() -> None:
    said = checklist.PAGE.read_text(encoding="utf-8")
    assert said == checklist.platforms_page(), "run: python -m render.platforms.checklist"


class TestRules:
    @staticmethod
    def values(rule: rules.Rule) -> tuple[Any, Any]:
        """A value that the rule just allows, and one that it just does not."""
        match rule.test:
            case "at_most":
                return rule.value, rule.value + 1
            case "at_least":
                return rule.value, rule.value - 1
            case "one_of":
                return rule.value[-1], "other"
            case "matches":
                good = {"video file name": "a_1.mp4", "cover file name": "a-1.png"}
                return good.get(rule.what, "zh-Hans"), "课 件!"
            case "without":
                return "a & b", f"a {rule.value[0]} b"
            case _:
                return rule.value, "other"

    @pytest.mark.parametrize(("platform", "rule"), RULES)
    def test_each_allows_its_limit_and_no_more(
        self, platform: rules.Platform, rule: rules.Rule
    ) -> None:
        good, bad = self.values(rule)
        one = replace(platform, rules=(rule,))
        assert one.findings([facts.Fact("file", rule.what, good)]) == []
        (found,) = one.findings([facts.Fact("file", rule.what, bad)])
        said = str(found)
        for part in ("file: ", rule.what, "expected ", "found ", rule.source.title):
            assert part in said
        assert bool(rules.faults([found])) is not rule.advice

    def test_a_must_says_why_a_publication_failed(self) -> None:
        fact = facts.Fact("lecture.mp4", "video size", 20 * 10**9)
        (found,) = PLATFORMS["bilibili"].findings([fact])
        assert str(found) == (
            "lecture.mp4: video size: expected at most 8.59 GB (8589934592 bytes), found 20 GB "
            "(20000000000 bytes) (Bilibili help centre: requirements of uploads (copy of 2020), "
            "2020)"
        )

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("[", "expected valid TOML"),
            ("[sources.a]\ntitle = 1\n", "sources.a.title: expected str, found int"),
            ("[sources]\n[x]\nname = 1\n", "x.name: expected str, found int"),
            ("[sources]\n[x]\nrules = [{}]\nname = 'x'\npublish = 'all'\n", "x.publish"),
            (
                "[sources]\n[x]\nrules = [{what = 'sise', at_most = 1}]\nname = 'x'\n"
                "publish = 'film'\ncaptions = []\nchapters = []\n",
                "x.rules[0].what",
            ),
            (
                "[sources]\n[x]\nrules = [{what = 'title', at_most = 1}]\nname = 'x'\n"
                "publish = 'film'\ncaptions = []\nchapters = []\n",
                "x.rules[0].source",
            ),
        ],
    )
    def test_mistakes_in_the_file_are_told(self, text: str, said: str, tmp_path: Path) -> None:
        file = tmp_path / "platforms.toml"
        file.write_text(text)
        with pytest.raises(LectureError) as caught:
            rules.platforms(file)
        assert said in str(caught.value)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_checklists_have_words_for_everything(language: str) -> None:
    texts = rules.texts(language)
    wording = rules.wording(language)
    assert set(texts["steps"]) == set(PLATFORMS)
    if language == "zh":
        units = {"frames a second", "pixels", "characters"}
        assert set(wording.names) == {*facts.WHAT, *units}
    for _, rule in RULES:
        fact = facts.Fact("a.mp4", rule.what, TestRules.values(rule)[1])
        (line,) = wording.lines([rules.Finding(fact, rule)])
        assert "a.mp4" in line
        assert "{" not in line


class TestFacts:
    def test_of_a_film(self, film: Path) -> None:
        found = {fact.what: fact.value for fact in facts.of_video(film, "x.mp4")}
        assert found.pop("bit rate") > 0
        assert found.pop("sound bit rate") > 0
        assert found == {
            "video length": 2.0,
            "container": "mp4",
            "video codec": "h264",
            "video profile": "High",
            "pixel format": "yuv420p",
            "frame rate": 15.0,
            "video width": 854,
            "video height": 480,
            "video shape": "16:9",
            "keyframe distance": 1.0,
            "sound codec": "aac",
            "sound rate": 48000,
            "sound channels": 2,
            "index in front": True,
            "edit lists": 0,
            "video size": film.stat().st_size,
            "video file name": "x.mp4",
        }
        assert set(found) <= set(facts.WHAT)

    @pytest.mark.parametrize(
        "options",
        [
            ("-movflags", "frag_keyframe+empty_moov", "-f", "mp4"),
            ("-f", "matroska"),
            ("-f", "mpegts"),
            ("-an", "-f", "mp4"),
        ],
    )
    def test_of_videos_that_are_not_ours(
        self, options: tuple[str, ...], film: Path, ffmpeg_tool: str, tmp_path: Path
    ) -> None:
        other = tmp_path / "other.mp4"
        command = [
            ffmpeg_tool,
            "-v",
            "error",
            "-i",
            film,
            "-map",
            "0:v",
            "-map",
            "0:a",
            "-c",
            "copy",
        ]
        subprocess.run([*map(str, command), *options, str(other)], check=True, timeout=60)
        found = facts.of_video(other, "other.mp4")
        values = {fact.what: fact.value for fact in found}
        assert values["video length"] == pytest.approx(2, abs=0.2)
        assert PLATFORMS["generic"].findings(found)

    @pytest.mark.parametrize("content", [b"", b"no video", None])
    def test_what_is_no_video_no_picture_or_no_captions(
        self, content: bytes | None, tmp_path: Path
    ) -> None:
        path = tmp_path / "x"
        if content is not None:
            path.write_bytes(content)
        for look in (
            lambda: facts.of_video(path, "x"),
            lambda: facts.of_cover(path, "x"),
            lambda: facts.of_captions(path, "x", "zh"),
        ):
            with pytest.raises(LectureError):
                look()

    def test_chapters_as_platforms_read_them(self) -> None:
        text = "Intro\n0:00 One\n1:05 Two 2:00\n\n1:02:03 Three\nnot 0:01 this\n"
        assert facts.chapters_in(text) == [(0, "One"), (65, "Two 2:00"), (3723, "Three")]
        found = {f.what: f.value for f in facts.of_chapters("x", text, 3725)}
        assert found["length of a chapter"] == 2
        assert found["number of chapters"] == 3

    def test_tags_are_counted_as_youtube_does(self) -> None:
        found = {f.what: f.value for f in facts.of_texts("x", "", "课", ["a", "b c"])}
        assert found["tags together"] == len('a,"b c"')
        assert (found["description length"], found["description bytes"]) == (1, 3)

    def test_bcc_says_what_srt_says(self, film: Path, tmp_path: Path) -> None:
        source, target = SideFiles(film).captions("zh", "srt"), tmp_path / "x.bcc"
        target.write_text(timedtext.bcc(timedtext.read(source), timedtext.READ_FPS))
        assert len(timedtext.read(source)) == 2
        assert timedtext.read(target) == timedtext.read(source)
        vtt = SideFiles(film).captions("zh", "vtt")
        assert timedtext.read(vtt) == timedtext.read(source)


class TestFolder:
    @pytest.mark.parametrize("platform", PLATFORMS)
    def test_is_complete(self, platform: str, video: Path, tmp_path: Path) -> None:
        target = tmp_path / "第 3 周 [zh]'s" / platform
        publication = made.publication(video, platform, target)
        assert rules.faults(publication.look()) == []
        assert made.written(publication) == target
        names = {path.name for path in target.iterdir()}
        stem = "transformer_lecture_zh"
        assert {f"{stem}.mp4", f"{stem}.png", f"{stem}.txt", "CHECKLIST.md"} <= names
        for form in PLATFORMS[platform].captions:
            assert {f"{stem}.zh.{form}", f"{stem}.en.{form}"} <= names
        assert (f"{stem}.chapters.zh.vtt" in names) == (platform in ("moodle", "generic"))
        assert (target / f"{stem}.mp4").read_bytes() == video.read_bytes()
        told = (target / "CHECKLIST.md").read_text(encoding="utf-8")
        assert "核对单" in told
        assert "画面高度应为至少 1080 像素，现为 480 像素" in told
        assert "- [ ]" in told
        assert ("- 标签：" in told) == (platform in ("bilibili", "youtube", "generic"))
        assert ("- 封面：" in told) == (platform != "canvas")
        assert "{" not in told
        manifest = json.loads((target / folder.MANIFEST).read_text(encoding="utf-8"))
        (piece,) = manifest["pieces"]
        assert {piece["video"], piece["cover"], *piece["captions"].values()} <= names
        assert not list(target.parent.glob(".*"))

    def test_again_replaces_it_whole(self, video: Path, tmp_path: Path) -> None:
        target = tmp_path / "x"
        made.published(video, "generic", target)
        (target / "left over.txt").write_text("")
        made.published(video, "moodle", target)
        assert not (target / "left over.txt").exists()
        assert not (target / "transformer_lecture_zh.zh.srt").exists()

    def test_editing_published_captions_does_not_touch_the_rendered_ones(
        self, video: Path, tmp_path: Path
    ) -> None:
        target = made.published(video, "edx", tmp_path / "x")
        source = SideFiles(video).captions("zh", "srt")
        before = source.read_bytes()
        with (target / "transformer_lecture_zh.zh.srt").open("a") as file:
            file.write("more")
        assert source.read_bytes() == before

    def test_nothing_foreign_is_replaced(self, video: Path, tmp_path: Path) -> None:
        mine, link, file = tmp_path / "mine", tmp_path / "link", tmp_path / "file"
        mine.mkdir()
        (mine / "thesis.txt").write_text("mine")
        link.symlink_to(mine)
        file.write_text("mine")
        for target in (mine, link, file):
            with pytest.raises(LectureError, match="--out"):
                made.published(video, "generic", target)
        assert (mine / "thesis.txt").read_text() == "mine"
        assert file.read_text() == "mine"

    @pytest.mark.parametrize("stop", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
    def test_what_is_cut_short_leaves_the_old_one(
        self,
        stop: BaseException,
        video: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        target = made.published(video, "generic", tmp_path / "x")
        before = sorted((path.name, path.stat().st_mtime_ns) for path in target.iterdir())

        def fail(*_: Any) -> None:
            raise stop

        monkeypatch.setattr(making.files, "bring", fail)
        with pytest.raises((LectureError, KeyboardInterrupt)) as caught:
            made.published(video, "generic", target)
        if isinstance(stop, OSError):
            assert "no space left" in str(caught.value)
        assert before == sorted((path.name, path.stat().st_mtime_ns) for path in target.iterdir())
        assert not list(tmp_path.glob(".x*"))

    def test_what_a_killed_one_left_is_removed(self, video: Path, tmp_path: Path) -> None:
        left = tmp_path / ".x.abc"
        (left / "new").mkdir(parents=True)
        (left / ".lock").touch()
        with staging_folder(tmp_path / "x") as alive:
            assert not left.exists()
            made.published(video, "generic", tmp_path / "x")
            assert alive.exists(), "one that is alive stays"

    def test_a_disk_that_has_no_such_thing_as_links(
        self, video: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: Any) -> None:
            raise OSError(errno.EXDEV, "cross-device")

        monkeypatch.setattr(os, "link", refuse)
        target = made.published(video, "generic", tmp_path / "x")
        assert (target / "transformer_lecture_zh.mp4").read_bytes() == video.read_bytes()
        usage = shutil.disk_usage(tmp_path)._replace(free=10)
        monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
        with pytest.raises(LectureError, match=r"zh\.mp4: disk: expected about 1 MB"):
            made.published(video, "generic", tmp_path / "y")
        assert not (tmp_path / "y").exists()


class TestItems:
    """The name under which a lecture is found again on a platform."""

    def test_of_the_lecture_itself_and_of_plain_names(self) -> None:
        assert folder.item_name("full", "zh") == "transformer-lecture-full-zh"
        assert folder.item_name("full", "en", ["week-3"]) == "transformer-lecture-full-en-week-3"

    def test_no_two_lectures_share_one(self) -> None:
        alike = [
            *(("模型甲",), ("模型乙",), ("模型", "甲"), ("甲", "模型"), ()),
            *(("a-b",), ("a_b",), ("a b",), ("A-b",), ("a--b",), ("-a-b",), ("a-b.",)),
            *(("a", "b"), ("a-b", "c"), ("a", "b-c"), ("🙂",), ("é",), ("e",)),
        ]
        names = [
            folder.item_name(track, language, own)
            for own in alike
            for track in ("full", "training")
            for language in ("zh", "en")
        ]
        assert len({*names}) == len(names) == 4 * len(alike)
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)

    def test_stays_the_same_however_the_name_is_spelled_on_the_disk(self) -> None:
        one, other = (unicodedata.normalize(form, "modèle") for form in ("NFC", "NFD"))
        assert one != other
        assert folder.item_name("full", "zh", [one]) == folder.item_name("full", "zh", [other])

    def test_of_weight_files_with_chinese_names(self, tmp_path: Path) -> None:
        """Whatever the folder is called, by the options as they are typed."""
        names = set()
        for where in ("一", "二"):
            for name in ("模型甲", "模型乙"):
                path = tmp_path / where / f"{name}.json"
                path.parent.mkdir(exist_ok=True)
                shutil.copy(engine.TUTORIAL, path)
                (job,) = jobs_of(BuildOptions(weights=[str(path)]))
                names.add(folder.item_name("full", "zh", job.own))
        assert len(names) == 2


class TestFaults:
    @staticmethod
    def refused(publication: folder.Publication) -> tuple[list[str], str]:
        """The rules that are broken, and the line that sums them up."""
        with pytest.raises(folder.Refused) as caught:
            made.written(publication)
        assert not publication.target.exists()
        failure = Failure.of(caught.value)
        assert failure.mistake
        return [*failure.details], failure.line

    def test_are_all_told_and_nothing_is_written(self, video: Path, tmp_path: Path) -> None:
        publication = made.publication(video, "youtube", tmp_path / "x")
        texts = {"title": "长" * 101, "description": "0:00 A <b>\n0:01 C\n", "tags": ["t" * 600]}
        piece = replace(publication.videos[0], texts=texts)  # type: ignore[arg-type]
        lines, last = self.refused(replace(publication, videos=(piece,)))
        said = "\n".join(lines)
        for what in (
            "title length: expected at most 100 characters, found 101 characters",
            "description: expected none of the characters < >",
            "tags together: expected at most 500 characters, found 600 characters",
            "number of chapters: expected at least 3, found 2",
            "length of a chapter: expected at least 10 s, found 1 s",
        ):
            assert what in said
        assert len(lines) == 5
        assert "5 of its rules broken" in last
        assert PLATFORMS["youtube"].tags(piece.texts["tags"]) == []

    def test_a_video_of_20_gb(self, video: Path, tmp_path: Path) -> None:
        with video.open("r+b") as file:
            file.truncate(20 * 10**9)  # sparse: takes no room
        for platform in ("bilibili", "canvas", "edx"):
            lines, _ = self.refused(made.publication(video, platform, tmp_path / "x"))
            assert any("video size: expected at most" in line for line in lines)
            assert any("found 20 GB" in line for line in lines)

    def test_captions_of_another_video(self, video: Path, tmp_path: Path) -> None:
        late = made.SRT.replace("00:00:02,000", "00:00:03,000")
        SideFiles(video).captions("en", "srt").write_text(late, encoding="utf-8")
        (line,), _ = self.refused(made.publication(video, "edx", tmp_path / "x"))
        assert "en.srt: end of the captions: expected at most 2.5 s, found 3 s" in line

    @pytest.mark.parametrize("ending", ["cover.png", "zh.srt", "en.srt", "about.json"])
    def test_a_file_that_is_missing(self, ending: str, video: Path, tmp_path: Path) -> None:
        (video.parent / f"lecture.{ending}").unlink()
        with pytest.raises(LectureError, match=ending.replace(".", r"\.")):
            publication = made.publication(video, "youtube", tmp_path / "x")
            made.written(publication)
        assert not (tmp_path / "x").exists()


class TestFrontDoor:
    def test_renders_checks_and_writes(self, front_door: FrontDoor, tmp_path: Path) -> None:
        asked = ("publish", "--for", "generic", "--quality", "draft", "--videos", "o")
        before = os.umask(0o027)
        try:
            result = front_door(*asked, "--title", "我的课", "--tags", "一,二")
        finally:
            os.umask(before)
        assert result.returncode == 0, result
        for path in (tmp_path / "o", *(tmp_path / "o").rglob("*")):
            wanted = 0o750 if path.is_dir() else 0o640
            assert path.stat().st_mode & 0o777 == wanted, path
        target = tmp_path / "o" / "publish" / "generic_full"
        assert f"{target}: ready for" in result.stdout
        assert "advice: transformer_lecture_zh.mp4 and 2 more: video height" in result.stdout
        manifest = json.loads((target / folder.MANIFEST).read_text(encoding="utf-8"))
        titles = [piece["title"] for piece in manifest["pieces"]]
        assert titles[0] == "我的课"
        assert len(titles) == 3
        assert manifest["pieces"][0]["tags"] == ["一", "二"]

    def test_says_which_command_renders(self, front_door: FrontDoor, tmp_path: Path) -> None:
        line = one_line(
            front_door("publish", "--for", "edx", "--no-render", "--lang", "en", "--videos", "o p")
        )
        assert "(type: ./render.sh --lang en --out 'o p')" in line
        assert not (tmp_path / "o p").exists()

    def test_mistakes(self, front_door: FrontDoor) -> None:
        assert "'tiktok'" in one_line(front_door("publish", "--for", "tiktok"))
        asked = ("publish", "--for", "edx")
        assert "--parts" in one_line(front_door(*asked, "--parts", "all"))
        asked_of_scenes = front_door(*asked, "--no-render", "--title", "x")
        assert "--title" in one_line(asked_of_scenes)
        assert "nowhere.txt" in one_line(front_door(*asked, "--description", "nowhere.txt"))
        assert "--out" in one_line(front_door(*asked, "--lang", "zh,en", "--out", "x"))
        assert "publish.json" in one_line(front_door(*asked, "--out", ROOT))
        assert "publish --for canvas" in one_line(front_door("upload", "canvas", "."))


@pytest.mark.parametrize("platform", rules.platforms())
def test_every_platform_is_better_served_with_1080_lines(platform: str) -> None:
    def advised(height: int) -> list[Finding]:
        fact = Fact("x.mp4", "video height", height)
        return rules.named(platform).findings([fact])

    assert [finding.rule.advice for finding in advised(720)] == [True]
    assert advised(1080) == []


@pytest.mark.parametrize(("height", "lines"), [(480, 1), (720, 1), (1080, 0), (2160, 0)])
def test_a_package_is_as_well(height: int, lines: int) -> None:
    assert len(materials._advice_on_size(height)) == lines
