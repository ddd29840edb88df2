"""Frames in which nothing moves: coded as x264 codes them, without asking it for each.

In H.264 a frame that is the frame before costs a few bytes: "all blocks skipped". Finding that out
costs x264 milliseconds a frame. It is asked once, for a sample; each still frame of the film is
that sample with its own frame number. The numbers of the frames that x264 did code are set right
in the same place, and so is the last bit of each frame, which means nothing: x264 draws it by lot
from the count of frames that it was given. Nothing else is touched. With P-frames only and one
reference this is the stream that x264 writes for all frames, wherever it has
nothing to mend in a still one (``tests/render/test_stills.py`` compares the bytes).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_START = b"\0\0\0\1"
_SLICE, _IDR, _PARAMETERS = 1, 5, 7  # types of NAL units
_P_SLICES = (0, 5)
_LENGTH_BYTES = 4  # MP4 puts this many bytes of length before each unit
_HIGH = (100, 110, 122, 244, 44)  # profiles with chroma and bit depth in the parameters
_LONGEST = 64  # bytes of a unit that are looked at


class Unexpected(ValueError):
    """The encoder's stream is not of the form that this module knows."""


class Stills:
    """``headers``: the stream's parameter sets; ``sample``: the packet of a still frame.

    Raises :class:`Unexpected` where still frames cannot be made from the sample.
    """

    def __init__(self, headers: bytes, sample: bytes) -> None:
        self._bits = _frame_number_bits(headers)
        self._sample = sample
        self._packets: dict[int, bytes] = {}
        self.packet(0)

    def packet(self, number: int) -> bytes:
        """A still frame, the ``number``-th after its keyframe."""
        number %= 1 << self._bits
        if number not in self._packets:
            self._packets[number] = self.renumbered(self._sample, number)
        return self._packets[number]

    def renumbered(self, packet: bytes, number: int) -> bytes:
        """A packet of the encoder with its frame number set, a keyframe's is 0 already, and with
        its last bit."""
        units = list(nal_units(packet))
        if any(unit[0] & 0x1F == _IDR for unit in units):
            return _ended(packet)
        if len(units) != 1 or units[0][0] & 0x1F != _SLICE:
            raise Unexpected("a frame is more than one slice")
        unit = _ended(units[0].replace(b"\0\0\3", b"\0\0"))
        bits = _Bits(unit)
        bits.take(8)  # header of the unit
        first, kind, _ = bits.code(), bits.code(), bits.code()
        if first != 0 or kind not in _P_SLICES:
            raise Unexpected(f"slice {kind} at block {first}")
        changed = bits.put(self._bits, number % (1 << self._bits)) + unit[_LONGEST:]
        return _START + re.sub(rb"\0\0(?=[\0-\3])", b"\0\0\3", changed)


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
    """Whether a packet holds an IDR picture, the start of a closed group."""
    return any(unit[0] & 0x1F == _IDR for unit in packet_units(packet))


def picture_bytes(found: Iterable[bytes]) -> bytes:
    """Of the units of a packet those that make the picture, in one piece: parameters, which muxers
    repeat, and notes do not count."""
    return b"".join(unit for unit in found if unit and unit[0] & 0x1F in (_SLICE, _IDR))


def _ended(unit: bytes) -> bytes:
    """With the last bit set: at or behind the bit that ends the slice."""
    return unit[:-1] + bytes([unit[-1] | 1])


def _frame_number_bits(headers: bytes) -> int:
    """How long frame numbers are; the order of pictures must follow from nothing else."""
    for unit in nal_units(headers):
        if unit[0] & 0x1F != _PARAMETERS:
            continue
        bits = _Bits(unit.replace(b"\0\0\3", b"\0\0"))
        bits.take(8)
        profile = bits.take(8)
        bits.take(16)
        bits.code()
        if profile in _HIGH:
            if bits.code() == 3:  # chroma format
                bits.take(1)
            bits.code()
            bits.code()
            bits.take(1)
            if bits.take(1):
                raise Unexpected("scaling matrices")
        length = bits.code() + 4
        if bits.code() != 2:
            raise Unexpected("pictures have an order of their own")
        return length
    raise Unexpected("no parameter set")


class _Bits:
    """Reads numbers from the front of a unit without escapes, bit by bit."""

    def __init__(self, unit: bytes) -> None:
        front = unit[:_LONGEST]
        self._text = format(int.from_bytes(front, "big"), f"0{8 * len(front)}b")
        self._place = 0

    def take(self, count: int) -> int:
        start, self._place = self._place, self._place + count
        if self._place > len(self._text):
            raise Unexpected("a unit that ends early")
        return int(self._text[start : self._place] or "0", 2)

    def code(self) -> int:
        """An Exp-Golomb code without sign."""
        zeros = 0
        while not self.take(1):
            zeros += 1
        return (1 << zeros) - 1 + self.take(zeros)

    def put(self, count: int, number: int) -> bytes:
        """The front with the next ``count`` bits set to ``number``."""
        start = self._place
        self.take(count)
        text = f"{self._text[:start]}{number:0{count}b}{self._text[self._place :]}"
        return int(text, 2).to_bytes(len(text) // 8, "big")
