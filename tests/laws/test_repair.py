"""The laws of repair: what it writes was there, its output is sound and stays as it is, and every byte is accounted
for."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from kit.damage import File, cut, drop, flip, insert, spoil, written_by, zero
from kit.repair_laws import (
    CRLF,
    EXAMPLES,
    LINES,
    PLAIN,
    SAMPLES,
    SOUND,
    WRONG,
    Sample,
    accounts_for_all,
    decoded,
    is_settled,
    obeys,
    records,
    repaired,
    unzipped,
)
from pytest import MonkeyPatch, fixture, mark

import tfrtool
from tfrtool.framing.encode import footer, frame, header
from tfrtool.framing.layout import WRONG_WRITERS, Layout

pytestmark = mark.slow

EACH = mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES)


@fixture(autouse=True)
def quick(monkeypatch: MonkeyPatch) -> None:
    """Thousands of files are written here, and none has to outlast the machine."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


# Without damage


@mark.parametrize("sample", SOUND.values(), ids=SOUND)
def test_intact_file_is_copied_byte_for_byte(sample: Sample, tmp_path: Path) -> None:
    done = obeys(tmp_path, sample, sample.data)
    assert done.data == sample.data
    assert [row["action"] for row in done.ranges] == ["kept"]
    assert (done.report.status, done.report.lost, done.report.kept) == ("clean", False, len(sample.payloads))


@mark.parametrize("level", [0, 1, 9])
def test_compressed_file_is_copied_as_compressed(level: int, tmp_path: Path) -> None:
    halves = PLAIN.data[: PLAIN.at[3]], PLAIN.data[PLAIN.at[3] :]
    members = b"".join(gzip.compress(half, level, mtime=1) for half in halves)
    for data in (members, zlib.compress(PLAIN.data, level)):
        assert repaired(tmp_path, data).data == data


def test_empty_file_gives_an_empty_file(tmp_path: Path) -> None:
    assert repaired(tmp_path, b"").data == b""


@mark.parametrize("sample", WRONG.values(), ids=WRONG)
def test_wrong_writer_gets_right_checksums(sample: Sample, tmp_path: Path) -> None:
    done = obeys(tmp_path, sample, sample.data, keep_unverified=True)
    assert done.data == File(sample.payloads).data
    assert not done.report.lost


# Every flip, every cut


@EACH
def test_every_flipped_byte(sample: Sample, tmp_path: Path) -> None:
    for at in range(len(sample.data)):
        obeys(tmp_path, sample, flip(sample.data, at, at % 8))


@EACH
def test_every_cut(sample: Sample, tmp_path: Path) -> None:
    for at in range(len(sample.data)):
        obeys(tmp_path, sample, cut(sample.data, at))


@mark.parametrize("name", ["plain", "nested", "nested in a feature", "records of no bytes"])
def test_flip_costs_one_record(name: str, tmp_path: Path) -> None:
    file = File(SOUND[name].payloads)
    for number in range(len(file.payloads)):
        begin, end = file.span(number)
        for at in range(begin, end):
            in_payload = begin + 12 <= at < end - 4
            hurt = flip(file.data, at, 7 - at % 8)
            kept = records(repaired(tmp_path, hurt).data or b"")
            assert kept == list(file.without(number) if in_payload else file.payloads)


@mark.parametrize("layout", WRONG_WRITERS, ids=lambda layout: layout.name)
def test_flip_in_a_wrong_writers_file_costs_one_record(layout: Layout, tmp_path: Path) -> None:
    sound = written_by(layout, PLAIN.payloads)
    for number in range(len(PLAIN.payloads)):
        begin, end = PLAIN.span(number)
        for at in range(begin, end):
            hurt = flip(sound, at, 7 - at % 8)
            done = repaired(tmp_path, hurt)
            in_payload = begin + 12 <= at < end - 4
            assert records(done.data or b"") == list(PLAIN.without(number) if in_payload else PLAIN.payloads)
            assert f"{done.report.records} records were written with {layout.words}" in str(done.report.message)


def test_truncated_gzip_is_repaired(tmp_path: Path) -> None:
    sample = SOUND["gzip"]
    for at in range(20, len(sample.data)):
        hurt = cut(sample.data, at)
        whole = sum(end <= len(unzipped(hurt)) for end in PLAIN.at[1:])
        done = repaired(tmp_path, hurt)
        assert records(done.data or b"") == list(PLAIN.payloads[:whole])
        assert done.report.lost


def test_damage_left_by_a_conversion_is_quarantined(tmp_path: Path) -> None:
    hurt = flip(CRLF, CRLF.index(b"3"))
    done = obeys(tmp_path, WRONG["crlf"], hurt)
    assert (done.report.records, len(done.quarantine)) == (4, 29)


