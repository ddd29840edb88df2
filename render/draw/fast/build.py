"""The compiled helper: built with the C compiler at first use, kept in the user's cache folder.

The name of the file says what it was built from and for, so an old one is never used by mistake.
LECTURE_NATIVE=0 in the environment goes without.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.machinery
import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from engine.files import write_aside

VARIABLE = "LECTURE_NATIVE"
_NAME = "lecture_native"
_SOURCES = Path(__file__).parent / "native"
# no fused multiply-add and no reordering: sums must come out as NumPy's do, to the last bit
_OPTIONS = ("-O3", "-fPIC", "-shared", "-std=gnu11", "-ffp-contract=off")
_SECONDS = 120


class NotBuilt(RuntimeError):
    """Why there is no compiled helper, in one line."""


@cache
def load() -> Any:
    """The module, built if need be. Raises NotBuilt."""
    if os.environ.get(VARIABLE) == "0":
        raise NotBuilt(f"{VARIABLE}=0")
    target = cache_folder() / f"{_NAME}-{_fingerprint()}.so"
    if not target.is_file():
        _build(target)
    loader = importlib.machinery.ExtensionFileLoader(_NAME, str(target))
    spec = importlib.util.spec_from_loader(_NAME, loader)
    assert spec is not None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError as error:
        with contextlib.suppress(OSError):
            target.unlink()
        raise NotBuilt(f"{target}: {error}") from error
    return module


def cache_folder() -> Path:
    """Where compiled files are kept: $XDG_CACHE_HOME or ~/.cache, or else a folder of this user
    among the temporary files."""
    chosen = os.environ.get("XDG_CACHE_HOME")
    with contextlib.suppress(OSError, RuntimeError):
        folder = (Path(chosen) if chosen else Path.home() / ".cache") / "transformer-lecture"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    return Path(tempfile.mkdtemp(prefix="transformer-lecture-"))


def _files() -> list[Path]:
    return sorted([*_SOURCES.glob("*.c"), *_SOURCES.glob("*.h")])


def _fingerprint() -> str:
    import numpy as np

    made_of = [sys.version, platform.platform(), np.__version__, *_OPTIONS]
    made_of += [path.read_text("utf-8") for path in _files()]
    return hashlib.sha256("\0".join(made_of).encode()).hexdigest()[:16]


def _build(target: Path) -> None:
    import numpy as np

    compiler = os.environ.get("CC") or next(filter(shutil.which, ("cc", "gcc", "clang")), None)
    if compiler is None:
        raise NotBuilt("there is no C compiler")
    include = [sysconfig.get_paths()["include"], np.get_include()]
    command = [*shlex.split(compiler), *_OPTIONS, *(f"-I{folder}" for folder in include)]
    command += [str(path) for path in _files() if path.suffix == ".c"]
    if sys.platform == "darwin":
        command += ["-undefined", "dynamic_lookup"]
    command += ["-lm", *(["-ldl"] if sys.platform == "linux" else [])]
    try:
        with tempfile.TemporaryDirectory(prefix="transformer-lecture-") as folder:
            library = Path(folder) / target.name
            command += ["-o", str(library)]
            made = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
            if made.returncode != 0:
                raise NotBuilt(f"{compiler}: {(made.stderr.strip() or 'failed').splitlines()[0]}")
            write_aside(target, library.read_bytes())
    except (OSError, LectureError, subprocess.TimeoutExpired) as error:
        raise NotBuilt(f"{compiler}: {error}") from error
