"""stat: how a file is made, from headers alone where that is enough."""

from __future__ import annotations

import gzip
import os
import struct
import threading
from dataclasses import fields
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.damage import File, cut, drop, flip, insert, zero
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA, OFRECORDS, bytes_read, verified

import tfrtool
from tfrtool.framing.encode import frame, header
from tfrtool.framing.stream import MemoryStream
from tfrtool.framing.walk import Batch, walk
from tfrtool.verbs.stat.dataset import DataSet, dataset_advice
from tfrtool.verbs.stat.duplicates import Digests
from tfrtool.verbs.stat.job import StatOptions, StatReport, stat_file
from tfrtool.verbs.stat.sizes import NOTHING, Sizes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


def stated(path: Path, content: bytes, **how: Any) -> StatReport:
    """What stat says of these bytes."""
    path.write_bytes(content)
    return tfrtool.stat(path, **how)


def sizes_of(report: StatReport) -> list[int]:
    return [size for size, count in report.payloads.items() for _ in range(count)]


def test_figures_are_those_of_the_payloads(path: Path) -> None:
    report = stated(path, DATA)
    lengths = sorted(map(len, EXAMPLES.payloads))
    assert sizes_of(report) == lengths
    assert (report.records, report.payload_bytes, report.overhead_bytes) == (6, sum(lengths), 6 * 16)
    assert report.payload_bytes + report.overhead_bytes == report.bytes == report.size == len(DATA)
    assert (report.sizes.min, report.sizes.p50, report.sizes.max) == (lengths[0], lengths[2], lengths[-1])
    assert (report.status, report.kind, report.compression_ratio, report.duplicates) == ("clean", "example", None, None)


def test_little_is_read_of_large_records(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(File((bytes(1 << 20),) * 40).data)
    read = bytes_read(monkeypatch)
    assert tfrtool.stat(path).sizes.p50 == 1 << 20
    assert sum(read) < 20 << 20, "16 MiB to tell the kind, and headers"


@given(st.lists(st.integers(0, 300) | st.integers(0, 9) | st.just(1 << 18), max_size=30), st.data())
def test_lengths_of_headers_are_those_of_a_whole_walk(lengths: list[int], data: st.DataObject) -> None:
    content = File(tuple(map(bytes, lengths))).data
    if content and data.draw(st.booleans()):
        content = flip(content, data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7)))
    events = list(walk(MemoryStream(content), headers_only=True, lengths=True))
    batches = [event for event in events if isinstance(event, Batch)]
    assert [sum(one.sizes) + 16 * one.count for one in batches] == [one.end - one.begin for one in batches]
    assert all(len(one.sizes) == one.count for one in batches)
    plain = [(event.begin, event.end) for event in walk(MemoryStream(content), headers_only=True)]
    assert [(event.begin, event.end) for event in events] == plain


def test_a_million_records_of_the_same_size_take_no_room(path: Path) -> None:
    report = stated(path, frame(b"") * 100_000)
    assert (report.records, report.sizes.max, report.overhead_bytes) == (100_000, 0, 1_600_000)
    assert len(list(report.payloads.items())) == 1


