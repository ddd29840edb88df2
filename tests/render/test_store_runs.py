"""The store as the front door uses it, on stand-in scenes."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from render.base.reads import Made, Stamp
from render.build.product import content_of

from .conftest import FrontDoor, leftovers, one_line
from .rendered import UP_TO_DATE, Q, Rendered


def names_and_ends(lines: list[str]) -> list[tuple[str, str]]:
    """("01_square_zh.mp4", "taken from the store")"""
    return [tuple(line.rpartition("/")[2].split(": ", 1)) for line in lines]  # type: ignore[misc]


def contents(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in out.glob("*.*") if path.is_file()}


def key_of(house: Rendered) -> str:
    """What the first scene's pictures were made from, in short."""
    record = json.loads((house.out / ".render" / "01_square_zh.json").read_text())
    return str(record["key"])


STORE = ("--store", "s")


def test_earlier_weights_need_no_rendering(house: Rendered) -> None:
    house.run("--force", *STORE)
    before, key = contents(house.out), key_of(house)
    house.edit(Q, 0.5)
    assert house.explain(*STORE)[0] == "01_square_zh.mp4: to be rendered"
    house.run(*STORE)
    assert key_of(house) != key
    house.edit(Q, -0.5)
    said = house.explain(*STORE)
    assert said[0] == "01_square_zh.mp4: in the store"
    assert said[1].startswith("    training encoder.0.self_attn.q: changed")
    assert said[2] == UP_TO_DATE[1]
    assert house.explain()[0] == "01_square_zh.mp4: to be rendered"
    told = names_and_ends(house.run(*STORE))
    assert told[:2] == [
        ("02_circle_zh.mp4", "up to date"),
        ("01_square_zh.mp4", "taken from the store"),
    ] or told[:2] == [
        ("01_square_zh.mp4", "taken from the store"),
        ("02_circle_zh.mp4", "up to date"),
    ]
    assert contents(house.out) == before
    assert leftovers(house.out) == []
    assert all(line.endswith("up to date") for line in house.explain(*STORE))


@pytest.mark.slow
def test_another_checkout_and_another_folder(house: Rendered) -> None:
    house.run("--force", LECTURE_STORE="s")
    moved = house.scenes.rename(house.folder / "elsewhere")
    house.scenes = moved
    shutil.move(house.weights, house.folder / "other.json")
    house.weights = house.folder / "other.json"
    told = names_and_ends(house.run("--out", "p", LECTURE_STORE="s"))
    assert [end for _, end in told[:2]] == ["taken from the store"] * 2
    assert contents(house.folder / "p") == contents(house.out)


def test_a_video_edited_in_place_spoils_nothing(house: Rendered) -> None:
    """It and the stored one may be the same file."""
    house.run("--force", *STORE)
    with (house.out / "01_square_zh.mp4").open("ab") as file:
        file.write(b"x")
    told = names_and_ends(house.run(*STORE))
    assert "1.2 s of film" in dict(told)["01_square_zh.mp4"]
    shutil.rmtree(house.out)
    assert [end for _, end in names_and_ends(house.run(*STORE))[:2]] == ["taken from the store"] * 2


@pytest.mark.parametrize("kind", ["pictures", "video"])
def test_another_video_with_a_record_that_fits_is_not_taken(house: Rendered, kind: str) -> None:
    """What is taken is checked like what was made; else the scene would get the film."""
    house.run("--force", *STORE)
    before = contents(house.out)
    film = Stamp.of(house.out / "lecture.mp4")
    for path in (house.folder / "s" / "entries" / kind).rglob("*.json"):
        made = msgspec.json.decode(path.read_bytes(), type=Made)
        files = {**made.files, kind: film}
        content = content_of(
            made.facts, files, ("pictures", "numbers") if kind == "pictures" else ()
        )
        path.write_text(json.dumps(replace(made, files=files, content=content).to_json()))
    shutil.rmtree(house.out)
    said = dict(names_and_ends(house.run(*STORE)))
    assert ("1.2 s of film" in said["01_square_zh.mp4"]) == (kind == "pictures")
    assert contents(house.out) == before
    shutil.rmtree(house.out)
    assert [end for _, end in names_and_ends(house.run(*STORE))[:2]] == ["taken from the store"] * 2


@pytest.mark.slow
def test_force_renders_what_is_stored(house: Rendered) -> None:
    house.run("--force", *STORE, "1")
    assert house.explain("--force", *STORE)[0].endswith("rendered anyway (--force)")
    assert "1.2 s of film" in house.run("--force", *STORE, "1")[0]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="/proc is a read-only folder")
class TestStoresThatCannotBeUsed:
    BAD = "/proc/self/x"

    def test_one_that_was_named(self, front_door: FrontDoor, tmp_path: Path) -> None:
        for asked in (("--store", self.BAD), ("--store", "nosuch://x")):
            line = one_line(front_door("1", "--quality", "draft", "--out", "o", *asked))
            assert "store: expected one that can be" in line or "fsspec" in line
            assert asked[1] in line
        assert not list((tmp_path / "o").glob("*.mp4"))
        one_line(front_door("--store-size", "much"))

    def test_the_default_one(self, front_door: FrontDoor, tmp_path: Path) -> None:
        surroundings = {"LECTURE_STORE": "", "XDG_CACHE_HOME": self.BAD}
        result = front_door("1", "--quality", "draft", "--out", "o", **surroundings)
        assert result.returncode == 0
        assert len(result.stdout.splitlines()) == 3  # the video, no film, and this:
        assert "without a store" in result.stdout
        assert (tmp_path / "o" / "01_square_zh.mp4").exists()

    def test_one_that_breaks_meanwhile(self, house: Rendered, front_door: FrontDoor) -> None:
        """The video is kept; that it is not stored is told and is a failure."""
        (house.folder / "s" / "runs").mkdir(parents=True)
        (house.folder / "s" / "entries").write_text("in the way")
        result = front_door("1", "--quality", "draft", "--out", "q", *STORE)
        assert result.returncode == 2
        assert "the store is no longer used" in result.stdout
        assert (house.folder / "q" / "01_square_zh.mp4").exists()


@pytest.mark.slow
def test_fsspec_is_not_imported_for_a_folder(house: Rendered) -> None:
    house.run("--force", *STORE)
    (house.folder / "poison").mkdir()
    (house.folder / "poison" / "fsspec.py").write_text("raise SystemExit('imported')")
    root = Path(__file__).resolve().parents[2]
    path = os.pathsep.join(map(str, (house.folder / "poison", house.scenes, root)))
    shutil.rmtree(house.out)
    assert len(house.run(*STORE, PYTHONPATH=path)) == 3


@pytest.mark.slow
def test_memory_of_fsspec(house: Rendered) -> None:
    """It is empty in every process, but the way there is the same as to S3."""
    assert "1.2 s of film" in house.run("--force", "1", "--store", "memory://lecture")[0]
