"""docs/pytorch.ipynb and docs/pytorch.md: what they tell a lecturer to do works."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.family import check_lesson
from engine.importing.sources import read_names

Parsed = Callable[..., dict[str, Any]]

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "pytorch.md").read_text(encoding="utf-8")
NOTEBOOK: dict[str, Any] = json.loads((DOCS / "pytorch.ipynb").read_text(encoding="utf-8"))


def cells(kind: str) -> list[str]:
    return ["".join(c["source"]) for c in NOTEBOOK["cells"] if c["cell_type"] == kind]


def test_the_notebook_is_clean() -> None:
    """It compiles, and no output of a run is stored in it."""
    assert (NOTEBOOK["nbformat"], NOTEBOOK["nbformat_minor"]) == (4, 5)
    names = [cell["id"] for cell in NOTEBOOK["cells"]]
    assert len(set(names)) == len(names)
    for cell in NOTEBOOK["cells"]:
        assert cell["cell_type"] == "markdown" or not (cell["outputs"] or cell["execution_count"])
    for code in cells("code"):
        compile(code, "cell", "exec")


def test_the_commands_parse(parsed: Parsed) -> None:
    lines = re.findall(r"^    python -m engine (.*)$", PAGE, flags=re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        parsed(*shlex.split(line))


def test_the_page_names_every_option(parsed: Parsed) -> None:
    rare = {"eps_in", "max_length", "force", "file", "output"}
    for name in set(parsed("weights", "import", "m.pt", "-o", "w.json")) - rare:
        assert f"`--{name.replace('_', '-')}" in PAGE, name


def test_the_names_are_read(tmp_path: Path) -> None:
    blocks = re.findall(r"```toml\n(.*?)```", PAGE, flags=re.DOTALL)
    (tmp_path / "names.toml").write_text(blocks[0], encoding="utf-8")
    assert read_names(tmp_path / "names.toml")["steps"] == ""


def test_the_page_saves_what_the_notebook_saves() -> None:
    """Line by line, but for the folder and the sentence."""
    page = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[0]
    saved = next(code for code in cells("code") if "probe.npz" in code)
    for part in ("model.double().eval()", "torch.save(model.state_dict()", "with torch.no_grad():"):
        assert part in page
        assert part in saved
    ids = "source_ids=source, target_ids=target, logits=logits)"
    assert ids in page
    assert ids in saved


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path) -> None:
    """Where PyTorch is: trained, imported with the probe, and the model does what it was taught."""
    for package in ("torch", "nbformat", "nbclient", "ipykernel"):
        pytest.importorskip(package, reason=f"the notebook needs {package}")
    import nbformat
    from nbclient import NotebookClient

    root = tmp_path / "project"
    (root / "docs").mkdir(parents=True)
    shutil.copy(DOCS / "pytorch.ipynb", root / "docs")
    for name in ("engine", "assets"):
        (root / name).symlink_to(DOCS.parent / name)
    notebook = nbformat.read(root / "docs" / "pytorch.ipynb", as_version=4)
    nbformat.validate(notebook)
    client = NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(root / "docs")}}
    )
    client.execute()
    said = "".join(
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", [])
    )
    assert "100% of the words right" in said
    assert "the probe's logits to" in said
    folder = root / "docs" / "my-model"
    weights = engine.load_weights(folder / "weights.json")
    check_lesson(weights, "我爱课", "I love courses", folder / "lesson.toml")
    steps = engine.generate(weights, "你学水", None, 4)
    assert [step.choice for step in steps] == ["you", "study", "water", "<eos>"]
