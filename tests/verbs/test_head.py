"""head: the first records, whole, with the damage met on the way."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from kit.damage import File, cut, flip, insert
from kit.messages import event, scalar
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA, OFRECORDS
from pytest import mark

from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import frame
from tfrtool.framing.walk import walk
from tfrtool.report import FileReport
from tfrtool.verbs.head import Record, head_file, record_file
from tfrtool.verbs.options import Options
from tfrtool.verbs.schema.job import schema_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


def headed(path: Path, content: bytes, **how: int) -> tuple[list[Record | Damage], FileReport]:
    path.write_bytes(content)
    *items, report = head_file(str(path), Options(), **how)
    assert isinstance(report, FileReport)
    assert not any(isinstance(item, FileReport) for item in items)
    return items, report  # type: ignore[return-value]


def test_five_records_by_default(path: Path) -> None:
    items, report = headed(path, DATA)
    assert [item.payload for item in items] == list(EXAMPLES.payloads[:5])
    assert (report.status, report.records, report.format) == ("clean", 5, "tfrecord")
    assert len(headed(path, DATA, n=100)[0]) == 6
    assert headed(path, DATA, n=100)[1].records == 6


def test_record_has_number_offset_size_and_kind(path: Path) -> None:
    items, _ = headed(path, DATA, n=2, skip=3)
    assert [(item.index, item.offset) for item in items] == [(3, AT[3]), (4, AT[4])]
    assert [(item.size, item.kind) for item in items] == [(len(EXAMPLES.payloads[n]), "example") for n in (3, 4)]


def test_ofrecord_has_number_offset_size_and_kind(path: Path) -> None:
    items, report = headed(path, OF_DATA, n=2, skip=1)
    begin = 8 + len(OFRECORDS[0])
    assert [(item.index, item.offset, item.payload, item.kind) for item in items] == [
        (1, begin, OFRECORDS[1], "ofrecord"),
        (2, begin + 8 + len(OFRECORDS[1]), OFRECORDS[2], "ofrecord"),
    ]
    assert report.format == "ofrecord"


@mark.parametrize("packed", [False, True])
def test_no_size_of_a_file_read_in_part(path: Path, packed: bool) -> None:
    content = flip(b"".join(map(frame, [b"a" * 3_000_000] * 8)), 3_000_100)
    path.write_bytes(gzip.compress(content, 1) if packed else content)

    def told(found: Callable[[str], Iterable[object]]) -> str | None:
        *_, report = found(str(path))
        assert isinstance(report, FileReport) and report.status == "damaged"
        return report.message

    part = "1 damaged range of 3,000,016 bytes, in what was read"
    assert told(lambda name: record_file(name, Options(), 1)) == part
    assert told(lambda name: head_file(name, Options(), 2)) == part
    assert told(lambda name: schema_file(name, Options(), 2)) == part
    assert told(lambda name: head_file(name, Options(), 9)) == "1 damaged range, 3,000,016 of 24,000,128 bytes"


def test_each_record_has_its_own_kind(path: Path) -> None:
    payloads = [event(file_version="brain.Event:2"), event(step=1, summary=scalar("loss", 1.0)), b"odd", b""]
    items, _ = headed(path, b"".join(map(frame, payloads)))
    assert [item.kind for item in items] == ["event", "event", "unknown", None]


def test_zero_records_read_nothing(path: Path) -> None:
    items, report = headed(path, flip(DATA, 0), n=0)
    assert (items, report.records) == ([], 0)


def test_skipping_more_than_there_is(path: Path) -> None:
    items, report = headed(path, DATA, n=5, skip=50)
    assert (items, report.records, report.status) == ([], 6, "clean")


def test_damage_before_the_last_record_is_in_place(path: Path) -> None:
    items, report = headed(path, flip(insert(DATA, AT[3], b"text"), AT[1]), n=3)
    assert [(item.begin, item.fault) if isinstance(item, Damage) else item.index for item in items] == [
        0,
        (AT[1], "length-crc"),
        2,
        (AT[3], "stray"),
        3,
    ]
    assert report.status == "damaged"


def test_damage_after_the_last_record_is_not_read(path: Path) -> None:
    items, report = headed(path, cut(DATA, len(DATA) - 1), n=3)
    assert (len(items), report.status) == (3, "clean")


def test_numbers_and_offsets_after_damage(path: Path) -> None:
    items, _ = headed(path, gzip.compress(flip(DATA, AT[1] + 20)), n=2, skip=1)
    assert [(i.begin, i.end) if isinstance(i, Damage) else (i.index, i.offset) for i in items] == [
        (AT[1], AT[2]),
        (2, AT[2]),
        (3, AT[3]),
    ]


def test_large_record_is_whole(path: Path) -> None:
    items, _ = headed(path, File((bytes(3 << 20), b"x")).data)
    assert [(item.size, len(item.payload or b"")) for item in items] == [(3 << 20, 3 << 20), (1, 1)]


def test_huge_record_has_no_payload(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "__kwdefaults__", {**walk.__kwdefaults__, "max_record": 1 << 20})
    items, _ = headed(path, File((b"a", bytes(3 << 20), b"b")).data)
    assert [(i.index, i.size, i.kind, i.payload is None) for i in items] == [
        (0, 1, "unknown", False),
        (1, 3 << 20, None, True),
        (2, 1, "unknown", False),
    ]


def test_foreign_file_has_no_records(path: Path) -> None:
    items, report = headed(path, b"<!DOCTYPE html><html></html>")
    assert [type(item) for item in items] == [Damage]
    assert (report.status, report.diagnosis, report.records) == ("foreign", "html", 0)


def test_unopenable_file_is_a_report(tmp_path: Path) -> None:
    (report,) = head_file(str(tmp_path / "nothing"), Options())
    assert isinstance(report, FileReport)
    assert (report.status, report.error and report.error[0]) == ("error", "open")


# One record by its number


def numbered(path: Path, content: bytes, number: int) -> tuple[list[Record | Damage], FileReport]:
    path.write_bytes(content)
    *found, report = record_file(str(path), Options(), number)
    assert isinstance(report, FileReport)
    return found, report  # type: ignore[return-value]


@mark.parametrize("number", range(6))
def test_one_record_is_found_by_its_number(path: Path, number: int) -> None:
    (found,), report = numbered(path, DATA, number)
    assert isinstance(found, Record)
    assert (found.index, found.payload, found.offset) == (number, EXAMPLES.payloads[number], AT[number])
    assert (report.status, report.kind, report.records) == ("clean", "example", 1)
    assert report.unread


@mark.parametrize("content", [gzip.compress(DATA), OF_DATA], ids=["gzip", "ofrecord"])
def test_one_record_is_found_where_headers_cannot_be_hopped(path: Path, content: bytes) -> None:
    (found,), _ = numbered(path, content, 4)
    assert isinstance(found, Record) and found.index == 4 and found.payload


def test_a_number_beyond_the_last_record_is_an_error(path: Path) -> None:
    found, report = numbered(path, DATA, 6)
    assert found == [] and report.error is not None
    assert report.error[0] == "number" and "has no record 6: it holds 6 records" in report.error[1]


def test_damaged_records_count_and_damage_before_is_yielded(path: Path) -> None:
    (damage, found), report = numbered(path, flip(DATA, AT[1]), 3)
    assert isinstance(damage, Damage) and damage.record == 1
    assert isinstance(found, Record) and found.payload == EXAMPLES.payloads[3]
    assert (found.index, report.status) == (3, "damaged")


@mark.parametrize("at", [AT[1] + 40, AT[1]], ids=["payload", "header"])
def test_a_file_is_unread_where_payloads_before_were_skipped(path: Path, at: int) -> None:
    last = len(EXAMPLES.payloads) - 1
    found, report = numbered(path, flip(DATA, at), last)
    assert isinstance(found[-1], Record) and (report.records, report.unread) == (1, True)
    assert numbered(path, gzip.compress(DATA), last)[1].unread
    assert not numbered(path, OF_DATA, last)[1].unread and numbered(path, OF_DATA, last - 1)[1].unread


def test_a_damaged_or_missing_record_is_not_counted(path: Path) -> None:
    data = flip(DATA, AT[3] + 40)
    assert numbered(path, data, 3)[1].records == numbered(path, data, 99)[1].records == 0
    assert not numbered(path, frame(EXAMPLES.payloads[0]), 0)[1].unread


@mark.parametrize("at", [AT[3] + 40, AT[3], AT[4] - 1])
def test_damage_of_the_record_itself_is_yielded(path: Path, at: int) -> None:
    (damage,), report = numbered(path, flip(DATA, at), 3)
    assert isinstance(damage, Damage)
    assert (damage.begin, damage.end, damage.record, report.status) == (AT[3], AT[4], 3, "damaged")


def test_payloads_of_other_records_are_not_checked(path: Path) -> None:
    (found,), report = numbered(path, flip(DATA, AT[1] + 40), 3)
    assert isinstance(found, Record) and report.status == "clean"
