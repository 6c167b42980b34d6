"""The law of recovery: an intact frame comes back unless it stands in a record whose extent is confirmed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.damage import File, Walked, cut, drop, flip, insert, nest, spoil, ten, walked, zero

from tfrtool.framing.crc import header_is_sound, masked_crc
from tfrtool.framing.encode import frame, header
from tfrtool.framing.recovery.header_bits import candidate_lengths


def sized_file(records: int, size: int, seed: int = 1) -> File:
    return File(tuple(Random(seed + n).randbytes(size) for n in range(records)))


def naive(data: bytes) -> Iterator[int]:
    """Where the frames stand that a reader finds which tries each byte, and goes by the declared extents alone."""
    at = 0
    while at + 16 <= len(data):
        end = declared_end(data, at)
        if end is not None:
            if masked_crc(data[at + 12 : end - 4]) == int.from_bytes(data[end - 4 : end], "little"):
                yield at
                at = end
                continue
            if is_boundary(data, end):
                at = end
                continue
        at += 1


def declared_end(data: bytes, at: int) -> int | None:
    if not header_is_sound(data[at : at + 12]):
        return None
    end = at + 16 + int.from_bytes(data[at : at + 8], "little")
    return end if end <= len(data) else None


def is_boundary(data: bytes, at: int) -> bool:
    return at == len(data) or header_is_sound(data[at : at + 12])


def in_a_confirmed_record(found: Walked, data: bytes, at: int) -> bool:
    """Whether the frame at this offset lies in a payload that is proved, or in a record of a corrected length."""
    for damage in found.damage:
        pieces = damage.recovery.pieces if damage.recovery and damage.restorable else ()
        if any(begin <= at < end for begin, end in pieces):
            return True
        corrected = (damage.begin + 16 + length for length in candidate_lengths(data[damage.begin : damage.begin + 12]))
        if damage.begin <= at < damage.end and damage.end in corrected and is_boundary(data, damage.end):
            return True
    return False


FILES = [sized_file(12, 40), ten(3, 20, 60), File((b"",) * 8), sized_file(30, 300, 5)]
WHAT = st.sampled_from([1, 3, 4, 4, 8, 12, 16, 30]).flatmap(lambda n: st.binary(min_size=n, max_size=n))


@st.composite
def hurt(draw: st.DrawFn) -> bytes:
    file = draw(st.sampled_from(FILES))
    data = file.data
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.one_of(st.integers(0, len(data)), st.sampled_from(file.at)))
        at = min(at, len(data))
        end = at + draw(st.sampled_from([1, 4, 12, 16, 60, 200]))
        match draw(st.sampled_from(["insert", "header", "drop", "spoil", "zero", "flip", "tail", "again", "stale"])):
            case "insert":
                data = insert(data, at, draw(WHAT))
            case "header":
                data = insert(data, at, header(draw(st.sampled_from([10, 56, 1000, 100_000, 2**40]))))
            case "drop":
                data = drop(data, at, end)
            case "spoil":
                data = spoil(data, at, end)
            case "zero":
                data = zero(data, at, min(end, len(data)))
            case "flip" if at < len(data):
                data = flip(data, at, draw(st.integers(0, 7)))
            case "tail":
                data = cut(data, at) + draw(st.sampled_from([b"", bytes(100), b"junk" * 9]))
            case "again":
                data = insert(data, draw(st.integers(0, len(data))), data[at:end])
            case "stale":
                begin = draw(st.integers(0, len(data)))
                data = data[:at] + data[begin : begin + 512] + data[at + 512 :]
    return data


@settings(max_examples=400)
@given(hurt())
def test_a_reader_of_every_byte_never_finds_more(data: bytes) -> None:
    found = walked(data)
    missing = set(naive(data)) - set(found.offsets)
    assert all(in_a_confirmed_record(found, data, at) for at in missing)


# Files in which records were lost

HUNDRED, SIXTY = sized_file(100, 100), sized_file(60, 1000)
LARGE = frame(Random(9).randbytes(5000))
RUN = sized_file(20, 30, 7).data
STRAY = b"\x11\x12\x13\x14"


def interleaved(runs: int) -> tuple[bytes, int]:
    """Records, one of which has `runs` runs of whole records written into it; and how many stand whole."""
    record = LARGE
    for n in range(runs):
        record = insert(record, 4000 - 2000 * n, RUN)
    return frame(b"before") + record + frame(b"behind"), 2 + 20 * runs


CASES: dict[str, tuple[bytes, int]] = {
    "four stray bytes, a hundred records, four stray bytes": (
        frame(b"first") + STRAY + HUNDRED.data + STRAY + frame(b"last"),
        102,
    ),
    "the first record cut at its head, four stray bytes later": (
        insert(sized_file(1000, 100).data, 90_016, STRAY)[40:],
        999 - (90_016 % 116 > 0),
    ),
    "a header without its payload, then records to the end": (
        SIXTY.data[: SIXTY.at[10]] + header(100_000) + SIXTY.data[SIXTY.at[10] :],
        60,
    ),
    "a torn record, records, a tail of zeros": (
        SIXTY.data[: SIXTY.at[10]] + frame(bytes(100_000))[:30_000] + SIXTY.data[SIXTY.at[10] :] + bytes(4096),
        60,
    ),
    "a torn record, records, a tail of junk": (
        SIXTY.data[: SIXTY.at[10]] + frame(bytes(100_000))[:30_000] + SIXTY.data[SIXTY.at[10] :] + b"\xa5" * 20,
        60,
    ),
    "a record with one run of records written into it": interleaved(1),
    "a record with two runs of records written into it": interleaved(2),
}


@pytest.mark.parametrize(("data", "intact"), list(CASES.values()), ids=list(CASES))
def test_all_intact_records_come_back(data: bytes, intact: int) -> None:
    found = walked(data)
    assert len(found.payloads) == intact
    assert list(found.offsets) == sorted(found.offsets)


def test_no_damage_hides_intact_records_in_its_range() -> None:
    for data, _ in CASES.values():
        for begin, end in walked(data).ranges:
            assert not list(naive(data[begin:end]))


def test_inner_records_stay_in_a_file_of_record_files() -> None:
    file = File(tuple(nest(sized_file(5, 30, n), b"head", b"tail") for n in range(10, 16)))
    damaged = drop(file.data, file.at[3] + 100, file.at[3] + 110)
    assert walked(damaged).payloads == file.without(3)
