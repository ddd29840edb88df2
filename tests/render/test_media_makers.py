"""The makers of cues, burned pictures and videos, called as the build calls them."""

from __future__ import annotations

import wave
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from engine.errors import LectureError
from render.base.reads import Made, Reads
from render.media import burn, check, mux
from render.media.captions import write
from scenes import texts

from .conftest import DRAFT, encode

SLUGS = ("08_attention_scores", "09_encoder_layer")
FRAMES = 60
NOTHING: dict[str, str] = {}


def beat(name: str, start: float, end: float, **facts: str) -> dict[str, Any]:
    said = {"name": name, "variant": "", "key": name, "text": "", "facts": facts}
    return {**said, "start": start, "end": end, "step": 1, "last_step": 1}


def made(
    make: Callable[..., dict[str, Path]],
    into: Path,
    spec: Mapping[str, Any],
    needs: Mapping[str, Made],
    reads: Reads | None = None,
) -> Made:
    """What the build makes of a maker's files."""
    into.mkdir()
    files = make(spec, needs, reads or Reads(NOTHING, key="k" * 32), into, lambda _: None)
    facts = files.pop("facts")
    return Made("", (), {}, "", facts, {role: str(path) for role, path in files.items()})


@pytest.fixture(scope="module")
def drawn(binary: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Made]:
    """Pictures of two scenes with a sentence each."""
    found = {}
    for index, slug in enumerate(SLUGS):
        path = tmp_path_factory.mktemp(slug) / "pictures.mp4"
        encode(binary, path, FRAMES, first=index)
        name = next(iter(texts.load("zh")[slug]["beats"]))
        spans = texts.parse(texts.entry("zh", slug, "beats", name))
        facts = {span.text: "2" for span in spans if span.is_fact}
        facts |= {"unit": "words"} if "unit" in facts else {}
        said = {"frames": FRAMES, "fps": 15, "pictures": check.pictures_of([path])}
        beats = [beat(name, 1.0, 4.0, **facts)]
        found[slug] = Made("", (), {}, "", {**said, "beats": beats}, {"pictures": str(path)})
    return found


def spec_of(slugs: tuple[str, ...], *, film: bool, spoken: bool = False) -> dict[str, Any]:
    return {
        "title": "题",
        "language": "zh",
        "quality": asdict(DRAFT),
        "parts": list(slugs),
        "titles": [f"title {slug}" for slug in slugs] if film else [],
        "languages": ["zh", "en"],
        "spoken": spoken,
    }


def cues(drawn: Mapping[str, Made], slug: str, language: str, into: Path) -> Made:
    spec = {"slug": slug, "language": language, "fps": 15}
    return made(write.make, into, spec, {"pictures": drawn[slug]})


def test_cues_are_those_of_the_beats_and_all_texts_are_recorded(
    drawn: Mapping[str, Made], tmp_path: Path
) -> None:
    reads = Reads(NOTHING)
    spec = {"slug": SLUGS[0], "language": "en", "fps": 15}
    found = made(write.make, tmp_path / "w", spec, {"pictures": drawn[SLUGS[0]]}, reads)
    first, *_ = found.facts["cues"]
    assert first[0] == 15
    assert isinstance(first[2][0], str)
    name = drawn[SLUGS[0]].facts["beats"][0]["name"]
    assert {(one.kind, one.name) for one in reads.inputs()} == {
        ("text", f"en {SLUGS[0]}.beats.{name}"),
        ("text", "en wording.unit.words"),
        ("file", "assets/captions/en.toml"),
    }


def test_a_sentence_looked_for_in_vain_is_recorded_too(
    drawn: Mapping[str, Made], tmp_path: Path
) -> None:
    gone = Made("", (), {}, "", {"beats": [beat("nowhere", 0, 2)]})
    reads = Reads(NOTHING)
    with pytest.raises(LectureError, match="nowhere"):
        spec = {"slug": SLUGS[0], "language": "en", "fps": 15}
        made(write.make, tmp_path / "w", spec, {"pictures": gone}, reads)
    assert [one.digest for one in reads.inputs() if one.kind == "text"] == [""]


