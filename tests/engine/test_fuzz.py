"""Damaged files of every kind: each loader reads them or says in one line why not, in little time.

A few hundred cases run always; 10,000, with limits on time and memory, with -m slow.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine import LectureError
from engine.cli import main
from engine.corpus import Pair, read_corpus
from engine.errors import LINE
from engine.importing.probe import read_probe
from engine.importing.sources import read_model, read_names, read_vocabulary
from engine.reader import read_toml
from engine.training import Settings, Trainer
from engine.training_files import load_checkpoint, read_history, save_checkpoint, state_beside
from tests.engine.foreign import MODELS

GOLDEN = Path(__file__).with_name("golden")
MODEL = GOLDEN / "layers_d8h4"
CASES, MANY = 40, 1000  # of each kind of file, always and with -m slow
SECONDS = 5.0  # for one file
#: What a lecturer's editor, or an attacker, might put somewhere.
PIECES = (
    *(b"\0", b"\xff", b"\xef\xbb\xbf", b'"', b"'''", b"\\", b"\n", b"{", b"[[[[", b"]", b"}", b":"),
    *(
        b"-",
        b"1e999",
        b"NaN",
        b"9" * 50,
        b"a.b.c.",
        b"null",
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"\x93NUMPY",
    ),
    *(
        b"cos\nsystem\n",
        b"\x80\x04",
        b"R",
        b".",
        b"\xff\xff\xff\x7f",
        b"\0\0\0\0\0\0\0\x80",
        "我".encode(),
    ),
)


@dataclass(frozen=True)
class Kind:
    """A kind of file: a sound one, and how it is read."""

    name: str
    sound: bytes
    read: Callable[[Path], Any]


def loaded(path: Path) -> None:
    """Every array of a state dict, unpacked."""
    dict(read_model(path).arrays)


def case(path: Path) -> None:
    """An import with this case: the exit code must be 0 or 2."""
    options = ["-o", str(path.with_name("w.json")), "--force", "--case", str(path)]
    assert main(["weights", "import", str(MODEL / "model.pt"), *options]) in (0, 2)


def checkpoint(folder: Path) -> Path:
    """A checkpoint of a training with moments and an order of pairs."""
    pairs = [Pair(("我",), ("I", "love")), Pair(("爱",), ("love", "I")), Pair(("课",), ("I", "I"))]
    trainer = Trainer(engine.tutorial_weights(), pairs, Settings(steps=3, batch=2))
    list(trainer.run(2))
    return save_checkpoint(trainer, folder)


def state(path: Path) -> None:
    """The state of a checkpoint, which is whole."""
    whole = path.with_name("step-000002.json")
    if not whole.exists():
        checkpoint(path.parent)
    path.replace(state_beside(whole))
    load_checkpoint(whole)


def kinds(folder: Path) -> list[Kind]:
    """All kinds of file that the engine reads."""
    weights = engine.tutorial_weights()
    for suffix in ("json", "npz", "safetensors"):
        engine.save_weights(weights, folder / f"w.{suffix}")
    arrays = {"a": np.arange(6.0), "b": np.zeros((2, 3), "f4")}
    np.savez_compressed(folder / "packed.npz", **arrays)
    expected = np.load(MODEL / "expected.npz")
    np.savez(folder / "p.npz", **{n: expected[n] for n in ("source_ids", "target_ids", "logits")})
    numbered = {"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"id": 2, "content": "c"}]}
    lesson = 'weights = "a.json"\nsource = "我爱水课" # x\n[deep.er]\nn = [1, 2.5, {a.b = 3}]\n'
    names = "'enc.l#.q' = 'encoder.#.self_attn.q_proj'\nsteps = ''\n"
    moments = state_beside(checkpoint(folder)).read_bytes()
    corpus = "# pairs\n我 爱\tI love\t0-0 1-1\n课\tcourses\n"
    history = '{"step": 0, "loss": 1.5, "alignment": null, "accuracy": 0.5, "p": [0.1, 0.2], '
    history += '"entropy": 1.25, "gradient": 2.0}\n'
    return [
        *(
            Kind(f"w.{suffix}", (folder / f"w.{suffix}").read_bytes(), engine.load_weights)
            for suffix in ("json", "npz", "safetensors")
        ),
        Kind("m.pt", (MODEL / "model.pt").read_bytes(), loaded),
        Kind("v.pt", (MODEL.parents[1] / "checkpoints" / "views.pt").read_bytes(), loaded),
        Kind("m.safetensors", (MODEL / "model.safetensors").read_bytes(), loaded),
        Kind("m.npz", (folder / "packed.npz").read_bytes(), loaded),
        Kind("probe.npz", (folder / "p.npz").read_bytes(), read_probe),
        Kind("words.txt", "a\nb\n我\n".encode(), read_vocabulary),
        Kind("words.json", json.dumps(numbered).encode(), read_vocabulary),
        Kind("lesson.toml", lesson.encode(), read_toml),
        Kind("names.toml", names.encode(), read_names),
        Kind("case.json", (MODEL / "case.json").read_bytes(), case),
        Kind("corpus.tsv", corpus.encode(), read_corpus),
        Kind("history.jsonl", 2 * history.encode(), read_history),
        Kind("moments.npz", moments, state),
    ]


def damaged(sound: bytes, source: random.Random) -> bytes:
    """The file after one to four mishaps."""
    data = bytearray(sound)
    for _ in range(source.randint(1, 4)):
        start = source.randrange(len(data) + 1)
        end = min(len(data), start + source.choice((1, 2, 8, 64, 512, 4096)))
        other = source.randrange(len(data) + 1)
        match source.randrange(7):
            case 0:
                del data[start:end]
            case 1:
                data[start:end] = source.randbytes(end - start)
            case 2:
                data[start:start] = source.choice(PIECES) * source.choice((1, 1, 2, 100))
            case 3:
                data[start:end] = bytes(end - start)
            case 4:
                data[other:other] = data[start:end]
            case 5:
                del data[start:]
            case _:
                for place in range(start, min(end, start + 8)):
                    data[place] ^= 1 << source.randrange(8)
    return bytes(data)


def tried(kind: Kind, data: bytes, folder: Path) -> None:
    """Read a damaged file: no exception but a LectureError of one short line, and no long wait."""
    path = folder / kind.name
    path.write_bytes(data)
    began = time.process_time()
    try:
        kind.read(path)
    except LectureError as error:
        message = str(error)
        assert message.isprintable()
        assert len(message) <= LINE
    assert time.process_time() - began < SECONDS


def cases(kind: Kind, count: int) -> Iterator[bytes]:
    for number in range(count):
        yield damaged(kind.sound, random.Random(f"{kind.name} {number}"))


@pytest.fixture(scope="module")
def all_kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Kind]:
    return {kind.name: kind for kind in kinds(tmp_path_factory.mktemp("sound"))}


NAMES = (
    *("w.json", "w.npz", "w.safetensors", "m.pt", "v.pt", "m.safetensors", "m.npz", "probe.npz"),
    *("words.txt", "words.json", "lesson.toml", "names.toml", "case.json"),
    *("corpus.tsv", "history.jsonl", "moments.npz"),
)


def test_sound_files_are_read(all_kinds: dict[str, Kind], tmp_path: Path) -> None:
    """What the damage starts from is right, so that the damage is what is tried."""
    assert tuple(all_kinds) == NAMES
    for kind in all_kinds.values():
        path = tmp_path / kind.name
        path.write_bytes(kind.sound)
        kind.read(path)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files(name: str, all_kinds: dict[str, Kind], tmp_path: Path) -> None:
    for data in cases(all_kinds[name], CASES if name != "case.json" else CASES // 4):
        tried(all_kinds[name], data, tmp_path)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_arrays_of_other_shapes(name: str, tmp_path: Path) -> None:
    """State dicts whose arrays have lost, gained or swapped axes, names or types."""
    arrays = MODELS[name]()[1]
    for number in range(CASES // 2):
        source = random.Random(f"{name} {number}")
        changed = dict(arrays)
        for _ in range(source.randint(1, 3)):
            place = source.choice(sorted(changed))
            other = source.choice(sorted(changed))
            array = changed[place]
            match source.randrange(8):
                case 0:
                    changed[place] = array[..., :-1]
                case 1:
                    changed[place] = array[np.newaxis]
                case 2:
                    changed[place] = array.reshape(-1)
                case 3:
                    changed[place] = np.float64(1)
                case 4:
                    changed[place] = array[:0]
                case 5:
                    changed[place] = changed[other]
                case 6:
                    del changed[place]
                case _:
                    changed[place] = array.astype(source.choice(("U8", "i1", "f2", "?")))
        np.savez(tmp_path / "m.npz", **changed)
        (tmp_path / "words.txt").write_text("a\nb\nc\nd\ne\nf\n")
        options = ["--vocabulary", str(tmp_path / "words.txt"), "--objective", "next"]
        options += ["--heads", "2", "--norm", "pre", "--activation", "relu", "--scale", "1"]
        options += ["-o", str(tmp_path / "w.json"), "--force"]
        assert main(["weights", "import", str(tmp_path / "m.npz"), *options]) in (0, 2)


SCRIPT = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import test_fuzz
folder = Path(sys.argv[2])
for kind in test_fuzz.kinds(folder):
    for data in test_fuzz.cases(kind, int(sys.argv[3])):
        try:
            test_fuzz.tried(kind, data, folder)
        except BaseException:
            (folder / "culprit").write_bytes(data)
            print(kind.name, file=sys.stderr)
            raise
# not ru_maxrss, which a process inherits from the one that started it
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(status["VmHWM"].split()[0], resource.getrusage(resource.RUSAGE_SELF).ru_utime)
"""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_ten_thousand_damaged_files(tmp_path: Path) -> None:
    """In a process of its own, so that its memory is its own: under 300 MB and three minutes."""
    assert MANY * len(NAMES) >= 10_000
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path), str(MANY)],
        cwd=Path(engine.__file__).parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(engine.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    kilobytes, seconds = map(float, done.stdout.splitlines()[-1].split())
    assert kilobytes < 300 * 1024
    assert seconds < 180
