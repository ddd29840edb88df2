"""Zip archives within bounds: what NPZ files and PyTorch's checkpoints are.

How many members there are, how large each says it is and what all say together is known before
any of them is unpacked, and no member can become larger than it says.
"""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from engine.errors import LectureError
from engine.reader import WEIGHT_BYTES, guarded

_ENTRY = b"PK\x01\x02"  # begins each entry of the directory
_MEMBERS = 4096
_ENCRYPTED = 1


class Archive:
    """The members of a zip file held in memory. `kind` says in errors what the file should be.
    Raises LectureError for one that is damaged, encrypted or too large."""

    def __init__(self, data: bytes, path: Path, kind: str) -> None:
        self.path, self.kind = path, kind
        if data.count(_ENTRY) > _MEMBERS:
            raise self.damaged("file", f"more than {_MEMBERS} members")
        with guarded(path, "file", f"a sound {kind}"):
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._members: dict[str, zipfile.ZipInfo] = {}
        for member in self._zip.infolist():
            if member.filename in self._members:
                raise LectureError(
                    where=path, field=member.filename, expected="once", found="twice"
                )
            self._check(member)
            self._members[member.filename] = member
        total = sum(member.file_size for member in self._members.values())
        if total > WEIGHT_BYTES:
            found = f"{total} bytes unpacked"
            raise LectureError(
                where=path, field="file", expected=f"at most {WEIGHT_BYTES >> 20} MiB", found=found
            )

    def names(self) -> list[str]:
        """The members, in the directory's order."""
        return list(self._members)

    def size(self, name: str) -> int:
        """How many bytes a member has."""
        return self._members[name].file_size

    def read(self, name: str, most: int | None = None) -> bytes:
        """A whole member, whose checksum is right, or its first `most` bytes."""
        size = self.size(name)
        wanted = size if most is None else min(size, most)
        with guarded(self.path, name, f"a sound {self.kind}"):
            with self._zip.open(self._members[name]) as member:
                # One byte past the end makes zipfile compare the checksum of a whole member.
                data = member.read(wanted if most is not None else size + 1)
            if len(data) < wanted:
                raise self.damaged(name, f"{len(data)} bytes instead of {wanted}")
        return data

    def damaged(self, field: str, found: str) -> LectureError:
        """The error for a place in the archive."""
        return LectureError(
            where=self.path, field=field, expected=f"a sound {self.kind}", found=found
        )

    def _check(self, member: zipfile.ZipInfo) -> None:
        if member.flag_bits & _ENCRYPTED:
            raise self.damaged(member.filename, "an encrypted member")
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.damaged(member.filename, f"compression method {member.compress_type}")
        if member.compress_type == zipfile.ZIP_STORED and member.file_size != member.compress_size:
            raise self.damaged(member.filename, "two sizes for one member")
