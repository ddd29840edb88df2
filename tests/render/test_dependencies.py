"""What the real scenes note that they read, against the brute force of playing them again."""

from __future__ import annotations

import ast
import copy
import gc
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.passes import Passes
from engine.reads import digest_of, look_up, seen_of
from render.base.differences import entries_moved
from render.build.code import Code, facts_of
from scenes import playthrough, registry, texts
from scenes.settings import Settings

from .conftest import ROOT

SCENES = {2: "decoder_inputs", 6: "input", 16: "inference_step_1"}
#: matrix, row, column, by how much, and the scenes whose numbers it moves
EDITS = [
    ("encoder.0.self_attn.q_proj.weight", (0, 0), 0.5, {16}),
    ("embedding.weight", (1, 2), 0.25, {6, 16}),
    ("output_projection.weight", (5, 1), 1e-9, {16}),
]
ALL = (registry.TITLE_CARD, *registry.SCENES)


def texts_moved(said: list[Any], table: dict[str, Any]) -> list[str]:
    return [
        f"text {'.'.join(path)}"
        for path, digest in said
        if digest_of(look_up(table, path)) != digest
    ]


def passes(settings: Settings) -> Passes:
    files = settings.weights, settings.weights_for_inference
    return Passes(*files, settings.source, settings.target)


@cache
def played(number: int, weights: Path) -> tuple[dict[str, Any], list[Any]]:
    """What a scene noted, and the numbers it showed."""
    scene = playthrough.play(registry.find(str(number)), Settings("zh", weights, weights))
    numbers = [(n["shown"], n["exact"], n["source"]) for n in scene.record.numbers()]
    return scene.reads.document(), numbers


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: str(edit[0]))
def test_one_weight_means_exactly_the_scenes_whose_numbers_it_moves(
    edit: tuple[str, tuple[int, int], float, set[int]], tmp_path: Path
) -> None:
    name, place, by, expected = edit
    old, weights = engine.load_weights(engine.TUTORIAL), tmp_path / "w.json"
    matrix = np.array(old.matrices[name])
    matrix[place] += by
    engine.save_weights(old.with_matrices({name: matrix}), weights)
    now = passes(Settings("zh", weights, weights))
    told = {n for n in SCENES if entries_moved(played(n, engine.TUTORIAL)[0]["values"], now)}
    forced = {n for n in SCENES if played(n, engine.TUTORIAL)[1] != played(n, weights)[1]}
    assert told == forced == expected


@pytest.mark.parametrize("number", SCENES)
def test_nothing_has_changed_where_nothing_has(number: int) -> None:
    document, numbers = played(number, engine.TUTORIAL)
    now = passes(Settings("zh", engine.TUTORIAL, engine.TUTORIAL))
    assert entries_moved(document["values"], now) == []
    assert list(texts_moved(document["texts"], texts.load("zh"))) == []
    assert len(numbers) > 5 or number == 2


@pytest.mark.parametrize("number", SCENES)
def test_every_number_shown_was_noted(number: int) -> None:
    document, numbers = played(number, engine.TUTORIAL)
    noted = {(entry["run"], entry["name"]): entry for entry in document["values"]}
    for source in (leaf for _, _, recipe in numbers for leaf in leaves(recipe)):
        entry = noted[source["run"], source["name"]]
        assert "plain" in entry or seen_of(entry)[tuple(source["index"])], source


def leaves(recipe: dict[str, Any]) -> list[dict[str, Any]]:
    if "operation" in recipe:
        return [leaf for one in recipe["of"] for leaf in leaves(one)]
    return [] if "constant" in recipe else [recipe]


@pytest.mark.parametrize("number", SCENES)
def test_each_text_of_a_scene_counts_and_no_other(number: int) -> None:
    document, _ = played(number, engine.TUTORIAL)
    own = registry.find(str(number)).slug
    read = [path for path, digest in document["texts"] if digest is not None]
    assert [own, "title"] in read
    assert [own, "beats", "takeaway"] in read
    for path in ([own, "title"], read[-1]):
        other = copy.deepcopy(texts.load("zh"))
        look_up(other, path[:-1])[path[-1]] += "。"
        assert list(texts_moved(document["texts"], other)) == [f"text {'.'.join(path)}"]
    other = copy.deepcopy(texts.load("zh"))
    other["08_attention_scores"]["beats"]["question"] += "。"
    assert list(texts_moved(document["texts"], other)) == []


