"""The SCORM package as a file: its manifest, its bytes, what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from engine.errors import LectureError
from render.build.job import BuildOptions, jobs_of
from render.build.lecture import Lecture
from render.build.materials import package
from render.documents import scorm

CP = "{http://www.imsproject.org/xsd/imscp_rootv1p1p2}"
ADL = "{http://www.adlnet.org/xsd/adlcp_rootv1p2}"


@pytest.fixture
def page(tmp_path: Path) -> Path:
    folder = tmp_path / "页 1"
    (folder / "videos").mkdir(parents=True)
    head = (
        '<!doctype html><html><head lang="zh">\n<meta charset="utf-8"></head><body>课</body></html>'
    )
    (folder / "index.html").write_text(head, encoding="utf-8")
    (folder / "videos" / "a & b 课.mp4").write_bytes(bytes(range(256)) * 1000)
    (folder / "notes.txt").write_text("很长。" * 1000, encoding="utf-8")
    return folder


def pack(page: Path, target: Path) -> Path:
    paths = (path for path in page.rglob("*") if path.is_file())
    files = {path.relative_to(page).as_posix(): path for path in paths}
    scorm.pack(files, target, item="transformer-lecture-zh", title="课 <&>", scenes=20)
    return target


def test_manifest_names_every_file_and_where_to_begin(page: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(pack(page, tmp_path / "x.zip")) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        root = ElementTree.fromstring(archive.read("imsmanifest.xml"))
        start = archive.read("index.html").decode()
        videos = [e for e in archive.infolist() if e.filename.endswith(".mp4")]
        assert [e.compress_type for e in videos] == [zipfile.ZIP_STORED]
    assert root.findtext(f"{CP}metadata/{CP}schemaversion") == "1.2"
    organizations = root.find(f"{CP}organizations")
    organization = organizations.find(f"{CP}organization")
    assert organizations.get("default") == organization.get("identifier")
    assert organization.findtext(f"{CP}title") == "课 <&>"
    item = organization.find(f"{CP}item")
    resource = root.find(f"{CP}resources/{CP}resource")
    assert item.get("identifierref") == resource.get("identifier")
    assert resource.get(f"{ADL}scormtype") == "sco"
    assert resource.get("href") == "index.html"
    files = {unquote(file.get("href")) for file in resource.findall(f"{CP}file")}
    assert files | {"imsmanifest.xml"} == names
    assert start.index("scorm.js") < start.index("charset")
    assert 'data-scenes="20"' in start


def test_same_folder_same_bytes(page: Path, tmp_path: Path) -> None:
    one = pack(page, tmp_path / "1.zip").read_bytes()
    for path in page.rglob("*"):
        path.touch()
    assert pack(page, tmp_path / "2.zip").read_bytes() == one


def test_a_page_without_a_head_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("no head")
    with pytest.raises(LectureError, match="head"):
        pack(tmp_path, tmp_path / "x.zip")


def test_a_package_is_replaced_and_nothing_else_is(page: Path, tmp_path: Path) -> None:
    (job,) = jobs_of(BuildOptions(out=tmp_path / "o"))
    lecture = Lecture(job)

    def check(target: Path) -> None:
        package(lecture, target, "", "").refuse()

    target = pack(page, tmp_path / "x.zip")
    check(target)
    check(tmp_path / "new.zip")
    for content in (b"mine", b""):
        target.write_bytes(content)
        with pytest.raises(LectureError, match="--out"):
            check(target)
    with pytest.raises(LectureError, match=r"ends in \.zip"):
        check(tmp_path / "x")
