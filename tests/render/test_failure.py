"""Failures in a line, and packages that only some need."""

from __future__ import annotations

import tomllib

import pytest

from engine.errors import LectureError
from render.base.failure import Failure, need

from .conftest import ROOT


def test_a_module_that_is_there_is_given() -> None:
    assert need("json", "cluster", "--cluster").loads("1") == 1


def test_one_that_is_not_is_told_with_the_command_that_installs_it() -> None:
    with pytest.raises(LectureError) as caught:
        need("no_such_module.part", "cluster", "--cluster")
    assert str(caught.value) == (
        "--cluster: expected more packages (type: ./render.sh install cluster), "
        "found no no_such_module"
    )


def test_every_package_of_an_extra_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = {
        line.split("==")[0].lower().replace("-", "_") for line in (ROOT / "constraints.txt").open()
    }
    for extra, packages in project["optional-dependencies"].items():
        for package in packages:
            name = package.split("[")[0].split(">")[0].split("=")[0].lower().replace("-", "_")
            assert name in pinned | {"transformer_lecture"}, (extra, package)


def test_a_mistake_in_the_input_is_its_own_line() -> None:
    failure = Failure.of(LectureError(where="w.json", found="nothing"), "a sheet")
    assert failure == Failure("a sheet: w.json: found nothing", mistake=True)


def test_another_exception_has_the_line_of_code_that_it_comes_from() -> None:
    try:
        raise ValueError("two\nlines")
    except ValueError as error:
        failure = Failure.of(error)
    assert failure.line.startswith("ValueError: two\\nlines (")
    assert "test_failure.py:" in failure.line
    assert not failure.mistake
