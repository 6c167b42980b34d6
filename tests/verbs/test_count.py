"""count: how many records, from headers alone."""

from __future__ import annotations

import gzip
import os
import threading
from pathlib import Path

import pytest
from kit.damage import File, cut, drop, flip, insert, zero
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA, bytes_read, counted, verified

from tfrtool.framing.encode import frame, header
from tfrtool.verbs.count import count_file
from tfrtool.verbs.options import Options


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


def test_payloads_are_not_checked(path: Path) -> None:
    report = counted(path, flip(DATA, AT[2] + 20))
    assert (report.status, report.records, report.bytes) == ("clean", 6, len(DATA))


def test_little_is_read_of_large_records(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = bytes_read(monkeypatch)
    assert counted(path, File((bytes(1 << 20),) * 8).data).records == 8
    assert sum(read) < 1 << 20


@pytest.mark.parametrize(
    ("content", "records", "restorable"),
    [
        (flip(DATA, AT[2]), 5, 1),
        (cut(DATA, len(DATA) - 1), 5, 0),
        (cut(DATA, AT[5] + 3), 5, 0),
        (insert(DATA, AT[2], b"INFO: text\n"), 6, 0),
        (zero(DATA, AT[1], AT[3]), 4, 0),
        (drop(DATA, AT[2] + 30, AT[2] + 40), 5, 0),
        (DATA + header(2**40), 6, 0),
        (DATA + bytes(4096), 6, 0),
    ],
)
def test_header_damage_is_counted_like_verify(path: Path, content: bytes, records: int, restorable: int) -> None:
    report = counted(path, content)
    assert (report.status, report.records, report.restorable) == ("damaged", records, restorable)
    _, whole = verified(path)
    assert (report.faults, report.damaged_bytes) == (whole.faults, whole.damaged_bytes)
    assert (report.bytes, report.message) == (len(content), whole.message)


def test_ofrecords_are_counted_by_lengths(path: Path) -> None:
    assert counted(path, OF_DATA).records == 6
    report = counted(path, cut(OF_DATA, len(OF_DATA) - 1))
    assert (report.status, report.records, report.faults) == ("damaged", 5, {"torn": 1})


def test_compressed_files_are_counted_whole(path: Path) -> None:
    packed = gzip.compress(DATA)
    report = counted(path, packed)
    assert (report.records, report.compression, report.size) == (6, "gzip", len(packed))
    assert (report.bytes, report.status) == (len(DATA), "clean")


def test_pipe_is_counted_without_a_size(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(flip(DATA, AT[2]),))
    writer.start()
    report = count_file(str(pipe), Options())
    writer.join()
    assert (report.status, report.records, report.size) == ("damaged", 5, None)


def test_kind_is_not_detected(path: Path) -> None:
    assert counted(path, DATA).kind is None


def test_unopenable_file_is_a_report(tmp_path: Path) -> None:
    report = count_file(str(tmp_path / "nothing"), Options())
    assert (report.status, report.records) == ("error", 0)
    assert report.error is not None
    assert report.error[0] == "open"
    assert "no such file" in report.error[1]


def test_empty_records_are_counted(path: Path) -> None:
    assert counted(path, frame(b"") * 1000).records == 1000
    assert counted(path, b"").records == 0


def test_progress_is_in_bytes_on_disk(path: Path) -> None:
    for content in (DATA, gzip.compress(DATA), flip(DATA, 0), File(EXAMPLES.payloads * 2000).data):
        path.write_bytes(content)
        told: list[int] = []
        count_file(str(path), Options(progress=told.append))
        assert sum(told) == len(content)
