"""Voices of the old session: sounds by digest beside the videos, and records of what was said."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import LectureError, from_os_error
from render.base.files import STATE, holds, make_folder, sha256, stamp, write_state
from render.base.process import share_out
from render.base.reader import read_state
from render.base.reads import pause
from render.build.incremental import made as notes
from render.build.records import path_of, read_record
from render.build.task import Result, Task
from render.media.check import check_video, pictures_of
from render.media.mux import Part, Video, mux
from render.media.sound import Sound, write_track
from render.voice import provider, recordings, spoken
from render.voice.audio import prepare, seconds_of
from render.voice.choice import RECORDINGS, Choice
from render.voice.script import SCRIPT, changed
from render.voice.speaker import say
from render.voice.spoken import table_of
from scenes import texts

if TYPE_CHECKING:
    from render.build.incremental import state
    from render.build.order import Order
    from scenes.registry import SceneInfo

Beat = tuple[str, str]  # slug and key
_FEW = 8  # recordings that one process is sooner through with than others have started
#: of how sounds are made ready: another one makes all of them anew
FORM = 1
_UNUSED = 24 * 3600  # seconds after which a sound that no video has is removed


class Store:
    """``OUT/.render/voice``: a WAV file per sound."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def make_folder(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise from_os_error(error, self.folder) from error

    def path(self, digest: str) -> Path:
        return self.folder / f"{digest}.wav"

    def has(self, digest: str) -> bool:
        return self.path(digest).is_file()

    def seconds(self, digest: str) -> float:
        """How long a beat must last for this sound; 0 for none."""
        return seconds_of(self.path(digest)) if digest else 0.0

    def tidy(self, used: Collection[str]) -> None:
        """Remove what no video has and nobody has just made."""
        for path in self.folder.glob("*.wav"):
            if path.stem not in used and time.time() - path.stat().st_mtime > _UNUSED:
                path.unlink(missing_ok=True)


def digest_of(*parts: str | bytes) -> str:
    """The name of the sound that is made of these."""
    found = hashlib.sha256(str(FORM).encode())
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "big") + data)
    return found.hexdigest()[:24]


class Recordings(recordings.Recordings):
    """Recordings with what is known of them from earlier runs, in the file ``index``."""

    def __init__(
        self, folder: Path, sentences: Mapping[str, Sequence[str]], store: Store, index: Path
    ) -> None:
        super().__init__(folder, sentences)
        self.store = store
        self._index = index
        self._known = _two_tables(read_state(index))
        self._stamps: dict[str, Any] = {}
        self._digests = {beat: self._digest(path) for beat, path in self._files.items()}

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
        write_state(self._index, {**self._known, "files": self._stamps})

    def sounds(self, slug: str) -> dict[str, str]:
        """Digests of a scene's sounds by key."""
        return {
            key: digest for s, key in self._files if s == slug and (digest := self.digest(s, key))
        }

    def _digest(self, path: Path) -> str:
        """Of a recording's bytes, read only where its size or time is new."""
        key = str(path.absolute())
        status = path.stat()
        said = self._known["files"].get(key, {})
        if (said.get("size"), said.get("mtime_ns")) != (status.st_size, status.st_mtime_ns):
            said = stamp(path)  # which has a digest
        self._stamps[key] = said
        return digest_of(str(said.get("sha256")))


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


Placed = tuple[tuple[int, str], ...]  # first frame and digest of each sound of a scene


def noted(
    who: str, beats: Iterable[Any], sounds: Mapping[str, str], store: Store, fps: int
) -> dict[str, Any]:
    """What is remembered of a scene's voice, under ``made``: for each beat its sound, how long
    its animations took, how long it would wait in silence, and how many frames it waits."""
    said = {}
    for beat in beats:
        digest = sounds.get(beat.key, "")
        frames = pause(beat.busy, beat.quiet, store.seconds(digest), fps)
        said[beat.key] = [digest, beat.busy, beat.quiet, frames]
    return {"who": who, "beats": said}


def digests(record: Mapping[str, Any]) -> dict[str, str]:
    """The sounds of a video's beats by key, from its record; empty for a silent one."""
    said = (record.get("made") or {}).get("voice") or {}
    return {key: digest for key, (digest, *_) in said.get("beats", {}).items()}


