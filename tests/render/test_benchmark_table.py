"""The table of ``benchmarks/render.py``, also of a run that has not ended."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.table import table


def cost(wall: float, cpu: float, size: float) -> dict[str, float]:
    return {"wall": wall, "cpu": cpu, "memory": 100 + wall, "size": size, "load": 1.0}


def cells(known: dict[str, Any]) -> dict[str, list[str]]:
    rows = [line.strip("| ").split(" | ") for line in table(known).splitlines()]
    assert len({len(row) for row in rows}) == 1
    return {row[0]: row[1:] for row in rows[2:]}


def test_sums_are_of_scenes_that_both_have_rendered() -> None:
    scenes: dict[str, Any] = {
        "all": {"ours first": cost(10, 18, 5)},
        "01_a": {"plain": cost(60, 80, 4), "ours": cost(10, 8, 5)},
        "02_b": {"plain": cost(30, 40, 2), "ours": cost(5, 12, 3)},
        "03_c": {"plain": cost(100, 100, 9)},
    }
    found = cells({"cores": 2, "scenes": scenes})
    assert found["01"][:6] == ["60", "10", "6.0", "80", "8", "10.0"]
    assert found["sum of 2"][:6] == ["90", "15", "6.0", "120", "20", "6.0"]
    assert found["03"][1] == "-"
    assert found["ours first, 2 workers"][:3] == ["-", "10", "-"]
    del scenes["03_c"]
    found = cells({"cores": 2, "scenes": scenes})
    assert found["ours first, 2 workers"][:3] == ["90", "10", "9.0"]


def test_the_psnr_of_all_is_that_of_the_mean_error() -> None:
    pictures = [
        {"encoding alone": 1.0, "frames": 100, "plain dB": 40.0, "ours dB": 50.0},
        {"encoding alone": 2.0, "frames": 300, "plain dB": 30.0, "ours dB": 50.0},
    ]
    scenes = {
        f"0{index}": {"plain": cost(1, 1, 1), "ours": cost(1, 1, 1), "pictures": one}
        for index, one in enumerate(pictures, 1)
    }
    row = cells({"cores": 2, "scenes": scenes})["sum of 2"]
    assert row[6] == "3"
    assert row[11] == "31.1"  # error: (100 · 1e-4 + 300 · 1e-3) / 400
    assert row[12] == "50.0"


@pytest.mark.parametrize("scenes", [{}, {"all": {"ours first": cost(1, 1, 1)}}])
def test_little_is_a_table_too(scenes: dict[str, Any]) -> None:
    assert table({"cores": 2, "scenes": scenes}).startswith("| scene |")
