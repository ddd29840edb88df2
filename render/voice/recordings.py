"""A folder of recordings: ``DIR/08_attention_scores/scale.wav`` for each beat, or m4a, mp3, …"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from engine.errors import LectureError, from_os_error
from render.voice.audio import ENDINGS

Beat = tuple[str, str]  # slug and key
_WANTED = f"a file that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
_IGNORED = (".txt", ".md", ".json", ".toml")


class Recordings:
    """What lies in ``folder``; ``sentences`` are the keys of each scene's sentences.

    Raises LectureError if it is not a folder. A problem with a file is a line of
    ``complaints``, and its beat stays silent.
    """

    def __init__(self, folder: Path, sentences: Mapping[str, Sequence[str]]) -> None:
        if not folder.is_dir():
            found = "a file" if folder.exists() else "nothing"
            raise LectureError(
                where=folder, field="--voice", expected="a folder of recordings", found=found
            )
        self.folder = folder
        self.complaints: list[str] = []
        self._files: dict[Beat, Path] = {}
        self._unfit: set[Beat] = set()  # beats whose missing sound is already explained
        self._look(sentences)

    def files(self, slug: str) -> dict[str, Path]:
        """The recordings of a scene by key."""
        return {key: path for (own, key), path in self._files.items() if own == slug}

    def missing(self, slug: str, silent: Sequence[str], spoken: int) -> list[str]:
        """A line for each silent beat of a scene without a file; one for all where none of its
        beats is ``spoken``."""
        known = {*self._unfit, *self._files}
        keys = [key for key in silent if (slug, key) not in known]
        if keys and not spoken and not (self.folder / slug).is_dir():
            return [_line(self.folder / slug, "a folder with a recording per beat", "none")]
        return [_line(self.folder / slug / key, _WANTED, "none") for key in keys]

    def _look(self, sentences: Mapping[str, Sequence[str]]) -> None:
        for entry in _entries(self.folder):
            if entry.is_file() and _is_note(entry):
                continue
            if not entry.is_dir() or entry.name not in sentences:
                near = _near(entry.name, sentences)
                self._complain(entry, f"a scene's folder{near}", repr(entry.name))
                continue
            try:
                files = sorted(_entries(entry), key=_rank)
            except LectureError as error:
                self.complaints.append(str(error))
                continue
            for file in files:
                self._take(file, entry.name, sentences[entry.name])

    def _take(self, file: Path, slug: str, keys: Sequence[str]) -> None:
        beat = slug, file.stem
        if _is_note(file):
            return
        if file.stem not in keys:
            self._complain(file, f"a beat's name{_near(file.stem, keys)}", repr(file.stem))
        elif file.suffix.lower() not in ENDINGS:
            self._complain(file, _WANTED, file.suffix or "no ending")
            self._unfit.add(beat)
        elif beat in self._files:
            first = self._files[beat].name
            self._complain(file, f"one recording for a beat, and {first} is used", "two recordings")
        else:
            self._files[beat] = file

    def _complain(self, path: Path, expected: str, found: str) -> None:
        self.complaints.append(_line(path, expected, found))


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder and is not hidden, by name. Raises LectureError where it cannot be
    looked into."""
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise from_os_error(error, folder) from error


def _rank(file: Path) -> tuple[str, int, str]:
    """Files in the order of their names; of those for one beat, the first of ENDINGS first."""
    suffix = file.suffix.lower()
    return file.stem, ENDINGS.index(suffix) if suffix in ENDINGS else len(ENDINGS), file.name


def _is_note(file: Path) -> bool:
    return file.suffix.lower() in _IGNORED


def _near(name: str, names: Mapping[str, Any] | Sequence[str]) -> str:
    near = get_close_matches(name, list(names), n=2, cutoff=0.5)
    near += [other for other in names if other.startswith(f"{name}_") and other not in near][:2]
    return f" such as {' or '.join(near)}" if near else ""


def _line(path: Path, expected: str, found: str) -> str:
    return str(LectureError(where=path, field="recording", expected=expected, found=found))
