"""The commands that look at scenes: audit and sheet, by the front door."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

import engine
from render.base.failure import Failure
from render.review import audit, sheet
from scenes import playthrough, registry
from scenes.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


def front_door(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "render", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The record of a played scene, as a render leaves it beside the video."""
    settings = Settings("en")
    scene = playthrough.play(registry.find("8"), settings)
    return json.loads(json.dumps(scene.record.document("08_attention_scores", settings)))


def test_numbers_of_a_render_are_recomputed(numbers, tmp_path: Path) -> None:
    path = tmp_path / "08_attention_scores_en.numbers.json"
    path.write_text(json.dumps(numbers), encoding="utf-8")
    count, faults = audit.check_number_file(path)
    assert count == len(numbers["numbers"]) > 50
    assert faults == []


@pytest.mark.parametrize("change", ["shown", "exact", "index"])
def test_a_number_that_was_tampered_with_is_found(numbers, change: str, tmp_path: Path) -> None:
    record = json.loads(json.dumps(numbers))
    entry = next(n for n in record["numbers"] if n["source"].get("name", "").endswith(".scores"))
    if change == "index":
        entry["source"]["index"][-1] = (entry["source"]["index"][-1] + 1) % 4
    else:
        entry[change] = {"shown": "0.1234", "exact": entry["exact"] + 1e-9}[change]
    path = tmp_path / "08_x.numbers.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert len(audit.check_number_file(path)[1]) == 1


def test_the_audit_says_so_where_the_weights_changed_since(numbers, tmp_path: Path) -> None:
    record = json.loads(json.dumps(numbers))
    other = tmp_path / "w.json"
    engine.save_weights(engine.random_weights(engine.load_weights(engine.TUTORIAL), 1), other)
    record["weights"]["file"] = str(other)
    path = tmp_path / "08_attention_scores_en.numbers.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    done = front_door("audit", "8", "--lang", "en", "--numbers", "--out", str(tmp_path))
    assert done.returncode == 1
    assert "render again, then audit" in done.stdout
    assert "08_attention_scores en tutorial: good" in done.stdout


def test_weights_that_changed_in_nothing_shown_are_no_fault(numbers, tmp_path: Path) -> None:
    """As after a run that left the video as it was, since it is up to date."""
    record, other = json.loads(json.dumps(numbers)), tmp_path / "w.json"
    old = engine.load_weights(engine.TUTORIAL)
    name = "output_projection.weight"
    engine.save_weights(old.with_matrices({name: old.matrices[name] * 2}), other)
    record["weights"]["file"] = str(other)
    path = tmp_path / "08_x.numbers.json"
    path.write_text(json.dumps(record), encoding="utf-8")
    assert audit.check_number_file(path) == (len(record["numbers"]), [])


@pytest.mark.parametrize("key", ["language", "weights", "source", "numbers"])
@pytest.mark.parametrize("value", [None, 3, "hier", ["a"], [{"source": {}}]])
def test_a_record_of_another_kind_is_named(numbers, key: str, value, tmp_path: Path) -> None:
    path = tmp_path / "08_x.numbers.json"
    path.write_text(json.dumps({**numbers, key: value}), encoding="utf-8")
    try:
        _, faults = audit.check_number_file(path)
    except engine.errors.LectureError as error:
        assert str(error).startswith(str(path))
    else:
        assert faults


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"numbers": 3'])
def test_a_broken_record_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "08_x.numbers.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(engine.errors.LectureError, match=r"08_x\.numbers\.json"):
        audit.check_number_file(path)


def test_a_sheet_shows_every_beat(tmp_path: Path) -> None:
    done = front_door("sheet", "8", "--height", "120", "--out", str(tmp_path / "a b"))
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.strip())
    assert path == tmp_path / "a b" / "08_attention_scores_zh.png"
    with Image.open(path) as page:
        assert page.size == (3 * 213, 3 * (120 + 28))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["audit", "99"], "scene"),
        (["audit", "8", "--lang", "fr"], "--lang"),
        (["sheet", "8", "--weights", "/nowhere.json"], "/nowhere.json"),
        (["sheet", "8", "--lesson", "hard"], "lesson"),
        (["sheet", "8", "--out", "/proc/x"], "/proc/x"),
        (["sheet", "8", "--out", "README.md"], "README.md: output folder: expected a folder"),
        (["audit", "8", "--pictures", "README.md"], "README.md: output folder"),
        (["--lesson", "hard"], "lesson"),
        (["--track", "both"], "--track"),
    ],
)
def test_mistakes_get_one_line_and_exit_code_2(arguments: list[str], said: str) -> None:
    done = front_door(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def sheets_of(folder: Path, *numbers: str) -> list[Path | Failure]:
    wanted = [(registry.find(number), Settings("en"), "tutorial") for number in numbers]
    return list(sheet.write_all(wanted, folder, 120, 1))


def test_a_sheet_that_cannot_be_drawn_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail_with_3(info, settings, **options):
        if info.number == 3:
            raise ValueError("wrong\nhere")
        return Image.new("RGB", (9, 9))

    monkeypatch.setattr(sheet, "sheet", fail_with_3)
    bad, good = sheets_of(tmp_path, "3", "4")
    assert isinstance(bad, Failure)
    assert not bad.mistake
    assert bad.line.startswith("03_tokenization_en: no sheet: ValueError: wrong\\nhere (")
    assert good == tmp_path / "04_embedding_en.png"


def test_a_scene_file_that_is_no_python_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module = "scenes.s08_attention_scores"
    monkeypatch.setitem(sys.modules, module, None)  # so that what is imported here is taken out
    monkeypatch.setattr("scenes.__path__", [str(tmp_path)])
    monkeypatch.setattr("scenes.s08_attention_scores", None, raising=False)
    del sys.modules[module]
    (tmp_path / "s08_attention_scores.py").write_text("def x(:\n", encoding="utf-8")
    (done,) = sheets_of(tmp_path, "8")
    assert isinstance(done, Failure)
    assert f"{tmp_path}/s08_attention_scores.py:1: expected valid Python" in done.line
    (tmp_path / "s08_attention_scores.py").write_text("pass\n", encoding="utf-8")
    importlib.invalidate_caches()
    (done,) = sheets_of(tmp_path, "8")
    assert isinstance(done, Failure)
    assert "expected a class AttentionScores" in done.line
