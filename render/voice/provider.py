"""Synthetic voices: ``draft``, or one of your own by the import path of its class.

The draft voice is eSpeak NG 1.52, as the package espeakng-loader carries it. It needs no network
and speaks at once; it is for hearing the timing, not for students' ears.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import importlib.metadata
import importlib.util
import re
import sys
import wave
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from engine.errors import LectureError
from render.base.failure import need

DRAFT = "render.voice.provider:Draft"
_VOICES = {"zh": "cmn", "en": "en-us"}
_SPEED = 165  # words a minute
_UTF8, _RETRIEVAL, _RATE = 1, 1, 1
_LEAD = 0.05  # seconds of silence before the first word
_HAN = re.compile("([\u4e00-\u9fff]+)")
_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


@runtime_checkable
class Provider(Protocol):
    """Created without arguments, once per scene; says sentence after sentence."""

    def say(self, text: str, language: str, target: Path) -> None:
        """Write ``text``, spoken in ``language`` ("zh" or "en"), to ``target``, a path that ends
        in .wav. Any rate, channels and loudness will do. Raises LectureError where it cannot."""


def find(name: str, folder: str) -> Provider:
    """The voice ``draft`` or ``module:Class``; modules are looked for in ``folder`` too.

    Raises LectureError where there is no such class, or it is no voice.
    """
    module, kind = _split(name, folder)
    try:
        found = getattr(importlib.import_module(module), kind)()
    except LectureError:
        raise
    except Exception as error:
        raise _bad(name, f"{type(error).__name__}: {error}") from error
    if isinstance(found, Provider):
        return found
    raise _bad(name, "a class without say(text, language, target)")


def identity(name: str, folder: str) -> str:
    """Stands for a voice as it is now: its name and a digest of its file; of the draft voice the
    version. Does not import it. Raises LectureError where there is no such module.
    """
    module, _ = _split(name, folder)
    if name == "draft":
        try:
            return f"draft {importlib.metadata.version('espeakng-loader')}"
        except importlib.metadata.PackageNotFoundError:
            return "draft none"  # which is reported when it is to speak
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError) as error:
        raise _bad(name, str(error)) from error
    if spec is None or spec.origin is None:
        raise _bad(name, f"no module {module}")
    data = Path(spec.origin).read_bytes()
    return f"{name} {hashlib.sha256(data).hexdigest()[:16]}"


def _split(name: str, folder: str) -> tuple[str, str]:
    """Module and class of a voice; the module can be imported from ``folder`` too from now on."""
    if folder not in sys.path:
        sys.path.append(folder)
    module, colon, kind = (DRAFT if name == "draft" else name).partition(":")
    if not (colon and module and kind.isidentifier()):
        raise LectureError(
            field="--voice",
            expected="none, draft, recordings:DIR, or module:Class of your own voice",
            found=repr(name),
        )
    return module, kind


def _bad(name: str, found: str) -> LectureError:
    return LectureError(field=f"--voice {name}", expected="a voice (docs/voice.md)", found=found)


class Draft:
    """Speaks Chinese and English; a Chinese word in an English sentence is said in Chinese."""

    def __init__(self) -> None:
        self._library, self._hertz = _load()

    def say(self, text: str, language: str, target: Path) -> None:
        heard = [bytes(2 * int(_LEAD * self._hertz))]

        def hear(samples: int | None, count: int, _: Any) -> int:
            if samples and count > 0:
                heard.append(ctypes.string_at(samples, 2 * count))
            return 0

        library, callback = self._library, _CALLBACK(hear)
        library.espeak_SetSynthCallback(callback)
        for voice, piece in _pieces(text, language):
            data = piece.encode()
            failed = (
                library.espeak_SetVoiceByName(voice.encode())
                or library.espeak_SetParameter(_RATE, _SPEED, 0)
                or library.espeak_Synth(data, len(data) + 1, 0, 0, 0, _UTF8, None, None)
                or library.espeak_Synchronize()
            )
            if failed:
                expected, found = f"the voice {voice}", f"error {failed}"
                raise LectureError(field="--voice draft", expected=expected, found=found)
        with wave.open(str(target), "wb") as file:
            file.setparams((1, 2, self._hertz, 0, "NONE", ""))
            file.writeframes(b"".join(heard))


def _pieces(text: str, language: str) -> Iterator[tuple[str, str]]:
    """What which voice says. In Chinese sentences eSpeak itself takes Latin words for English."""
    text = re.sub("[「」“”]", " ", text)
    if language == "zh":
        yield _VOICES["zh"], text
        return
    for piece in _HAN.split(text):
        if re.search(r"\w", piece):
            yield _VOICES["zh" if _HAN.match(piece) else "en"], piece


@cache
def _load() -> tuple[Any, int]:
    """The library, ready to speak, and its samples a second; once in a process."""
    loader = need("espeakng_loader", "voice", "--voice draft")
    library = ctypes.CDLL(loader.get_library_path())
    hertz = library.espeak_Initialize(_RETRIEVAL, 0, loader.get_data_path().encode(), 0)
    if hertz <= 0:
        raise LectureError(
            where=loader.get_data_path(), field="--voice draft", expected="data of eSpeak NG"
        )
    return library, int(hertz)
