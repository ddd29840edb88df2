"""The little of H.264's byte format that the check reads: is a keyframe a real restart?"""

from __future__ import annotations

_IDR = 5  # a picture after which nothing refers to anything before it
_LENGTH_BYTES = 4  # MP4 puts this many bytes of length before each unit


def unit_types(packet: bytes) -> list[int]:
    """The types of the NAL units in one MP4 packet."""
    types: list[int] = []
    position = 0
    while position + _LENGTH_BYTES < len(packet):
        length = int.from_bytes(packet[position : position + _LENGTH_BYTES], "big")
        types.append(packet[position + _LENGTH_BYTES] & 0x1F)
        position += _LENGTH_BYTES + length
    return types


def is_idr(packet: bytes) -> bool:
    """Whether a packet holds an IDR picture, the start of a closed group."""
    return _IDR in unit_types(packet)
