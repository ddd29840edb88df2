"""Which side files are up to date, and the writing of those that are not."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from engine.errors import LectureError, from_os_error
from engine.passes import Passes
from render.base.project import ROOT
from render.base.stamps import holds, read_json, stamp, write_json
from render.base.workspace import STATE
from render.build.order import Order
from render.build.records import path_of, read_record
from render.documents import about
from render.documents.story import Story, Told
from render.media.captions import chapters, files, terms
from render.media.captions.tracks import Track
from render.media.metadata import LECTURE_TITLES
from render.media.sidefiles import LANGUAGES, SideFiles
from scenes import texts
from scenes.registry import SceneInfo

_RENDER = ROOT / "render"
_CODE = (
    *("media/captions/*.py", "media/metadata.py", "media/sidefiles.py", "build/sides/*.py"),
    *("documents/about.py", "documents/story.py"),
)


class Keeper:
    """Looks at the output folder of an order and writes into it."""

    def __init__(self, order: Order, passes: Passes) -> None:
        self._order = order
        self._passes = passes

    def story(self, scene: SceneInfo, record: Any = None) -> Story:
        """What a scene's video tells, by the record of its rendering. Raises LectureError where
        the record cannot be used."""
        name = self._order.video_name(scene)
        record = read_record(self._order.out, name) if record is None else record
        try:
            steps = int(scene.steps[0]), int(scene.steps[1])
            beats = [{**beat, "facts": dict(beat["facts"])} for beat in record["beats"]]
            part = Told(scene.slug, scene.number, steps, int(record["frames"]), beats)
        except (LookupError, TypeError, ValueError) as error:
            raise LectureError(
                where=path_of(self._order.out, name),
                expected="what is said in the video, and when",
                found=f"{type(error).__name__} {error}",
            ) from error
        return self._story((part,), film=False)

    def film_story(self) -> Story:
        """What the film tells, by the records of its parts, all of which must be there."""
        told = (self.story(scene).told[0] for scene in self._order.everything)
        return self._story(tuple(told), film=True)

    def _story(self, told: tuple[Told, ...], *, film: bool) -> Story:
        order = self._order
        # a scene is told alike in every track, and may be in several
        track = str(order.settings.track) if film else ""
        return Story(order.language, order.quality.fps, told, track, film, self._sizes())

    def _sizes(self) -> dict[str, str]:
        def of(field: str) -> Any:
            return self._passes.value("training", f"config:{field}")

        def tokens(side: str) -> list[str]:
            return list(self._passes.value("training", f"tokens:{side}"))

        return {
            "words": str(len(tokens("vocabulary"))),
            "size": str(of("d_model")),
            "heads": str(of("heads")),
            "hidden": str(of("d_ff")),
            "encoder": str(len(of("encoder"))),
            "decoder": str(len(of("decoder"))),
            "source": str(self._order.settings.source),
            "target": str(self._order.settings.target),
        }

    def is_stale(self, scene: SceneInfo) -> bool:
        """Whether captions or side files of a scene's video are not those of its record."""
        try:
            return not self.is_up_to_date(self._order.video_name(scene), self.story(scene))
        except LectureError:
            return True

    def film_is_stale(self) -> bool:
        """The same for the film; its parts must be there."""
        try:
            return not self.is_up_to_date(self._order.film_name, self.film_story())
        except LectureError:
            return True

    def is_up_to_date(self, name: str, story: Story) -> bool:
        """Whether everything beside the video ``name`` is there and tells this story."""
        kept = read_json(self._kept(name))
        if kept.get("key") != key_of(story):
            return False
        said = kept.get("files")
        if not isinstance(said, dict):
            return False
        paths = _names(SideFiles(self._order.out / name), story)
        return all(path.name in said and holds(path, said[path.name]) for path in paths)

    def write(self, name: str, story: Story, tracks: Sequence[Track]) -> None:
        """Put everything beside the video ``name`` in place. Raises LectureError."""
        side = SideFiles(self._order.out / name)
        written = {}
        for path, text in _contents(side, story, tracks).items():
            _write(path, text)
            written[path.name] = stamp(path)
        write_json(self._kept(name), {"key": key_of(story), "files": written})

    def _kept(self, name: str) -> Path:
        return self._order.out / STATE / f"{Path(name).stem}.sides.json"


def digest_of(tracks: Sequence[Track]) -> str:
    """Stands for what the tracks show and when, as it is noted for the video that has them."""
    return " ".join(track.digest for track in tracks)


def key_of(story: Story) -> str:
    """Stands for everything that side files are made from."""
    said: list[Any] = [asdict(story), LECTURE_TITLES, _assets_and_code()]
    for language in LANGUAGES:
        table = texts.load(language)
        for part in story.told:
            own = table.get(part.slug, {})
            said.append([own.get("title"), own.get("beats")])
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]


@cache
def _assets_and_code() -> list[str]:
    paths = [path for pattern in _CODE for path in sorted(_RENDER.glob(pattern))]
    for folder in (about.FOLDER, terms.FOLDER):
        paths += [folder / f"{language}.toml" for language in LANGUAGES]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths if path.is_file()]


def _names(side: SideFiles, story: Story) -> list[Path]:
    """The files that this module writes for a story."""
    chapters_of = [side.chapters(language) for language in LANGUAGES]
    left_out = {side.cover, *(() if story.film else chapters_of)}
    return [path for path in side.all() if path not in left_out]


def _contents(side: SideFiles, story: Story, tracks: Sequence[Track]) -> dict[Path, str]:
    """The text of each of them."""
    found, described = {}, {}
    for track in tracks:
        language = track.language
        found[side.captions(language, "vtt")] = files.vtt(track.cues, track.fps)
        found[side.captions(language, "srt")] = files.srt(track.cues, track.fps)
        if story.film:
            listed = story.chapters(language)
            found[side.chapters(language)] = chapters.webvtt(listed, story.fps)
        described[language] = about.description(story, language)
        found[side.description(language)] = about.as_text(described[language], language)
    found[side.about] = json.dumps(described, ensure_ascii=False, indent=1) + "\n"
    return found


def _write(path: Path, text: str) -> None:
    """Whole or not at all; a file that says the same already is left alone."""
    data = text.encode("utf-8")
    fresh = path.with_name(f".{os.getpid()}_{path.name}")
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        fresh.write_bytes(data)
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise from_os_error(error, path) from error