def key_of(beat: Mapping[str, Any]) -> str:
    """A recorded beat's key: its name, with its variant where it has one."""
    return f"{beat['name']}_{beat['variant']}" if beat.get("variant") else str(beat["name"])


def sounds_of(beats: Iterable[Mapping[str, Any]], by_key: Mapping[str, str], fps: int) -> Placed:
    """First frame and digest of each sound of a scene, from the beats of its record."""
    found = []
    for beat in beats:
        key = key_of(beat)
        if by_key.get(key):
            found.append((round(beat["start"] * fps), by_key[key]))
    return tuple(found)


def placed(sounds: Iterable[tuple[int, str]], store: Store, offset: int = 0) -> list[Sound]:
    """Sounds by frame and digest as files, ``offset`` frames later."""
    return [Sound(offset + frame, store.path(digest)) for frame, digest in sounds]


class Speaker:
    """Speaks one scene; ``sounds`` has the digest of each beat's sound, by key.

    ``said`` is what ``Voice.for_task`` gives: with ``sounds`` these are the recordings there are;
    else a synthetic voice makes them from the sentences.
    """

    def __init__(self, said: Mapping[str, Any], slug: str, language: str) -> None:
        self.who = str(said["who"])
        self.sounds: dict[str, str] = {}
        self.store = Store(Path(said["store"]))
        self._slug, self._language = slug, language
        self._recorded: Mapping[str, str] | None = said["sounds"]
        self._provider: provider.Provider | None = None
        self._named = str(said["name"]), str(said["folder"])

    def seconds(self, key: str, template: str, facts: Mapping[str, Any]) -> float:
        """How long the beat must last for its speech, breath and all; 0 for a silent one."""
        if self._recorded is not None:
            digest = self._recorded.get(key, "")
        else:
            digest = self._speak(key, template, facts)
        self.sounds[key] = digest
        return self.store.seconds(digest)

    def noted(self, beats: Sequence[Any], fps: int) -> dict[str, Any]:
        """What is remembered of the scene's voice: see ``timing.noted``."""
        return noted(self.who, beats, self.sounds, self.store, fps)

    def track(self, task: Task, beats: Sequence[Any], frames: int) -> Path:
        """Write the scene's sound track beside its video."""
        fps = task.quality.fps
        sounds = [
            Sound(round(beat.start * fps), self.store.path(digest))
            for beat in beats
            if (digest := self.sounds.get(beat.key))
        ]
        return write_track(
            task.video.with_suffix(".wav"), sounds, frames, task.quality.samples_per_frame
        )

    def _speak(self, key: str, template: str, facts: Mapping[str, Any]) -> str:
        text = spoken.sentence(self._language, self._slug, key, template, facts)
        digest = digest_of(self.who, self._language, text)
        if not self.store.has(digest):
            self.store.make_folder()
            say(self._provider_found(), text, self._language, self.store.path(digest))
        return digest

    def _provider_found(self) -> provider.Provider:
        if self._provider is None:
            self._provider = provider.find(*self._named)
        return self._provider


class Voice:
    """A choice for one language, with the sounds kept in ``state`` (the folder ``.render``)."""

    def __init__(self, choice: Choice, language: str, state: Path) -> None:
        self._choice, self._language = choice, language
        self._out = state.parent
        self.store = Store(state / "voice")
        self.recordings: Recordings | None = None
        if choice.name == RECORDINGS:
            sentences = {
                slug: list(table["beats"])
                for slug, table in texts.load(language).items()
                if "beats" in table
            }
            index = state / "voice.json"
            self.recordings = Recordings(choice.folder_for(language), sentences, self.store, index)
            self.who = RECORDINGS
        else:
            code = [sha256(path) for path in sorted(Path(provider.__file__).parent.glob("*.py"))]
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
        for slug, (keys, count) in silent.items():
            lines += self.recordings.missing(slug, keys, count)
        return [*lines, *changed(said, self.recordings.folder)]

    def tidy(self, state: Path) -> None:
        """Remove sounds that no video in the folder has any more."""
        used: set[str] = set()
        for path in state.glob("*.json"):
            used.update(digests(read_state(path)).values())
        self.store.tidy(used)


def changes_of_voice(voice: Voice | None, said: Any, slug: str) -> list[str]:
    """What of a video's voice, as remembered, is otherwise now; neither may be there."""
    if voice is None or not said:
        return [] if voice is None and not said else [f"voice: {'none' if voice else 'one'} so far"]
    return voice.changes(said, slug)


