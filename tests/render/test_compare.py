"""compare: what belongs together, weights side by side, a scene with both, and the page."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import engine
from render.base.failure import Failure, attempt
from render.review import report, weights
from render.review.compare import (
    BeatPair,
    Change,
    Compared,
    Job,
    Moment,
    Piece,
    Shown,
    changes,
    compare,
    differing,
    sentence,
)
from scenes import registry, texts
from scenes.settings import Settings

from .conftest import ROOT

Q = "encoder.0.self_attn.q_proj.weight"


def edited(folder: Path, name: str, by: float, place: tuple[int, int] = (0, 0)) -> Path:
    """The tutorial's weights with one number changed."""
    old = engine.load_weights(engine.TUTORIAL)
    matrix = np.array(old.matrices[name])
    matrix[place] += by
    path = folder / "mine.json"
    engine.save_weights(old.with_matrices({name: matrix}), path)
    return path


def both(old: Path, new: Path) -> weights.Both:
    first, second = (Settings(weights=file, inference_weights=file) for file in (old, new))
    return weights.compare(weights.passes_of(first), weights.passes_of(second))


class TestPairs:
    def test_numbers_of_one_source_are_matched_in_order(self) -> None:
        old = [Shown("a", "1"), Shown("b", "2"), Shown("a", "3"), Shown("gone", "4")]
        new = [Shown("b", "2"), Shown("a", "1"), Shown("a", "5"), Shown("come", "6")]
        pairs = differing(old, new)
        assert changes(pairs) == (
            *(Change("a", "3", "5"), Change("come", None, "6"), Change("gone", "4", None)),
        )
        assert [shown.text for shown, _ in pairs if shown] == ["3", "4"]
        assert [shown.text for _, shown in pairs if shown] == ["5", "6"]

    def test_each_kind_of_change_is_told_once(self) -> None:
        pairs = differing([Shown("a", "1")] * 3, [Shown("a", "2")] * 3)
        assert changes(pairs) == (Change("a", "1", "2"),)

    def test_numbers_and_words_of_a_sentence_stay_whole(self) -> None:
        pieces = sentence("爱 scores 0.35, the most.", "水 scores 0.52, the most.")
        assert pieces == [
            *(Piece("爱", "old"), Piece("水", "new"), Piece(" scores ", "same")),
            *(Piece("0.35", "old"), Piece("0.52", "new"), Piece(", the most.", "same")),
        ]
        assert sentence("a\n−1.5", "a\n−1.5") == [Piece("a\n−1.5", "same")]


class TestWeights:
    def test_one_number(self, tmp_path: Path) -> None:
        found = both(engine.TUTORIAL, edited(tmp_path, Q, -0.25, (2, 1)))
        (matrix,) = found.matrices
        assert (matrix.name, matrix.shape, matrix.changed) == (Q, "4 × 4", 1)
        assert matrix.largest == pytest.approx(-0.25)
        moved = {value.name: value for value in found.values}
        assert "encoder.0.self_attn.q" in moved
        assert "encoder.0.self_attn.k" not in moved
        assert found.all_values > len(moved)
        assert found.loss[0] != found.loss[1]
        assert len(found.writes[0].split()) == 4

    def test_nothing(self) -> None:
        found = both(engine.TUTORIAL, engine.TUTORIAL)
        assert (found.matrices, found.values, found.others) == ([], [], [])
        assert found.loss[0] == found.loss[1]

    def test_another_size(self, tmp_path: Path) -> None:
        template = engine.load_weights(engine.TUTORIAL)
        path = tmp_path / "wide.json"
        command = [sys.executable, "-m", "engine", "weights", "init", str(path), "--random", "1"]
        subprocess.run(command, check=True, cwd=ROOT)
        found = both(engine.TUTORIAL, path)
        assert len(found.matrices) == len(template.matrices)


def job(new: Path, scene: str = "8", language: str = "en") -> Job:
    old, changed_to = (
        Settings(language=language, weights=file, inference_weights=file)
        for file in (engine.TUTORIAL, new)
    )
    return Job(registry.find(scene), old, changed_to, 180)


