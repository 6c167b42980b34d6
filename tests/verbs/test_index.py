"""Indexes: written of sound records alone, held against their file, and followed to a record."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from random import Random
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.damage import File, cut, flip, insert
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA

import tfrtool
from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import frame
from tfrtool.report import FileReport
from tfrtool.suggestion import USE_FORCE
from tfrtool.verbs.index import SHOWN, IndexFault
from tfrtool.verbs.options import Options
from tfrtool.verbs.stat.job import StatReport
from tfrtool.verbs.verify import verify_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "train.tfrecord"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "train.idx"


LINES = [f"{begin} {end - begin}" for begin, end in map(EXAMPLES.span, range(6))]


def written(path: Path, index: Path, content: bytes | None = None, force: bool = False) -> StatReport:
    if content is not None:
        path.write_bytes(content)
    return tfrtool.stat(path, index=index, force=force)


def held_against(path: Path, lines: list[str] | bytes, index: Path, quick: bool = False) -> list[tuple[int, str]]:
    """Which lines disagree, and how; the number of faults in the report is that of all of them."""
    index.write_bytes(lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode())
    *found, report = verify_file(str(path), Options(index=str(index), quick=quick))
    assert isinstance(report, FileReport)
    faults = [(one.line, one.message) for one in found if isinstance(one, IndexFault)]
    assert report.index_faults is not None and len(faults) == min(report.index_faults, SHOWN)
    assert report.finding == bool(report.index_faults or report.faults)
    return faults


# Writing


def test_line_is_offset_and_size_of_a_frame(path: Path, index: Path) -> None:
    report = written(path, index)
    assert (report.status, report.index) == ("clean", str(index))
    assert index.read_text().splitlines() == LINES


def test_only_intact_records_have_a_line(path: Path, index: Path) -> None:
    report = written(path, index, flip(cut(DATA, len(DATA) - 1), AT[2] + 40))
    assert (report.status, report.records, report.index) == ("damaged", 4, str(index))
    assert index.read_text().splitlines() == [LINES[n] for n in (0, 1, 3, 4)]


def test_large_records_have_a_line(path: Path, index: Path) -> None:
    large = File((b"a", bytes(700_000), b"b"))
    written(path, index, large.data)
    assert index.read_text() == f"0 17\n17 700016\n{large.at[2]} 17\n"


def test_index_of_no_records_is_empty(path: Path, index: Path) -> None:
    assert written(path, index, b"").index == str(index)
    assert index.read_bytes() == b""


@pytest.mark.parametrize(
    ("content", "why"),
    [(gzip.compress(DATA), "compressed with gzip"), (OF_DATA, "OneFlow reads no index")],
    ids=["gzip", "ofrecord"],
)
def test_useless_index_is_refused_with_the_reason(path: Path, index: Path, content: bytes, why: str) -> None:
    report = written(path, index, content)
    assert report.status == "error"
    assert report.error is not None and report.error[0] == "unsupported" and why in report.error[1]
    assert not index.exists()
    index.write_text("0 1\n")
    *_, checked = verify_file(str(path), Options(index=str(index)))
    assert isinstance(checked, FileReport) and checked.error is not None and why in checked.error[1]


@pytest.mark.parametrize("content", [b"<!DOCTYPE html><html></html>", Random(1).randbytes(5000)])
def test_foreign_file_has_no_index(path: Path, index: Path, content: bytes) -> None:
    report = written(path, index, content)
    assert (report.status, report.index) == ("foreign", None)
    assert os.listdir(path.parent) == [path.name]


def test_existing_file_is_replaced_only_by_force(path: Path, index: Path) -> None:
    index.write_text("mine")
    report = written(path, index)
    assert (report.error, report.suggestion) == (("write", f"'{index}' exists already"), USE_FORCE)
    assert index.read_text() == "mine"
    assert written(path, index, force=True).status == "clean"
    assert index.read_text().splitlines() == LINES
    report = written(path, path, force=True)
    assert report.error is not None and "an input is never written to" in report.error[1]
    assert path.read_bytes() == DATA


def test_failing_read_leaves_no_index(path: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(File(EXAMPLES.payloads * 2000).data)
    preadv = os.preadv

    def failing(fd: int, buffers: object, offset: int) -> int:
        if offset > 1 << 20:
            raise OSError(5, "Input/output error")
        return preadv(fd, buffers, offset)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "preadv", failing)
    report = tfrtool.stat(path, index=index)
    assert report.error is not None and report.error[0] == "read"
    assert os.listdir(path.parent) == [path.name]


# Comparing it with the file


def missing(number: int) -> str:
    return f"record {number} (offset {AT[number]}, size {AT[number + 1] - AT[number]}) has no line"


@pytest.mark.parametrize("quick", [False, True])
def test_written_index_matches(path: Path, index: Path, quick: bool) -> None:
    for content in (DATA, File((b"", bytes(700_000), b"x") * 3).data, b"", File(EXAMPLES.payloads * 900).data):
        written(path, index, content, force=True)
        assert held_against(path, index.read_bytes(), index, quick) == []


@pytest.mark.parametrize("end", ["\r\n", " \n", "\n"])
def test_line_ends_and_blanks_of_other_writers(path: Path, index: Path, end: str) -> None:
    assert held_against(path, end.join(LINES).replace(" ", "\t", 1).encode(), index) == []


@pytest.mark.parametrize(
    ("lines", "faults"),
    [
        (LINES[:-1], [(6, missing(5))]),
        (LINES[1:], [(1, missing(0))]),
        ([*LINES, "99999 17"], [(7, "no intact record begins at byte 99999")]),
        ([*LINES[:2], f"{AT[1] + 7} 7", *LINES[2:]], [(3, f"no intact record begins at byte {AT[1] + 7}")]),
        ([*LINES[:2], *LINES[1:]], [(3, f"no intact record begins at byte {AT[1]}")]),
        (
            [LINES[1], LINES[2], LINES[0], *LINES[3:]],
            [(1, missing(0)), (3, "no intact record begins at byte 0")],
        ),
        ([*LINES[:2], f"{AT[2]} 40", *LINES[3:]], [(3, f"the record at byte {AT[2]} has size {AT[3] - AT[2]}")]),
        ([*LINES[:5], "99999 40"], [(6, missing(5)), (6, "no intact record begins at byte 99999")]),
        ([*LINES, "abc"], [(7, "'abc' is not an offset and a size")]),
        ([*LINES, "1 2 3"], [(7, "'1 2 3' is not an offset and a size")]),
        ([*LINES, "-1 2"], [(7, "'-1 2' is not an offset and a size")]),
        ([], [(1, missing(number)) for number in range(6)]),
        (["<html>", "<body>"], [(1, "'<html>' is not an offset and a size: this is not an index")]),
        ([LINES[1], LINES[0], *LINES[2:]], [(1, missing(0)), (2, "no intact record begins at byte 0")]),
    ],
)
def test_differing_line_is_one_fault(path: Path, index: Path, lines: list[str], faults: list[tuple[int, str]]) -> None:
    assert held_against(path, lines, index) == faults
    assert held_against(path, lines, index, quick=True) == faults


def test_line_of_a_damaged_record_is_a_fault(path: Path, index: Path) -> None:
    path.write_bytes(flip(cut(DATA, len(DATA) - 5), AT[2] + 40))
    assert held_against(path, LINES, index) == [
        (3, f"no intact record begins at byte {AT[2]}"),
        (6, f"no intact record begins at byte {AT[5]}"),
    ]


hidden = st.sets(st.integers(0, 5))
kept = st.lists(st.sampled_from([*LINES, f"{AT[1] + 1} 20", f"{AT[2]} 17"]), max_size=8)


@settings(max_examples=80)
@given(hidden, kept | hidden.map(lambda out: [line for n, line in enumerate(LINES) if n not in out]))
def test_quick_check_allows_for_damaged_payloads(
    tmp_path_factory: pytest.TempPathFactory, hurt: set[int], lines: list[str]
) -> None:
    where, content = tmp_path_factory.mktemp("quick"), DATA
    for number in hurt:
        content = flip(content, AT[number] + 40)
    (where / "data").write_bytes(content)
    needed = [line for n, line in enumerate(LINES) if n not in hurt or line in lines]
    assert bool(held_against(where / "data", lines, where / "idx", quick=True)) == (lines != needed)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("quick", [False, True])
def test_damage_found_by_an_index_is_reported(path: Path, index: Path, quick: bool, piped: bool) -> None:
    large = File((b"a", bytes(3 << 20), b"b"))
    content = flip(large.data, large.at[1] + 9999)
    written(path, index, content)
    if piped:
        path.unlink()
        os.mkfifo(path)
        Thread(target=path.write_bytes, args=(content,)).start()
    damage, report = verify_file(str(path), Options(index=str(index), quick=quick))
    assert isinstance(damage, Damage) and isinstance(report, FileReport)
    assert (damage.begin, damage.end, damage.fault, damage.record) == (17, large.at[2], "data-crc", 1)
    assert (report.status, report.records, report.index_faults) == ("damaged", 2, 0)
    assert (report.damaged_bytes, report.bytes) == (large.at[2] - 17, len(content))


def test_faults_beyond_the_first_are_counted(path: Path, index: Path) -> None:
    path.write_bytes(insert(File(EXAMPLES.payloads * 50).data, 0, frame(b"one more")))
    other = [f"{begin} {end - begin}" for begin, end in map(File(EXAMPLES.payloads * 50).span, range(300))]
    faults = held_against(path, other, index)
    assert len(faults) == SHOWN and faults[0][0] == 1


@pytest.mark.parametrize("junk", [b"1" * 300_000, b"\0" * 200_000, b" " * 200, bytes(range(256)) * 50, b"0 0"])
def test_any_content_of_an_index_is_a_fault(path: Path, index: Path, junk: bytes) -> None:
    for content in (junk, junk + b"\n" + "\n".join(LINES).encode(), "\n".join(LINES).encode() + b"\n" + junk):
        assert held_against(path, content, index)


changed = st.integers(0, 5).flatmap(
    lambda at: st.sampled_from(["", "x", "5 5", "0 17", f"{AT[at]} 1", f"{AT[at] + 1} {AT[at + 1] - AT[at]}"]).map(
        lambda line: [*LINES[:at], line, *LINES[at + 1 :]]
    )
)


@settings(max_examples=60)
@given(changed | st.lists(st.sampled_from(LINES), max_size=8))
def test_any_other_index_differs(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    where = tmp_path_factory.mktemp("index")
    (where / "data").write_bytes(DATA)
    assert bool(held_against(where / "data", lines, where / "idx")) == (lines != LINES)


def test_missing_index_is_an_error(path: Path) -> None:
    report = tfrtool.verify(path, index=path.with_name("nothing.idx"))
    assert report.error is not None and report.error[0] == "open" and "nothing.idx" in report.error[1]
    assert tfrtool.verify(path).index_faults is None


@pytest.mark.parametrize("blank", ["\n", "\n\n", " \r\n", " \n"])
def test_blank_lines_of_an_index_are_skipped(path: Path, index: Path, blank: str) -> None:
    lines = "".join(f"{line}\n{blank}" for line in LINES)
    assert held_against(path, blank.encode() + lines.encode(), index) == []
    assert held_against(path, f"{blank}x".encode(), index)[0][1].startswith("'x' is not an offset and a size")
