"""The store by itself: in a folder, in a folder through fsspec, and in fsspec's memory."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.errors import LectureError
from engine.passes import Passes
from engine.reads import Reads, digest_of
from render.build.incremental.changes import Now
from render.build.incremental.made import Notes, picture
from render.build.store.choice import VARIABLE, bytes_of, choose
from render.build.store.finished import Finished
from render.build.store.place import Folder, _same
from render.build.store.store import Entry, Store
from render.build.store.supply import name_weights
from render.build.task import Result
from render.media.quality import QUALITIES
from scenes.settings import Settings

MODULE = "scenes.s08_attention_scores"
NAME = "encoder.0.self_attn.q"
ORDERED = picture("08_attention_scores", "title", "zh", "full", QUALITIES["draft"], "fast")
RESULT = Result(15, 1.5, 9, [{"name": "only", "text": "文"}])
NOTED = {"captions": "0123"}


class World:
    """Weights that can be changed, and results as a worker would leave them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.weights = folder / "w.json"
        self.change(0)

    def change(self, by: float) -> None:
        old = engine.load_weights(engine.TUTORIAL)
        matrix = np.array(old.matrices["encoder.0.self_attn.q_proj.weight"])
        matrix[0, 0] += by
        changed = old.with_matrices({"encoder.0.self_attn.q_proj.weight": matrix})
        engine.save_weights(changed, self.weights)

    def now(self) -> Now:
        passes = Passes(self.weights, self.weights, engine.SOURCE, engine.TARGET)
        return Now(passes, "zh", CODE[0])

    def render(self, content: str, rows: slice = slice(None)) -> Finished:
        """A scene that reads some rows of a value, and a text."""
        now, reads = self.now(), Reads()
        reads.array("training", NAME, np.asarray(now.passes.value("training", NAME)))[rows] = True
        reads.plain("training", "tokens:source", now.passes.value("training", "tokens:source"))
        reads.text(("labels", "head_1"), now.texts["labels"]["head_1"])
        made = NOTES[0].finish(reads, ORDERED, sys.executable)
        made["ffmpeg"]["version"] = now.surroundings.ffmpeg_version(made["ffmpeg"])
        files = {}
        for kind in ("video", "numbers"):
            files[kind] = self.folder / f"{content}.{kind}"
            files[kind].write_text(f"{kind} of {content}")
        return Finished(made, RESULT, files, NOTED)

    def take(self, store: Store) -> str | None:
        """The content of what the store has for the weights as they are."""
        entry = store.find(MODULE, ORDERED, self.now())
        if entry is None:
            return None
        folder = self.folder / f"taken-{time.monotonic_ns()}"
        folder.mkdir()
        finished = store.get(entry, folder)
        if finished is None:
            return None
        assert (finished.result, finished.notes) == (RESULT, NOTED)
        assert set(finished.files) == {"video", "numbers"}
        kinds = {kind: path.read_text() for kind, path in finished.files.items()}
        video = kinds["video"].removeprefix("video of ")
        assert kinds["numbers"] == f"numbers of {video}"
        return video


NOTES: list[Notes] = []
CODE: list[Path] = []


