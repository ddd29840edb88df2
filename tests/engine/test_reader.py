"""The bounded reader: what is too large, too deep, endless or no file at all costs one line, little
memory and little time."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import engine
from engine import LectureError, reader
from engine.errors import LINE
from engine.npz_file import read_arrays

PATH = Path("x")


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(LectureError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) <= LINE
    return message


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}')
    assert reader.read_json(path) == {"a": 1}
    path.write_bytes(b"\xef\xbb\xbfa = 1")
    assert reader.read_toml(path) == {"a": 1}
    path.write_bytes("\ufeff我".encode())
    assert reader.read_text(path) == "我"
    text = engine.TUTORIAL.read_bytes()
    path = tmp_path / "w.json"
    path.write_bytes(b"\xef\xbb\xbf" + text)
    assert engine.load_weights(path).vocabulary[0] == "我"


@pytest.mark.parametrize("suffix", [".json", ".npz", ".safetensors", ".toml"])
def test_a_pipe_is_refused_at_once(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{suffix}"
    os.mkfifo(path)
    read = reader.read_toml if suffix == ".toml" else engine.load_weights
    assert "expected a regular file, found something else" in refused(lambda: read(path))


def test_sizes(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b" " * 11)
    assert reader.read_bytes(path, 11) == b" " * 11
    assert "file: expected at most 10 bytes, found 11 bytes" in refused(
        lambda: reader.read_bytes(path, 10)
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc here")
def test_files_that_hide_their_size(tmp_path: Path) -> None:
    """Those of /proc say 0 bytes and hold more."""
    assert "expected at most 10 bytes, found 11 bytes" in refused(
        lambda: reader.read_bytes("/proc/self/status", 10)
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[" * 65 + b"]" * 65, "lists and objects at most 64 deep"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "lists and objects at most 64 deep"),
        (b"[" * 1_000_000, "lists and objects at most 64 deep"),
        (b"1" * 5000, "at most 1000 digits, found one of 5000"),
        (b'{"a": [-' + b"9" * 5000 + b"]}", "at most 1000 digits"),
        (b'{"a": 1, "b": {"c": 1, "c": 2}}', "every name once, found 'c' twice in one object"),
        (b"[1, NaN]", "finite numbers, found NaN"),
        (b"[\n 1, ]", "line 2 column "),
        (b"\xff", "UTF-8 text, found byte 0xff at 0"),
        (b"", "line 1 column 1: expected valid JSON"),
    ],
)
def test_json_that_is_refused(data: bytes, message: str) -> None:
    assert message in refused(lambda: reader.parse_json(data, PATH))


def test_json_that_is_read() -> None:
    nested = b"[" * 64 + b"]" * 64
    assert reader.parse_json(nested, PATH) is not None
    assert reader.parse_json(b'{"a": "' + b"1" * 5000 + b'"}', PATH)["a"] == "1" * 5000
    assert reader.parse_json(b"1" * 1000, PATH) == int("1" * 1000)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a." * 20_000 + "a = 1", "keys of at most 32 parts"),
        ('"a"' + ' . "b"' * 20_000 + " = 1", "keys of at most 32 parts"),
        ("x = {" + "a." * 40 + "a = 1}", "keys of at most 32 parts"),
        ("[" + "a." * 20_000 + "a]", "keys of at most 32 parts"),
        ("a = " + "1" * 5000, "numbers of at most 1000 digits"),
        ("a = 0x" + "f" * 5000, "numbers of at most 1000 digits"),
        ("a = " + "[" * 100 + "]" * 100, "at most 64 deep"),
        ("a = " + "[" * 100_000, "at most 64 deep"),
        ("a = 2024-02-30", "expected valid TOML"),
        ("a = 1\nb = \n", "line 2 column 5: expected valid TOML, found Invalid value"),
        ("a =", "expected valid TOML"),
    ],
)
def test_toml_that_is_refused(text: str, message: str) -> None:
    assert message in refused(lambda: reader.parse_toml(text.encode(), PATH))


def test_toml_texts_are_not_keys() -> None:
    """Dots and digits in texts and comments count for nothing."""
    dots = "a." * 50
    digits = "1" * 5000
    text = f"""
    s = "{dots}" # {dots} {digits}
    l = '{dots}'
    m = '''
    {dots} {digits}'''
    n = \"\"\"{dots} \\\"\"\" {digits}\"\"\"
    numbers = [{", ".join(["0.25"] * 100)}]
    """
    read = reader.parse_toml(text.encode(), PATH)
    assert read["s"] == read["l"] == dots
    assert len(read["numbers"]) == 100
    assert digits in read["n"]


@pytest.mark.parametrize("text", ['\\"""\n' * 200_000, '\\"' * 400_000, "a " * 400_000, "'" * 9999])
def test_looking_for_keys_takes_linear_time(text: str) -> None:
    refused(lambda: reader.parse_toml(text.encode(), PATH))


