"""A task, and what its worker says about it: plain data that crosses process borders as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from render.media.metadata import Origin
from render.media.quality import QUALITIES, Quality


@dataclass(frozen=True)
class Task:
    """One scene to be rendered in a private folder."""

    slug: str
    module: str
    class_name: str
    title: str
    language: str
    quality_name: str
    weights: str  # path
    inference_weights: str  # path
    source: str
    target: str
    track: str
    code_kept: str  # file with digests of code
    folder: str  # private, removed after the run
    ffmpeg: str
    threads: int  # cores that it may use
    expected_frames: int = 0  # about; 0 if unknown
    renderer: str = "fast"  # or "plain"
    burn: str = ""  # language of captions drawn into the pictures
    voice: dict[str, Any] | None = None  # of Voice.for_task
    kept: dict[str, str] | None = None  # video, record, numbers: only their sound is to change

    @property
    def quality(self) -> Quality:
        return QUALITIES[self.quality_name]

    def origin(self, key: str) -> Origin:
        """For the comment of the video with this key."""
        return Origin(self.language, self.quality_name, key)

    @property
    def video(self) -> Path:
        """Where the worker leaves the checked video."""
        return Path(self.folder) / "video.mp4"

    @property
    def numbers(self) -> Path:
        """Where the worker leaves the record of every number in the video."""
        return Path(self.folder) / "numbers.json"

    @property
    def cover(self) -> Path:
        """Where the worker leaves the cover, if it could be drawn."""
        return Path(self.folder) / "cover.png"

    @property
    def made(self) -> Path:
        """Where the worker leaves what the video depends on."""
        return Path(self.folder) / "made.json"

    @property
    def log(self) -> Path:
        """Everything that the scene, Manim and Python print."""
        return Path(self.folder) / "log.txt"

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Task:
        return cls(**json.loads(text))


@dataclass(frozen=True)
class Result:
    """What a worker reports of a finished scene.

    ``beats``: name, step, last_step, start, end (seconds of the scene's clock), text; and what
    the text was made of, in whichever language: variant, and facts as shown.
    ``memory``: peak bytes of drawing and encoding together. ``seconds``: wall time it took.
    """

    frames: int
    seconds: float
    memory: int
    beats: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Failure:
    """Why a scene did not become a video: one line; ``mistake``: in the input, not in the code;
    ``lost``: its process was gone without a word, so that another try may help."""

    line: str
    mistake: bool
    lost: bool = False


Message = int | Result | Failure  # a number: frames encoded so far


def encode_message(message: Message) -> bytes:
    """A message as one line of JSON."""
    if isinstance(message, int):
        said: dict[str, Any] = {"frames": message}
    else:
        said = {type(message).__name__.lower(): asdict(message)}
    return json.dumps(said).encode("ascii") + b"\n"


def decode_message(line: bytes) -> Message:
    """The message of a line. Raises ValueError for anything else."""
    said = json.loads(line)
    match said:
        case {"frames": int(frames)}:
            return frames
        case {"result": dict(fields)}:
            return Result(**fields)
        case {"failure": dict(fields)}:
            return Failure(**fields)
    raise ValueError(f"not a message: {line!r}")
