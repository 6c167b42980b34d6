"""One kind for all records of a file: those before it is known are judged by it too, and all jobs say the same."""

from __future__ import annotations

import gzip
import json
import os
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from kit.damage import flip
from kit.messages import example, ofrecord, sequence
from kit.program import json_lines
from kit.schemas import peak
from kit.verbs import bytes_read, verified

import tfrtool
from tfrtool.framing.encode import frame
from tfrtool.report import FileReport
from tfrtool.verbs.head import head_file
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import kind_vote as kind_detector
from tfrtool.verbs.schema.job import schema_file
from tfrtool.verbs.verify import verify_file

SIZES = [100, 40_000, 150_000, 2_100_000]
FORMS = {"plain": bytes, "gzip": lambda data: gzip.compress(data, 1)}
COUNT = 8


def good(size: int) -> bytes:
    return example({"image": ("bytes_list", [b"\x11" * size]), "label": ("int64_list", [3])})


def with_cut(size: int, *cut: int, count: int = COUNT) -> list[bytes]:
    """Examples, of which these are five bytes short."""
    return [good(size)[: -5 if n in cut else None] for n in range(count)]


def framed(payloads: list[bytes]) -> bytes:
    return b"".join(map(frame, payloads))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "train.tfrecord"


everywhere = pytest.mark.parametrize("cut", [(0,), (1,), (0, 1, 2), (0, 7)], ids=str)
each_size = pytest.mark.parametrize("size", SIZES)
each_form = pytest.mark.parametrize("form", FORMS)


# Every payload is parsed


@everywhere
@each_form
@each_size
def test_verify_finds_bad_payloads_of_any_size(path: Path, size: int, form: str, cut: tuple[int, ...]) -> None:
    damage, report = verified(path, FORMS[form](framed(with_cut(size, *cut))), payload=True)
    assert ([one.record for one in damage], report.kind, report.records) == ([*cut], "example", COUNT - len(cut))


@everywhere
@each_form
@each_size
def test_schema_counts_bad_payloads_of_any_size(path: Path, size: int, form: str, cut: tuple[int, ...]) -> None:
    path.write_bytes(FORMS[form](framed(with_cut(size, *cut))))
    schema = tfrtool.schema(path)
    assert (schema.kinds, schema.misfits) == ({"example": COUNT - len(cut)}, len(cut))
    assert schema.examples.features[False, b"image"].kinds["bytes"].values.longest == size  # type: ignore[union-attr]
    assert schema.first_misfit and schema.first_misfit.record == cut[0]


def test_pipe_is_checked_from_its_first_record(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(framed(with_cut(2_100_000, 0)),))
    writer.start()
    damage, report = verified(pipe, payload=True)
    writer.join()
    assert ([one.record for one in damage], report.kind) == ([0], "example")


def test_one_large_first_record_does_not_decide_kind(path: Path) -> None:
    payloads = with_cut((16 << 20) + 1, 0, count=3)
    damage, report = verified(path, framed(payloads), payload=True)
    assert ([one.record for one in damage], report.kind) == ([0], "example")
    assert tfrtool.schema(path).kinds == {"example": 2}


def test_ofrecords_before_kind_is_known_are_checked(path: Path) -> None:
    rows = [ofrecord({"image": ("bytes_list", [b"\x11" * 300_000]), "n": ("int32_list", [n])}) for n in range(5)]
    damage, report = verified(path, framed([good(300_000), *rows]), payload=True)
    assert ([one.record for one in damage], report.kind) == ([0], "ofrecord")


def test_damage_is_in_file_order(path: Path) -> None:
    payloads = with_cut(150_000, 0, 2)
    data = flip(framed(payloads), len(frame(payloads[0])) + 50_000)
    damage, _ = verified(path, data, payload=True)
    assert [(one.record, one.fault) for one in damage] == [(0, "payload"), (1, "data-crc"), (2, "payload")]


def test_first_records_decide_kind_when_no_others_are_read(path: Path) -> None:
    path.write_bytes(framed(with_cut(150_000, 0)))
    assert tfrtool.schema(path, n=1).kinds == {"unknown": 1}
    assert tfrtool.schema(path, n=3).kinds == {"example": 2}


# All say the same


def said(path: Path, how: Options) -> dict[str, str | None]:
    """The kind of the file as every job tells it."""
    jobs = {
        "stat": iter([tfrtool.stat(path)]),
        "verify": verify_file(str(path), how),
        "payload": verify_file(str(path), replace(how, payload=True)),
        "head": head_file(str(path), how, 1000),
        "schema": schema_file(str(path), how),
    }
    return {job: next(one.kind for one in events if isinstance(one, FileReport)) for job, events in jobs.items()}


