"""Frames in which nothing moves: coded as x264 codes them, without asking it for each.

In H.264 a frame that is the frame before costs a few bytes: "all blocks skipped". Finding that out
costs x264 milliseconds a frame. It is asked once, for a sample; each still frame of the film is
that sample with its own frame number. The numbers of the frames that x264 did code are set right
in the same place, and so is the last bit of each frame, which means nothing: x264 draws it by lot
from the count of frames that it was given. With P-frames only and one reference this is the stream
that x264 writes for all frames, wherever it has nothing to mend in a still one
(``tests/render/test_stills.py`` compares the bytes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_START = b"\0\0\0\1"
_SLICE, _IDR = 1, 5  # types of NAL units
_LENGTH_BYTES = 4  # MP4 puts this many bytes of length before each unit
#: the first 16 bits of a slice of x264: first block 0, a P-frame, parameter set 0; then 4 bits of
#: the frame's number; then others
_P_FRAME, _PLACE, _NUMBERS = 0b1001101 << 9, 5, 16


class Unexpected(ValueError):
    """The encoder's stream is not of the form that this module knows."""


def renumbered(packet: bytes, number: int) -> bytes:
    """A packet of the encoder as the ``number``-th frame after its keyframe, with its last bit set.

    A keyframe's number is 0 already. Raises :class:`Unexpected` where the packet is neither.
    """
    units = list(nal_units(packet))
    if any(unit[0] & 0x1F == _IDR for unit in units):
        return _ended(packet)
    if len(units) != 1 or units[0][0] & 0x1F != _SLICE:
        raise Unexpected("a frame is more than one slice")
    unit = _ended(units[0].replace(b"\0\0\3", b"\0\0"))
    front = int.from_bytes(unit[1:3], "big")
    if len(unit) < 4 or front >> 9 << 9 != _P_FRAME:
        raise Unexpected(f"a slice that begins with {front:016b}")
    front = front & ~(_NUMBERS - 1 << _PLACE) | number % _NUMBERS << _PLACE
    changed = unit[:1] + front.to_bytes(2, "big") + unit[3:]
    return _START + re.sub(rb"\0\0(?=[\0-\3])", b"\0\0\3", changed)


def _ended(unit: bytes) -> bytes:
    """With the last bit set: at or behind the bit that ends the slice."""
    return unit[:-1] + bytes([unit[-1] | 1])


def nal_units(packet: bytes) -> Iterator[bytes]:
    """The H.264 units between the start codes of an encoder's packet, as they stand there."""
    for unit in re.split(b"\0\0\1", packet)[1:]:
        yield unit.rstrip(b"\0")


def packet_units(packet: bytes) -> Iterator[bytes]:
    """The H.264 units in one MP4 packet."""
    position = 0
    while position + _LENGTH_BYTES < len(packet):
        start = position + _LENGTH_BYTES
        position = start + int.from_bytes(packet[position:start], "big")
        yield packet[start:position]


def is_idr(packet: bytes) -> bool:
    """Whether a packet of an MP4 holds an IDR picture, the start of a closed group."""
    return any(unit[0] & 0x1F == _IDR for unit in packet_units(packet))


def picture_bytes(found: Iterable[bytes]) -> bytes:
    """Of the units of a packet those that make the picture, in one piece: parameters, which muxers
    repeat, and notes do not count."""
    return b"".join(unit for unit in found if unit and unit[0] & 0x1F in (_SLICE, _IDR))