@pytest.fixture(scope="module", autouse=True)
def code_read_once(tmp_path_factory: pytest.TempPathFactory) -> None:
    CODE[:] = [tmp_path_factory.mktemp("code") / "code.json"]
    NOTES[:] = [Notes(MODULE, CODE[0])]
    now = Now(Passes(engine.TUTORIAL, engine.TUTORIAL, "", ""), "zh", CODE[0])
    now.files(MODULE)
    now.code.keep()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(params=["folder", "local", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "the store 库"
    kinds = {"folder": str(path), "memory": f"memory:/{tmp_path}"}
    return str(kinds.get(request.param) or f"{request.param}://{path}")


class TestPuttingInAndTakingOut:
    def test_what_was_made_from_other_values_stays_beside_it(self, url: str, world: World) -> None:
        assert world.take(Store.open(url)) is None
        Store.open(url).put(world.render("first"))
        assert world.take(Store.open(url)) == "first"
        world.change(0.5)
        assert world.take(Store.open(url)) is None
        Store.open(url).put(world.render("second"))
        assert world.take(Store.open(url)) == "second"
        world.change(0)
        assert world.take(Store.open(url)) == "first"

    def test_a_scene_that_looks_elsewhere_for_other_values(self, url: str, world: World) -> None:
        """Which rows it reads depends on the weights: two questions."""
        store = Store.open(url)
        store.put(world.render("few", slice(0, 1)))
        world.change(0.5)
        assert world.take(store) is None
        store.put(world.render("many", slice(0, 3)))
        assert world.take(store) == "many"
        world.change(0)
        assert world.take(store) == "few"

    def test_a_change_that_it_did_not_look_at_changes_nothing(self, world: World) -> None:
        store = Store.open(str(world.folder / "s"))
        store.put(world.render("it"))
        old = engine.load_weights(world.weights)
        matrix = old.matrices["output_projection.weight"] + 1
        changed = old.with_matrices({"output_projection.weight": matrix})
        engine.save_weights(changed, world.weights)
        assert world.take(store) == "it"

    def test_once_more_takes_the_place(self, url: str, world: World) -> None:
        store = Store.open(url)
        store.put(world.render("old"))
        store.put(world.render("new"))
        assert world.take(store) == "new"
        kept = [item.path for item in store._place.items() if "video" in item.path]
        assert len(kept) == 1

    def test_code_edited_while_it_was_drawn_is_not_stored(self, world: World) -> None:
        store = Store.open(str(world.folder / "s"))
        finished = world.render("it")
        finished.made["code"]["scenes/theme.py"] = ""
        store.put(finished)
        assert store._place.items() == []

    @pytest.mark.parametrize("what", ["texts", "code", "picture", "font"])
    def test_anything_else_that_it_depends_on(self, what: str, world: World) -> None:
        store = Store.open(str(world.folder / "s"))
        finished = world.render("it")
        made: dict[str, Any] = finished.made  # type: ignore[assignment]
        match what:
            case "texts":
                made["texts"][0][1] = digest_of("another text")
            case "code":
                made["code"]["scenes/theme.py"] = "0"
            case "picture":
                made["picture"] = {**ORDERED, "title": "another"}
            case "font":
                made["font"] = {**made["font"], "sha256": "0", "mtime_ns": 0}
        store.put(finished)
        assert world.take(store) is None


class TestSpoilt:
    def entry(self, store: Store, world: World) -> Entry:
        found = store.find(MODULE, ORDERED, world.now())
        assert found
        return found

    @pytest.mark.parametrize("kind", ["video", "numbers"])
    def test_a_file_that_was_changed_is_dropped(self, kind: str, url: str, world: World) -> None:
        store = Store.open(url)
        store.put(world.render("it"))
        entry = self.entry(store, world)
        path = f"{entry.folder}/{kind}-{entry.document['files'][kind][1]}"
        store._place.write(path, b"something else")
        assert world.take(store) is None
        assert [item.path for item in store._place.items() if item.path.count("/") > 3] == []
        store.put(world.render("it"))
        assert world.take(store) == "it"

    def test_a_file_that_is_gone(self, url: str, world: World) -> None:
        store = Store.open(url)
        store.put(world.render("it"))
        entry = self.entry(store, world)
        store._place.remove(f"{entry.folder}/video-{entry.document['files']['video'][1]}")
        assert world.take(store) is None

    def test_the_finished_video_edited_in_place(self, world: World) -> None:
        """It may be the stored file by another name."""
        store = Store.open(str(world.folder / "s"))
        finished = world.render("it")
        store.put(finished)
        finished.files["video"].write_text("edited")
        assert world.take(store) in (None, "it")

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"files": 3}', "\0"])
    @pytest.mark.parametrize("name", ["entry.json", "question.json"])
    def test_a_broken_document(self, name: str, text: str, world: World) -> None:
        store = Store.open(str(world.folder / "s"))
        store.put(world.render("it"))
        (path,) = (world.folder / "s").rglob(name)
        path.write_text(text)
        assert world.take(store) is None
        store.put(world.render("it"))
        assert world.take(store) == "it"

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda entry: entry["made"]["versions"].update(numpy="0"),
            lambda entry: entry.update(result={"frames": 3}),
            lambda entry: entry.update(result=3),
            lambda entry: entry["files"].update({"../../evil": "0"}),
            lambda entry: entry.update(files=[]),
            lambda entry: entry.update(notes=3),
            lambda entry: entry["files"].update(video=["/../../evil", "0"]),
        ],
    )
    def test_a_tampered_entry(self, spoil: Callable[[Any], None], world: World) -> None:
        store = Store.open(str(world.folder / "s"))
        store.put(world.render("it"))
        (path,) = (world.folder / "s").rglob("entry.json")
        entry = json.loads(path.read_text())
        spoil(entry)
        path.write_text(json.dumps(entry))
        assert world.take(store) is None


