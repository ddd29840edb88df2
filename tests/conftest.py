"""Options of the whole test suite."""

from __future__ import annotations

import zlib

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--accept-pictures",
        action="store_true",
        help="store the pictures of the scenes as they are now, instead of comparing with them",
    )
    parser.addoption(
        "--share",
        metavar="I/N",
        help="run only the I-th of N shares of the tests, counted from 0: CI takes turns",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    share = config.getoption("--share")
    if share is None:
        return
    number, _, count = str(share).partition("/")
    if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
        raise pytest.UsageError(f"--share: expected I/N with I below N, found {share!r}")
    mine, others = list[pytest.Item](), list[pytest.Item]()
    for item in items:
        chosen = zlib.crc32(item.nodeid.encode()) % int(count) == int(number)
        (mine if chosen else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = mine
