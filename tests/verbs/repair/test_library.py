"""`tfrtool.repair`: what a program may rely on."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from kit.damage import File, cut, flip, ten, zero

import tfrtool
from tfrtool.sources.source import open_source
from tfrtool.verbs.reading import reopen as reread

FILE = ten()
HURT = flip(flip(FILE.data, FILE.at[2] + 1), FILE.at[5] + 20)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(HURT)


def test_repair_writes_recoverable_records() -> None:
    report = tfrtool.repair("in", "out")
    assert list(tfrtool.records("out")) == list(FILE.without(5))
    assert (report.records, report.kept, report.restored, report.lost) == (9, 8, 1, True)
    assert [(one.action, one.damage.record, one.at) for one in report.outcomes] == [
        ("restored", 2, 2),
        ("dropped", 5, None),
    ]
    assert report.outcomes[1].dropped == (FILE.span(5),)
    assert report.dropped_bytes == report.outcomes[1].dropped_bytes


def test_intact_file_is_copied() -> None:
    Path("in").write_bytes(gzip.compress(FILE.data))
    report = tfrtool.repair(Path("in"), Path("out"))
    assert (report.status, report.lost, report.outcomes) == ("clean", False, [])
    assert Path("out").read_bytes() == Path("in").read_bytes()


def test_options_match_the_command() -> None:
    report = tfrtool.repair(b"in", "out", compression="gzip", fix_bits=True, quarantine="aside", report=Path("list"))
    assert gzip.decompress(Path("out").read_bytes()) == FILE.data
    assert (report.corrected, report.quarantine, report.report) == (1, "aside", "list")
    *rows, output = [json.loads(line) for line in Path("list").read_text().splitlines()]
    assert (output["output"], output["records"], output["bytes"]) == ("out", report.records, len(FILE.data))
    assert [row["action"] for row in rows] == ["kept", "restored", "kept", "corrected", "kept"]
    assert Path("aside").read_bytes() == b""
    assert tfrtool.repair("in", "half", keep="before").records == 2
    assert tfrtool.repair("in", "half", keep="after", force=True).records == 7


def test_dry_run_reports_the_same_and_writes_nothing() -> None:
    report = tfrtool.repair("in", "out", dry_run=True, quarantine="aside", report="list")
    assert os.listdir() == ["in"]
    assert report.outcomes == tfrtool.repair("in", "out").outcomes


def test_no_output_without_recoverable_records() -> None:
    Path("in").write_bytes(b"<!DOCTYPE html><html>Not found</html>")
    report = tfrtool.repair("in", "out")
    assert (report.status, report.diagnosis, report.output, report.records) == ("foreign", "html", None, 0)
    assert "web page" in (report.message or "")
    assert os.listdir() == ["in"]


def test_errors_are_raised_and_leave_nothing() -> None:
    with pytest.raises(tfrtool.OpenError, match="cannot open 'nowhere'"):
        tfrtool.repair("nowhere", "out", quarantine="aside")
    with pytest.raises(tfrtool.WriteError, match="the output 'in' is the input 'in'"):
        tfrtool.repair("in", "in", force=True)
    with pytest.raises(tfrtool.WriteError, match="the report 'in' is the input 'in'"):
        tfrtool.repair("in", "out", report="in", force=True)
    with pytest.raises(tfrtool.WriteError, match="the directory 'no'"):
        tfrtool.repair("in", "no/out", quarantine="aside")
    with pytest.raises(ValueError, match="must be different files"):
        tfrtool.repair("in", "out", quarantine="./out", force=True)
    assert os.listdir() == ["in"]
    assert Path("in").read_bytes() == HURT


def test_existing_output_is_replaced_only_by_force() -> None:
    Path("out").write_bytes(b"old")
    with pytest.raises(tfrtool.WriteError, match="exists already"):
        tfrtool.repair("in", "out")
    assert Path("out").read_bytes() == b"old"
    assert tfrtool.repair("in", "out", force=True).output == "out"
    assert Path("out").read_bytes() == File(FILE.without(5)).data


@pytest.mark.slow
@pytest.mark.parametrize("codec", [bytes, gzip.compress, zlib.compress])
def test_large_record_and_large_gap_in_streams(codec: Callable[..., bytes]) -> None:
    file = File((b"small", Random(3).randbytes(3 << 20), b"small", Random(4).randbytes(3 << 20), b"small"))
    lost = zero(zero(file.data, file.at[1], file.at[1] + 12), file.at[3], file.at[3] + 30)
    Path("in").write_bytes(codec(lost))
    report = tfrtool.repair("in", "out", quarantine="aside")
    assert list(tfrtool.records("out")) == list(file.without(3))
    assert Path("aside").read_bytes() == lost[slice(*file.span(3))]
    assert report.restored == 1


@pytest.mark.slow
def test_large_record_is_recovered_from_a_conversion() -> None:
    file = File((b"small\n", Random(3).randbytes(1 << 20), b"small\n"))
    lost = zero(file.data, file.at[1], file.at[1] + 12)
    Path("in").write_bytes(gzip.compress(lost.replace(b"\n", b"\r\n"), 1))
    assert tfrtool.repair("in", "out").diagnosis == "crlf"
    assert list(tfrtool.records("out")) == list(file.payloads)


def test_unverified_payloads_are_kept_only_on_request() -> None:
    from kit.repair_laws import EXAMPLES

    file = File(EXAMPLES)
    Path("in").write_bytes(cut(file.data, len(file.data) - 2))
    assert tfrtool.repair("in", "out").records == 3
    report = tfrtool.repair("in", "all", keep_unverified=True)
    assert (report.unverified, Path("all").read_bytes()) == (1, file.data)


@pytest.mark.parametrize("held", [0, 1000, 1 << 30])
def test_discarded_bytes_of_a_stream_can_be_read_again(held: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reread, "_HELD", held)
    data = Random(5).randbytes(300_000)
    Path("in").write_bytes(gzip.compress(data, 1))
    with open_source("in", reopenable=True) as source, reread.ReplayStream(source) as again:
        view = memoryview(bytearray(5000))
        for released in (0, 10_000, 200_000):
            again.release(released)
            for at in (290_000, 250_000, released, 220_000, released, 280_000):
                again.discard_before(at)
                assert again.read_into(at, view) == 5000
                assert view == data[at : at + 5000]
