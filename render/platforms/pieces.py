"""What is published: videos with their captions, covers and texts, under their new names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from engine.errors import LectureError
from render.media.sidecars import LANGUAGES, Description, SideFiles
from render.platforms import facts
from render.platforms.facts import Fact
from render.platforms.rules import Platform

_NAME = "transformer_lecture"


class Order(Protocol):
    """What is published of: one output folder and one track."""

    @property
    def out(self) -> Path: ...
    @property
    def film(self) -> Sequence[Any]: ...
    @property
    def film_name(self) -> str: ...
    @property
    def language(self) -> str: ...
    @property
    def settings(self) -> Any: ...
    def video_name(self, scene: Any) -> str: ...


@dataclass(frozen=True)
class Piece:
    """A video and what goes with it; ``stem`` is its new name without the ending, letters,
    digits and _ only."""

    stem: str
    video: Path
    texts: Description
    language: str

    @property
    def side(self) -> SideFiles:
        return SideFiles(self.video)

    @property
    def video_name(self) -> str:
        return f"{self.stem}.mp4"

    @property
    def cover_name(self) -> str:
        return f"{self.stem}.png"

    def captions_name(self, language: str, form: str) -> str:
        return f"{self.stem}.{language}.{form}"

    def chapters_files(self) -> dict[str, Path]:
        """The chapters of a film, by the name of the published file; a scene has none."""
        files = {
            f"{self.stem}.chapters.{language}.vtt": self.side.chapters(language)
            for language in self.caption_languages
        }
        return {name: path for name, path in files.items() if path.is_file()}

    def captions_source(self, language: str, form: str) -> Path:
        """The captions that the published ones are made from."""
        return self.side.captions(language, "srt" if form == "bcc" else form)

    @property
    def caption_languages(self) -> tuple[str, ...]:
        """The video's own language first."""
        return (self.language, *(one for one in LANGUAGES if one != self.language))


def item(order: Order, own: str) -> str:
    """What is published, whatever its quality: the name by which it is found again on a platform
    when it is uploaded a second time. ``own``: the name of weights or a lesson of one's own."""
    words = ["transformer-lecture", order.settings.track, order.language, own]
    return re.sub(r"[^a-z0-9]+", "-", "-".join(filter(None, words)).lower()).strip("-")


def of_order(order: Order, publish: str, asked: Description) -> list[Piece]:
    """The film (``film``), the scenes (``scenes``), or ``both``. Texts that were ``asked`` for
    take the place of the film's own. Raises LectureError where there are no texts."""
    pieces = []
    if publish in ("film", "both"):
        film = order.out / order.film_name
        track = order.settings.track
        words = (_NAME, track if track != "full" else "", order.language)
        pieces.append(_piece("_".join(filter(None, words)), film, order.language))
        own = pieces[0].texts
        texts = Description(
            title=asked["title"] or own["title"],
            description=asked["description"] or own["description"],
            tags=asked["tags"] or own["tags"],
        )
        pieces[0] = replace(pieces[0], texts=texts)
    if publish in ("scenes", "both"):
        names = (order.video_name(scene) for scene in order.film if scene.number)
        videos = [order.out / name for name in names]
        pieces += [_piece(video.stem, video, order.language) for video in videos]
    return pieces


def _piece(stem: str, video: Path, language: str) -> Piece:
    return Piece(stem, video, SideFiles(video).read_about()[language], language)


def fitted(piece: Piece, platform: Platform) -> Piece:
    """The piece with as many of its tags as the platform takes."""
    tags = list(piece.texts["tags"])
    count, together = platform.limit("number of tags"), platform.limit("tags together")
    if count is not None:
        tags = tags[: int(count)]
    while together is not None and _together(tags) > together:
        tags.pop()
    return replace(piece, texts=Description(**{**piece.texts, "tags": tags}))


def _together(tags: Sequence[str]) -> int:
    return next(
        int(fact.value) for fact in facts.of_texts("", "", "", tags) if fact.what == "tags together"
    )


def facts_of(piece: Piece, platform: Platform) -> list[Fact]:
    """Everything that the platform's rules can be about. Raises LectureError where a file is
    missing or is not what it should be."""
    for path in (piece.video, piece.side.cover):
        if not path.is_file():
            raise LectureError(where=path, expected="a file", found="nothing")
    about = f"the texts of {piece.video_name}"
    video = facts.of_video(piece.video, piece.video_name)
    seconds = next(float(fact.value) for fact in video if fact.what == "video length")
    found = [*video, *facts.of_cover(piece.side.cover, piece.cover_name)]
    for form in platform.captions:
        for language in piece.caption_languages:
            source = piece.captions_source(language, form)
            found += facts.of_captions(source, piece.captions_name(language, form), language)
    texts = piece.texts
    found += facts.of_texts(about, texts["title"], texts["description"], texts["tags"])
    if "description" in platform.chapters:
        found += facts.of_chapters(about, texts["description"], seconds)
    return found
