"""verify: all faults of a file in one pass, each where it belongs, and what the file comes to."""

from __future__ import annotations

import errno
import gzip
import os
import threading
import zlib
from pathlib import Path
from random import Random

import pytest
from kit.damage import File, cut, flip, insert, spoil, ten, zero
from kit.messages import event, example, scalar, sequence
from kit.verbs import AT, DATA, EXAMPLES, OF_DATA, OFRECORDS, bytes_read, ranges, verified

import tfrtool
from tfrtool.framing.encode import frame, ofrecord_frame
from tfrtool.report import FileReport
from tfrtool.suggestion import Suggestion
from tfrtool.verbs.options import Options
from tfrtool.verbs.verify import verify_file


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "train.tfrecord"


NOISE = File(tuple(Random(n).randbytes(3000) for n in range(12)))
"""Records that hardly pack, so that packed and decoded offsets are of one size."""


# The report


def test_every_fault_is_found_in_one_pass(path: Path) -> None:
    hurt = cut(flip(flip(insert(DATA, AT[4], b"text"), AT[2] + 20), AT[0]), len(DATA) + 3)
    damage, report = verified(path, hurt)
    assert ranges(damage) == [
        (AT[0], AT[1], "length-crc"),
        (AT[2], AT[3], "data-crc"),
        (AT[4], AT[4] + 4, "stray"),
        (AT[5] + 4, len(hurt), "torn"),
    ]
    assert (report.status, report.records, report.restorable) == ("damaged", 3, 1)
    assert report.faults == {"length-crc": 1, "data-crc": 1, "stray": 1, "torn": 1}
    assert report.damaged_bytes == sum(one.end - one.begin for one in damage)
    assert (report.bytes, report.size) == (len(hurt), len(hurt))


def test_message_counts_ranges_bytes_and_recoverable(path: Path) -> None:
    _, report = verified(path, flip(DATA, AT[1]))
    size = f"{AT[2] - AT[1]} of {len(DATA):,} bytes"
    assert report.message == f"1 damaged range, {size}; 1 damaged record is recoverable"
    _, report = verified(path, flip(flip(DATA, AT[1] + 12), AT[3] + 12))
    assert str(report.message).startswith("2 damaged ranges, ")
    assert "recoverable" not in str(report.message)


def test_damage_is_yielded_as_it_is_found(path: Path) -> None:
    path.write_bytes(flip(DATA, 0) + DATA * 2000)
    answers = verify_file(str(path), Options())
    assert not isinstance(next(answers), FileReport)
    answers.close()


@pytest.mark.parametrize(
    ("payloads", "kind"),
    [
        (EXAMPLES.payloads, "example"),
        ([sequence({}, {"x": [("int64_list", [n])]}) for n in range(4)], "sequence_example"),
        ([event(file_version="brain.Event:2"), event(step=3, summary=scalar("loss", 0.5))], "event"),
        (ten().payloads, "unknown"),
        (OFRECORDS, "ofrecord"),
    ],
)
def test_kind_is_reported(path: Path, payloads: list[bytes], kind: str) -> None:
    assert verified(path, b"".join(map(frame, payloads)))[1].kind == kind


# Compressed streams


def test_offsets_are_of_the_decoded_stream(path: Path) -> None:
    for packed in (gzip.compress(flip(DATA, AT[2])), zlib.compress(flip(DATA, AT[2]))):
        damage, report = verified(path, packed)
        assert ranges(damage) == [(AT[2], AT[3], "length-crc")]
        assert (report.size, report.bytes, report.records) == (len(packed), len(DATA), 5)