def test_a_label_of_its_own_takes_the_place_of_a_shared_one() -> None:
    """A key that was looked for in vain counts as well."""
    document, _ = played(16, engine.TUTORIAL)
    other = copy.deepcopy(texts.load("zh"))
    own = registry.find("16").slug
    shared = [p for p, digest in document["texts"] if digest is None and p[1:2] == ["labels"]]
    for path in shared:
        other[own].setdefault("labels", {})[path[-1]] = "新"
    told = list(texts_moved(document["texts"], other))
    assert told == [f"text {'.'.join(path)}" for path in shared]


@pytest.mark.parametrize("path", sorted((ROOT / "scenes").rglob("*.py")), ids=lambda p: p.stem)
def test_no_scene_reads_the_engine_behind_the_notes(path: Path) -> None:
    """Values come through scenes/values.py only; settings, lessons and limits look at files, and
    engine.parameters has names of arrays, no numbers."""
    if path.name in ("settings.py", "lessons.py", "limits.py"):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        allowed = ("engine.errors", "engine.parameters", "engine.passes", "engine.reads")
        assert not [n for n in names if n.split(".")[0] == "engine" and n not in allowed]
        assert not (isinstance(node, ast.Attribute) and node.attr in ("_passes", "_whole")) or (
            path.name in ("values.py", "base.py")
        )
        match node:
            case ast.Attribute(ast.Name("texts"), "load" | "entry"):
                assert path.name == "base.py"


class TestCode:
    FILES = staticmethod(
        cache(lambda: {s.slug: Code().files(("render.draw.scene", s.module)) for s in ALL})
    )

    def test_a_scene_depends_on_its_file_and_on_the_parts_it_uses(self) -> None:
        files = self.FILES()
        for scene in ALL:
            assert f"scenes/s{scene.slug}.py" in files[scene.slug]
            assert {"scenes/theme.py", "scenes/base.py", "render/media/pictures.py"} <= set(
                files[scene.slug]
            )
            others = {f"scenes/s{other.slug}.py" for other in ALL if other != scene}
            assert not others & set(files[scene.slug])
        waving = {slug for slug in files if "scenes/parts/wave.py" in files[slug]}
        assert waving == {"05_positional_encoding"}

    def test_what_was_imported_is_among_them(self) -> None:
        """Against Python itself: the modules behind the names that a scene's module has."""
        import importlib

        for scene in ALL[1:]:
            module = importlib.import_module(scene.module)
            behind = {getattr(value, "__module__", "") for value in vars(module).values()}
            ours = {f"{name.replace('.', '/')}.py" for name in behind if name.startswith("scenes.")}
            assert ours <= set(self.FILES()[scene.slug])

    def test_what_a_scene_does_not_run_does_not_count(self) -> None:
        """Without a list: nothing that draws imports it."""
        others = ("engine", "render/media/check", "render/media/mux", "render/media/captions")
        rooms = ("render/build", "render/cli", "render/documents", "render/platforms")
        for files in self.FILES().values():
            assert not [name for name in files if name.startswith((*others, *rooms))]

    def test_versions_of_what_draws_count_and_c_files(self) -> None:
        roots = ("render.draw.scene", "scenes.s08_attention_scores")
        code = Code()
        assert {"manim", "numpy", "av", "pycairo", "cairo", "python"} <= set(code.tools(roots))
        assert "render/draw/fast/native/canvas.c" in code.files(roots)
        captions = code.tools(("render.media.captions.write",))
        assert "budoux" in captions
        assert "manim" not in captions


def test_threads_may_look_at_code_at_once() -> None:
    """Python 3.11 cannot parse in two threads when one is interrupted by collecting garbage."""

    class Garbage:
        def __del__(self) -> None:
            sum(range(50))

    def digest(_: int) -> str:
        garbage = Garbage()
        garbage.itself = garbage  # type: ignore[attr-defined]
        return facts_of(source).digest

    source = (ROOT / "render" / "build" / "workers" / "pool.py").read_bytes()
    before = gc.get_threshold(), sys.getswitchinterval()
    gc.set_threshold(5)
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            assert len(set(threads.map(digest, range(60)))) == 1
    finally:
        gc.set_threshold(*before[0])
        sys.setswitchinterval(before[1])
