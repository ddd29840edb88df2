"""Credentials: read from the environment, never printed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from engine.errors import LectureError

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def credentials(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> list[str]:
    """The values of these variables. Raises LectureError, naming variables but no values."""
    missing = [name for name in names if not environment.get(name, "").strip()]
    if missing:
        raise LectureError(
            field=" and ".join(missing),
            expected="to be set in the environment (docs/publish.md tells where to get them)",
            found="nothing",
        )
    values = [environment[name].strip() for name in names]
    for name, value in zip(names, values, strict=True):
        if not (value.isascii() and value.isprintable()) or " " in value:
            raise LectureError(
                field=name, expected="one word of ASCII characters", found="something else"
            )
    return values


def are_set(names: Sequence[str], environment: Mapping[str, str] = os.environ) -> str:
    """Which of the variables are set, for people; no values."""
    return ", ".join(
        f"{name} is {'set' if environment.get(name, '').strip() else 'not set'}" for name in names
    )


def address(name: str, value: str) -> str:
    """A server's address, without a slash at its end. Raises LectureError for one to which
    credentials must not be sent: nothing but https, except to this computer itself."""
    parts = urlsplit(value)
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not safe or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise LectureError(
            field=name, expected="an address such as https://canvas.example.edu", found="another"
        )
    return value.rstrip("/")


def hidden(text: str, secrets: Sequence[str]) -> str:
    """The text with every secret replaced, should a library have put one into a message."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= 4:
            text = text.replace(secret, "…")
    return text
