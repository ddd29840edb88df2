"""The voice of an order: nobody, a folder of recordings, or a synthetic voice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError
from render.base.stamps import read_json, sha256
from render.base.workspace import make_folder
from render.voice import provider
from render.voice.recordings import Recordings
from render.voice.script import SCRIPT, changed
from render.voice.spoken import table_of
from render.voice.store import Store, digest_of
from render.voice.timing import digests, pause
from scenes import texts

_RECORDINGS = "recordings"
_LANGUAGE = "{lang}"


@dataclass(frozen=True)
class Choice:
    """What ``--voice`` said: ``draft``, ``module:Class``, or ``recordings`` with a folder, in whose
    name ``{lang}`` stands for the language."""

    name: str
    folder: Path

    def folder_for(self, language: str) -> Path:
        return Path(str(self.folder).replace(_LANGUAGE, language))

    @property
    def label(self) -> str:
        """For the name of the output folder."""
        if self.name == _RECORDINGS:
            return "voiced"
        return f"voice_{self.name.rpartition(':')[2].lower()}"


def choose(said: str, languages: Sequence[str] = ()) -> Choice | None:
    """The choice that ``--voice`` stands for; None for ``none``. Raises LectureError, also for one
    folder of recordings where there are several ``languages``."""
    if said == "none":
        return None
    kind, _, rest = said.partition(":")
    if kind == _RECORDINGS:
        if not rest:
            expected, found = "recordings:DIR", repr(said)
            raise LectureError(field="--voice", expected=expected, found=found)
        if len(languages) > 1 and _LANGUAGE not in rest:
            expected = f"a folder for each language, such as recordings:{rest}/{_LANGUAGE}"
            raise LectureError(field="--voice", expected=expected, found=repr(said))
        return Choice(_RECORDINGS, Path(rest).expanduser())
    here = Path.cwd()
    provider.identity(said, str(here))  # so that a slip is told now
    return Choice(said, here)


class Voice:
    """A choice for one language, with the sounds kept in ``state`` (the folder ``.render``)."""

    def __init__(self, choice: Choice, language: str, state: Path) -> None:
        self._choice, self._language = choice, language
        self._out = state.parent
        self.store = Store(state / "voice")
        self.recordings: Recordings | None = None
        if choice.name == _RECORDINGS:
            sentences = {
                slug: list(table["beats"])
                for slug, table in texts.load(language).items()
                if "beats" in table
            }
            index = state / "voice.json"
            self.recordings = Recordings(choice.folder_for(language), sentences, self.store, index)
            self.who = _RECORDINGS
        else:
            code = [sha256(path) for path in sorted(Path(__file__).parent.glob("*.py"))]
            identity = provider.identity(choice.name, str(choice.folder))
            self.who = f"{choice.name} {digest_of(identity, sha256(table_of(language)), *code)}"

    @property
    def has_script(self) -> bool:
        """Whether it is known what the recordings say."""
        return bool(self.recordings and (self.recordings.folder / SCRIPT).exists())

    def make_ready(self, slugs: Sequence[str], processes: int) -> None:
        """Prepare recordings that are new, before anything is rendered."""
        make_folder(self._out)
        self.store.make_folder()
        if self.recordings is not None:
            self.recordings.make_ready(slugs, processes)

    def for_task(self, slug: str) -> dict[str, Any]:
        """What the worker's speaker needs to know, as plain data."""
        recordings = self.recordings
        return {
            "who": self.who,
            "name": self._choice.name,
            "folder": str(self._choice.folder.absolute()),
            "store": str(self.store.folder.absolute()),
            "sounds": None if recordings is None else recordings.sounds(slug),
        }

    def changes(self, said: Any, slug: str) -> list[str]:
        """What is otherwise than when a video was made that ``said`` is remembered of."""
        if said["who"] != self.who:
            return ["voice: another one"]
        found = []
        for key, (digest, *_) in said["beats"].items():
            now = self.recordings.digest(slug, key) if self.recordings else digest
            if now != digest:
                how = "another one" if now and digest else "new" if now else "gone"
                found.append(f"recording {slug}/{key}: {how}")
            elif now and not self.store.has(now):
                found.append(f"recording {slug}/{key}: to be made ready again")
        return found

    def keeps_pictures(self, said: Any, slug: str, fps: int) -> bool:
        """Whether every beat of such a video lasts as many frames with the sounds there are now."""
        if not said or said["who"] != self.who or self.recordings is None:
            return False
        for key, (_, busy, quiet, frames) in said["beats"].items():
            spoken = self.store.seconds(self.recordings.digest(slug, key))
            if pause(busy, quiet, spoken, fps) != frames:
                return False
        return True

    def complaints(
        self, silent: Mapping[str, tuple[Sequence[str], int]], said: Mapping[str, str]
    ) -> list[str]:
        """A line for everything that is wrong with recordings; ``silent``: the beats without
        sound of each scene, and how many have one; ``said``: the sentences of those by key."""
        if self.recordings is None:
            return []
        lines = list(self.recordings.complaints)
        for slug, (keys, spoken) in silent.items():
            lines += self.recordings.missing(slug, keys, spoken)
        return [*lines, *changed(said, self.recordings.folder)]

    def tidy(self, state: Path) -> None:
        """Remove sounds that no video in the folder has any more."""
        used: set[str] = set()
        for path in state.glob("*.json"):
            used.update(digests(read_json(path)).values())
        self.store.tidy(used)


def changes_of_voice(voice: Voice | None, said: Any, slug: str) -> list[str]:
    """What of a video's voice, as remembered, is otherwise now; neither may be there."""
    if voice is None or not said:
        return [] if voice is None and not said else [f"voice: {'none' if voice else 'one'} so far"]
    return voice.changes(said, slug)
