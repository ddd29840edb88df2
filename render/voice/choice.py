"""Who speaks: nobody, the recordings of a folder, or a synthetic voice."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError
from render.base.reader import read_state
from render.base.reads import Json
from render.voice import provider
from render.voice.recordings import Recordings
from scenes import texts

RECORDINGS = "recordings"
_SENTENCE = "[0-9a-f]" * 24  # the name of a sound that was made of a sentence
_SPEAKER = "render.voice.speaker"
_UNUSED = 24 * 3600  # seconds after which a sound that no video has is removed
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
        if self.name == RECORDINGS:
            return "voiced"
        return f"voice_{self.name.rpartition(':')[2].lower()}"


def choose(said: str, languages: Sequence[str] = ()) -> Choice | None:
    """The choice that ``--voice`` stands for; None for ``none``. Raises LectureError, also for one
    folder of recordings where there are several ``languages``."""
    if said == "none":
        return None
    kind, _, rest = said.partition(":")
    if kind == RECORDINGS:
        expected = "" if rest else "recordings:DIR"
        if rest and len(languages) > 1 and _LANGUAGE not in rest:
            expected = f"a folder for each language, such as recordings:{rest}/{_LANGUAGE}"
        if expected:
            raise LectureError(field="--voice", expected=expected, found=repr(said))
        return Choice(RECORDINGS, Path(rest).expanduser())
    here = Path.cwd()
    provider.identity(said, str(here))  # so that a typo is reported now
    return Choice(said, here)


class Voice:
    """A choice for one language; sentences that a synthetic voice has said are kept in ``kept``.

    ``who`` stands for the voice, whatever it says. Raises LectureError where it is not there.
    """

    def __init__(self, choice: Choice, language: str, kept: Path) -> None:
        self._choice, self._kept = choice, kept
        self.recordings: Recordings | None = None
        self.who = RECORDINGS
        if choice.name == RECORDINGS:
            tables = texts.load(language).items()
            sentences = {slug: list(own["beats"]) for slug, own in tables if "beats" in own}
            self.recordings = Recordings(choice.folder_for(language), sentences)
        else:
            self.who = provider.identity(choice.name, str(choice.folder))

    def spoken(self, seconds: Mapping[str, float]) -> dict[str, Json]:
        """What the speaker of a scene must know; ``seconds``: the facts of its recordings, by
        beat."""
        if self.recordings is not None:
            return {"seconds": dict(seconds)}
        return {
            "module": _SPEAKER,
            "name": self._choice.name,
            "who": self.who,
            "folder": str(self._choice.folder.absolute()),
            "kept": str(self._kept.absolute()),
        }

    @property
    def modules(self) -> tuple[str, ...]:
        """What speaks during a play."""
        return () if self.recordings is not None else (_SPEAKER,)

    def tidy(self, records: Path) -> None:
        """Remove sentences that a synthetic voice has said, if no pictures with a record in the
        folder ``records`` have them and nobody has just made them."""
        sounds = list(self._kept.glob(f"{_SENTENCE}.wav"))
        used: set[str] = set()
        for path in records.glob("*.json") if sounds else ():
            facts = read_state(path).get("facts")
            used.update(facts.get("sentences", ()) if isinstance(facts, dict) else ())
        for sound in sounds:
            with contextlib.suppress(OSError):
                if sound.stem not in used and time.time() - sound.stat().st_mtime > _UNUSED:
                    sound.unlink()
