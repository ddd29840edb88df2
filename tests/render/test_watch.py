"""--watch as a real process, on stand-in scenes, and which files it looks at."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine
from render.build.job import BuildOptions, jobs_of
from render.build.run import Run
from render.build.watch import Sources

from .conftest import command, environment
from .rendered import QUIET, K, Rendered

WAITING = "waiting until weights, texts, a lesson or code are saved; Ctrl-C ends"


class Watching:
    """A run with --watch; what it says comes line by line."""

    def __init__(self, house: Rendered, *arguments: str) -> None:
        self._house = house
        path = os.pathsep.join([str(house.scenes), str(Path(__file__).resolve().parents[2])])
        self.process = subprocess.Popen(
            command(*QUIET, "--weights", house.weights, "--watch", *arguments),
            cwd=house.folder,
            env=environment(PYTHONPATH=path, STANDIN_TEXTS=str(house.texts)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))

    def until(self, end: str) -> list[str]:
        """The lines up to the one that begins with ``end``."""
        lines: list[str] = []
        while not lines or not lines[-1].startswith(end):
            try:
                lines.append(self._lines.get(timeout=60))
            except queue.Empty:
                raise AssertionError(lines) from None
        return lines

    def end(self, number: signal.Signals = signal.SIGINT) -> tuple[int, list[str]]:
        """Stop it; its exit code, and what else it said."""
        self.process.send_signal(number)
        code = self.process.wait(30)
        self._reader.join(30)
        return code, list(self._lines.queue)


@pytest.fixture
def watching(house: Rendered) -> Iterator[Watching]:
    started = Watching(house)
    yield started
    if started.process.poll() is None:
        started.process.kill()


def save_by_rename(path: Path, text: str) -> None:
    """As many editors do."""
    aside = path.with_name(f".{path.name}.swp")
    aside.write_text(text)
    aside.replace(path)


def test_saving_a_weight_file(house: Rendered, watching: Watching) -> None:
    assert watching.until(WAITING)[0] == "nothing needs rendering"
    good = house.weights.read_text()
    save_by_rename(house.weights, "{")
    broken = watching.until(WAITING)
    assert broken[0] == "saved: w.json"
    assert broken[1].startswith("render: ")
    assert "w.json" in broken[1]
    assert len(broken) == 3
    save_by_rename(house.weights, good)
    assert "nothing needs rendering" in watching.until(WAITING)
    house.weights.touch()
    (house.folder / "another.json").write_text("{")
    house.edit(K, 0.5)
    said = watching.until(WAITING)
    assert said[0] == "saved: w.json"
    assert said[1].startswith("rendering 02_circle_zh.mp4 (training encoder.0.self_attn.k: changed")
    assert any("02_circle_zh.mp4: 1.0 s of film" in line for line in said)
    assert house.explain("2")[0] == "02_circle_zh.mp4: up to date"
    assert watching.end() == (130, [])


@pytest.mark.slow
def test_saving_code_and_texts(house: Rendered, watching: Watching) -> None:
    watching.until(WAITING)
    house.replace("tiny.py", "run_time=1)", "run_time=)")
    said = watching.until(WAITING)
    assert said[0] == "saved: tiny.py"
    assert all("Traceback" not in line for line in said)
    house.replace("tiny.py", "run_time=)", "run_time=2)")
    said = watching.until(WAITING)
    assert "file scenes/tiny.py" in said[1]
    assert any("02_circle_zh.mp4: 2.0 s of film" in line for line in said)
    house.replace("registry.py", "SCENES = (", "SCENES = nonsense(")
    said = watching.until(WAITING)
    assert said[1].startswith("render: ")
    assert "registry.py" in said[1]
    assert "nonsense" in said[1]
    assert len(said) == 3
    house.replace("registry.py", "SCENES = nonsense(", "SCENES = (")
    assert "nothing needs rendering" in watching.until(WAITING)
    assert watching.end(signal.SIGTERM) == (143, [])


@pytest.mark.slow
def test_saving_while_it_renders(house: Rendered) -> None:
    """The render is given up, and begins again with what was saved."""
    watching = Watching(house, "4")
    assert watching.until("rendering")[0].startswith("rendering 04_long_zh.mp4 (there is no video")
    time.sleep(2)
    house.replace("tiny.py", "run_time=300)", "run_time=1)")
    said = watching.until(WAITING)
    assert said[0] == "saved: tiny.py; starting again"
    assert any("04_long_zh.mp4: 1.0 s of film" in line for line in said)
    assert list((house.out / ".render").glob("run-*")) == []
    house.replace("tiny.py", "run_time=1)", "run_time=300)")
    watching.until("rendering")
    time.sleep(1)
    code, rest = watching.end()
    assert (code, rest) == (130, [])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for processes in /proc")
def test_a_render_ends_with_its_watcher(house: Rendered) -> None:
    watching = Watching(house, "4")
    watching.until("rendering")
    children = f"/proc/{watching.process.pid}/task/{watching.process.pid}/children"
    (child,) = Path(children).read_text().split()
    watching.process.kill()
    end = time.monotonic() + 5  # much less than the scene takes
    while Path(f"/proc/{child}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()


class TestSources:
    def sources(self, folder: Path, *scenes: str, **more: object) -> Sources:
        options = BuildOptions(out=folder / "o", **more)  # type: ignore[arg-type]
        return Sources(options, Run(jobs_of(options, scenes)).plan.files())

    def weights(self, path: Path) -> Path:
        path.parent.mkdir(exist_ok=True)
        engine.save_weights(engine.load_weights(engine.TUTORIAL), path)
        return path

    def changed(self, sources: Sources, path: Path) -> bool:
        """Whether a change of its contents would count; nothing is changed."""
        sources._seen[path] = "as it was before"
        return bool(sources.changed([path]))

    def test_weights_outside_and_what_is_beside_them(self, tmp_path: Path) -> None:
        file = self.weights(tmp_path / "mine" / "w.json")
        link = tmp_path / "link.json"
        link.symlink_to(file)
        sources = self.sources(tmp_path, weights=[str(link)])
        assert {tmp_path, file.parent} <= set(sources.folders())
        assert sources.changed([link, file, file.with_name("other.json")]) == []
        file.write_text(file.read_text() + "\n")
        assert sources.changed([file, str(link)]) == [link, file]
        assert sources.changed([file, link]) == []

    def test_a_new_file_of_a_pattern(self, tmp_path: Path) -> None:
        self.weights(tmp_path / "w" / "1.json")
        sources = self.sources(tmp_path, weights=[f"{tmp_path}/w/*.json"])
        new = self.weights(tmp_path / "w" / "2.json")
        assert sources.changed([new, tmp_path / "w" / ".2.json.swp"]) == [new]

    def test_code_texts_and_lessons(self, tmp_path: Path) -> None:
        sources = self.sources(tmp_path, "8")
        root = Path(engine.__file__).parents[1]
        for name in (
            *("scenes/s08_attention_scores.py", "scenes/theme.py", "scenes/parts/grid.py"),
            *("engine/ops.py", "render/draw/scene.py", "assets/text/zh.toml"),
            *("assets/weights/tutorial.json", "assets/lessons/tutorial.toml"),
        ):
            assert self.changed(sources, root / name), name
        for name in ("scenes/s09_encoder_layer.py", "README.md", "tests/conftest.py"):
            assert not self.changed(sources, root / name), name

    def test_a_lesson_of_ones_own(self, tmp_path: Path) -> None:
        lesson = tmp_path / "mine.toml"
        lesson.write_text('weights = "w.json"\n')
        weights = self.weights(tmp_path / "w.json")
        sources = self.sources(tmp_path, lesson=str(lesson))
        assert self.changed(sources, lesson)
        assert self.changed(sources, weights)