def kept(now: state.State, scene: SceneInfo) -> dict[str, str] | None:
    """The files of a video whose pictures are as they should be; None if there are none."""
    order = now.order
    if order.force or not now.only_sound(scene):
        return None
    name = order.video_name(scene)
    paths = {
        "video": order.out / name,
        "record": path_of(order.out, name),
        "numbers": order.out / order.numbers_name(scene),
    }
    return {kind: str(path.absolute()) for kind, path in paths.items()}


def film_sounds(
    now: state.State, parts: Sequence[Part], checked: Sequence[state.Part]
) -> list[Sound] | None:
    """The sounds of all scenes by the frames of the film; None where nobody speaks."""
    if not now.voice:
        return None
    found, start = [], 0
    for part, scene in zip(parts, checked, strict=True):
        found += placed(scene.sounds, now.voice.store, start)
        start += part.frames
    return found


def settle(now: state.State) -> list[str]:
    """At the end of a run: remove sounds that no video has any more. Returns a line for each
    recording that is missing, cannot be used, or says something else."""
    order = now.order
    if not now.voice:
        return []
    now.voice.tidy(order.out / STATE)
    silent, said = {}, {}
    for scene in order.scenes:
        record = read_record(order.out, order.video_name(scene))
        by_key = digests(record)
        keys = [key for key, digest in by_key.items() if not digest]
        silent[scene.slug] = keys, len(by_key) - len(keys)
        for beat in record.get("beats", ()) if now.voice.has_script else ():
            if by_key.get(key_of(beat)):
                said[f"{scene.slug}/{key_of(beat)}"] = _sentence(order, scene, beat)
    return now.voice.complaints(silent, said)


def _sentence(order: Order, scene: SceneInfo, beat: Mapping[str, Any]) -> str:
    """What is to be said in a beat of a record."""
    key = key_of(beat)
    template = texts.entry(order.language, scene.slug, "beats", key)
    facts = {name: _Shown(fact) for name, fact in beat["facts"].items()}
    return spoken.sentence(order.language, scene.slug, key, template, facts)


@dataclass(frozen=True)
class _Shown:
    """A fact as it was shown; whether it was a word or a number is not remembered."""

    text: str

    def __str__(self) -> str:
        return self.text


def resound(task: Task) -> Result:
    """Make ``task.video`` of the pictures and beats of the video that is kept and the recordings
    that there are now. Raises LectureError where it has just become another one."""
    assert task.kept is not None
    assert task.voice is not None
    began = time.monotonic()
    record, old = read_state(Path(task.kept["record"])), Path(task.folder) / "old.mp4"
    shutil.copyfile(task.kept["video"], old)
    shutil.copyfile(task.kept["numbers"], task.numbers)
    for kind, path in (("video", old), ("numbers", task.numbers)):
        if not record or not holds(path, record["files"][kind]):
            expected = "the video that was looked at"
            raise LectureError(where=task.kept[kind], expected=expected, found="another one")
    store, frames = Store(Path(task.voice["store"])), int(record["frames"])
    fps, sounds = task.quality.fps, task.voice["sounds"]
    made = {**record["made"], "voice": _noted(record["made"]["voice"], sounds, store, fps)}
    task.made.write_text(json.dumps(made), encoding="utf-8")
    origin = task.origin(notes.key_of(made))
    track = write_track(
        task.video.with_suffix(".wav"),
        placed(sounds_of(record["beats"], sounds, fps), store),
        frames,
        task.quality.samples_per_frame,
    )
    wanted = Video(task.quality, frames, task.title, origin, pictures=pictures_of([old]))
    mux(task.ffmpeg, wanted, [Part(old, frames)], task.video, track)
    check_video(task.video, wanted, shown_as=task.slug)
    return Result(frames, time.monotonic() - began, 0, record["beats"])


def _noted(said: dict[str, Any], sounds: dict[str, str], store: Store, fps: int) -> dict[str, Any]:
    beats = {}
    for key, (_, busy, quiet, _) in said["beats"].items():
        digest = sounds.get(key, "")
        beats[key] = [digest, busy, quiet, pause(busy, quiet, store.seconds(digest), fps)]
    return {**said, "beats": beats}
