"""What the front door was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from render.base.workspace import STATE
from render.build.incremental.made import picture
from render.build.store.choice import NO_STORE, StoreChoice
from render.media.quality import Quality
from scenes import texts
from scenes.registry import SceneInfo
from scenes.settings import Settings

if TYPE_CHECKING:
    from render.voice.voice import Choice


@dataclass(frozen=True)
class Order:
    """What was asked for: ``scenes`` are to be rendered, ``everything`` is what the track's film
    consists of; both in film order. ``force``: also what is up to date. ``voice``: who speaks.
    ``burn``: the language of captions drawn into the pictures.
    ``cluster``: its address; None: on this machine."""

    scenes: tuple[SceneInfo, ...]
    everything: tuple[SceneInfo, ...]
    quality: Quality
    settings: Settings
    out: Path
    jobs: int
    force: bool = False
    renderer: str = "fast"
    voice: Choice | None = None
    cluster: str | None = None
    store: StoreChoice = NO_STORE
    burn: str = ""

    @property
    def language(self) -> str:
        return str(self.settings.language)

    def video_name(self, scene: SceneInfo) -> str:
        """Letters, digits and _ only, as some platforms demand: ``08_attention_scores_zh.mp4``.
        The title card (number 0) differs from track to track."""
        track = f"_{self.settings.track}" if scene.number == 0 else ""
        return f"{scene.slug}{track}_{self.language}.mp4"

    def numbers_name(self, scene: SceneInfo) -> str:
        """The record of every number, beside the video."""
        return f"{Path(self.video_name(scene)).stem}.numbers.json"

    @property
    def film_name(self) -> str:
        track = self.settings.track
        return "lecture.mp4" if track == "full" else f"lecture_{track}.mp4"

    @property
    def of_track(self) -> str:
        """For people, behind the folder: which track is meant, where it is not the whole."""
        track = self.settings.track
        return "" if track == "full" else f" ({track})"

    def title(self, scene: SceneInfo) -> str:
        try:
            return str(texts.load(self.language)[scene.slug]["title"])
        except KeyError:
            return str(scene.slug).replace("_", " ")

    def picture(self, scene: SceneInfo) -> dict[str, Any]:
        """What decides about a video besides what the scene reads."""
        track = self.settings.track
        return picture(
            scene.slug, self.title(scene), self.language, track, self.quality, self.renderer
        )

    @property
    def code_kept(self) -> Path:
        """Digests of code, so that unchanged files need not be parsed at each start."""
        return self.out / STATE / "code.json"
