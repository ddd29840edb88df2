"""Options with several values, and many renders as one list of jobs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import engine
from engine.errors import LectureError
from render.build.folders import labels
from render.build.job import BuildOptions, jobs_of, scenes_named, several, weight_files

from .conftest import FrontDoor, leftovers, one_line


def weights(*files: Path) -> None:
    """Weight files, each with numbers of its own."""
    for seed, file in enumerate(files):
        file.parent.mkdir(parents=True, exist_ok=True)
        engine.save_weights(engine.random_weights(engine.load_weights(engine.TUTORIAL), seed), file)


class TestWeightFiles:
    def test_patterns_names_and_doubles(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for name in ("b.json", "a.json", "c.npz", "x[1].json", "deep/er/d.json"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        (tmp_path / "latest.json").symlink_to("b.json")
        (tmp_path / "folder.json").mkdir()
        found = weight_files(["c.npz", "*.json", "a.json", str(tmp_path / "b.json")])
        assert list(map(str, found)) == ["c.npz", "a.json", "b.json", "x[1].json"]
        assert weight_files(["x[1].json"]) == [Path("x[1].json")]
        assert weight_files(["**/d.json"]) == [Path("deep/er/d.json")]
        assert weight_files(["nowhere.json"]) == [Path("nowhere.json")]  # told when it is read

    def test_a_pattern_without_files_is_told(self, tmp_path: Path) -> None:
        with pytest.raises(LectureError, match=r"^--weights: .*/\*\.json', found none"):
            weight_files([f"{tmp_path}/*.json"])

    def test_a_quoted_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "w.json").touch()
        assert weight_files(["~/*.json"]) == [tmp_path / "w.json"]


def test_labels_are_as_short_as_they_can_be() -> None:
    def of(*names: str) -> list[str]:
        return list(labels(map(Path, names)).values())

    assert of("/r/a.json", "/r/b.json") == ["a", "b"]
    assert of("/r/one/w.json", "/r/two/w.json") == ["one_w", "two_w"]
    assert of("/1/x/w.json", "/2/x/w.json") == ["1_x_w", "2_x_w"]
    assert sorted(of("/r/one/w.json", "/r/two/W.json", "/r/v.json")) == ["one_w", "two_W", "v"]
    assert of("/r/w.json", "/r/w.npz") == ["w_json", "w_npz"]


def test_a_scene_outside_the_track_is_refused() -> None:
    assert jobs_of(BuildOptions(track="full"), ["15", "loss"])
    with pytest.raises(LectureError, match=r"inference \(15, 16, 17, 18, 19\), found 8 attention"):
        jobs_of(BuildOptions(track="inference"), ["15", "8"])


def test_scenes_by_ranges_and_lists() -> None:
    def numbers(*words: str) -> list[int]:
        return [scene.number for scene in scenes_named(words)]

    assert numbers("8-11", "3") == [8, 9, 10, 11, 3]
    assert numbers("8,loss") == [8, 14]
    for bad in ("9-8", "18-21", "8,", "-3"):
        with pytest.raises(LectureError, match=r"^scene: expected"):
            numbers(bad)


def test_several_values() -> None:
    assert several("--lang", "zh, en,zh", ("zh", "en")) == ["zh", "en"]
    for bad in ("", "zh,", "zh;en", "fr"):
        with pytest.raises(LectureError, match=r"^--lang: expected 'zh' or 'en', found '"):
            several("--lang", bad, ("zh", "en"))


class TestJobs:
    def test_every_combination_has_a_folder(self, tmp_path: Path) -> None:
        files = tmp_path / "a" / "w.json", tmp_path / "b" / "w.json"
        weights(*files)
        jobs = jobs_of(
            BuildOptions(
                lang="zh,en",
                quality="draft,high",
                lesson="consistent,tutorial",
                weights=[f"{tmp_path}/*/w.json"],
                out=tmp_path / "o",
            )
        )
        names = [job.out.relative_to(tmp_path / "o").as_posix() for job in jobs]
        assert len(names) == len(set(names)) == 16
        assert {"zh_draft_consistent_a_w", "en_high_b_w"} <= set(names)
        assert {job.settings.weights for job in jobs} == set(files)

    def test_a_single_one_is_where_it_always_was(self, tmp_path: Path) -> None:
        (job,) = jobs_of(BuildOptions(quality="draft", out=tmp_path))
        assert job.out == tmp_path
        (job,) = jobs_of(BuildOptions(quality="draft"))
        assert job.out.parts[-2:] == ("out", "zh_draft")

    def test_tracks_share_a_folder(self, tmp_path: Path) -> None:
        jobs = jobs_of(BuildOptions(track="training,inference", out=tmp_path))
        assert [job.out for job in jobs] == [tmp_path, tmp_path]
        assert [job.film_name for job in jobs] == [
            "lecture_training.mp4",
            "lecture_inference.mp4",
        ]

    def test_names_that_come_out_the_same_are_numbered(self, tmp_path: Path) -> None:
        for name in ("a", "a_b"):
            text = f"weights = '{engine.TUTORIAL}'"
            (tmp_path / f"{name}.toml").write_text(text)
        weights(tmp_path / "c.json", tmp_path / "b_c.json")
        lessons = ",".join(str(tmp_path / f"{name}.toml") for name in ("a", "a_b"))
        weighted = [f"{tmp_path}/*c.json"]
        jobs = jobs_of(BuildOptions(lesson=lessons, weights=weighted, out=tmp_path, lang="en"))
        assert len({job.out for job in jobs}) == 4

    def test_what_a_shell_makes_of_a_pattern(self, tmp_path: Path) -> None:
        files = [tmp_path / f"{name}.json" for name in "abc"]
        weights(*files)
        first, *others = map(str, files)
        jobs = jobs_of(BuildOptions(weights=[first]), ["8", *others])
        assert [job.settings.weights for job in jobs] == files
        assert {scene.number for job in jobs for scene in job.scenes} == {8}
        with pytest.raises(LectureError, match="scene"):
            jobs_of(BuildOptions(), ["8", *others])

    def test_all_bad_files_are_named_at_once(self, tmp_path: Path) -> None:
        weights(tmp_path / "good.json")
        for name in ("bad", "worse"):
            (tmp_path / f"{name}.json").write_text("{")
        with pytest.raises(LectureError) as caught:
            weighted = [f"{tmp_path}/*.json"]
            jobs_of(BuildOptions(weights=weighted, lang="zh,en", lesson="tutorial,consistent"))
        assert caught.value.where == str(tmp_path / "bad.json")
        assert str(caught.value).endswith("/worse.json)")


def test_many_renders_are_one_list(front_door: FrontDoor, tmp_path: Path) -> None:
    """Two weight files of one name; a scene that fails in both stops nothing else."""
    weights(tmp_path / "a" / "w.json", tmp_path / "b" / "w.json")
    options = ("--weights", "*/w.json", "--quality", "draft", "--out", "o")
    result = front_door("1", "2", "3", *options)
    assert result.returncode == 1
    said = result.stdout.splitlines()
    assert said[-3].startswith("2 renders: 4 scenes made, 0 up to date, 2 failed; 0 films joined")
    assert said[-2].startswith("    zh_draft_a_w/03_broken: ZeroDivisionError")
    for name in ("zh_draft_a_w", "zh_draft_b_w"):
        assert (tmp_path / "o" / name / "02_circle_zh.mp4").is_file()
        assert (tmp_path / "o" / name / "logs" / "03_broken_zh.txt").is_file()
        assert leftovers(tmp_path / "o" / name) == []
    explained = front_door(*options, "--explain").stdout.splitlines()
    assert explained[0] == f"{tmp_path}/o/zh_draft_a_w:"
    assert explained.count("lecture.mp4: to be joined") == 2
    assert "    it has no record" not in explained
    joined = front_door(*options)
    assert joined.returncode == 0
    assert joined.stdout.splitlines()[-1] == (
        "2 renders: 0 scenes made, 4 up to date, 0 failed; 2 films joined"
    )
    again = front_door(*options)
    assert again.stdout.splitlines()[-1] == (
        "2 renders: 0 scenes made, 4 up to date, 0 failed; 0 films joined"
    )


def test_tracks_render_what_they_share_once(front_door: FrontDoor, tmp_path: Path) -> None:
    result = front_door("--track", "full,training", "--quality", "draft", "--out", "o")
    assert result.returncode == 0, result
    assert result.stdout.count("s of film") == 2
    assert {"lecture.mp4", "lecture_training.mp4"} <= {p.name for p in (tmp_path / "o").iterdir()}


def test_one_bad_weight_file_and_nothing_begins(front_door: FrontDoor, tmp_path: Path) -> None:
    weights(tmp_path / "a.json")
    said = json.loads((tmp_path / "a.json").read_text())
    (tmp_path / "b.json").write_text(json.dumps({**said, "config": {}}))
    assert "b.json" in one_line(front_door("--weights", "*.json", "--out", "o"))
    assert not (tmp_path / "o").exists()
