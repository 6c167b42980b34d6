"""How the tests are laid out, and what all of them share: the same examples at every run, other readers where they are.

A module holds one thing to its promise, which its first line says. By their names they belong to a room of the
package: `test_framing_*` to framing; `test_sources`, `_inputs`, `_codecs`, `_sniff` and `_sink*` to sources;
`test_wire`, `_kinds`, `_features`, `_content`, `_mapping`, `_rows*` and `_schema*` to payload; `test_verbs_*`,
`_repair_*`, `_salvage`, `_convert*`, `_jsonl` and `_parquet` to verbs; `test_cli_*` to the commands, as programs.
`test_layers` holds the order of the rooms; `test_readme`, `_generated`, `_completion`, `_wheel`, `_bare_machine` and
`_every_option` what is handed out.

What has no `test_` before it is a vocabulary: `faults` damages files, `program` and `fork` run the program,
`messagekit` makes payloads, and each `NAMEkit` serves the tests of its room. `data/` has the samples of the README.
`benchmarks/` are programs; `test_benchmarks` runs them on small files. `.ci/run` runs all checks.

Those marked `tensorflow`, `tfrecord`, `consumer`, `oneflow`, `parquet` and `browser` compare with other programs, and
are skipped where these are missing. OneFlow runs in an interpreter of its own: `TFRTOOL_ONEFLOW_PYTHON` names a Python
3.7 to 3.10 that has it (see `test_real_oneflow.py`).
"""

import signal
from importlib.util import find_spec

import browser
import oneflowkit
import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # As under nohup; the programs that tests start would inherit that, and rightly take no notice of a hang-up.
    signal.signal(signal.SIGHUP, lambda number, frame: None)

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
