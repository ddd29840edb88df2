"""The course page as a SCORM 1.2 package, which every course platform imports.

The page and SCORM know of each other only what stands at the head of ``assets/web/scorm/scorm.js``:
the page asks ``window.lectureHost``, if there is one, where to begin, and tells it where it is.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from shutil import copyfileobj
from urllib.parse import quote

from engine.reader import refuse
from render.base import template
from render.base.project import ASSETS
from render.base.reader import Reader
from render.base.reads import Needs, Output, Reads, Spec, Tell
from render.base.template import ReadFile
from render.media.sidecars import Description

MANIFEST = "imsmanifest.xml"
START = "index.html"
SCRIPT = ASSETS / "web" / "scorm" / "scorm.js"
_STORED = {".mp4", ".png", ".jpg", ".jpeg", ".webp", ".woff", ".woff2", ".pdf", ".zip"}
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
_PLAIN_FILE = 0o644 << 16
_HEAD = re.compile(rb"<head\b[^>]*>", re.IGNORECASE)


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """The package as the role ``zip``. ``spec``: ``item``, ``title`` and ``scenes`` as for
    :func:`pack`; where the title is empty, it is that of the film in ``language``. ``needs``:
    ``page``, the roles of which are the names of its files; ``sides`` of the film."""
    title = spec["title"]
    if not title:
        about = Reader().json(needs["sides"].path("about.json"), dict[str, Description])
        title = about[spec["language"]]["title"]
    files = {name: Path(path) for name, path in needs["page"].paths.items()}
    target = into / "scorm.zip"
    pack(files, target, spec["item"], title, spec["scenes"], reads.file)
    return {"zip": target}


def pack(
    files: Mapping[str, Path],
    target: Path,
    item: str,
    title: str,
    scenes: int,
    read: ReadFile = Path.read_bytes,
) -> None:
    """Write a page's files, by their names in it, as a package: the same bytes for the same files.
    ``item`` names it within a platform; a later one of the same name is the same course.
    ``scenes``: how many the page has. Raises LectureError for a page without a head, or OSError."""
    names = sorted([*files, SCRIPT.name])
    manifest = template.render(
        f"templates/{MANIFEST}", read, item=item, title=title, names=names, start=START, quote=quote
    )
    page = files[START].read_bytes()
    head = _HEAD.search(page)
    if head is None:
        refuse(files[START], None, "a page with a head", "none")
    tag = f'\n<script src="{SCRIPT.name}" data-scenes="{scenes}"></script>'  # first in its head
    start = page[: head.end()] + tag.encode() + page[head.end() :]
    given = {START: start, SCRIPT.name: read(SCRIPT), MANIFEST: manifest.encode()}
    with zipfile.ZipFile(target, "w") as archive:
        for name in (MANIFEST, *names):
            entry = zipfile.ZipInfo(name, _DATE)
            stored = Path(name).suffix.lower() in _STORED
            entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            entry.create_system = 3  # whatever the system
            entry.external_attr = _PLAIN_FILE
            if name in given:
                archive.writestr(entry, given[name])
                continue
            entry.file_size = files[name].stat().st_size  # tells whether 64-bit offsets are needed
            with files[name].open("rb") as source, archive.open(entry, "w") as sink:
                copyfileobj(source, sink, 1024 * 1024)