A_SEQUENCE = sequence({}, {"x": [("int64_list", [1])]})
ODD = {
    "cut": good(150_000)[:-5],
    "text": b"hello",
    "noise": bytes(range(251, 0, -1)) * 600,
    "ofrecord": ofrecord({"image": ("bytes_list", [b"\x11" * 150_000]), "n": ("int32_list", [1])}),
    "nothing": b"",
}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize(("goods", "kind"), [(3, "example"), (30, "example")])
def test_jobs_agree_on_kind_with_odd_first_record(path: Path, odd: str, goods: int, kind: str) -> None:
    path.write_bytes(framed([ODD[odd], *[good(150_000)] * goods]))
    assert set(said(path, Options()).values()) == {kind}


@pytest.mark.parametrize("late", [[b""], [b"\n\0\x12\0"], [A_SEQUENCE]], ids=["empty", "empty lists", "lists"])
def test_jobs_agree_on_kind_with_late_others(path: Path, late: list[bytes]) -> None:
    path.write_bytes(framed([good(10)] * 100 + late))
    assert set(said(path, Options()).values()) == {"example"}


@pytest.mark.parametrize("empty", [5000, 9000, 100_000])
def test_jobs_agree_on_kind_after_empty_records(path: Path, empty: int) -> None:
    path.write_bytes(frame(b"") * empty + framed(with_cut(10, 1, count=6)))
    found = said(path, Options())
    del found["head"]  # which looks at some of the first alone
    assert set(found.values()) == {"example"}
    damage, _ = verified(path, payload=True)
    assert [one.record for one in damage] == [empty + 1]


def test_jobs_agree_that_two_halves_have_no_kind(path: Path) -> None:
    path.write_bytes(framed(with_cut(150_000, 0, count=2)))
    assert set(said(path, Options()).values()) == {"unknown"}


# What that costs


def test_intact_file_of_large_records_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(framed(with_cut(2_100_000, count=12)))
    sizes = bytes_read(monkeypatch)
    assert tfrtool.schema(path).kinds == {"example": 12}
    assert sum(sizes) < path.stat().st_size + (6 << 20)


def test_held_back_batches_use_bounded_memory(path: Path) -> None:
    path.write_bytes(gzip.compress(framed([b"\xff" * (2 << 20)] * 24), 1))
    assert peak(lambda: verified(path, payload=True)) < 20 << 20


def test_endless_damage_does_not_wait_for_kind(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kind_detector, "_RANGES", 2)
    hurt = flip(framed([good(150_000)]), 70_000)
    path.write_bytes(framed(with_cut(150_000, 0, count=1)) + hurt * 3 + framed([good(150_000)] * 70))
    sizes = bytes_read(monkeypatch)
    answers = verify_file(str(path), Options(payload=True))
    assert not isinstance(next(answers), FileReport)
    assert sum(sizes) < 6 << 20
    answers.close()


# Conversions


def test_large_examples_are_not_foreign_for_the_first(path: Path) -> None:
    path.write_bytes(framed(with_cut(2_100_000, 0, count=4)))
    with pytest.raises(tfrtool.DamageError, match="the payload is no Example"):
        tfrtool.convert(path, "out.jsonl")
    (report,) = tfrtool.convert(path, "out.jsonl", skip_damaged=True).reports
    assert (report.status, report.written, report.skipped) == ("damaged", 3, 1)


@each_form
@each_size
def test_convert_leaves_out_what_verify_reports(path: Path, size: int, form: str) -> None:
    path.write_bytes(FORMS[form](framed(with_cut(size, 0, 1, 5))))
    (report,) = tfrtool.convert(path, "out", payload=True, skip_damaged=True).reports
    assert (report.written, report.skipped) == (COUNT - 3, 3)
    assert tfrtool.verify("out", payload=True).status == "clean"


def test_rows_of_large_sequence_examples(path: Path) -> None:
    one = sequence({"image": ("bytes_list", [b"\x11" * 300_000])}, {"x": [("int64_list", [1])]})
    path.write_bytes(framed([one[:-3], one, one, one]))
    (report,) = tfrtool.convert(path, "out.jsonl", skip_damaged=True).reports
    assert (report.written, report.skipped) == (3, 1)
    assert all("feature_lists" in json.loads(line) for line in Path("out.jsonl").read_text().splitlines())


@pytest.mark.parametrize(("first", "status"), [(b"\xff" * 300_000, "foreign"), (good(300_000)[:-5], "damaged")])
def test_unreadable_records_are_foreign_only_if_all_are(path: Path, first: bytes, status: str) -> None:
    rest = [b"\xff" * 300_000 if status == "foreign" else good(300_000)] * 3
    path.write_bytes(framed([first, *rest]))
    (file,) = (one for one in json_lines("convert", path.name, "-o", "out.jsonl") if one["type"] == "file")
    assert file["status"] == status
