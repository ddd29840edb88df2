"""The folder of a course page."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import LectureError
from render.base.aside import bring, folder_aside, put_folder
from render.base.project import ASSETS
from render.documents.handout import pdf
from render.documents.handout.content import Handout
from render.documents.page import markup
from render.documents.page.lecture import Scene, Source, scene
from render.media.sidefiles import SideFiles

FILES = ASSETS / "web" / "page"
#: How a folder is known to be a course page, and so may be replaced by a newer one.
MARK = "lecture.js"


@dataclass(frozen=True)
class Page:
    """What goes into the folder; ``made_from`` names the weights, ``name`` tells this lecture from
    others in what the browser remembers."""

    handout: Handout
    sources: Sequence[Source]
    made_from: str
    name: str

    @property
    def language(self) -> str:
        return self.handout.language

    def write(self, target: Path) -> Path:
        """Make or renew the folder ``target``: whole, or as it was. Raises LectureError."""
        check_target(target)
        scenes = [scene(source, self.language) for source in self.sources]
        with folder_aside(target) as folder:
            self._fill(folder, scenes)
            put_folder(folder, target)
        return target

    def _fill(self, folder: Path, scenes: Sequence[Scene]) -> None:
        videos = folder / "videos"
        videos.mkdir()
        for source in self.sources:
            bring(source.video, videos / source.video.name)
            cover = SideFiles(source.video).cover
            if cover.is_file():
                bring(cover, videos / cover.name)
        for file in FILES.iterdir():
            shutil.copyfile(file, folder / file.name)
        (folder / MARK).write_text(self._data(scenes), encoding="utf-8", newline="\n")
        page = markup.page(self.handout, scenes, self.made_from)
        (folder / "index.html").write_text(page, encoding="utf-8", newline="\n")
        (folder / "handout.pdf").write_bytes(pdf.write(self.handout, self.made_from))

    def _data(self, scenes: Sequence[Scene]) -> str:
        """The lecture as a script: a page that is opened as a file may not fetch data."""
        data = {
            "name": self.name,
            "language": self.language,
            "words": self.handout.words,
            "scenes": [scene.plain() for scene in scenes],
        }
        text = json.dumps(data, ensure_ascii=False, indent=1).replace("</", "<\\/")
        told = "// The scenes of this page: videos, sentences, captions. Times are in seconds."
        return f"{told}\nwindow.LECTURE = {text};\n"


def check_target(target: Path) -> None:
    """Raise LectureError where ``target`` is something else than an older page or nothing."""
    if target.is_dir():
        if (target / MARK).is_file() or not any(target.iterdir()):
            return
        found = "a folder with other things in it"
    elif target.exists() or target.is_symlink():
        found = "a file"
    else:
        return
    raise LectureError(
        where=target, field="--out", expected="a new folder, or an older course page", found=found
    )