class TestScenes:
    def test_one_that_reads_nothing_of_it(self, tmp_path: Path) -> None:
        done = attempt(compare, job(edited(tmp_path, Q, 0.5), "4"))
        assert isinstance(done, Compared)
        assert (done.reasons, done.beats, done.numbers) == ((), (), ())
        assert done.title == texts.entry("en", "04_embedding", "title")

    def test_one_that_does(self, tmp_path: Path) -> None:
        done = attempt(compare, job(edited(tmp_path, Q, 0.5)))
        assert isinstance(done, Compared)
        assert done.reasons[0].startswith("training encoder.0.self_attn.q: changed by at most")
        assert 0 < len(done.beats) < done.all_beats
        assert "question" not in {beat.name for beat in done.beats}
        q = [c for c in done.numbers if "encoder.0.self_attn.q[" in c.source and c.old]
        fresh = engine.training_pass(
            engine.load_weights(tmp_path / "mine.json"), engine.SOURCE, engine.TARGET
        )
        for change in q:
            name, index = re.match(r"training ([\w.]+)\[(.*)\]", change.source).groups()  # type: ignore[union-attr]
            exact = fresh[name][tuple(map(int, index.split(",")))]
            assert change.new is not None
            assert float(change.new.replace("−", "-")) == pytest.approx(exact, abs=5e-5)
        assert q
        for beat in done.beats:
            assert beat.old.picture[:4] == beat.new.picture[:4] == b"RIFF"
            for shown in (*beat.old.marked, *beat.new.marked):
                assert shown.box
                left, top, width, height = shown.box
                assert -1 < left < left + width < 101
                assert -1 < top < top + height < 101

    def test_one_that_cannot_be_shown(self, tmp_path: Path) -> None:
        (tmp_path / "mine.json").write_text("{")
        failure = attempt(compare, job(tmp_path / "mine.json"))
        assert isinstance(failure, Failure)
        assert failure.mistake
        assert "mine.json" in failure.line


class Reader(HTMLParser):
    """Complains about tags that do not match, and collects addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.addresses: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for key, value in attributes if key in ("src", "href")]
        if tag not in ("meta", "img", "input", "br", "link"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text += data


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_page_is_whole_and_needs_no_network(language: str, tmp_path: Path) -> None:
    old = Moment("<b> & 爱 0.35", "", b"RIFF", (Shown("x .2", "0.35", (1.0, 2.0, 3.0, 4.0)),))
    new = Moment("<b> & 水 0.52", "other", b"RIFF", ())
    numbers = (Change("training <x>[0] .2", "0.35", "0.52"), Change("y .1", None, "1.0"))
    beat = BeatPair("dot", (3, 4), old, new, numbers)
    scenes = [
        Compared(registry.find("8"), "T<i>tle", ("a < b",) * 5, (beat,), 8, numbers, (9.0, 9.5)),
        Compared(registry.find("9"), "Other"),
    ]
    path = tmp_path / "page.html"
    names = report.Names(Path("old & <x>.json"), Path("new.json"), "tutorial", language)
    report.write(path, names, both(engine.TUTORIAL, edited(tmp_path, Q, 0.5)), scenes)
    reader = Reader()
    text = path.read_text("utf-8")
    reader.feed(text)
    assert reader.open == []
    assert {address.partition(":")[0] for address in reader.addresses} == {"data", "#scene8"}
    assert not re.search(r"https?://|url\(", text)
    for shown in ("T<i>tle", "a < b", "old & <x>.json", "0.35", "0.52", "Other", "encoder.0"):
        assert shown in reader.text
    assert list(tmp_path.glob(".*")) == []


def test_both_languages_say_the_same() -> None:
    en, zh = report.words("en"), report.words("zh")
    assert {key for key in en if not key.endswith("_1")} == set(zh)
    for key, said in zh.items():
        assert set(re.findall(r"{\w+}", said)) == set(re.findall(r"{\w+}", en[key])), key


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "render", "compare", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    good, bad = edited(tmp_path, Q, 1.0), tmp_path / "bad.json"
    bad.write_text("{")
    for arguments in ((good, bad), (good, good, "nonsense"), (good, good, "--lang", "fr"), (good,)):
        result = run(*arguments, "--out", tmp_path / "o")
        assert (result.returncode, len(result.stderr.splitlines())) == (2, 1), result


@pytest.mark.slow
def test_as_a_person_does_it(tmp_path: Path) -> None:
    new = edited(tmp_path, Q, 0.5)
    result = run(engine.TUTORIAL, new, "4", "8", "--lang", "zh,en", "--out", tmp_path / "o")
    assert result.returncode == 0, result
    assert f"{Q}  4 × 4  1 of 16" in result.stdout
    assert re.search(r"04_embedding +as it was", result.stdout)
    assert re.search(r"08_attention_scores +\d of 8 +\d+ ", result.stdout)
    for language in ("zh", "en"):
        path = tmp_path / "o" / f"tutorial_to_mine_{language}.html"
        assert str(path) in result.stdout
        assert path.stat().st_size > 100_000
