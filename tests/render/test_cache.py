"""The cache by itself: in a folder, in a folder through fsspec, and in fsspec's memory."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import pytest

from engine.errors import LectureError
from render.base.reads import Input, Made, Stamp
from render.build.product import Product, content_of, key_of
from render.build.storage import cache as module
from render.build.storage.cache import Cache
from render.build.storage.places import (
    _HOUR,
    _SKEW,
    NO_CACHE,
    VARIABLE,
    CacheChoice,
    Folder,
    Item,
    bytes_of,
    choose,
    evict,
    place_of,
)

from .conftest import ROOT

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
NOBODY = 65534


def pictures(title: str = "t") -> Product:
    """Something that is told a title and reads some of the values of a world."""
    return Product(
        kind="pictures",
        maker="nowhere:make",
        record=Path(f"{title}.json"),
        job=cast(Any, None),
        spec={"title": title},
    )


@dataclass
class World:
    """Stands for ``Now``: values that makers ask for."""

    folder: Path
    values: dict[str, str] = field(default_factory=lambda: {"a": "1", "b": "2"})
    code: str = "c"

    def before(self, product: Product) -> tuple[Input, ...]:
        told = Input("spec", "", None, json.dumps(product.spec))
        return told, Input("code", "x.py", None, self.code)

    def asked_again(self, product: Product, made: Made) -> tuple[Input, ...]:
        return tuple(
            one._replace(digest=self.values[one.name]) for one in made.inputs if one.kind == "value"
        )

    def make(self, content: str, *names: str, product: Product | None = None) -> Made:
        """What a worker would leave that has read the values of these names."""
        product = product or pictures()
        read = tuple(Input("value", name, None, self.values[name]) for name in names or "a")
        inputs = (*self.before(product), *read)
        paths = {}
        for role in ("video", "numbers"):
            path = self.folder / f"{content}.{role}"
            path.unlink(missing_ok=True)  # it may be in the cache by another name
            path.write_text(f"{role} of {content}")
            paths[role] = str(path)
        files = {role: Stamp.of(Path(path)) for role, path in paths.items()}
        facts = {"frames": 3, "text": "文"}
        key = key_of(product.kind, inputs)
        return Made(key, inputs, files, content_of(facts, files), facts, paths)

    def put(self, cache: Cache, made: Made, product: Product | None = None) -> None:
        product = product or pictures()
        cache.put(product.kind, product.spec, made)

    def take(self, cache: Cache, product: Product | None = None) -> str | None:
        """The content of what the cache has for the values as they are."""
        folder = self.folder / f"taken-{time.monotonic_ns()}"
        folder.mkdir()
        made = cache.take(product or pictures(), self, folder)  # type: ignore[arg-type]
        if made is None:
            assert list(folder.iterdir()) == []
            return None
        assert made.facts == {"frames": 3, "text": "文"}
        video = made.path("video").read_text().removeprefix("video of ")
        assert made.path("numbers").read_text() == f"numbers of {video}"
        assert all(stamp.holds(made.path(role)) for role, stamp in made.files.items())
        return video


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture(params=["folder", "local", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    path = tmp_path / "the store 库"
    kinds = {"folder": str(path), "memory": f"memory:/{tmp_path}"}
    return str(kinds.get(request.param) or f"{request.param}://{path}")


def opened(url: str | Path, limit: int | None = None, **options: Any) -> Cache:
    return Cache(CacheChoice(str(url), True, limit), **options)


def files_below(root: Path, kind: str = "") -> list[Path]:
    return sorted(path for path in (root / kind).rglob("*") if not path.is_dir())


class TestPuttingInAndTakingOut:
    def test_what_was_made_from_other_values_stays_beside_it(self, url: str, world: World) -> None:
        assert world.take(opened(url)) is None
        world.put(opened(url), world.make("first"))
        assert world.take(opened(url)) == "first"
        world.values["a"] = "5"
        assert world.take(opened(url)) is None
        world.put(opened(url), world.make("second"))
        assert world.take(opened(url)) == "second"
        world.values["a"] = "1"
        assert world.take(opened(url)) == "first"

    def test_one_that_looks_elsewhere_for_other_values(self, url: str, world: World) -> None:
        """Two questions."""
        cache = opened(url)
        world.put(cache, world.make("few", "a"))
        world.values["a"] = "5"
        world.put(cache, world.make("many", "a", "b"))
        assert world.take(cache) == "many"
        world.values["b"] = "0"
        assert world.take(cache) is None
        world.values["a"] = "1"
        assert world.take(cache) == "few"

    def test_what_it_was_told_and_its_code_count(self, world: World) -> None:
        cache = opened(world.folder / "s")
        world.put(cache, world.make("it"))
        assert world.take(cache, pictures("other")) is None
        world.code = "edited"
        assert world.take(cache) is None

    def test_once_more_takes_the_place(self, url: str, world: World) -> None:
        cache = opened(url)
        world.put(cache, world.make("old"))
        world.put(cache, world.make("new"))
        assert world.take(cache) == "new"
        assert len(cache._place.items()) == 1 + 1 + 4  # type: ignore[union-attr]

    def test_code_edited_while_it_was_made_is_not_stored(self, world: World) -> None:
        cache = opened(world.folder / "s")
        world.put(cache, replace(world.make("it"), key="0" * 32))
        assert files_below(world.folder / "s", "entries") == []

    def test_equal_files_are_kept_once(self, world: World) -> None:
        cache = opened(world.folder / "s")
        world.put(cache, world.make("it"))
        world.values["a"] = "5"
        world.put(cache, world.make("it"))
        assert len(files_below(world.folder / "s", "objects")) == 2
        assert len(files_below(world.folder / "s", "entries")) == 2

    def test_looking_writes_nothing(self, world: World) -> None:
        assert world.take(opened(world.folder / "s", looking=True)) is None
        assert not (world.folder / "s").exists()
        world.put(opened(world.folder / "s"), world.make("it"))
        before = [(path, path.stat().st_mtime_ns) for path in files_below(world.folder / "s")]
        cache = opened(world.folder / "s", looking=True)
        assert cache.find(pictures(), world)  # type: ignore[arg-type]
        cache.end()
        after = [(path, path.stat().st_mtime_ns) for path in files_below(world.folder / "s")]
        assert after == before


def spoil(path: Path, how: str) -> None:
    """Put something else in the place of a file."""
    data = path.read_bytes()
    path.unlink()
    match how:
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.with_name("elsewhere").write_bytes(data)
            path.symlink_to("elsewhere")
        case "broken link":
            path.symlink_to("nowhere")
        case "folder":
            path.mkdir()
            (path / "x").write_text("x")
        case "truncated":
            path.write_bytes(data[:-1])
        case "oversized":
            path.write_bytes(data + b" " * 100_000_000)
        case "changed":
            path.write_bytes(data[:-1] + b"?")
        case "empty":
            path.write_bytes(b"")
        case "device":
            path.symlink_to("/dev/zero")
        case _:
            assert how == "missing"


SPOILED = ["fifo", "link", "broken link", "folder", "truncated", "oversized", "changed", "empty"]
SPOILED += ["device", "missing"]


class TestSpoiled:
    @pytest.mark.parametrize("kind", ["objects", "entries"])
    @pytest.mark.parametrize("how", SPOILED)
    def test_it_is_dropped_and_never_waited_for(self, how: str, kind: str, world: World) -> None:
        root = world.folder / "s"
        cache = opened(root)
        world.put(cache, world.make("it"))
        path = files_below(root, kind)[0]
        spoil(path, how)
        assert world.take(cache) is None
        assert not os.path.lexists(path)
        assert not cache.failed
        world.put(cache, world.make("it"))
        assert world.take(cache) == "it"

    @pytest.mark.parametrize("how", ["changed", "truncated", "missing"])
    def test_through_fsspec(self, how: str, world: World) -> None:
        root = world.folder / "s"
        cache = opened(f"local://{root}")
        world.put(cache, world.make("it"))
        spoil(files_below(root, "objects")[0], how)
        assert world.take(cache) is None
        world.put(cache, world.make("it"))
        assert world.take(cache) == "it"

    def test_a_folder_that_is_a_link_leads_nowhere(self, world: World) -> None:
        root = world.folder / "s"
        cache = opened(root)
        world.put(cache, world.make("it"))
        objects = root / "objects"
        objects.rename(world.folder / "precious")
        objects.symlink_to(world.folder / "precious")
        kept = files_below(world.folder / "precious")
        assert world.take(cache) is None
        assert files_below(world.folder / "precious") == kept

    def test_the_finished_file_edited_in_place(self, world: World) -> None:
        """It may be the stored file by another name."""
        cache = opened(world.folder / "s")
        made = world.make("it")
        world.put(cache, made)
        made.path("video").write_text("edited")
        assert world.take(cache) in (None, "it")

    @pytest.mark.parametrize(
        "text", ["", "[]", "{}", '{"files": 3}', "\0", "[" * 100_000, "9" * 9999]
    )
    def test_a_broken_entry(self, text: str, world: World) -> None:
        cache = opened(world.folder / "s")
        world.put(cache, world.make("it"))
        (path,) = files_below(world.folder / "s", "entries")
        path.write_text(text)
        assert world.take(cache) is None
        world.put(cache, world.make("it"))
        assert world.take(cache) == "it"

    @pytest.mark.parametrize(
        "tamper",
        [
            lambda entry: entry.update(key="0" * 32),
            lambda entry: entry["inputs"].pop(),
            lambda entry: entry["inputs"][0].__setitem__(3, "other"),
            lambda entry: entry.update(inputs=[["value"]]),
            lambda entry: entry.update(inputs=3),
            lambda entry: entry["facts"].update(frames=4),
            lambda entry: entry.update(facts=3),
            lambda entry: entry.update(files=[]),
            lambda entry: entry.pop("content"),
            lambda entry: entry["files"]["video"].update(sha256="../../../../etc/passwd"),
            lambda entry: entry["files"]["video"].update(size="much"),
            lambda entry: entry["files"]["video"].update(size=10**400),
            lambda entry: entry["files"].update({"../../evil": {}}),
        ],
    )
    def test_a_tampered_entry(self, tamper: Callable[[Any], Any], world: World) -> None:
        cache = opened(world.folder / "s")
        world.put(cache, world.make("it"))
        (path,) = files_below(world.folder / "s", "entries")
        entry = json.loads(path.read_text())
        tamper(entry)
        path.write_text(json.dumps(entry))
        assert world.take(cache) is None
        assert not path.exists()

    def test_another_film_under_the_right_name_is_not_taken(self, world: World) -> None:
        root = world.folder / "s"
        cache = opened(root)
        world.put(cache, world.make("it"))
        first, second = files_below(root, "objects")
        data = first.read_bytes()
        first.write_bytes(second.read_bytes())
        second.write_bytes(data)
        assert world.take(cache) is None


def as_user(uid: int, gid: int, code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run code with the world of these tests as another user."""
    begun = (
        "import os, sys; from pathlib import Path\n"
        "from tests.render.test_cache import *\n"
        f"os.setgroups([]); os.setgid({gid}); os.setuid({uid}); os.umask(0o022)\n"
        "root, folder = map(Path, sys.argv[1:3]); said = []\n"
        "world, cache = World(folder), opened(root, say=said.append)\n"
    )
    command = [sys.executable, "-c", begun + code, *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


@needs_root
class TestSeveralUsers:
    def folder(self, world: World, uid: int) -> Path:
        own = world.folder / f"of {uid}"
        own.mkdir()
        os.chown(own, uid, uid)
        for parent in world.folder.parents:
            if parent.stat().st_mode & 0o001 == 0 and len(parent.parts) > 2:
                parent.chmod(0o711)
        world.folder.chmod(0o755)
        return own

    def test_a_shared_folder_gives_to_all_and_takes_from_all(self, world: World) -> None:
        root = world.folder / "s"
        root.mkdir()
        os.chown(root, 0, 4242)
        root.chmod(0o2775)
        before = os.umask(0o077)
        try:
            world.put(opened(root), world.make("it"))
        finally:
            os.umask(before)
        for path in root.rglob("*"):
            status = path.stat()
            assert status.st_gid == 4242, path
            wanted = 0o2775 if path.is_dir() else 0o444 if "objects" in str(path) else 0o664
            assert status.st_mode & 0o7777 == wanted, path
        code = (
            "assert world.take(cache) == 'it', said\n"
            "world.values['a'] = '7'; world.put(cache, world.make('mine')); cache.end()\n"
            "assert not said and not cache.failed and not cache.read_only"
        )
        done = as_user(12345, 4242, code, root, self.folder(world, 12345))
        assert done.returncode == 0, done.stderr
        world.values["a"] = "7"
        assert world.take(opened(root)) == "mine"
        taken = list(world.folder.glob("of 12345/taken-*/*"))
        assert taken
        assert all(path.stat().st_uid == 12345 for path in taken)
        assert all(path.stat().st_mode & 0o777 == 0o644 for path in taken)

    def test_one_that_may_only_be_read_gives_and_takes_nothing(self, world: World) -> None:
        root = world.folder / "s"
        world.put(opened(root), world.make("it"))
        before = files_below(root)
        code = (
            "assert cache.read_only and world.take(cache) == 'it', said\n"
            "world.values['a'] = '7'; world.put(cache, world.make('mine')); cache.end()\n"
            "assert said == [f'{root}: store: read-only, nothing is added'], said\n"
            "assert not cache.failed"
        )
        done = as_user(12345, 12345, code, root, self.folder(world, 12345))
        assert done.returncode == 0, done.stderr
        assert files_below(root) == before

    def test_one_that_may_not_even_be_read_is_an_error_where_it_was_named(
        self, world: World
    ) -> None:
        root = world.folder / "s"
        world.put(opened(root), world.make("it"))
        root.chmod(0o700)
        done = as_user(12345, 12345, "", root, self.folder(world, 12345))
        assert done.returncode != 0
        assert "permission denied" in done.stderr.splitlines()[-1]

    def test_an_entry_of_another_users_alone_is_not_there(self, world: World) -> None:
        root = world.folder / "s"
        world.put(opened(root), world.make("it"))
        for path in files_below(root, "entries"):
            path.chmod(0o600)
        code = "assert world.take(cache) is None and not cache.failed, said"
        done = as_user(12345, 12345, code, root, self.folder(world, 12345))
        assert done.returncode == 0, done.stderr


class TestOwnFolder:
    @pytest.mark.parametrize("linked", [True, False])
    @pytest.mark.parametrize("umask", [0o022, 0o027, 0o077])
    def test_the_umask_decides(
        self, umask: int, linked: bool, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        if not linked:
            monkeypatch.setattr("render.build.storage.places._linked", lambda *_: False)
        before = os.umask(umask)
        try:
            world.put(opened(world.folder / "s"), world.make("it"))
        finally:
            os.umask(before)
        for path in (world.folder / "s").rglob("*"):
            assert path.stat().st_mode & umask == 0, path

    def test_a_local_file_takes_no_room_twice(self, world: World) -> None:
        made = world.make("it")
        world.put(opened(world.folder / "s"), made)
        (stored,) = (
            path
            for path in files_below(world.folder / "s", "objects")
            if path.name == made.files["video"].sha256
        )
        assert stored.stat().st_ino == made.path("video").stat().st_ino

    def test_a_copy_where_there_are_no_links(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EPERM, "kernel protection")

        monkeypatch.setattr(os, "link", refuse)
        cache = opened(world.folder / "s")
        world.put(cache, world.make("it"))
        assert world.take(cache) == "it"
        for path in files_below(world.folder / "s", "objects"):
            assert path.stat().st_mode & 0o777 == 0o444


class TestKilled:
    def test_an_object_is_there_before_its_entry(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        cache = opened(world.folder / "s")
        write = Folder.write

        def killed(self: Folder, path: str, data: bytes) -> None:
            if path.startswith("entries/"):
                raise KeyboardInterrupt
            write(self, path, data)

        monkeypatch.setattr(Folder, "write", killed)
        with pytest.raises(KeyboardInterrupt):
            world.put(cache, world.make("it"))
        monkeypatch.undo()
        assert files_below(world.folder / "s", "entries") == []
        assert world.take(opened(world.folder / "s")) is None

    def test_processes_killed_while_they_put_leave_nothing_wrong(self, world: World) -> None:
        root = world.folder / "s"
        code = (
            "print('go', flush=True)\n"
            "for number in range(10**6):\n"
            "    world.values['a'] = str(number % 20); made = world.make('it')\n"
            "    world.put(cache, made)\n"
        )
        for number in range(3):
            own = world.folder / f"w{number}"
            own.mkdir()
            begun = (
                "import sys; from pathlib import Path\n"
                "from tests.render.test_cache import *\n"
                f"root, world = Path({str(root)!r}), World(Path({str(own)!r}))\n"
                "cache = opened(root)\n"
            )
            process = subprocess.Popen(
                [sys.executable, "-c", begun + code], cwd=ROOT, stdout=subprocess.PIPE
            )
            assert process.stdout
            assert process.stdout.readline() == b"go\n"
            time.sleep(0.2 + 0.05 * number)
            process.kill()
            process.wait()
            process.stdout.close()
            for path in files_below(root, "objects"):
                if not path.name.startswith("."):
                    assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name
        world.values["a"] = "0"
        assert world.take(opened(root)) == "it"


class TestLimit:
    def stored(self, world: World, cache: Cache, number: int) -> None:
        world.values["a"] = str(number)
        made = world.make(f"n{number}")
        made.path("video").unlink()
        made.path("video").write_bytes(str(number).encode() * 50_000)
        files = {**made.files, "video": Stamp.of(made.path("video"))}
        world.put(cache, replace(made, files=files, content=content_of(made.facts, files)))

    def there(self, world: World, cache: Cache) -> list[int]:
        found = []
        for number in range(4):
            world.values["a"] = str(number)
            if cache.find(pictures(), world):  # type: ignore[arg-type]
                found.append(number)
        return found

    def age(self, root: Path, seconds: float) -> None:
        for path in files_below(root):
            status = path.stat()
            os.utime(path, (status.st_atime - seconds, status.st_mtime - seconds))

    def test_what_was_used_longest_ago_goes_first(self, world: World) -> None:
        root = world.folder / "s"
        for number in range(4):
            cache = opened(root)
            self.stored(world, cache, number)
            cache.end()
            self.age(root, 1000)
        cache = opened(root, limit=160_000)
        world.values["a"] = "0"
        folder = world.folder / "f"
        folder.mkdir()
        assert cache.take(pictures(), world, folder)  # type: ignore[arg-type]
        cache.end()
        assert self.there(world, cache) == [0, 3]
        assert sum(path.stat().st_size for path in files_below(root)) < 160_000

    def test_a_run_in_progress_keeps_what_it_used(self, world: World) -> None:
        root = world.folder / "s"
        first = opened(root)
        self.stored(world, first, 0)
        first.end()
        self.age(root, 1000)
        run, other = opened(root, limit=90_000), opened(root, limit=1)
        self.stored(world, run, 1)
        self.stored(world, run, 2)
        other.end()
        assert self.there(world, run) == [1, 2]
        run.end()
        assert self.there(world, run) in ([1], [2])
        assert files_below(root, "runs") == []

    def test_what_dead_runs_left_goes_in_time(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = world.folder / "s"
        self.stored(world, opened(root), 0)
        (entry,) = files_below(root, "entries")
        (entry.parent / ".0123").write_bytes(b"half")
        (root / "objects/00").mkdir(exist_ok=True)
        torn = root / "objects/00" / ("0" * 64)
        torn.write_bytes(b"no entry")
        cache = opened(root, limit=10**9)
        cache.end()
        assert len(files_below(root)) == 6
        now = time.time()
        monkeypatch.setattr(module.time, "time", lambda: now + 4000)
        opened(root, limit=10**9).end()
        assert len(files_below(root)) == 4
        assert self.there(world, opened(root)) == [0]
        opened(root, limit=1).end()
        assert files_below(root, "objects") == files_below(root, "entries") == []

    def test_an_object_of_two_entries_goes_with_the_last(self, tmp_path: Path) -> None:
        place = Folder(tmp_path)
        for path in ("entries/k/q/1.json", "entries/k/q/2.json", "objects/aa/x", "objects/bb/y"):
            place.write(path, b"." * 100)
        os.utime(tmp_path / "entries/k/q/1.json", (1, 1))
        os.utime(tmp_path / "entries/k/q/2.json", (2, 2))
        of = {"entries/k/q/1.json": {"objects/aa/x"}}
        of["entries/k/q/2.json"] = {"objects/aa/x", "objects/bb/y"}
        evict(place, 399, time.time(), lambda path: frozenset(of[path]))
        left = [item.path for item in place.items()]
        assert sorted(left) == ["entries/k/q/2.json", "objects/aa/x", "objects/bb/y"]
        evict(place, 100, time.time(), lambda path: frozenset(of[path]))
        assert place.items() == []

    def test_clocks_may_be_apart(self) -> None:
        """An entry that a machine with a slow clock used since the run began stays."""
        now = 10_000_000.0

        class Somewhere(Folder):
            def __init__(self, used: float, runs: bool) -> None:
                super().__init__(Path("/nowhere"))
                self.removed: list[str] = []
                self.found = [Item("entries/k/q/1.json", 100, used)]
                if runs:
                    self.found.append(Item(f"runs/{now - _HOUR / 2:.0f}-00", 0, now - 60))

            def items(self) -> list[Item]:
                return self.found

            def remove(self, path: str) -> None:
                self.removed.append(path)

        began = now - _HOUR / 2
        for used, runs, goes in [
            (began - _SKEW + 1, True, False),
            (began - _SKEW - 1, True, True),
            (now - 1, False, True),
        ]:
            place = Somewhere(used, runs)
            evict(place, 1, now, lambda _: frozenset())
            assert bool(place.removed) == goes, used

    def test_through_fsspec(self, url: str, world: World) -> None:
        cache = opened(url, limit=90_000)
        for number in range(3):
            self.stored(world, cache, number)
        assert len(self.there(world, cache)) == 3
        cache.end()
        assert len(self.there(world, cache)) == 1

    def test_many_at_once(self, world: World) -> None:
        """Threads that put, take and evict with almost no room, as runs that come and go: nothing
        fails, and what is taken is whole."""
        root = world.folder / "s"
        made = world.make("it")
        trouble: list[object] = []
        taken = []

        def work() -> None:
            try:
                for _ in range(25):
                    with opened(root, limit=1, say=trouble.append) as cache:
                        world.put(cache, made)
                        taken.append(world.take(cache))
            except BaseException as error:
                trouble.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert trouble == []
        assert "it" in taken
        assert set(taken) <= {"it", None}


class TestTrouble:
    @pytest.mark.parametrize("url", ["nosuch://x/y", "/proc/self/x", "/dev/null/x"])
    def test_one_that_cannot_be_used(self, url: str, world: World) -> None:
        with pytest.raises(LectureError, match="store: expected"):
            opened(url)
        said: list[str] = []
        cache = Cache(CacheChoice(url, False, 1), said.append)
        assert not cache.failed
        world.put(cache, world.make("it"))
        assert world.take(cache) is None
        assert len(said) == 1
        assert said[0].startswith("continuing without a store: ")

    def test_what_fails_later_is_told_once_and_costs_the_cache(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        said: list[str] = []
        cache = opened("memory://broken", say=said.append)

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("no\nsuch host")

        monkeypatch.setattr(cache._place._files, "put_file", fail)  # type: ignore[union-attr]
        world.put(cache, world.make("it"))
        world.put(cache, world.make("it"))
        assert cache.failed
        assert len(said) == 1
        assert said[0].startswith("the store is no longer used: ")
        assert "such host" in said[0]
        assert "\n" not in said[0]

    def test_s3_without_its_package(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "s3fs", None)
        with pytest.raises(LectureError, match=r"render\.sh install s3"):
            opened("s3://bucket/folder")

    def test_a_url_of_a_folder(self, tmp_path: Path) -> None:
        assert place_of(f"file://{tmp_path}").name == str(tmp_path)

    def test_the_mark_of_a_run_is_seen_elsewhere(self, url: str) -> None:
        cache = opened(url)
        assert opened(url, looking=True).sees(cache.mark)
        assert not opened(url, looking=True).sees("runs/0-00")
        cache.end()


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

    def test_option_variable_cache_folder(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.delenv(VARIABLE, raising=False)
        monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
        assert choose(None, "1") == CacheChoice("/cache/transformer-lecture/store", False, 1)
        monkeypatch.setenv("XDG_CACHE_HOME", "relative: to be ignored")
        monkeypatch.setenv("HOME", str(tmp_path))
        assert choose(None, "1").url == f"{tmp_path}/.cache/transformer-lecture/store"
        monkeypatch.setenv("HOME", str(tmp_path / "none"))
        assert choose(None, "1").url is None
        monkeypatch.setenv(VARIABLE, "s3://ours")
        assert choose(None, "1") == CacheChoice("s3://ours", True, 1)
        assert choose("mine", "1") == CacheChoice("mine", True, 1)
        assert choose("none", "1") == NO_CACHE
        assert Cache(NO_CACHE).find(pictures(), None) is None  # type: ignore[arg-type]
