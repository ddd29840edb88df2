"""A cache on any file system that fsspec knows: s3://bucket/folder, memory://name, sftp://…"""

from __future__ import annotations

import contextlib
import errno
import functools
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import fsspec

from engine.errors import LectureError, one_line
from render.build.places import Item

P = ParamSpec("P")
R = TypeVar("R")
#: as the file systems of fsspec call the time of a file
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
#: what to install for a kind of URL that needs more
_EXTRAS = {"s3": "s3", "s3a": "s3"}
#: have no folders; making one there would make a bucket
_FLAT = {"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oci", "oss"}


def _told(method: Callable[P, R]) -> Callable[P, R]:
    """Whatever the file system raises, as an OSError of one line."""

    @functools.wraps(method)
    def wrapped(*args: P.args, **options: P.kwargs) -> R:
        try:
            return method(*args, **options)
        except OSError:
            raise
        except Exception as error:
            raise OSError(one_line(f"{type(error).__name__}: {error}")) from error

    return wrapped


class Remote:
    """Files below a URL on any file system that fsspec knows: s3://bucket/folder, sftp://…"""

    def __init__(self, url: str) -> None:
        self.name = url
        expected = "one that can be reached"
        try:
            self._files, self._root = fsspec.core.url_to_fs(url)
        except Exception as error:
            extra = _EXTRAS.get(url.partition(":")[0])
            if isinstance(error, ImportError):
                found = f"./render.sh install {extra} was not run" if extra else str(error)
            elif isinstance(error, ValueError):
                expected, found = "a folder or a URL that fsspec knows", str(error)
            else:
                found = f"{type(error).__name__}: {error}"
            raise LectureError(
                where=url, field="store", expected=expected, found=one_line(found)
            ) from error
        self._root = self._root.rstrip("/")
        self._files.invalidate_cache()

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}"

    @_told
    def read(self, path: str, most: int) -> bytes:
        self._regular(path, lambda size: size <= most)
        return bytes(self._files.cat_file(self._at(path)))

    @_told
    def write(self, path: str, data: bytes) -> None:
        self._make_folder(path)
        self._files.pipe_file(self._at(path), data)

    @_told
    def take_in(self, file: Path, path: str) -> None:
        self._make_folder(path)
        self._files.put_file(str(file), self._at(path))

    @_told
    def hand_out(self, path: str, file: Path, size: int) -> None:
        self._regular(path, lambda found: found == size)
        self._files.get_file(self._at(path), str(file))

    def _regular(self, path: str, fits: Callable[[int], bool]) -> None:
        info = self._files.info(self._at(path), refresh=True)
        if info.get("type") != "file" or info.get("islink") or not fits(int(info.get("size") or 0)):
            raise FileNotFoundError(errno.ENOENT, "another file", path)

    @_told
    def names(self, folder: str) -> list[str]:
        try:
            listed = self._files.ls(self._at(folder), detail=False, refresh=True)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted({str(path).rstrip("/").rpartition("/")[2] for path in listed})

    @_told
    def items(self) -> list[Item]:
        self._files.invalidate_cache()
        try:
            listed = self._files.find(self._root, detail=True)
        except FileNotFoundError:
            return []
        cut = len(self._files._strip_protocol(self._root)) + 1
        return [
            Item(path[cut:], int(info.get("size") or 0), _time(info))
            for path, info in listed.items()
        ]

    @_told
    def remove(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._files.rm_file(self._at(path))

    def _make_folder(self, path: str) -> None:
        """Where the file system has folders."""
        kinds = self._files.protocol
        if _FLAT.isdisjoint([kinds] if isinstance(kinds, str) else kinds):
            self._files.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)


def _time(info: Mapping[str, Any]) -> float:
    """Seconds since 1970; 0 where the file system does not say."""
    for field in _TIMES:
        value = info.get(field)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, (int, float)):
            return float(value)
        if isinstance(value, str):
            try:
                return datetime.fromisoformat(value).timestamp()
            except ValueError:
                continue
    return 0.0
