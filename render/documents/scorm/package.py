"""A page's folder as a SCORM 1.2 zip: the same bytes for the same folder."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from shutil import copyfileobj
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from engine.errors import LectureError
from render.base.aside import folder_aside, put_file
from render.base.project import ASSETS

MANIFEST = "imsmanifest.xml"
START = "index.html"
SCRIPT = "scorm.js"
_FILES = ASSETS / "web" / "scorm"
_STORED = {".mp4", ".png", ".jpg", ".jpeg", ".webp", ".woff", ".woff2", ".pdf", ".zip"}
_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that a zip can say
_PLAIN_FILE = 0o644 << 16
_HEAD = re.compile(r"<head\b[^>]*>", re.IGNORECASE)


def write(page: Path, target: Path, *, item: str, title: str, scenes: int) -> Path:
    """Pack the folder ``page`` of ``scenes`` scenes as ``target``. ``item`` names the package
    within a platform; a later one of the same name is the same course.

    Raises LectureError where the folder is no page, or the zip cannot be written; what was there
    is then as it was.
    """
    refuse_foreign(target)
    names = sorted(path.relative_to(page).as_posix() for path in page.rglob("*") if path.is_file())
    if START not in names:
        raise LectureError(where=page, expected=f"a page, with {START}", found="none")
    start = _with_script(page / START, scenes)
    script = (_FILES / SCRIPT).read_bytes()
    manifest = manifest_of(item, title, sorted([*names, SCRIPT]))
    with folder_aside(target) as folder:
        made = folder / target.name
        with zipfile.ZipFile(made, "w") as archive:
            _put(archive, MANIFEST, manifest.encode())
            for name in sorted([*names, SCRIPT]):
                if name == START:
                    _put(archive, name, start.encode())
                elif name == SCRIPT:
                    _put(archive, name, script)
                else:
                    _put_file(archive, name, page / name)
        put_file(made, target)
    return target


def manifest_of(item: str, title: str, names: Sequence[str]) -> str:
    """``imsmanifest.xml`` of a package with one page and the files ``names``."""
    files = "\n".join(f"      <file href={quoteattr(quote(name))}/>" for name in names)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<manifest identifier={quoteattr(item)} version="1.0"
    xmlns="http://www.imsproject.org/xsd/imscp_rootv1p1p2"
    xmlns:adlcp="http://www.adlnet.org/xsd/adlcp_rootv1p2">
  <metadata>
    <schema>ADL SCORM</schema>
    <schemaversion>1.2</schemaversion>
  </metadata>
  <organizations default="lecture">
    <organization identifier="lecture">
      <title>{escape(title)}</title>
      <item identifier="page" identifierref="resource" isvisible="true">
        <title>{escape(title)}</title>
      </item>
    </organization>
  </organizations>
  <resources>
    <resource identifier="resource" type="webcontent" adlcp:scormtype="sco" href="{START}">
{files}
    </resource>
  </resources>
</manifest>
"""


def _with_script(start: Path, scenes: int) -> str:
    """The page with the script as the first thing in its head."""
    text = start.read_text(encoding="utf-8")
    head = _HEAD.search(text)
    if head is None:
        raise LectureError(where=start, expected="a page with a head", found="none")
    tag = f'\n<script src="{SCRIPT}" data-scenes="{scenes}"></script>'
    return text[: head.end()] + tag + text[head.end() :]


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _DATE)
    stored = Path(name).suffix.lower() in _STORED
    entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
    entry.create_system = 3  # whatever the system
    entry.external_attr = _PLAIN_FILE
    return entry


def _put(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    archive.writestr(_entry(name), content)


def _put_file(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """A file bit by bit: videos do not fit into memory."""
    entry = _entry(name)
    entry.file_size = path.stat().st_size  # tells whether 64-bit offsets are needed
    with path.open("rb") as source, archive.open(entry, "w") as sink:
        copyfileobj(source, sink, 1024 * 1024)


def refuse_foreign(target: Path) -> None:
    """Raise LectureError where something is in the way that is no SCORM package."""
    if target.suffix != ".zip":
        raise LectureError(field="--out", expected="a name that ends in .zip", found=str(target))
    if not target.exists():
        return
    try:
        with zipfile.ZipFile(target) as archive:
            archive.getinfo(MANIFEST)
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise LectureError(
            where=target, field="--out", expected="a new file or a SCORM package", found="another"
        ) from error
