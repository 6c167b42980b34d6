"""Packed files whose beginning is damaged, lost or converted: what is packed in them comes back all the same."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from random import Random

import pytest
from kit.damage import File, flip, zero
from kit.sources import words

import tfrtool
from tfrtool.cli.suggestions import advice
from tfrtool.report import FileReport
from tfrtool.sources import source as opening
from tfrtool.sources.spool import Spool, chunks_of_descriptor
from tfrtool.verbs.reading.file_reader import unwrapped

FILE = File(tuple(words(30, seed) for seed in range(30)))
GZ = gzip.compress(FILE.data, mtime=0)
NOISE = Random(4).randbytes(5000)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def verified(data: bytes, **how: object) -> FileReport:
    Path("in").write_bytes(data)
    return tfrtool.verify("in", **how)  # type: ignore[arg-type]


def saved(data: bytes) -> tuple[list[bytes], bool]:
    """What `repair` writes of a file, and whether anything is lost, as `verify` promised."""
    promised = verified(data)
    report = tfrtool.repair("in", "out", force=True)
    assert (report.kept, report.restored) == (promised.records, promised.restorable)
    return (list(tfrtool.records("out")) if report.output else []), report.lost


def members(*counts: int) -> list[bytes]:
    """The records of `FILE` in gzip members of so many each."""
    begins = [sum(counts[:i]) for i in range(len(counts))]
    spans = [FILE.payloads[begin : begin + count] for begin, count in zip(begins, counts, strict=True)]
    return [gzip.compress(File(span).data, mtime=0) for span in spans]


@pytest.mark.parametrize("bit", range(24))
def test_a_flipped_gzip_magic_number_loses_nothing(bit: int) -> None:
    assert saved(flip(GZ, bit // 8, bit % 8)) == (list(FILE.payloads), False)
    report = tfrtool.verify("in")
    assert (report.status, report.compression, report.records) == ("damaged", "gzip", 30)
    assert "the header of the gzip member at compressed byte 0 is damaged" in report.damage[0].message


@pytest.mark.parametrize("bit", range(8))
def test_a_flipped_flag_of_a_gzip_header_takes_nothing_away(bit: int) -> None:
    assert saved(flip(GZ, 3, bit)) == (list(FILE.payloads), False)


@pytest.mark.parametrize("bit", range(16))
def test_a_flipped_bit_of_a_zlib_header_takes_nothing_away(bit: int) -> None:
    assert saved(flip(zlib.compress(FILE.data), bit // 8, bit % 8)) == (list(FILE.payloads), False)
    assert tfrtool.verify("in").compression == "zlib"


@pytest.mark.parametrize("cut", range(1, 11))
def test_a_gzip_header_that_lost_its_first_bytes_is_passed_over(cut: int) -> None:
    assert saved(GZ[cut:]) == (list(FILE.payloads), False)


def test_an_overwritten_gzip_header_is_passed_over() -> None:
    assert saved(b"log line\n\n" + GZ[10:]) == (list(FILE.payloads), False)


@pytest.mark.parametrize("bit", range(24))
def test_a_flipped_magic_number_of_a_later_member_loses_nothing(bit: int) -> None:
    one, two, three = members(3, 7, 20)
    assert saved(one + flip(two, bit // 8, bit % 8) + three) == (list(FILE.payloads), False)


@pytest.mark.parametrize("start", [bytes(512), NOISE, b"HTTP/1.1 200 OK\r\n\r\n", GZ[:3] + bytes(400)])
def test_members_behind_a_lost_first_one_are_read(start: bytes) -> None:
    one, two = members(3, 27)
    assert saved(start + one[len(start) :] + two) == (list(FILE.payloads[3:]), True)
    assert verified(start + one[len(start) :] + two).compression == "gzip"


@pytest.mark.parametrize("asked", ["auto", "gzip"])
def test_later_members_are_read_where_gzip_is_asked_for_too(asked: str) -> None:
    one, two = members(3, 27)
    report = verified(bytes(len(one)) + two, compression=asked)
    assert (report.status, report.compression, report.records) == ("damaged", "gzip", 27)


def test_what_hides_in_a_pipe_is_read_as_in_a_file() -> None:
    one, two = members(3, 27)
    Path("in").write_bytes(bytes(len(one)) + two)
    with open("in", "rb") as file:
        spool = Spool(chunks_of_descriptor(file.fileno(), "in"), "in")
        source = unwrapped(opening._source("in", spool, "auto"), "auto")
        assert source.compression == "gzip"
        assert FILE.data.endswith(source.head)


def test_records_beside_members_of_gzip_come_back_too() -> None:
    """The first member is stored, so that its records can be read where its header is lost."""
    stored = gzip.compress(File(FILE.payloads[:3]).data, 0, mtime=0)
    later = b"".join(members(3, 7, 20)[1:])
    assert saved(stored[40:] + later) == (list(FILE.payloads[1:]), True)


def test_a_record_file_in_a_payload_is_no_reason_to_unpack() -> None:
    outer = File((NOISE[:90], GZ, NOISE[90:200], NOISE[200:300]))
    hurt = zero(outer.data, 0, 12)
    assert saved(hurt)[0] == list(outer.payloads)
    for end, first in ((100, 1), (outer.at[1] + 12, 2), (outer.at[1] + 22, 2), (outer.at[1] + 40, 2)):
        assert saved(zero(outer.data, 0, end))[0] == list(outer.payloads[first:])


def test_gzip_without_records_in_foreign_data_is_foreign() -> None:
    report = verified(NOISE + gzip.compress(words(500)))
    assert (report.status, report.compression) == ("foreign", "none")


def test_no_suggestion_leads_back_to_itself() -> None:
    """Where nothing is found by looking, to have it told apart does not help."""
    for asked in ("gzip", "zlib"):
        report = verified(NOISE, compression=asked)
        assert report.status == "foreign"
        assert "--compression" not in str(advice(report))
        assert "fetch the file again" in str(advice(report))
    report = verified(b"ab" + FILE.data, compression="gzip")
    assert advice(report) == "omit --compression to have it told apart"


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_packed_data_with_crlf_for_lf_is_undone(pack: object) -> None:
    data = pack(FILE.data * 9)  # type: ignore[operator]
    assert saved(data.replace(b"\n", b"\r\n")) == (list(FILE.payloads * 9), False)
    report = tfrtool.verify("in")
    assert (report.status, report.diagnosis, report.records) == ("damaged", "crlf", 270)
    assert "repair" in str(advice(report))


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_compressed_data_written_as_utf8_is_undone(pack: object) -> None:
    data = pack(FILE.data * 9)  # type: ignore[operator]
    assert saved(data.decode("latin-1").encode()) == (list(FILE.payloads * 9), False)
    report = tfrtool.verify("in")
    assert (report.status, report.diagnosis, report.records) == ("damaged", "utf8-mangled", 270)


def test_damaged_members_of_converted_data_lose_only_damage() -> None:
    one, two = members(10, 20)
    hurt = (flip(one, len(one) * 3 // 4) + two).decode("latin-1").encode()
    written, lost = saved(hurt)
    assert lost
    assert written[-20:] == list(FILE.payloads[10:])


def test_sound_gzip_is_left_alone_whatever_its_line_ends() -> None:
    for seed in range(40):
        data = gzip.compress(File((Random(seed).randbytes(4000),)).data, mtime=seed)
        assert verified(data).status == "clean"
