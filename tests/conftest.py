"""What every test shares: the same examples at every run, and other readers only where they are installed.

Tests are named after the room or the command that they hold to its word: `test_framing_*`, `test_cli_*`, and so on;
`*kit.py` are what several of them share. Those marked `tensorflow`, `tfrecord`, `consumer`, `oneflow`, `parquet` and
`browser` compare with other programs, and are skipped where these are missing. OneFlow runs in an interpreter of its
own: `TFRTOOL_ONEFLOW_PYTHON` names a Python 3.7 to 3.10 that has it (see `test_real_oneflow.py`).
"""

from importlib.util import find_spec

import browser
import oneflowkit
import pytest
from hypothesis import settings

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if browser.PROGRAM is None:
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))
    if oneflowkit.PYTHON is None:
        for item in items:
            if item.get_closest_marker("oneflow"):
                item.add_marker(pytest.mark.skip(reason="OneFlow is not installed; see tests/test_real_oneflow.py"))
    for package in ("tensorflow", "tfrecord"):
        if find_spec(package) is None:
            for item in items:
                if item.get_closest_marker(package):
                    item.add_marker(pytest.mark.skip(reason=f"{package} is not installed"))
    for item in items:
        for mark in item.iter_markers("consumer"):
            if not _there(mark.args[0]):
                item.add_marker(pytest.mark.skip(reason=f"{mark.args[0]} is not installed"))


def _there(package: str) -> bool:
    """Whether a package is installed, and the ones that it lies in."""
    parts = package.split(".")
    return all(find_spec(".".join(parts[: i + 1])) is not None for i in range(len(parts)))
