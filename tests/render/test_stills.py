"""Still frames made from x264's sample: what x264 would write, and what decoders make of it."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from render.media import pictures
from render.media.pictures import PictureFile, _still_frame
from render.media.quality import QUALITIES
from render.media.stills import Unexpected, is_idr, nal_units, renumbered

DRAFT = QUALITIES["draft"]
SETTLING = DRAFT.fps // 5  # frames from one look at what has settled to the next
SHAPE = (DRAFT.height * 3 // 2, DRAFT.width)


def picture(index: int) -> np.ndarray:
    """A flat picture with a bar that x264 codes without loss, somewhere else for each index."""
    planes = np.full(SHAPE, 128, np.uint8)
    planes[: DRAFT.height] = 60
    planes[: DRAFT.height, 16 * index : 16 * index + 32] = 200
    return planes


def noisy(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(16, 235, SHAPE, np.uint8)


def write(target: Path, shown: list[tuple[np.ndarray, int]], *, asking: bool = False) -> None:
    """Pictures and how often each is shown; ``asking``: x264 is given every frame."""
    file = PictureFile(target, DRAFT)
    if asking:
        file._still = None
    for planes, repeat in shown:
        file.add(planes, 1)
        file.add(None, repeat - 1)
    file.finish()


def decoded(video: Path) -> list[np.ndarray]:
    with av.open(str(video)) as container:
        codec = container.streams.video[0].codec_context
        codec.options = {"err_detect": "explode"}
        return [frame.to_ndarray(format="yuv420p") for frame in container.decode(video=0)]


LENGTHS = (1, 2, 17, 40, 1, 1, 100, 3, 31)  # over keyframes, and over 16 frame numbers


def packets_of(video: Path) -> list[bytes]:
    with av.open(str(video)) as container:
        return [bytes(packet) for packet in container.demux(video=0) if packet.size]


def test_the_stream_is_x264s_own(tmp_path: Path) -> None:
    """Byte for byte, but for the padding bit at the end of a slice, which x264 draws by lot from
    the count of frames that it was given."""
    shown = [(picture(index), repeat) for index, repeat in enumerate(LENGTHS)]
    write(tmp_path / "ours.mp4", shown)
    write(tmp_path / "theirs.mp4", shown, asking=True)
    ours, theirs = packets_of(tmp_path / "ours.mp4"), packets_of(tmp_path / "theirs.mp4")
    assert len(ours) == len(theirs) == sum(LENGTHS)
    for one, other in zip(ours, theirs, strict=True):
        assert one[:-1] == other[:-1]
        assert one[-1] | 1 == other[-1] | 1


def test_a_still_is_exactly_the_frame_before(tmp_path: Path) -> None:
    """With a picture that is hard to code, too, where x264 would have mended it. Only where the
    picture settles is it coded again, once, and then it is closer to what was drawn."""
    shown = [(noisy(index), repeat) for index, repeat in enumerate(LENGTHS)]
    write(tmp_path / "v.mp4", shown)
    frames = decoded(tmp_path / "v.mp4")
    assert len(frames) == sum(LENGTHS)
    place, found = 0, []
    for planes, repeat in shown:
        for index in range(place, place + repeat):
            assert np.abs(frames[index].astype(int) - planes).mean() < 6
        stills = [i for i in range(place + 1, place + repeat) if i % DRAFT.keyframe_interval]
        settled = [i for i in stills if not np.array_equal(frames[i], frames[i - 1])]
        assert len(settled) <= 1 and all(i % SETTLING == 0 for i in settled)
        for index in settled:
            before, after = (
                np.abs(frames[i].astype(int) - planes).mean() for i in (index - 1, index)
            )
            assert after < before / 2
        found += settled
        place += repeat
    assert len(found) > 2


def test_keyframes_stand_at_fixed_places_and_stills_are_tiny(tmp_path: Path) -> None:
    write(tmp_path / "v.mp4", [(noisy(0), 95)])
    with av.open(str(tmp_path / "v.mp4")) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
    keyframes = [index for index, packet in enumerate(packets) if packet.is_keyframe]
    assert keyframes == [0, 30, 60, 90]
    assert all(is_idr(bytes(packets[index])) for index in keyframes)
    rest = [packet.size for index, packet in enumerate(packets) if index not in keyframes]
    assert max(rest) < 60


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        b"\0\0\1\x41\x9a\x23\0\0\1\x41\x9a\x23",  # two slices
        b"\0\0\1\x41\x40\x23\x5f",  # a slice that starts further down
        b"\0\0\1\x41\x9a",  # one that ends early
    ],
)
def test_a_packet_of_another_form_is_not_touched(packet: bytes) -> None:
    with pytest.raises(Unexpected):
        renumbered(packet, 1)


@pytest.mark.parametrize("option", ["ref=4:bframes=2:b-pyramid=2", "rc-lookahead=9:mbtree=1"])
def test_an_encoder_with_other_ways_is_not_believed(
    option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One with longer numbers, or one that gives frames back later."""
    assert _still_frame(DRAFT) is not None
    monkeypatch.setattr(pictures, "_X264", option)
    assert _still_frame(DRAFT) is None


def test_escapes_come_and_go_with_the_number() -> None:
    """A number that makes 00 00 0x gets an escape; one that ends it loses it."""
    still = _still_frame(DRAFT)
    assert still is not None
    for number in range(16):
        packet = renumbered(still, number)
        assert renumbered(still, number + 16) == packet
        (unit,) = nal_units(packet)
        assert b"\0\0\0" not in unit and b"\0\0\1" not in unit and b"\0\0\2" not in unit
        assert renumbered(packet, 3) == renumbered(still, 3)
    slices = b"\0\0\1\x41\x9a\0\0\3\1\x81"  # frame number 0, escaped
    changed = renumbered(slices, 15)
    assert b"\0\0\3" not in changed[4:]
    assert renumbered(changed, 0)[4:] == slices[3:]


def test_what_shows_nothing_new_is_not_encoded_again(tmp_path: Path) -> None:
    file = PictureFile(tmp_path / "v.mp4", DRAFT)
    asked = []
    usual = file._codec.encode
    file._codec = type("Codec", (), {"encode": lambda _, f: asked.append(f) or usual(f)})()
    file.add(picture(0), 29)
    file.add(None, 1)
    file.finish()
    assert len([frame for frame in asked if frame is not None]) == 1