class TestLimit:
    def stored(self, world: World, store: Store, number: int) -> None:
        world.change(number)
        finished = world.render(f"n{number}")
        finished.files["video"].write_bytes(b"x" * 50_000)
        store.put(finished)

    def there(self, world: World, store: Store) -> list[int]:
        found = []
        for number in range(4):
            world.change(number)
            if store.find(MODULE, ORDERED, world.now()):
                found.append(number)
        return found

    def age(self, root: Path, seconds: float) -> None:
        for path in root.rglob("*"):
            if path.is_file():
                status = path.stat()
                os.utime(path, (status.st_atime - seconds, status.st_mtime - seconds))

    def test_what_was_used_longest_ago_goes_first(self, world: World) -> None:
        root = world.folder / "s"
        for number in range(4):
            self.stored(world, Store.open(str(root)), number)
            self.age(root, 100)
        store = Store.open(str(root), limit=170_000)
        world.change(0)
        entry = store.find(MODULE, ORDERED, world.now())
        assert entry
        folder = world.folder / "f"
        folder.mkdir()
        assert store.get(entry, folder)
        store.end()
        assert self.there(world, store) == [0, 3]
        assert sum(path.stat().st_size for path in root.rglob("*") if path.is_file()) < 170_000

    def test_a_run_in_progress_keeps_what_it_used(self, world: World) -> None:
        root = world.folder / "s"
        self.stored(world, Store.open(str(root)), 0)
        self.age(root, 1000)
        run, other = Store.open(str(root), limit=90_000), Store.open(str(root), limit=1)
        run.begin()
        self.stored(world, run, 1)
        self.stored(world, run, 2)
        other.begin()
        other.end()
        assert self.there(world, run) == [1, 2]
        run.end()
        assert self.there(world, run) in ([1], [2])
        assert list((root / "runs").glob("*")) == []

    def test_what_dead_runs_left_goes_in_time(self, world: World) -> None:
        root = world.folder / "s"
        self.stored(world, Store.open(str(root)), 0)
        Store.open(str(root)).begin()
        (entry,) = root.rglob("entry.json")
        (entry.parent / ".0123").write_bytes(b"half")
        (root / "orders/o/q/torn").mkdir(parents=True)
        (root / "orders/o/q/torn/video-0").write_bytes(b"half")
        fresh = sorted(root.rglob("*"))
        store = Store.open(str(root), limit=10**9)
        store.end()
        assert sorted(root.rglob("*")) == fresh
        self.age(root, 4000)
        store.end()
        left = [path.name.split("-")[0] for path in root.rglob("*") if path.is_file()]
        assert sorted(left) == ["entry.json", "numbers", "question.json", "used", "video"]
        Store.open(str(root), limit=1).end()
        assert list(root.iterdir()) == []

    def test_through_fsspec(self, url: str, world: World) -> None:
        store = Store.open(url, limit=90_000)
        store.begin()
        for number in range(3):
            self.stored(world, store, number)
        assert len(self.there(world, store)) == 3
        store.end()
        assert len(self.there(world, store)) == 1

    def test_many_at_once(self, world: World) -> None:
        """Threads that put in, take out and sweep with almost no room, half of them as runs whose
        scenes stay until they end: nothing fails, and what is taken is whole."""
        root = str(world.folder / "s")
        finished = world.render("it")
        now = world.now()
        trouble: list[BaseException] = []
        taken = []

        def work(number: int) -> None:
            try:
                for turn in range(25):
                    store = Store.open(root, limit=1)
                    if number % 2:
                        store.begin()
                    store.put(finished)
                    entry = store.find(MODULE, ORDERED, now)
                    folder = world.folder / f"{number}-{turn}"
                    folder.mkdir()
                    if entry and (got := store.get(entry, folder)):
                        taken.append(got.files["video"].read_text())
                    store.end()
            except BaseException as error:
                trouble.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert trouble == []
        assert set(taken) == {"video of it"}