@mark.parametrize("name", ["crlf", "latin-1"])
def test_conversion_in_broken_gzip_is_undone(name: str, tmp_path: Path) -> None:
    sample = WRONG[name]
    packed = gzip.compress(sample.data, mtime=0)
    saved = {obeys(tmp_path, sample, cut(packed, at)).report.restored for at in range(0, len(packed), 3)}
    assert saved >= set(range(1, len(sample.payloads)))
    done = obeys(tmp_path, sample, packed)
    assert (done.report.restored, done.report.lost) == (len(sample.payloads), False)


@mark.parametrize(("keep", "expected"), [("before", slice(3)), ("after", slice(4, None))])
def test_half_of_a_converted_file_can_be_kept(keep: str, expected: slice, tmp_path: Path) -> None:
    sample = WRONG["crlf"]
    assert obeys(tmp_path, sample, sample.data, keep=keep).report.records == len(sample.payloads)
    hurt = flip(sample.data, sample.data.index(b"3"))
    assert records(obeys(tmp_path, sample, hurt, keep=keep).data or b"") == list(sample.payloads[expected])


def test_conversion_of_few_records_is_undone(tmp_path: Path) -> None:
    file = File((*PLAIN.payloads, b"two\n\nlines\n", *PLAIN.payloads))
    done = obeys(tmp_path, Sample(file.data, file.payloads), file.data.replace(b"\n", b"\r\n"))
    assert (done.data, done.report.diagnosis, done.report.lost) == (file.data, "crlf", False)


def counted(here: Path, data: bytes) -> None:
    """Hold verify and repair to one way of counting."""
    (here / "counted").write_bytes(data)
    said, done = tfrtool.verify(here / "counted"), repaired(here, data).report
    assert (said.records, said.restorable) == (done.kept, done.restored)
    assert done.records == said.records + said.restorable


@mark.parametrize("name", ["crlf", "latin-1"])
def test_verify_and_repair_agree_on_converted_files(name: str, tmp_path: Path) -> None:
    mixed = File((b"no line", *LINES.payloads, *PLAIN.payloads, bytes(2000), b"one\n" * 40))
    data = mixed.data.replace(b"\n", b"\r\n") if name == "crlf" else mixed.data.decode("latin-1").encode()
    (tmp_path / "in").write_bytes(data)
    said = tfrtool.verify(tmp_path / "in")
    assert said.records < len(mixed.payloads) == said.records + said.restorable
    assert said.records or name == "latin-1"
    for hurt in (data, cut(data, len(data) - 9), insert(data, 150, bytes(10)), drop(data, 150, 200), flip(data, 150)):
        counted(tmp_path, hurt)
        counted(tmp_path, gzip.compress(hurt))


def test_damaged_records_of_a_converted_file_are_counted(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(flip(CRLF, CRLF.index(b"3")))
    said = tfrtool.verify(tmp_path / "in")
    assert (said.records, said.restorable, said.damaged_records) == (0, 4, 1)


def test_unconverted_records_are_kept(tmp_path: Path) -> None:
    file = File((bytes(30), bytes(31), b"a line\n", b"another\n"))
    data = flip(file.data, file.at[2] + 14).replace(b"\n", b"\r\n")
    done = repaired(tmp_path, data)
    assert [(row["action"], row["records"]) for row in done.ranges] == [("kept", 2), ("dropped", 0), ("kept", 1)]
    assert (done.report.kept, done.report.restored) == (2, 1)


@mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.replace(b"\n", b"\r\n"), "every line feed became CR LF"),
        (lambda data: data.replace(b"\n", b"\r\n", 58), "58 of 60 line feeds became CR LF: a part of the file"),
    ],
)
def test_conversion_must_explain_the_whole_file(change: Callable[[bytes], bytes], message: str, tmp_path: Path) -> None:
    data = File(tuple(b"a line\nand %d\n" % number for number in range(30))).data
    done = repaired(tmp_path, change(data))
    assert str(done.report.message).startswith(message)
    (tmp_path / "in").write_bytes(change(data))
    assert tfrtool.verify(tmp_path / "in").message == done.report.message


def test_intact_records_of_a_lossy_conversion_are_kept(tmp_path: Path) -> None:
    frames = (frame(b"x" * (number % 99) + b"%d" % number) for number in range(100_000))
    text = next(one for one in frames if one.decode("utf-8", "ignore").encode() == one)
    data = text + (PLAIN.data * 9).decode("utf-8", "replace").encode()
    done = repaired(tmp_path, data)
    assert (done.report.diagnosis, done.report.kept >= 1, done.report.lost) == ("utf8-mangled", True, True)
    counted(tmp_path, data)


def test_single_carriage_return_is_not_a_conversion(tmp_path: Path) -> None:
    file = File((bytes(30), bytes(10), bytes(31)))
    data = insert(file.data, file.at[1], b"\r")
    hurt = insert(data, 20, bytes(40))
    assert "every" not in str(repaired(tmp_path, hurt).report.message)


# Several at once

