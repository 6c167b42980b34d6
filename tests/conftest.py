"""What every test shares: the same examples at every run, and other readers only where they are installed."""

from importlib.util import find_spec

import browser
import pytest
from hypothesis import settings

settings.register_profile("same-every-time", derandomize=True, deadline=None)
settings.load_profile("same-every-time")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if browser.PROGRAM is None:
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))
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
