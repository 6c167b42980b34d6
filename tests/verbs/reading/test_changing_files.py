"""Files that change while they are read: the answer is never a wrong number, and never an endless wait."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.damage import File, flip

from tfrtool.report import FileReport
from tfrtool.verbs.count import count_file
from tfrtool.verbs.head import head_file
from tfrtool.verbs.options import Options
from tfrtool.verbs.verify import verify_file

DATA = File((bytes(100_000),) * 40).data
"""Some megabytes, so that no job reads all of them at once."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.tfrecord"
    path.write_bytes(DATA)
    return path


def jobs(name: str, progress: Callable[[int], None]) -> dict[str, Callable[[], FileReport]]:
    def last(events: object) -> FileReport:
        *_, report = events  # type: ignore[misc]
        assert isinstance(report, FileReport)
        return report

    return {
        "count": lambda: count_file(name, Options(progress=progress)),
        "quick": lambda: last(verify_file(name, Options(progress=progress, quick=True))),
        "verify": lambda: last(verify_file(name, Options(progress=progress))),
        "payload": lambda: last(verify_file(name, Options(progress=progress, payload=True))),
        "head": lambda: last(head_file(name, Options(progress=progress), 1000)),
    }


def changed(path: Path, job: str, change: Callable[[], object]) -> FileReport:
    """What a job reports if `change` comes about as soon as it has made some progress."""
    waiting = [change]

    def progress(_: int) -> None:
        if waiting:
            waiting.pop()()

    report = jobs(str(path), progress)[job]()
    assert not waiting, "the change never came about"
    return report


@pytest.mark.parametrize("job", ["count", "quick", "verify", "payload", "head"])
@pytest.mark.parametrize("left", [0, 5, 1_500_007, len(DATA) - 1])
def test_shrinking_file_is_an_error(path: Path, job: str, left: int) -> None:
    report = changed(path, job, lambda: os.truncate(path, left))
    assert report.status == "error"
    assert report.error
    assert "while it was read" in report.error[1]


@pytest.mark.parametrize("job", ["verify", "payload"])
def test_error_counts_what_was_read_before(path: Path, job: str) -> None:
    report = changed(path, job, lambda: os.truncate(path, len(DATA) // 2))
    assert 10 <= report.records <= 20
    assert report.error
    assert f"({report.records} intact records in the {report.bytes:,} bytes before)" in report.error[1]


@pytest.mark.parametrize("job", ["count", "quick", "verify", "payload", "head"])
def test_overwritten_file_is_an_error(path: Path, job: str) -> None:
    def rewrite() -> None:
        path.write_bytes(DATA)
        os.utime(path, ns=(1, 1))

    report = changed(path, job, rewrite)
    assert report.error == (
        "read",
        f"'{path}' was written to while it was read; run this again once nothing writes to it"
        f" ({report.records} intact records in the {report.bytes:,} bytes before)",
    )


@pytest.mark.parametrize("job", ["count", "quick", "verify", "payload", "head"])
def test_growing_file_is_read_to_its_first_size(path: Path, job: str) -> None:
    def grow() -> None:
        with path.open("ab") as file:
            file.write(flip(DATA, 0))

    report = changed(path, job, grow)
    assert (report.status, report.records, report.bytes) == ("clean", 40, len(DATA))
    assert report.hint == f"the file grew by {len(DATA):,} bytes while it was read, which were not looked at"
