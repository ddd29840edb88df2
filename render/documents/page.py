"""The course page: a folder with the videos, their captions and the full text, that needs no
network and no server. ``assets/web/page`` goes into it as it is: style sheets and scripts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from render.base.files import bring
from render.base.project import ASSETS
from render.base.reads import Json, Needs, Output, Reads, Spec, Tell
from render.base.template import ReadFile
from render.documents.handout import html, pdf
from render.documents.handout.content import Handout
from render.documents.handout.write import SCENES, handout
from render.media.captions.write import sentences
from render.media.sidecars import LANGUAGES, SideFiles
from render.media.timedtext import clock
from scenes import texts

FILES = ASSETS / "web" / "page"


def make(spec: Spec, needs: Needs, reads: Reads, into: Path, tell: Tell) -> Output:
    """Every file of the page; its role is its name within the page. Raises LectureError.

    ``spec``: ``name``, which tells this lecture from others in what the browser remembers;
    ``language``; ``weights``, the names of the two weight files; ``scenes`` as for :func:`scene`.
    ``needs``, for each of them: ``pictures SLUG``, ``video SLUG``, ``cues SLUG LANGUAGE`` and, if
    there is one, ``cover SLUG``.
    """
    text = handout(reads, spec["language"], *spec["weights"])
    scenes = [scene(told, needs, reads.entry) for told in spec["scenes"]]
    folder = into / "page"
    (folder / "videos").mkdir(parents=True)
    for shown in scenes:
        bring(needs[f"video {shown['slug']}"].path("video"), folder / shown["video"])
        if shown["poster"]:
            bring(needs[f"cover {shown['slug']}"].path("cover"), folder / shown["poster"])
    write(folder, text, scenes, spec["name"], reads.file)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path for path in files}


def write(
    folder: Path,
    text: Handout,
    scenes: Sequence[Mapping[str, Json]],
    name: str,
    read: ReadFile = Path.read_bytes,
) -> None:
    """Write everything but the videos into a folder: the data as a script, since a page that is
    opened as a file may not fetch any. Raises LectureError or OSError."""
    for file in FILES.iterdir():
        (folder / file.name).write_bytes(read(file))
    data = {"name": name, "language": text.language, "words": text.words, "scenes": scenes}
    code = json.dumps(data, ensure_ascii=False, indent=1).replace("</", "<\\/")
    told = "// The scenes of this page: videos, sentences, captions. Times are in seconds."
    script = f"{told}\nwindow.LECTURE = {code};\n"
    page = html.fill("templates/page.html", text, read, scenes=scenes, clock=clock)
    for own, content in (("lecture.js", script), ("index.html", page)):
        (folder / own).write_text(content, encoding="utf-8", newline="\n")
    (folder / "handout.pdf").write_bytes(pdf.write(text, read))


def scene(told: Spec, needs: Needs, entry: Callable[..., Any] = texts.entry) -> dict[str, Json]:
    """A scene as the page shows it, with ``beats`` (its sentences, by language) and ``captions``.
    Times are in seconds of its video. ``told``: ``number``, ``slug``, ``title``, ``steps`` and
    ``video``, its file's name. Raises LectureError where a text is missing."""
    slug, name = told["slug"], f"videos/{told['video']}"
    facts = needs[f"pictures {slug}"].facts
    said = {each: sentences(slug, facts["beats"], each, entry) for each in LANGUAGES}
    beats = [
        {
            "start": round(beat["start"], 3),
            "end": round(beat["end"], 3),
            "step": beat["step"],
            "last": beat["last_step"],
            "text": {each: lines[n].text for each, lines in said.items()},
        }
        for n, beat in enumerate(facts["beats"])
    ]
    captions = {
        each: [
            {"start": a / facts["fps"], "end": b / facts["fps"], "text": "\n".join(lines)}
            for a, b, lines in needs[f"cues {slug} {each}"].facts["cues"]
        ]
        for each in LANGUAGES
    }
    return {
        "number": told["number"],
        "slug": slug,
        "title": told["title"],
        "part": SCENES[told["number"]][0],
        "steps": told["steps"],
        "video": name,
        "poster": SideFiles(Path(name)).cover.as_posix() if f"cover {slug}" in needs else "",
        "seconds": round(facts["frames"] / facts["fps"], 3),
        "beats": beats,
        "captions": captions,
    }
