"""Weight files for the tests of scenes: the tutorial's, and random ones with longer numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

import engine


@pytest.fixture(scope="session")
def random_weights(tmp_path_factory: pytest.TempPathFactory):
    """A function from a seed to the path of a weight file with values from -9.99 to 9.99."""
    folder = tmp_path_factory.mktemp("weights")
    tutorial = engine.load_weights(engine.TUTORIAL)

    def make(seed: int) -> Path:
        path = folder / f"random_{seed}.json"
        if not path.exists():
            engine.save_weights(engine.random_weights(tutorial, seed), path)
        return path

    return make
