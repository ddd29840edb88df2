"""The folder of a publication: checked first, then written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from typing import Any

from engine.errors import LectureError
from render.base.files import bring, put_folder, staging_folder
from render.base.reads import sha256
from render.media import timedtext
from render.platforms import checks
from render.platforms.checklist import checklist
from render.platforms.pieces import Piece, facts_of
from render.platforms.rules import Platform

MANIFEST = "publish.json"
FORM = 1  # of the manifest


@dataclass(frozen=True)
class Publication:
    """What is published where: ``item`` is its name for uploads (see ``pieces.item``)."""

    platform: Platform
    item: str
    language: str
    pieces: tuple[Piece, ...]
    target: Path

    def look(self) -> list[checks.Finding]:
        """Everything that the platform does not take or advises against."""
        found = []
        for piece in self.pieces:
            facts = facts_of(piece, self.platform)
            seconds = next(float(fact.value) for fact in facts if fact.what == "video length")
            found += checks.findings(self.platform, facts) + checks.overlong(facts, seconds)
        return found

    def write(self, advice: Sequence[checks.Finding]) -> Path:
        """Write the folder, in place of the one that was there. Raises LectureError, and leaves
        everything as it was, where that cannot be."""
        refuse_foreign(self.target)
        with staging_folder(self.target) as folder:
            pieces = [self._write_piece(piece, folder) for piece in self.pieces]
            manifest = {
                "form": FORM,
                "platform": self.platform.key,
                "item": self.item,
                "language": self.language,
                "pieces": pieces,
            }
            document = json.dumps(manifest, ensure_ascii=False, indent=1)
            (folder / MANIFEST).write_text(document + "\n", encoding="utf-8")
            told = checklist(self.platform, self.pieces, advice, self.target, self.language)
            (folder / "CHECKLIST.md").write_text(told, encoding="utf-8")
            put_folder(folder, self.target)
        return self.target

    def _write_piece(self, piece: Piece, folder: Path) -> dict[str, Any]:
        """Put a video and what goes with it into ``folder``; its entry of the manifest."""
        video = folder / piece.video_name
        bring(piece.video, video)
        copyfile(piece.side.cover, folder / piece.cover_name)
        for form in self.platform.captions:
            for language in piece.caption_languages:
                source = piece.captions_source(language, form)
                target = folder / piece.captions_name(language, form)
                if form == "bcc":
                    document = timedtext.bcc(timedtext.read(source), timedtext.READ_FPS)
                    target.write_text(document, encoding="utf-8")
                else:
                    copyfile(source, target)
        if "file" in self.platform.chapters:
            for name, source in piece.chapters_files().items():
                copyfile(source, folder / name)
        description = piece.texts["description"].rstrip("\n") + "\n"
        (folder / f"{piece.stem}.txt").write_text(description, encoding="utf-8")
        form = self.platform.captions[0]
        return {
            "video": piece.video_name,
            "size": video.stat().st_size,
            "sha256": sha256(video),
            "title": piece.texts["title"],
            "description": piece.texts["description"],
            "tags": piece.texts["tags"],
            "cover": piece.cover_name,
            "captions": {
                language: piece.captions_name(language, form)
                for language in piece.caption_languages
            },
        }


def refuse_foreign(target: Path) -> None:
    """Raise LectureError where something is in the way that was not published here."""
    if not target.exists() and not target.is_symlink():
        return
    if target.is_dir() and not target.is_symlink():
        if (target / MANIFEST).is_file() or not any(target.iterdir()):
            return
        found = f"a folder with other things in it and no {MANIFEST}"
    else:
        found = "a file or a link"
    raise LectureError(
        where=target, field="--out", expected="a new folder or one that was published", found=found
    )