def test_messages_are_short_and_keep_the_file(tmp_path: Path) -> None:
    folder = tmp_path / ("long name " * 20)
    folder.mkdir()
    path = folder / "w.json"
    path.write_text('{"format": "' + "x" * 500 + '"}')
    message = refused(lambda: engine.load_weights(path))
    assert message.startswith(str(path)[:20])
    assert re.match(r"[^:]*…[^:]*/w\.json: format: ", message)
    short = LectureError(where="w.json", field="f", expected="e" * 300, found="g" * 300)
    assert len(str(short)) == LINE
    assert str(short).startswith("w.json: f: expected e")


def bomb(members: int, size: int, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive of `members` arrays of `size` zero bytes each."""
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (size,)}
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for number in range(members):
            archive.writestr(f"a{number}.npy", header.getvalue() + bytes(size))
    return file.getvalue()


def test_archives_that_unpack_to_too_much() -> None:
    message = refused(lambda: read_arrays(bomb(5, 16 * 2**20), PATH))
    assert "expected at most 64 MiB, found" in message
    assert "bytes unpacked" in message
    assert "more than 4096 members" in refused(lambda: read_arrays(bomb(5000, 0), PATH))
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = bomb(1, 1000, method)
        assert "compression method" in refused(lambda data=data: read_arrays(data, PATH))


def test_members_that_are_larger_than_they_say() -> None:
    """The declared size is what is unpacked, and the checksum then tells."""
    data = bytearray(bomb(1, 2**20))
    real, said = (2**20 + 128).to_bytes(4, "little"), (128 + 64).to_bytes(4, "little")
    assert data.count(real) == 2
    lying = bytes(data).replace(real, said)
    lying = lying.replace(b"1048576", b"64     ")
    assert "a sound npz archive" in refused(lambda: read_arrays(lying, PATH)["a0"])


def test_lost_bytes(tmp_path: Path) -> None:
    """Wherever 512 bytes are missing from the middle, it is one line."""
    path = tmp_path / "w.npz"
    engine.save_weights(engine.tutorial_weights(), path)
    whole = path.read_bytes()
    for start in range(0, len(whole) - 512, 301):
        path.write_bytes(whole[:start] + whole[start + 512 :])
        message = refused(lambda: engine.load_weights(path))
        assert message.startswith(str(path))


def test_shapes_are_compared_before_numbers_are_unpacked(tmp_path: Path) -> None:
    """A table of 48 MB in place of one of 8 x 4 is refused by its header: it is never unpacked, as
    its checksum, which is wrong, would otherwise be complained of."""
    path = tmp_path / "w.npz"
    engine.save_weights(engine.tutorial_weights(), path)
    with np.load(path) as stored:
        arrays = dict(stored)
    arrays["embedding.weight"] = np.full((1_500_000, 4), 0.123)
    np.savez_compressed(path, **arrays)
    with zipfile.ZipFile(path) as archive:
        check = archive.getinfo("embedding.weight.npy").CRC.to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(check, b"\0\0\0\0"))
    assert "expected shape 8 x 4, found 1500000 x 4" in refused(lambda: engine.load_weights(path))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_little_memory_and_time(tmp_path: Path) -> None:
    """Bombs of each format, read one after the other in a process of their own: 300 MB at most."""
    (tmp_path / "a.npz").write_bytes(bomb(3, 60 * 2**20))
    (tmp_path / "b.json").write_bytes(b"[" + b"{}," * 1_300_000 + b"0]")
    (tmp_path / "d.json").write_bytes(b" " * 60_000_000)
    (tmp_path / "e.npz").write_bytes(bomb(1, 60 * 2**20))
    length = (4 * 2**20 - 8).to_bytes(8, "little")
    (tmp_path / "f.safetensors").write_bytes(length + b'{"a":{' * 500_000 + b" " * 2_000_000)
    script = (
        "import resource, sys, engine\n"
        "for path in sys.argv[1:]:\n"
        "    try: engine.load_weights(path)\n"
        "    except engine.LectureError as error: print(error)\n"
        # not ru_maxrss, which a process inherits from the one that started it
        "status = dict(line.split(':', 1) for line in open('/proc/self/status'))\n"
        "print(status['VmHWM'].split()[0], resource.getrusage(resource.RUSAGE_SELF).ru_utime)\n"
    )
    paths = sorted(map(str, tmp_path.iterdir()))
    root = str(Path(engine.__file__).parents[1])
    command = [sys.executable, "-c", script, *paths]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    *refusals, cost = done.stdout.splitlines()
    kilobytes, seconds = map(float, cost.split())
    assert len(refusals) == len(paths)
    assert seconds < 20
    assert kilobytes < 300 * 1024