def test_a_film_has_the_captions_of_its_scenes(drawn: Mapping[str, Made], tmp_path: Path) -> None:
    spec = spec_of(SLUGS, film=True)
    needs = {f"pictures {slug}": drawn[slug] for slug in SLUGS}
    for slug in SLUGS:
        for language in ("zh", "en"):
            own = cues(drawn, slug, language, tmp_path / f"{slug}{language}")
            needs[f"cues {slug} {language}"] = own
    film = made(mux.make, tmp_path / "film", spec, needs)
    check.check(spec, needs, {"video": film.path("video")}, film.facts)
    assert film.facts == {"frames": 2 * FRAMES, "key": "k" * 32}
    with av.open(film.paths["video"]) as container:
        assert len(container.streams.subtitles) == 2
        assert [c["metadata"]["title"] for c in container.chapters()] == spec["titles"]
    del needs[f"cues {SLUGS[1]} en"]  # which could not be made
    film = made(mux.make, tmp_path / "again", spec, needs)
    check.check(spec, needs, {"video": film.path("video")}, film.facts)
    with av.open(film.paths["video"]) as container:
        (stream,) = container.streams.subtitles
        assert stream.metadata["language"] == "zho"


def test_a_part_that_has_become_another_video_is_noticed(
    binary: str, drawn: Mapping[str, Made], tmp_path: Path
) -> None:
    spec, needs = spec_of(SLUGS[:1], film=False), {f"pictures {SLUGS[0]}": drawn[SLUGS[0]]}
    video = made(mux.make, tmp_path / "video", spec, needs)
    check.check(spec, needs, {"video": video.path("video")}, video.facts)
    exchanged = replace(drawn[SLUGS[0]], paths=drawn[SLUGS[1]].paths)
    with pytest.raises(LectureError, match="those of another video"):
        check.check(spec, {**needs, f"pictures {SLUGS[0]}": exchanged}, {}, video.facts)
    other = {f"pictures {SLUGS[0]}": drawn[SLUGS[1]]}
    with pytest.raises(LectureError, match="pictures as they were encoded"):
        check.check(spec, other, {"video": video.path("video")}, video.facts)


def test_burned_pictures_have_their_captions_and_their_beats(
    drawn: Mapping[str, Made], tmp_path: Path
) -> None:
    slug = SLUGS[0]
    spec = {"slug": slug, "language": "zh", "quality": asdict(DRAFT)}
    needs = {"pictures": drawn[slug], "cues": cues(drawn, slug, "zh", tmp_path / "cues")}
    reads = Reads(NOTHING)
    burned = made(burn.make, tmp_path / "burned", spec, needs, reads)
    assert burned.facts["pictures"] == check.pictures_of([burned.path("pictures")])
    assert burned.facts["beats"] == drawn[slug].facts["beats"]
    (font,) = reads.inputs()
    assert font.name.endswith(".ttc")
    wanted, needs = spec_of((slug,), film=False), {f"pictures {slug}": burned}
    video = made(mux.make, tmp_path / "video", wanted, needs)
    check.check(wanted, needs, {"video": video.path("video")}, video.facts)
    with av.open(video.paths["video"]) as new, av.open(drawn[slug].paths["pictures"]) as old:
        frames = [
            [frame.to_ndarray(format="gray").astype(int) for frame in each.decode(video=0)]
            for each in (old, new)
        ]
    foot = DRAFT.height - int(burn.STRIP * DRAFT.height)
    assert np.abs(frames[0][30][foot:] - frames[1][30][foot:]).mean() > 4
    assert np.abs(frames[0][5][foot:] - frames[1][5][foot:]).mean() < 4


def test_recordings_are_heard_where_their_beats_begin(
    drawn: Mapping[str, Made], tmp_path: Path
) -> None:
    with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
        file.setparams((1, 2, 48000, 0, "NONE", ""))
        tone = 0.3 * np.sin(2 * np.pi * 1000 * np.arange(9600) / 48000)
        file.writeframes((tone * 32767).astype("<i2").tobytes())
    needs = {f"pictures {slug}": drawn[slug] for slug in SLUGS}
    name = drawn[SLUGS[1]].facts["beats"][0]["name"]
    sound = Made("", (), {}, "", {}, {"sound": str(tmp_path / "sound.wav")})
    spec = spec_of(SLUGS, film=True, spoken=True)
    film = made(mux.make, tmp_path / "film", spec, {**needs, f"sound {SLUGS[1]} {name}": sound})
    with av.open(film.paths["video"]) as container:
        heard = np.concatenate([f.to_ndarray()[0] for f in container.decode(audio=0)])
    loud = np.flatnonzero(np.abs(heard) > 0.1)
    assert loud[0] / 48000 == pytest.approx(FRAMES / 15 + 1, abs=0.01)
    assert loud[-1] / 48000 == pytest.approx(FRAMES / 15 + 1.2, abs=0.01)
