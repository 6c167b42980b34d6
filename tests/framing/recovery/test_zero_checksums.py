"""Files with zeros in place of checksums that are damaged: what parses is kept on request, and nothing else is told."""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit import repair_laws as repairkit
from kit.damage import Counting, Drip, File, cut, flip, insert, spoil, written_by, zero

import tfrtool
from tfrtool.cli.suggestions import advice
from tfrtool.framing.crc import crc32c, rotated
from tfrtool.framing.encode import frame
from tfrtool.framing.layout import WRONG_WRITERS, ZEROED
from tfrtool.framing.recovery.zero_checksums import walk_zeroed
from tfrtool.framing.stream import MemoryStream
from tfrtool.framing.walk import Batch
from tfrtool.report import FileReport

FILE = File(tuple(repairkit.EXAMPLES) * 4)
DATA = written_by(ZEROED, FILE.payloads)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verified(data: bytes) -> FileReport:
    Path("in").write_bytes(data)
    return tfrtool.verify("in")


def kept(data: bytes) -> list[bytes]:
    """What `--keep-unverified` writes; without it, nothing unproved is."""
    Path("in").write_bytes(data)
    assert tfrtool.repair("in", "plainly", force=True).unverified == 0
    report = tfrtool.repair("in", "out", force=True, keep_unverified=True)
    return list(tfrtool.records("out")) if report.output else []


def test_a_torn_file_keeps_what_stands_before() -> None:
    for end in range(FILE.at[9] + 1, FILE.at[10]):
        complete = end >= FILE.at[10] - 4
        assert kept(DATA[:end]) == list(FILE.payloads[: 10 if complete else 9])
    report = verified(cut(DATA, FILE.at[9] + 20))
    assert (report.status, report.diagnosis) == ("damaged", "wrong-checksum")
    assert str(report.message).startswith("9 records were written with zeros in place of checksums; 2 damaged ranges")
    assert [damage.fault for damage in report.damage] == ["length-crc", "torn"]
    assert report.suggestion and report.suggestion.settings == (("keep_unverified", True),)


@pytest.mark.parametrize("at", range(8))
def test_a_damaged_length_loses_its_own_record_alone(at: int) -> None:
    hurt = spoil(DATA, FILE.at[5] + at, FILE.at[5] + at + 1)
    assert kept(hurt) == list(FILE.without(5))


def test_zeros_behind_or_between_are_passed_over() -> None:
    for at in (len(DATA), FILE.at[7]):
        assert kept(insert(DATA, at, bytes(4096))) == list(FILE.payloads)
    assert kept(zero(DATA, FILE.at[4], FILE.at[6])) == [*FILE.payloads[:4], *FILE.payloads[6:]]


def test_bytes_between_are_passed_over() -> None:
    assert kept(insert(DATA, FILE.at[7], Random(1).randbytes(999))) == list(FILE.payloads)


def test_payloads_that_do_not_parse_are_left_out() -> None:
    hurt = written_by(ZEROED, (*FILE.payloads[:3], b"no message", *FILE.payloads[3:]))
    assert kept(hurt) == list(FILE.payloads)
    report = tfrtool.repair("in", "out", force=True, keep_unverified=True)
    assert (report.unverified, report.dropped_bytes, report.lost) == (16, 26, True)


def test_sound_records_behind_are_sound() -> None:
    sound = frame(FILE.payloads[0]) + frame(bytes(300_000)) + frame(b"x")
    report = verified(DATA + sound)
    assert (report.status, report.records) == ("damaged", 3)
    assert "--keep-unverified" in str(advice(report))
    assert kept(DATA + b"\n" + sound) == [*FILE.payloads, FILE.payloads[0], bytes(300_000), b"x"]


@pytest.mark.parametrize(
    "data",
    [
        b"".join(struct.pack("<q", n % 3) for n in range(4000)),
        b"".join(struct.pack("<i", n % 5) for n in range(4000)),
        (struct.pack("<i", 4) + bytes(16)) * 9 + b"\1" * 30,
    ],
    ids=["int64", "int32", "rows"],
)
def test_numbers_are_no_records_because_they_hold_zeros(data: bytes) -> None:
    report = verified(data)
    assert (report.status, report.diagnosis, report.records) == ("foreign", None, 0)


@given(st.integers(0, len(DATA) - 1), st.integers(1, 400), st.booleans(), st.integers(1, 999))
@settings(max_examples=60)
def test_any_chunking_and_any_damage_give_ranges_that_tile(at: int, size: int, fill: bool, step: int) -> None:
    hurt = (zero if fill else spoil)(DATA, at, min(len(DATA), at + size)) + frame(b"sound") * 2
    if not ZEROED.sound(hurt[:12]):
        return
    found = [(type(event), event.begin, event.end) for event in walk_zeroed(MemoryStream(hurt))]
    assert [0, *(end for *_, end in found)] == [*(begin for _, begin, _ in found), len(hurt)]
    assert [(type(event), event.begin, event.end) for event in walk_zeroed(Drip(hurt, step))] == found
    assert found[-1][0] is Batch


def test_what_begins_like_such_a_file_and_is_none_takes_linear_time() -> None:
    """Counted in bytes that are read: twice the bytes, about twice as many."""

    def read(size: int) -> int:
        stream = Counting((DATA + b"".join(struct.pack("<q", n % 5) for n in range(size // 8)))[:size])
        for _ in walk_zeroed(stream):
            pass
        return stream.read

    assert read(1 << 19) < 3 * read(1 << 18)


# Wrong checksums behind sound headers


def wrong_data(name: str) -> bytes:
    layout = {one.name: one for one in WRONG_WRITERS}[name]
    footers = [layout.footer.pack(layout.stored(layout.crc(payload))) for payload in FILE.payloads]
    return b"".join(frame(payload)[:-4] + end for payload, end in zip(FILE.payloads, footers, strict=True))


@pytest.mark.parametrize("name", [layout.name for layout in WRONG_WRITERS])
def test_data_checksums_of_a_wrong_writer_prove_payloads_behind_sound_headers(name: str) -> None:
    data = wrong_data(name)
    report = verified(data)
    assert (report.status, report.restorable, report.records) == ("damaged", len(FILE.payloads), 0)
    assert report.diagnosis in ("wrong-checksum", "big-endian")
    for hurt, lost in ((data, ()), (data[:-9], (15,)), (data + bytes(4096), ()), (flip(data, FILE.at[5] + 30), (5,))):
        Path("in").write_bytes(hurt)
        report = tfrtool.repair("in", "out", force=True)
        assert list(tfrtool.records("out")) == list(FILE.without(*lost))
        assert report.restored == len(FILE.payloads) - len(lost)


def test_a_wrong_data_checksum_that_is_not_known_proves_nothing() -> None:
    hurt = frame(b"one") + frame(b"two")[:-4] + rotated(crc32c(b"other")).to_bytes(4, "little") + frame(b"three")
    report = verified(hurt)
    assert (report.records, report.restorable) == (2, 0)


@pytest.mark.parametrize("hurt", ["torn", "flipped", "padded"])
def test_payloads_without_their_checksums_are_kept_beside_other_damage(hurt: str) -> None:
    data = b"".join(frame(payload)[:-4] + b"none" for payload in FILE.payloads)
    whole = {
        "torn": (data[:-40], FILE.payloads[:-1]),
        "flipped": (flip(data, FILE.at[5] + 2), FILE.without(4, 5)),
        "padded": (data + bytes(4096), FILE.payloads[:-1]),
    }
    content, expected = whole[hurt]
    assert set(kept(content)) >= set(expected)
    assert "--keep-unverified" in str(advice(verified(content)))