HARM = [cut, flip, spoil, zero, drop, insert]
WHAT = st.sampled_from([b"\0", b"INFO: a line\n", bytes(40), header(2**40), header(30), footer(b"") * 3])


@st.composite
def hurts(draw: st.DrawFn, *names: str) -> tuple[Sample, bytes]:
    sample = SAMPLES[draw(st.sampled_from(names))]
    data = sample.data
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        end = min(len(data), at + draw(st.sampled_from([1, 3, 4, 12, 16, 40, 90])))
        match draw(st.sampled_from(HARM)) if data else insert:
            case harm if harm is flip:
                data = flip(data, at, draw(st.integers(0, 7)))
            case harm if harm is insert:
                data = insert(data, at, draw(WHAT))
            case harm if harm is cut:
                data = cut(data, at) if draw(st.booleans()) else data
            case harm:
                data = harm(data, at, end)
    return sample, data


many = settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])


@many
@given(hurts(*SAMPLES))
def test_several_damages_at_once(tmp_path: Path, case: tuple[Sample, bytes]) -> None:
    sample, hurt = case
    done = repaired(tmp_path, hurt)
    accounts_for_all(done, decoded(done, hurt))
    if done.data is not None:
        is_settled(tmp_path, done.data)


@many
@given(hurts("plain", "gzip", "crlf", "latin-1"))
def test_verify_and_repair_count_several_damages_alike(tmp_path: Path, case: tuple[Sample, bytes]) -> None:
    counted(tmp_path, case[1])


@many
@given(hurts("plain", "gzip", "zlib", "crlf", "latin-1", *(layout.name for layout in WRONG_WRITERS)))
def test_several_damages_invent_nothing(tmp_path: Path, case: tuple[Sample, bytes]) -> None:
    sample, hurt = case
    written = records(repaired(tmp_path, hurt).data or b"")
    assert set(written) <= set(sample.payloads)


# What may be asked for


def test_fix_bits_recovers_every_flip(tmp_path: Path) -> None:
    for name in ("plain", "nested", "nested in a feature"):
        sample = SOUND[name]
        for at in range(len(sample.data)):
            done = obeys(tmp_path, sample, flip(sample.data, at, at % 8), fix_bits=True)
            assert done.data == sample.data
            assert (done.report.restored + done.report.corrected, done.report.lost) == (1, False)


def test_fix_bits_never_makes_another_payload(tmp_path: Path) -> None:
    for at in range(0, len(PLAIN.data) - 9, 2):
        for hurt in (flip(flip(PLAIN.data, at), at + 1, 5), spoil(PLAIN.data, at, at + 9)):
            obeys(tmp_path, SOUND["plain"], hurt, fix_bits=True)


def test_unverified_payloads_lack_only_the_checksum(tmp_path: Path) -> None:
    file, kept = File(EXAMPLES), 0
    for size in range(len(file.data)):
        done = obeys(tmp_path, Sample(file.data, file.payloads), cut(file.data, size), keep_unverified=True)
        kept += done.report.unverified
    assert kept == 4 * len(EXAMPLES)


def test_unverified_payloads_are_in_the_file(tmp_path: Path) -> None:
    file = File(EXAMPLES)
    for at in range(len(file.data)):
        hurt = drop(file.data, at, at + 4)  # of a payload or its checksum: what is left looks the same
        done = repaired(tmp_path, hurt, keep_unverified=True)
        assert all(payload in hurt for payload in records(done.data or b""))
        is_settled(tmp_path, done.data or b"")


@mark.parametrize("keep", ["before", "after"])
def test_half_of_a_file_can_be_kept(keep: str, tmp_path: Path) -> None:
    for at in range(len(PLAIN.data)):
        hurt = flip(PLAIN.data, at, at % 8)
        done = obeys(tmp_path, SOUND["plain"], hurt, keep=keep)
        number = sum(end <= at for end in PLAIN.at[1:])
        sound = PLAIN.payloads[:number] if keep == "before" else PLAIN.payloads[number + 1 :]
        assert set(records(done.data or b"")) - {PLAIN.payloads[number]} == set(sound)
        assert done.report.kept == len(sound)


@EACH
def test_dry_run_reports_the_same_and_writes_nothing(sample: Sample, tmp_path: Path) -> None:
    for at in range(0, len(sample.data), 7):
        hurt = flip(sample.data, at, at % 8)
        told, done = repaired(tmp_path, hurt, dry_run=True), repaired(tmp_path, hurt)
        assert told.data is None
        assert told.ranges == done.ranges
        assert replace(told.report, output=done.report.output) == done.report


def test_input_is_unchanged(tmp_path: Path) -> None:
    hurt = flip(PLAIN.data, 30)
    for options in ({}, {"fix_bits": True}, {"dry_run": True}):
        repaired(tmp_path, hurt, **options)
        assert (tmp_path / "in").read_bytes() == hurt
