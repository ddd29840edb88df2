"""A cache on any file system that fsspec knows: s3://bucket/folder, memory://name, sftp://…"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.dirfs import DirFileSystem

from engine.errors import LectureError, one_line
from render.build.storage.places import Item

#: as the file systems of fsspec call the time of a file
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
#: file systems that have no folders; making one there would make a bucket
_FLAT = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss"}


class Remote:
    """What a :class:`Folder` is, below a URL of any file system that fsspec knows: s3://bucket/it,
    memory://name, sftp://… Methods raise whatever the file system does."""

    def __init__(self, url: str) -> None:
        self.name = url
        try:
            files, root = fsspec.core.url_to_fs(url)
        except Exception as error:
            expected, found = "one that can be reached", f"{type(error).__name__}: {error}"
            if isinstance(error, ImportError):
                needs_s3 = url.partition(":")[0] in ("s3", "s3a")
                found = "./render.sh install s3 was not run" if needs_s3 else str(error)
            elif isinstance(error, ValueError):
                expected, found = "a folder or a URL that fsspec knows", str(error)
            found = one_line(found)
            raise LectureError(where=url, field="store", expected=expected, found=found) from error
        self._files = DirFileSystem(root.rstrip("/"), files)
        self._files.invalidate_cache()
        kinds = [files.protocol] if isinstance(files.protocol, str) else files.protocol
        self._has_folders = _FLAT.isdisjoint(kinds)

    def read(self, path: str, most: int) -> bytes:
        self._check(path, 0, most)
        return bytes(self._files.cat_file(path))

    def write(self, path: str, data: bytes) -> None:
        self._make_folder(path)
        self._files.pipe_file(path, data)

    def take_in(self, file: Path, path: str) -> None:
        self._make_folder(path)
        self._files.put_file(str(file), path)

    def hand_out(self, path: str, file: Path, size: int) -> None:
        self._check(path, size, size)
        self._files.get_file(path, str(file))

    def names(self, folder: str) -> list[str]:
        try:
            listed = self._files.ls(folder, detail=False, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted({str(path).rstrip("/").rpartition("/")[2] for path in listed})

    def items(self) -> list[Item]:
        self._files.invalidate_cache()
        try:
            listed = self._files.find("", detail=True).items()
        except FileNotFoundError:
            return []
        return [Item(path, int(info.get("size") or 0), _time(info)) for path, info in listed]

    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(path)

    def _check(self, path: str, least: int, most: int) -> None:
        """Raises FileNotFoundError for anything but a file of that many bytes."""
        info = self._files.info(path, refresh=True)
        size = int(info.get("size") or 0)
        if info.get("type") != "file" or info.get("islink") or not least <= size <= most:
            raise FileNotFoundError(errno.ENOENT, "another file", path)

    def _make_folder(self, path: str) -> None:
        if self._has_folders:
            self._files.makedirs(path.rpartition("/")[0], exist_ok=True)


def _time(info: Mapping[str, Any]) -> float:
    """Seconds since 1970; 0 where the file system does not say."""
    for value in map(info.get, _TIMES):
        with contextlib.suppress(ValueError):
            if isinstance(value, str):
                value = datetime.fromisoformat(value)
            if isinstance(value, datetime):
                return value.timestamp()
            if isinstance(value, (int, float)):
                return float(value)
    return 0.0
