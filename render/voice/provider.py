"""Synthetic voices: ``draft``, or one of your own by the import path of its class."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path
from typing import Protocol, runtime_checkable

from engine.errors import LectureError

DRAFT = "render.voice.draft:Draft"


@runtime_checkable
class Provider(Protocol):
    """Made without arguments, once per scene; says sentence after sentence."""

    def say(self, text: str, language: str, target: Path) -> None:
        """Write ``text``, spoken in ``language`` ("zh" or "en"), to ``target``, a path that ends
        in .wav. Any rate, channels and loudness will do. Raises LectureError where it cannot."""


def find(name: str, folder: str) -> Provider:
    """The voice ``draft`` or ``module:Class``; modules are looked for in ``folder`` too.

    Raises LectureError where there is no such class, or it is no voice.
    """
    module, kind = _split(name)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        found = getattr(importlib.import_module(module), kind)()
    except LectureError:
        raise
    except Exception as error:
        raise _bad(name, f"{type(error).__name__}: {error}") from error
    if not isinstance(found, Provider):
        raise _bad(name, "a class without say(text, language, target)")
    return found


def identity(name: str, folder: str) -> str:
    """Stands for a voice as it is now: its name and a digest of its file. Does not import it.

    Raises LectureError where there is no such module.
    """
    module, _ = _split(name)
    if folder not in sys.path:
        sys.path.append(folder)
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise _bad(name, str(error)) from error
    if spec is None or spec.origin is None:
        raise _bad(name, f"no module {module}")
    data = Path(spec.origin).read_bytes()
    return f"{name} {hashlib.sha256(data).hexdigest()[:16]}"


def _split(name: str) -> tuple[str, str]:
    module, colon, kind = (DRAFT if name == "draft" else name).partition(":")
    if not (colon and module and kind.isidentifier()):
        raise LectureError(
            field="--voice",
            expected="none, draft, recordings:DIR, or module:Class of a voice of your own",
            found=repr(name),
        )
    return module, kind


def _bad(name: str, found: str) -> LectureError:
    return LectureError(field=f"--voice {name}", expected="a voice (docs/voice.md)", found=found)
