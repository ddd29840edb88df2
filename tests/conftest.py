"""Options of the whole test suite."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept-pictures",
        action="store_true",
        help="store the pictures of the scenes as they are now, instead of comparing with them",
    )
