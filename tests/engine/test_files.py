"""Weight files: round trips, what others make of them, and writing that loses nothing."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import engine
from engine import LectureError, Weights

SUFFIXES = [".json", ".npz", ".safetensors"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_round_trip_is_exact_and_stable(suffix: str, odd: Weights, tmp_path: Path) -> None:
    path = tmp_path / f"odd{suffix}"
    engine.save_weights(odd, str(path))
    first = path.read_bytes()
    again = engine.load_weights(str(path))
    assert (again.config, again.vocabulary, again.path) == (odd.config, odd.vocabulary, path)
    for name, matrix in odd.matrices.items():
        np.testing.assert_array_equal(again.matrices[name], matrix)
    engine.save_weights(again, path)
    assert path.read_bytes() == first
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_awkward_numbers_survive_json(tutorial: Weights, tmp_path: Path) -> None:
    numbers = np.array([[5e-324, -0.0, 1 / 3, 1.7976931348623157e308]] * 8)
    weights = tutorial.with_matrices({"embedding.weight": numbers})
    engine.save_weights(weights, tmp_path / "w.json")
    again = engine.load_weights(tmp_path / "w.json").matrices["embedding.weight"]
    np.testing.assert_array_equal(again, numbers)
    assert np.signbit(again[0, 1])


def test_json_has_one_row_on_a_line(tutorial: Weights) -> None:
    text = engine.TUTORIAL.read_text(encoding="utf-8")
    rows = sum(len(matrix) for matrix in tutorial.matrices.values())
    assert len(re.findall(r"^ {6}\[[^\[\]]*\],?$", text, flags=re.MULTILINE)) == rows
    assert '"vocabulary": ["我", "爱", "水", "课", "I", "love", "easy", "courses"]' in text
    assert json.loads(text)["config"]["encoder"] == [["self_attn", "ffn"]] * 2


def test_whole_numbers_written_by_hand_are_fine(tmp_path: Path, tutorial: Weights) -> None:
    text = engine.TUTORIAL.read_text(encoding="utf-8").replace("[ 0.5, -0.3,  0.8,", "[2, -1, 0,")
    (tmp_path / "w.json").write_text(text, encoding="utf-8")
    row = engine.load_weights(tmp_path / "w.json").matrices["embedding.weight"][0]
    assert row.tolist() == [2.0, -1.0, 0.0, 0.1]


def test_binary_files_are_plain_to_others(tutorial: Weights, tmp_path: Path) -> None:
    """Other programs read them with the ordinary libraries."""
    engine.save_weights(tutorial, tmp_path / "w.npz")
    with np.load(tmp_path / "w.npz", allow_pickle=False) as archive:
        table = archive["embedding.weight"]
        assert json.loads(archive["metadata"].item())["vocabulary"][0] == "我"
    np.testing.assert_array_equal(table, tutorial.matrices["embedding.weight"])
    engine.save_weights(tutorial, tmp_path / "w.safetensors")
    arrays = load_file(tmp_path / "w.safetensors")
    assert set(arrays) == set(tutorial.matrices)
    np.testing.assert_array_equal(arrays["embedding.weight"], table)


def test_failed_write_keeps_the_old_file(
    tutorial: Weights, other: Weights, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.json"
    engine.save_weights(tutorial, path)
    before = path.read_bytes()

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(LectureError, match=r"w\.json: disk: found no space left on device"):
        engine.save_weights(other, path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of a process are a Unix matter")
def test_write_beyond_the_size_limit(tmp_path: Path) -> None:
    """A real failing write, made by the system."""
    script = (
        "import resource, engine\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "try:\n"
        "    engine.save_weights(engine.tutorial_weights(), 'w.json')\n"
        "except engine.LectureError as error:\n"
        "    print(error)\n"
    )
    root = Path(engine.__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "w.json: file: found file too large\n"
    assert list(tmp_path.iterdir()) == []


def test_writing_keeps_permissions_and_links(tutorial: Weights, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to("real.json")
    engine.save_weights(tutorial, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_bytes() == engine.TUTORIAL.read_bytes()
    assert stat.S_IMODE((tmp_path / "real.json").stat().st_mode) == 0o640


def test_new_files_follow_the_umask(tutorial: Weights, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        engine.save_weights(tutorial, tmp_path / "w.npz")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "w.npz").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["missing/w.json", "w.json/w.json", "a\0b.json", "w.txt", "w"])
def test_unwritable_places(name: str, tutorial: Weights, tmp_path: Path) -> None:
    (tmp_path / "w.json").write_text("a file")
    with pytest.raises(LectureError) as caught:
        engine.save_weights(tutorial, tmp_path / name)
    assert caught.value.where == str(tmp_path / name)
    assert [entry.name for entry in tmp_path.iterdir()] == ["w.json"]


def test_a_folder_in_the_way(tutorial: Weights, tmp_path: Path) -> None:
    (tmp_path / "w.json").mkdir()
    with pytest.raises(LectureError, match="is a directory"):
        engine.save_weights(tutorial, tmp_path / "w.json")
