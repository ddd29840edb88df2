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
_NOTES = (".txt", ".md", ".json", ".toml")


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
        self._files: dict[Beat, Path | None] = {}  # None: why there is no sound is told already
        for entry in _entries(folder):
            if not entry.is_dir() or entry.name not in sentences:
                near = _near(entry.name, sentences)
                self._complain(entry, f"a scene's folder{near}", repr(entry.name))
                continue
            try:
                for file in _entries(entry):
                    self._take(file, entry.name, sentences[entry.name])
            except LectureError as error:
                self.complaints.append(str(error))

    def files(self, slug: str) -> dict[str, Path]:
        """The recordings of a scene by key."""
        return {key: path for (own, key), path in self._files.items() if own == slug and path}

    def missing(self, slug: str, silent: Sequence[str], spoken: int) -> list[str]:
        """A line for each silent beat of a scene without a file; one for all where none of its
        beats is ``spoken``."""
        keys = [key for key in silent if (slug, key) not in self._files]
        if keys and not spoken and not (self.folder / slug).is_dir():
            return [_line(self.folder / slug, "a folder with a recording per beat", "none")]
        return [_line(self.folder / slug / key, _WANTED, "none") for key in keys]

    def _take(self, file: Path, slug: str, keys: Sequence[str]) -> None:
        beat = slug, file.stem
        if file.stem not in keys:
            self._complain(file, f"a beat's name{_near(file.stem, keys)}", repr(file.stem))
        elif file.suffix.lower() not in ENDINGS:
            self._complain(file, _WANTED, file.suffix or "no ending")
            self._files.setdefault(beat, None)
        elif first := self._files.get(beat):
            expected = f"one recording for a beat, and {first.name} is used"
            self._complain(file, expected, "two recordings")
        else:
            self._files[beat] = file

    def _complain(self, path: Path, expected: str, found: str) -> None:
        self.complaints.append(_line(path, expected, found))


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder and is neither hidden nor a note, by name; of files for one beat, the
    first of ENDINGS first. Raises LectureError where it cannot be looked into."""

    def rank(path: Path) -> tuple[str, int, str]:
        suffix = path.suffix.lower()
        return path.stem, [*ENDINGS, suffix].index(suffix), path.name

    try:
        there = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise from_os_error(error, folder) from error
    notes = [path for path in there if path.suffix.lower() in _NOTES and path.is_file()]
    return sorted(set(there).difference(notes), key=rank)


def _near(name: str, names: Mapping[str, Any] | Sequence[str]) -> str:
    near = get_close_matches(name, list(names), n=2, cutoff=0.5)
    near += [other for other in names if other.startswith(f"{name}_") and other not in near][:2]
    return f" such as {' or '.join(near)}" if near else ""


def _line(path: Path, expected: str, found: str) -> str:
    return str(LectureError(where=path, field="recording", expected=expected, found=found))