def test_truncated_gzip_breaks_at_its_end(path: Path) -> None:
    packed = gzip.compress(NOISE.data, mtime=0)
    damage, report = verified(path, cut(packed, len(packed) // 2))
    decoded = report.bytes
    whole = sum(end <= decoded for end in NOISE.at[1:])
    assert report.records == whole > 3
    assert ranges(damage) == [(NOISE.at[whole], decoded, "torn"), (decoded, decoded, "codec")]
    assert f"compressed byte {len(packed) // 2}" in damage[-1].message


def test_broken_member_is_between_records(path: Path) -> None:
    hurt = flip(NOISE.data, NOISE.at[9] + 20)
    first, second = (gzip.compress(hurt[b:e], mtime=0) for b, e in ((0, NOISE.at[6]), (NOISE.at[6], None)))
    damage, report = verified(path, first[:-20] + second)
    assert [one.fault for one in damage] == ["data-crc", "codec", "data-crc"]
    assert damage[0].begin == NOISE.at[5] < damage[1].begin <= damage[0].end <= NOISE.at[6]
    assert (damage[2].end - damage[2].begin, report.records) == (3016, 10)


def test_bytes_after_gzip_are_a_codec_fault(path: Path) -> None:
    damage, report = verified(path, gzip.compress(DATA) + b"something else")
    assert ranges(damage) == [(len(DATA), len(DATA), "codec")]
    assert (report.records, report.damaged_bytes, report.status) == (6, 0, "damaged")


def test_wrong_gzip_checksum_is_a_codec_fault(path: Path) -> None:
    packed = gzip.compress(DATA)
    damage, report = verified(path, flip(packed, len(packed) - 6))
    assert (ranges(damage), report.records) == ([(len(DATA), len(DATA), "codec")], 6)


def test_zero_padding_after_gzip_is_no_fault(path: Path) -> None:
    assert verified(path, gzip.compress(DATA) + bytes(512))[1].status == "clean"


# Quick


def test_quick_checks_headers_and_structure_only(path: Path) -> None:
    assert verified(path, flip(DATA, AT[2] + 20), quick=True)[1].status == "clean"
    damage, report = verified(path, flip(DATA, AT[2]), quick=True)
    assert (ranges(damage), report.records) == ([(AT[2], AT[3], "length-crc")], 5)
    damage, _ = verified(path, cut(DATA, len(DATA) - 1), quick=True)
    assert ranges(damage) == [(AT[5], len(DATA) - 1, "torn")]
    damage, _ = verified(path, zero(DATA, AT[2], AT[4]), quick=True)
    assert ranges(damage) == [(AT[2], AT[4], "zeros")]


def test_quick_reads_little_of_large_records(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = bytes_read(monkeypatch)
    assert verified(path, File((bytes(1 << 20),) * 8).data, quick=True)[1].records == 8
    assert sum(read) < 1 << 20


# Payloads


@pytest.mark.parametrize(
    ("odd", "why"),
    [
        (b"\x0a\x05ab", "needs 5 bytes where 2 are left"),
        (b"plain text", "the payload is no example"),
    ],
)
def test_bad_payload_is_found_only_on_request(path: Path, odd: bytes, why: str) -> None:
    file = File(EXAMPLES.payloads[:3] + (odd,) + EXAMPLES.payloads[3:])
    assert verified(path, file.data)[1].status == "clean"
    damage, report = verified(path, file.data, payload=True)
    assert ranges(damage) == [(*file.span(3), "payload")]
    assert (damage[0].record, report.records, report.status) == (3, 6, "damaged")
    assert report.damaged_bytes == 16 + len(odd)
    assert report.bytes == len(file.data)
    assert why in damage[0].message


def test_payloads_that_fit_are_clean(path: Path) -> None:
    assert verified(path, DATA, payload=True)[1].status == "clean"
    assert verified(path, OF_DATA, payload=True)[1].status == "clean"
    empty = File((*EXAMPLES.payloads, b"", example({})))
    assert verified(path, empty.data, payload=True)[1].status == "clean"


def test_unknown_kind_refuses_no_payload(path: Path) -> None:
    _, report = verified(path, ten().data, payload=True)
    assert report.status == "clean"
    assert report.hint == (
        "no payload was parsed, since they are of no known kind (Example, SequenceExample, Event, OFRecord)"
    )


def test_mixed_kinds_refuse_no_payload(path: Path) -> None:
    _, report = verified(path, File((EXAMPLES.payloads[0], b"odd")).data, payload=True)
    assert (report.status, report.kind) == ("clean", "unknown")
    assert str(report.hint).endswith("the first records are of several kinds: 1 example, 1 unknown")


def test_misfits_and_damage_are_in_order(path: Path) -> None:
    file = File((EXAMPLES.payloads[0], b"odd one", *EXAMPLES.payloads[1:], b"odd two"))
    damage, report = verified(path, flip(file.data, file.at[4] + 20), payload=True)
    assert ranges(damage) == [(*file.span(1), "payload"), (*file.span(4), "data-crc"), (*file.span(7), "payload")]
    assert [one.record for one in damage] == [1, 4, 7]
    assert report.records == 5


def test_bad_ofrecord_is_always_found(path: Path) -> None:
    file = OF_DATA + ofrecord_frame(b"plain text") + OF_DATA
    damage, report = verified(path, file)
    assert ranges(damage) == [(len(OF_DATA), len(OF_DATA) + 18, "payload")]
    assert (report.records, report.kind) == (12, "ofrecord")


# What cannot be read


@pytest.mark.parametrize(("name", "says"), [("nothing", "no such file"), (".", "directory")])
def test_unopenable_input_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str) -> None:
    monkeypatch.chdir(tmp_path)
    (report,) = verify_file(name, Options())
    assert isinstance(report, FileReport)
    assert (report.path, report.status, report.records) == (name, "error", 0)
    assert report.error is not None
    assert (report.error[0], says in report.error[1]) == ("open", True)


def test_url_is_unsupported(tmp_path: Path) -> None:
    (report,) = verify_file("gs://bucket/train", Options())
    assert (report.status, report.error and report.error[0]) == ("error", "unsupported")  # type: ignore[union-attr]


def test_failing_disk_is_a_report_after_findings(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.preadv

    def failing(fd: int, buffers: object, offset: int) -> int:
        if offset >= 1 << 20:
            raise OSError(errno.EIO, "Input/output error")
        return real(fd, buffers, offset)  # type: ignore[arg-type]

    path.write_bytes(spoil(frame(bytes(1000)) * 2000, 12, 13))
    monkeypatch.setattr(os, "preadv", failing)
    *damage, report = verify_file(str(path), Options())
    assert isinstance(report, FileReport)
    assert (report.status, report.error and report.error[0]) == ("error", "read")
    assert [one.begin for one in damage] == [0]  # type: ignore[union-attr]


def test_out_of_memory_is_a_report(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def starved(*_: object) -> None:
        raise MemoryError

    path.write_bytes(DATA)
    monkeypatch.setattr("tfrtool.verbs.reading.file_reader.identify", starved)
    assert [r.error for r in verify_file(str(path), Options())] == [("memory", "out of memory")]  # type: ignore[union-attr]


# Progress

CONTENTS = {
    "sound": DATA,
    "long": DATA * 1000,
    "gzip": gzip.compress(NOISE.data),
    "zlib": zlib.compress(DATA),
    "ofrecord": OF_DATA,
    "flipped": flip(DATA, 0),
    "torn": cut(DATA, len(DATA) - 3),
    "large": File((bytes(2 << 20),)).data,
    "gzip and more": gzip.compress(DATA) + b"more",
    "empty": b"",
}
HOW: dict[str, dict[str, bool]] = {"all": {}, "quick": {"quick": True}, "payload": {"payload": True}}


@pytest.mark.parametrize("how", HOW.values(), ids=HOW)
@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
def test_progress_adds_up_to_the_file_size(path: Path, content: bytes, how: dict[str, bool]) -> None:
    path.write_bytes(content)
    told: list[int] = []
    list(verify_file(str(path), Options(progress=told.append, **how)))  # type: ignore[arg-type]
    assert all(step > 0 for step in told)
    assert sum(told) == len(content)


def test_large_first_record_shows_the_kind(path: Path) -> None:
    large = example({"image": ("bytes_list", [bytes(17 << 20)])})
    damage, report = verified(path, File((large, b"odd one", *EXAMPLES.payloads)).data, payload=True)
    assert (report.kind, [one.record for one in damage]) == ("example", [1])
    without = (("payload", True), ("skip_damaged", True))
    assert report.suggestion == Suggestion("convert", str(path), without, "leave these records out")


def test_file_without_a_matching_payload_has_a_hint(path: Path) -> None:
    content = b"".join(frame(payload)[:-4] + bytes(4) for payload in (*EXAMPLES.payloads, *EXAMPLES.payloads))
    _, report = verified(path, content)
    assert report.message == "the headers are intact, but none of 12 payloads matches its checksum"
    assert report.suggestion == Suggestion(
        "repair", str(path), (("keep_unverified", True),), "keep payloads that parse"
    )
    out = path.with_name("out")
    assert tfrtool.repair(path, out, keep_unverified=True).unverified == 12
    assert list(tfrtool.records(out)) == [*EXAMPLES.payloads, *EXAMPLES.payloads]


def test_foreign_pipe_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"PAR1" * 75_001,))
    writer.start()
    damage, report = verified(pipe)
    writer.join()
    assert ranges(damage) == [(0, 300_004, "stray")]
    assert (report.status, report.bytes) == ("foreign", 300_004)
