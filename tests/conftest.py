"""Set up the tests: the same examples at every run, and other readers where they are installed.

The folders mirror the package: the tests of `tfrtool/framing/walk.py` are in `framing/test_walk.py`. Besides them,
`laws/` tests the laws of the design on random files, `interop/` compares with other programs, `library/` fixes the
public functions, `golden/` holds what every command prints, and `release/` checks what is shipped: README, man pages,
completions, the wheel. `test_layers.py` checks which folder may import which.

`kit/` is the shared vocabulary: it builds files, damages them and runs the program. `data/` has the samples of README.
`benchmarks/` are programs; their tests run them on small files.

Tests with the marker `slow` are exhaustive or long; `.ci/run` runs them, the command in README does not. Those marked
`tensorflow`, `tfrecord`, `consumer`, `oneflow`, `parquet` and `browser` compare with other programs, and are skipped
where these are missing. OneFlow runs in an interpreter of its own: `TFRTOOL_ONEFLOW_PYTHON` names a Python 3.7 to 3.10
that has it (see `interop/oneflow/test_reading.py`).
"""

import signal
from importlib.util import find_spec

import pytest
from hypothesis import settings
from kit import browser
from kit import oneflow as oneflowkit

# A shell ignores SIGINT in background jobs, nohup ignores SIGHUP; the programs that tests start would inherit that.
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda number, frame: None)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
                item.add_marker(
                    pytest.mark.skip(reason="OneFlow is not installed; see interop/oneflow/test_reading.py")
                )
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
