"""Which scenes the lecture has. Imports no Manim.

A scene lives in ``scenes/sNN_name.py`` as a class of that name in CamelCase. The table below is
the whole plan; :func:`available` keeps those whose file exists.
"""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import LectureError

FOLDER = Path(__file__).resolve().parent

#: number, name, first and last step of the tutorial that the scene covers
_PLAN = (
    (1, "architecture", 0, 1),
    (2, "decoder_inputs", 1, 1),
    (3, "tokenization", 1, 3),
    (4, "embedding", 4, 6),
    (5, "positional_encoding", 7, 11),
    (6, "input", 12, 13),
    (7, "qkv", 14, 22),
    (8, "attention_scores", 23, 26),
    (9, "encoder_layer", 27, 38),
    (10, "memory", 39, 51),
    (11, "mask", 52, 54),
    (12, "decoder_self_attention", 55, 73),
    (13, "cross_attention", 74, 85),
    (14, "output_loss", 86, 90),
    (15, "autoregressive_loop", 91, 91),
    (16, "inference_step_1", 92, 92),
    (17, "inference_step_2", 93, 93),
    (18, "inference_step_3", 94, 94),
    (19, "training_vs_inference", 95, 95),
)


@dataclass(frozen=True)
class SceneInfo:
    """What is known of a scene without importing it."""

    number: int
    name: str
    steps: tuple[int, int]

    @property
    def slug(self) -> str:
        """For file names, and the scene's table in the text files: ``08_attention_scores``."""
        return f"{self.number:02d}_{self.name}"

    @property
    def module(self) -> str:
        return f"scenes.s{self.slug}"

    @property
    def class_name(self) -> str:
        return "".join(word.capitalize() for word in self.name.split("_"))

    @property
    def path(self) -> Path:
        return FOLDER / f"s{self.slug}.py"


SCENES: tuple[SceneInfo, ...] = tuple(
    SceneInfo(number, name, (first, last)) for number, name, first, last in _PLAN
)


#: Opens the film of each track; not one of the scenes, since it covers no step.
TITLE_CARD = SceneInfo(0, "title_card", (0, 0))

#: Which scenes a track has, by number.
TRACKS: dict[str, tuple[int, ...]] = {
    "full": tuple(range(1, 20)),
    "training": (1, *range(3, 15)),
    "inference": tuple(range(15, 20)),
}


def available() -> tuple[SceneInfo, ...]:
    """The scenes whose file exists, in film order."""
    return tuple(scene for scene in SCENES if scene.path.is_file())


def film(track: str) -> tuple[SceneInfo, ...]:
    """What the film of a track consists of: its title card, then its scenes."""
    numbers = TRACKS[track]
    return (TITLE_CARD, *(scene for scene in available() if scene.number in numbers))


def by_class(class_name: str) -> SceneInfo:
    """The entry of a scene class. Raises LookupError where the plan has no such class."""
    for scene in (TITLE_CARD, *SCENES):
        if scene.class_name == class_name:
            return scene
    raise LookupError(f"scenes/registry.py has no scene of class {class_name}")


def find(text: str) -> SceneInfo:
    """The scene meant by a number, slug, name, class name, or an unambiguous part of the name.

    Raises :class:`LectureError` if no scene or more than one fits.
    """
    wanted = text.strip().lower()
    scenes = available()
    for scene in scenes:
        names = (str(scene.number), scene.slug, scene.name, scene.class_name.lower())
        if wanted in names or wanted == f"{scene.number:02d}":
            return scene
    partial = [scene for scene in scenes if wanted and wanted in scene.slug]
    if len(partial) == 1:
        return partial[0]
    known = [scene.name for scene in scenes]
    close = [scene.name for scene in partial][:3] or difflib.get_close_matches(wanted, known, n=2)
    hint = f" (did you mean {' or '.join(close)}?)" if close else ""
    expected = "a number or name as ./render.sh list shows them"
    raise LectureError(field="scene", expected=expected, found=f"{text!r}{hint}")


def load(module: str, class_name: str) -> Any:
    """A scene's class, imported. Raises LectureError if its file is not valid Python or has no such
    class."""
    try:
        found = importlib.import_module(module)
    except SyntaxError as error:
        where = f"{error.filename}:{error.lineno}"
        raise LectureError(where=where, expected="valid Python", found=error.msg) from error
    if not hasattr(found, class_name):
        where, expected = found.__file__ or module, f"a class {class_name}"
        raise LectureError(where=where, expected=expected, found="none of that name")
    return getattr(found, class_name)