class TestPlaces:
    def test_a_local_file_takes_no_room_twice(self, tmp_path: Path) -> None:
        file = tmp_path / "video"
        file.write_bytes(b"x" * 1_000_000)
        Folder(tmp_path / "s").take_in(file, "a/b")
        Folder(tmp_path / "s").hand_out("a/b", tmp_path / "back")
        assert (tmp_path / "back").read_bytes() == file.read_bytes()
        stored = tmp_path / "s" / "a" / "b"
        if stored.stat().st_ino != file.stat().st_ino:  # then its blocks are shared
            assert sys.platform == "linux"

    def test_a_copy_where_there_are_no_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise PermissionError

        monkeypatch.setattr(os, "link", refuse)
        (tmp_path / "a").write_text("it")
        _same(tmp_path / "a", tmp_path / "b")
        assert (tmp_path / "b").read_text() == "it"

    @pytest.mark.parametrize("url", ["nosuch://x/y", "/proc/self/x", "/dev/null/x"])
    def test_one_that_cannot_be_used(self, url: str, world: World) -> None:
        with pytest.raises(LectureError, match="store: expected"):
            Store.open(url).begin()
        with pytest.raises(LectureError, match="store: expected"):
            Store.open(url).put(world.render("it"))

    def test_what_fsspec_raises_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        store = Store.open("memory://broken")

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("no\nsuch host")

        monkeypatch.setattr(store._place._files, "pipe_file", fail)  # type: ignore[attr-defined]
        with pytest.raises(LectureError, match=r"no.*such host") as told:
            store.begin()
        assert "\n" not in str(told.value)

    def test_s3_without_its_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "s3fs", None)
        with pytest.raises(LectureError, match=r"render\.sh install s3"):
            Store.open("s3://bucket/folder")

    def test_a_url_of_a_folder(self, tmp_path: Path) -> None:
        assert Store.open(f"file://{tmp_path}").name == str(tmp_path)


class TestChoice:
    @pytest.mark.parametrize(
        ("text", "size"),
        [("20GB", 20 * 10**9), ("1.5 GiB", 3 * 2**29), ("500m", 500_000_000), ("0", 0)],
    )
    def test_sizes(self, text: str, size: int) -> None:
        assert bytes_of(text) == size

    @pytest.mark.parametrize("text", ["", "much", "-1GB", "20 XB", "1e3", "GB"])
    def test_no_sizes(self, text: str) -> None:
        with pytest.raises(LectureError, match="like 20GB"):
            bytes_of(text)

    def test_option_variable_cache_folder(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(VARIABLE, raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
        assert choose(None, "1").url == "/cache/transformer-lecture/store"
        assert not choose(None, "1").named
        monkeypatch.setenv("XDG_CACHE_HOME", "relative: to be ignored")
        monkeypatch.setenv("HOME", "/home/me")
        assert choose(None, "1").url == "/home/me/.cache/transformer-lecture/store"
        monkeypatch.setenv(VARIABLE, "s3://ours")
        assert choose(None, "1").url == "s3://ours"
        assert choose("mine", "1").url == "mine"
        assert choose("mine", "1").named
        assert choose("none", "1").url is None
        assert Store.chosen(choose("none", "1")) is None


def test_numbers_name_the_present_weights(tmp_path: Path) -> None:
    stored, mine = tmp_path / "stored", tmp_path / "mine"
    said = {
        "scene": "s",
        "source": "我 爱水课",
        "weights": {"file": "/elsewhere/w.json", "sha256": "0"},
        "inference_weights": {"file": "/elsewhere/w.json", "sha256": "0"},
        "numbers": [{"shown": "0.1", "exact": 0.1}],
    }
    stored.write_text(json.dumps(said))
    os.link(stored, mine)
    name_weights(mine, Settings(weights=engine.TUTORIAL))
    told = json.loads(mine.read_text())
    assert told["weights"]["file"] == str(engine.TUTORIAL)
    assert told["inference_weights"]["file"] == str(engine.TUTORIAL_INFERENCE)
    assert told["source"] == "我爱水课"
    assert told["numbers"] == said["numbers"]
    assert "target" not in told
    assert json.loads(stored.read_text()) == said
