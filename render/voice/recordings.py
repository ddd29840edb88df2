"""A folder of recordings: ``DIR/08_attention_scores/scale.wav`` for each beat, or m4a, mp3, …"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.stamps import read_json, stamp, write_json
from render.voice.files import ENDINGS, prepare
from render.voice.store import Store, digest_of

Beat = tuple[str, str]  # slug and key
_WANTED = f"a file that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
_FEW = 8  # recordings that one process is sooner through with than others have started
_IGNORED = (".txt", ".md", ".json", ".toml")


class Recordings:
    """What lies in ``folder``; ``sentences`` are the keys of each scene's sentences.

    Raises LectureError where the folder is none. Whatever is wrong with a file is a line of
    ``complaints``, and its beat stays silent.
    """

    def __init__(
        self, folder: Path, sentences: Mapping[str, Sequence[str]], store: Store, index: Path
    ) -> None:
        if not folder.is_dir():
            found = "a file" if folder.exists() else "nothing"
            raise LectureError(
                where=folder, field="--voice", expected="a folder of recordings", found=found
            )
        self.folder = folder
        self.store = store
        self.complaints: list[str] = []
        self._files: dict[Beat, Path] = {}
        self._unfit: set[Beat] = set()  # beats whose missing sound is already explained
        self._index = index
        self._known = _two_tables(read_json(index))
        self._stamps: dict[str, Any] = {}
        self._look(sentences)
        self._digests = {beat: self._digest(path) for beat, path in self._files.items()}

    @property
    def who(self) -> str:
        return "recordings"

    def digest(self, slug: str, key: str) -> str:
        """Of the sound of a beat; empty where there is none, or none that can be used."""
        digest = self._digests.get((slug, key), "")
        return "" if digest in self._known["bad"] else digest

    def make_ready(self, slugs: Sequence[str], processes: int) -> None:
        """Prepare the recordings of these scenes that are new; complain of those that are bad."""
        files = {b: path for b, path in self._files.items() if b[0] in slugs}
        bad = self._known["bad"]
        self.store.make_folder()
        fresh = {
            self._digests[beat]: path
            for beat, path in files.items()
            if self._digests[beat] not in bad and not self.store.has(self._digests[beat])
        }
        if fresh:
            from render.base.helpers import share_out

            jobs = [(path, self.store.path(digest)) for digest, path in fresh.items()]
            processes = processes if len(jobs) > _FEW else 1
            for digest, wrong in zip(fresh, share_out(_prepare, jobs, processes), strict=True):
                if wrong:
                    bad[digest] = wrong
        for beat, path in files.items():
            wrong = bad.get(self._digests[beat])
            if wrong:
                expected, found = wrong
                self._complain(path, expected, found)
                self._unfit.add(beat)
        write_json(self._index, {**self._known, "files": self._stamps})

    def missing(self, slug: str, silent: Sequence[str], spoken: int) -> list[str]:
        """A line for each silent beat of a scene that nothing was said about yet; one for all
        where none of its beats is ``spoken``."""
        keys = [key for key in silent if (slug, key) not in self._unfit]
        if keys and not spoken and not (self.folder / slug).is_dir():
            return [_line(self.folder / slug, "a folder with a recording per beat", "none")]
        return [_line(self.folder / slug / key, _WANTED, "none") for key in keys]

    def sounds(self, slug: str) -> dict[str, str]:
        """Digests of a scene's sounds by key."""
        return {
            key: digest for s, key in self._files if s == slug and (digest := self.digest(s, key))
        }

    def _look(self, sentences: Mapping[str, Sequence[str]]) -> None:
        for entry in sorted(self.folder.iterdir()):
            if entry.name.startswith(".") or (entry.is_file() and _is_note(entry)):
                continue
            if not entry.is_dir() or entry.name not in sentences:
                self._complain(
                    entry, f"a scene's folder{_near(entry.name, sentences)}", repr(entry.name)
                )
                continue
            for file in sorted(entry.iterdir(), key=_rank):
                if not file.name.startswith("."):
                    self._take(file, entry.name, sentences[entry.name])

    def _take(self, file: Path, slug: str, keys: Sequence[str]) -> None:
        beat = slug, file.stem
        if file.stem not in keys:
            if not _is_note(file):
                self._complain(file, f"a beat's name{_near(file.stem, keys)}", repr(file.stem))
        elif file.suffix.lower() not in ENDINGS:
            if not _is_note(file):
                self._complain(file, _WANTED, file.suffix or "no ending")
                self._unfit.add(beat)
        elif beat in self._files:
            first = self._files[beat].name
            self._complain(file, f"one recording for a beat, and {first} is used", "a second one")
        else:
            self._files[beat] = file

    def _digest(self, path: Path) -> str:
        """Of a recording's bytes, read only where its size or time is new."""
        key = str(path.absolute())
        status = path.stat()
        said = self._known["files"].get(key, {})
        if (said.get("size"), said.get("mtime_ns")) != (status.st_size, status.st_mtime_ns):
            said = stamp(path)  # which has a digest
        self._stamps[key] = said
        return digest_of(str(said.get("sha256")))

    def _complain(self, path: Path, expected: str, found: str) -> None:
        self.complaints.append(_line(path, expected, found))


def _two_tables(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What is known of files by path, and what is wrong with sounds by digest; nothing, where it
    is not as it was written."""
    match said:
        case {"files": dict(files), "bad": dict(bad)}:
            good = all(isinstance(entry, dict) for entry in files.values())
            if good and all(isinstance(e, list) and len(e) == 2 for e in bad.values()):
                return {"files": files, "bad": bad}
    return {"files": {}, "bad": {}}


def _prepare(job: tuple[Path, Path]) -> tuple[str, str] | None:
    """Make one recording ready; what is wrong with it, if anything. Raises LectureError where
    something else is: a full disk, say."""
    try:
        prepare(*job)
    except LectureError as error:
        if error.field != "recording":
            raise
        return str(error.expected), str(error.found)
    return None


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
