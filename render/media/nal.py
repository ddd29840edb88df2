"""The little of H.264's byte format that the check reads: keyframes, and what makes a picture."""

from __future__ import annotations

from collections.abc import Iterator

_SLICE = 1  # (part of) a picture
_IDR = 5  # a picture after which nothing refers to anything before it
_LENGTH_BYTES = 4  # MP4 puts this many bytes of length before each unit


def units(packet: bytes) -> Iterator[bytes]:
    """The NAL units in one MP4 packet."""
    position = 0
    while position + _LENGTH_BYTES < len(packet):
        start = position + _LENGTH_BYTES
        position = start + int.from_bytes(packet[position:start], "big")
        yield packet[start:position]


def unit_types(packet: bytes) -> list[int]:
    """The types of the NAL units in one MP4 packet."""
    return [unit[0] & 0x1F for unit in units(packet)]


def is_idr(packet: bytes) -> bool:
    """Whether a packet holds an IDR picture, the start of a closed group."""
    return _IDR in unit_types(packet)


def picture(found: Iterator[bytes]) -> bytes:
    """Of the units of a packet those that make the picture, in one piece: parameters, which muxers
    repeat, and notes do not count."""
    return b"".join(unit for unit in found if unit and unit[0] & 0x1F in (_SLICE, _IDR))