@pytest.mark.parametrize(
    "content",
    [
        flip(DATA, AT[2]),
        cut(DATA, len(DATA) - 1),
        cut(DATA, AT[5] + 3),
        insert(DATA, AT[2], b"INFO: text\n"),
        zero(DATA, AT[1], AT[3]),
        drop(DATA, AT[2] + 30, AT[2] + 40),
        DATA + header(2**40),
        header(2**40),
        DATA + bytes(4096),
    ],
)
def test_damage_that_headers_tell_is_passed_over_and_told(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    *damage, report = stat_file(str(path), StatOptions())
    assert isinstance(report, StatReport)
    found, whole = verified(path)
    assert damage == found
    assert (report.status, report.records, report.faults) == ("damaged", whole.records, whole.faults)
    assert report.payload_bytes + report.overhead_bytes + report.damaged_bytes == len(content)


def test_a_damaged_payload_is_found_only_where_payloads_are_read(path: Path) -> None:
    content = flip(DATA, AT[2] + 20)
    assert stated(path, content).status == "clean"
    report = stated(path, content, duplicates=True)
    assert (report.status, report.records, report.faults) == ("damaged", 5, {"data-crc": 1})


def test_ofrecords_are_hopped_over_and_have_less_framing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = stated(path, OF_DATA)
    assert sizes_of(report) == sorted(map(len, OFRECORDS))
    assert (report.overhead_bytes, report.kind, report.format) == (6 * 8, "ofrecord", "ofrecord")
    report = stated(path, cut(OF_DATA, len(OF_DATA) - 1))
    assert (report.status, report.records, len(sizes_of(report))) == ("damaged", 5, 5)


def test_large_ofrecords_are_not_read_whole(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = OFRECORDS[0] + b"\x0a\x08\x0a\x01x\x12\x03\x0a\x01\x0a" + b"\x7a\x80\x80\x40" + bytes(1 << 20)
    content = b"".join(struct.pack("<q", len(large)) + large for _ in range(40))
    path.write_bytes(content)
    read = bytes_read(monkeypatch)
    report = tfrtool.stat(path, format="ofrecord")
    assert (report.records, report.sizes.p99) == (40, len(large))
    assert sum(read) < len(content) * 0.6


def test_a_compressed_file_has_a_ratio(path: Path) -> None:
    packed = gzip.compress(DATA)
    report = stated(path, packed)
    assert sizes_of(report) == sorted(map(len, EXAMPLES.payloads))
    assert report.compression_ratio == len(DATA) / len(packed)
    assert (report.size, report.bytes) == (len(packed), len(DATA))


def test_a_pipe_is_read_once_and_has_no_size(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = File(EXAMPLES.payloads * 500 + (bytes(600_000),)).data
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    report = tfrtool.stat(pipe)
    writer.join()
    assert (report.status, report.records, report.size, report.kind) == ("clean", 3001, None, "example")
    assert report.payload_bytes + report.overhead_bytes == len(content)


@pytest.mark.parametrize("content", [b"", gzip.compress(b"", mtime=0)])
def test_a_file_of_no_records_has_no_sizes(path: Path, content: bytes) -> None:
    report = stated(path, content, duplicates=True)
    assert (report.status, report.records, report.sizes, report.histogram) == ("clean", 0, NOTHING, [])
    assert (report.payload_bytes, report.overhead_bytes, report.duplicates) == (0, 0, 0)
    assert dataset_advice(DataSet.of(report)) == []


def test_a_foreign_file_and_one_that_is_not_there_are_reports(path: Path) -> None:
    report = stated(path, b"<!DOCTYPE html><html></html>", duplicates=True)
    assert (report.status, report.diagnosis, report.sizes) == ("foreign", "html", NOTHING)
    missing = tfrtool.stat(path.with_name("nothing"))
    assert missing.status == "error"
    assert missing.error is not None and missing.error[0] == "open"


def test_payloads_that_occur_again_are_counted_with_the_first(path: Path) -> None:
    large = Random(1).randbytes(700_000)
    content = File((b"a", b"b", large, b"a", b"c", large, b"a")).data
    report = stated(path, content, duplicates=True)
    assert (report.duplicates, report.first_duplicate) == (3, (3, 0))


def test_the_progress_comes_to_the_bytes_on_disk(path: Path) -> None:
    for content in (DATA, gzip.compress(DATA), flip(DATA, 0), OF_DATA):
        path.write_bytes(content)
        told: list[int] = []
        list(stat_file(str(path), StatOptions(progress=told.append)))
        assert sum(told) == len(content)


# Files together


def report(n: int, **how: Any) -> StatReport:
    """A made-up file of one record that has its size from `n`."""
    one = StatReport(f"file-{n}", format="tfrecord", compression="none", size=n + 16, bytes=n + 16, records=1)
    one.payloads, one.payload_bytes, one.overhead_bytes, one.kind = Sizes([n]), n, 16, "example"
    for name, value in how.items():
        setattr(one, name, value)
    return one


def together(reports: list[StatReport]) -> DataSet:
    data = DataSet()
    for one in reports:
        data.add(one)
    return data


some_reports = st.lists(
    st.builds(
        report,
        st.integers(0, 9) | st.integers(0, 10**9),
        status=st.sampled_from(["clean", "damaged", "foreign", "error"]),
        compression=st.sampled_from(["none", "gzip", None]),
        format=st.sampled_from(["tfrecord", "ofrecord", None]),
        kind=st.sampled_from(["example", "event", None]),
        records=st.integers(0, 1),
        damaged_bytes=st.integers(0, 9),
    ),
    max_size=5,
)


def figures(data: DataSet) -> list[Any]:
    return [getattr(data, one.name) for one in fields(DataSet) if one.name != "digests"]


@given(st.lists(some_reports, max_size=4))
def test_any_split_of_the_files_merges_to_the_same(parts: list[list[StatReport]]) -> None:
    every = [together(part) for part in parts]
    left = reduce(DataSet.merge, every, DataSet())
    right = reduce(lambda right, left: left.merge(right), reversed(every), DataSet())
    whole = together([one for part in parts for one in part])
    assert figures(left) == figures(right) == figures(whole)
    assert dataset_advice(left) == dataset_advice(right) == dataset_advice(whole)


def test_repeats_over_files_name_both_places() -> None:
    def with_digests(n: int, *payloads: bytes) -> StatReport:
        digests = Digests()
        digests.add(payloads, 0)
        return report(n, digests=digests)

    one, two = together([with_digests(1, b"a", b"b")]), together([with_digests(2, b"c"), with_digests(3, b"d", b"b")])
    for data in (one.merge(two), together([with_digests(1, b"a", b"b"), with_digests(2, b"c"), with_digests(3, b"b")])):
        found = data.repeats()
        assert found is not None and found.count == 1 and found.first is not None
        assert data.paths[found.first[0].file] == "file-3"
        assert (data.paths[found.first[1].file], found.first[1].record) == ("file-1", 1)


MB = 10**6


def test_the_figures_of_a_report_take_no_copy_of_its_sizes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(gzip.compress(DATA))
    report = tfrtool.stat(path)
    monkeypatch.setattr(Sizes, "update", lambda *_: 1 / 0)
    assert report.compression_ratio and dataset_advice(DataSet.of(report)) == []


def kinds_of_advice(*reports: StatReport) -> list[str]:
    return [one.kind for one in dataset_advice(together(list(reports)))]


def test_there_is_no_advice_for_shards_of_150_megabytes() -> None:
    assert kinds_of_advice(*(report(150 * MB + n) for n in range(8))) == []
    assert kinds_of_advice(report(3)) == []


def test_many_small_shards_and_very_large_ones_are_told_with_a_better_number() -> None:
    small = dataset_advice(together([report(3 * MB) for _ in range(100)]))
    assert [one.kind for one in small] == ["small-shards"]
    assert "100 files average 3.0 MB" in small[0].message and "(about 2 shards)" in small[0].message
    large = dataset_advice(together([report(1500 * MB, records=1000)]))
    assert [one.kind for one in large] == ["large-shards"] and "about 10 shards" in large[0].message
    (few,) = dataset_advice(together([report(1500 * MB, records=3)]))
    assert "about 3 shards" in few.message


def test_no_record_is_advised_to_be_divided_and_no_file_without_one() -> None:
    assert kinds_of_advice(report(1500 * MB)) == []
    assert kinds_of_advice(report(1500 * MB, records=0, payloads=Sizes())) == []
    assert kinds_of_advice(report(9000 * MB, records=0), *(report(150 * MB) for _ in range(5))) == []


def test_one_shard_much_larger_than_the_others_is_named() -> None:
    assert kinds_of_advice(*(report(100 * MB) for _ in range(5)), report(190 * MB)) == []
    found = dataset_advice(together([*(report(100 * MB) for _ in range(5)), report(350 * MB)]))
    assert [one.kind for one in found] == ["uneven-shards"]
    assert f"'file-{350 * MB}'" in found[0].message and "3.5x" in found[0].message


def test_an_empty_part_is_named_where_oneflow_reads_them() -> None:
    parts = [report(150 * MB, format="ofrecord"), report(0, format=None, kind=None, records=0, size=0, bytes=0)]
    found = [one for one in dataset_advice(together(parts)) if one.kind == "empty-part"]
    assert len(found) == 1 and "'file-0' has no records" in found[0].message and "OneFlow" in found[0].message
    assert "empty-part" not in kinds_of_advice(report(150 * MB), report(0, records=0, format=None))


def test_framing_is_told_where_it_is_a_noticeable_part_of_many_records() -> None:
    tiny = {"payloads": Sizes([100] * 5000), "overhead_bytes": 16 * 5000}
    (found,) = dataset_advice(together([report(100, **tiny)]))
    assert found.kind == "framing" and "payloads average 100 bytes" in found.message
    assert kinds_of_advice(report(100, **tiny, kind="event")) == []
    assert kinds_of_advice(report(100, payloads=Sizes([400] * 5000), overhead_bytes=16 * 5000)) == []


def test_compression_that_saves_nothing_is_told() -> None:
    assert kinds_of_advice(report(150 * MB, compression="gzip", bytes=152 * MB)) == ["compression"]
    assert kinds_of_advice(report(150 * MB, compression="gzip", bytes=450 * MB)) == []
