"""Finding headers in a buffer, held against a search that looks at every offset."""

from __future__ import annotations

from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st
from kit.damage import File, ten
from pytest import mark

from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.encode import footer, frame, header
from tfrtool.framing.kernel import pure
from tfrtool.framing.kernel import select as kernel

pytestmark = mark.slow

few = settings(max_examples=250)


def naive(buffer: bytearray, at: int, end: int) -> list[int]:
    """Every offset with a sound header of less than 4 GiB that lies whole before `end`."""
    found = (i for i in range(at, end - 11) if not any(buffer[i + 4 : i + 8]))
    return [i for i in found if header_is_sound(buffer[i : i + 12])]


def scanned(buffer: bytearray, at: int, end: int) -> list[int]:
    """What `scan` finds, asked again from where it says to go on until nothing is left."""
    found: list[int] = []
    while at < end - 11:
        some, then = kernel.scan(buffer, at, end)
        assert then > at, "the search does not come forward"
        assert some or then >= end - 11, "the search gave up before the end"
        assert some == sorted(some)
        assert all(at <= place < then for place in some)
        found, at = found + some, then
    return found


LENGTHS = st.sampled_from([0, 1, 12, 255, 256, 65_536, 2**24, 2**31, 2**32 - 1])
PIECES = st.one_of(
    st.integers(0, 40).map(bytes),
    st.sampled_from([4, 11, 12, 500, 511, 512, 513, 1024, 17_000]).map(bytes),
    st.binary(max_size=20),
    st.integers(0, 600).map(lambda size: Random(size).randbytes(size)),
    st.integers(1, 200).map(lambda times: b"\0\0\0\0\1" * times),
    st.integers(1, 60).map(lambda times: b"\0\0\0\0\0\0\2\0" * times),
    LENGTHS.map(header),
    LENGTHS.map(lambda length: header(length)[:8] + bytes(4)),
    st.sampled_from([2**32, 2**40, 2**64 - 1]).map(header),
    st.integers(1, 40).map(lambda times: header(0) * times),
    st.integers(1, 12).map(lambda times: frame(b"") * times),
    st.sampled_from([header(7)[:11], header(0)[4:], b"\0" * 8 + header(0)[8:11], footer(b"")]),
)
BUFFERS = st.lists(PIECES, max_size=8).map(lambda pieces: bytearray(b"".join(pieces)))


@few
@given(BUFFERS, st.integers(0, 30), st.integers(0, 30))
@example(bytearray(bytes(100) + header(0)), 0, 0)
@example(bytearray(bytes(20_000) + header(0) + bytes(20_000)), 3, 5)
@example(bytearray(header(0)), 0, 0)
def test_a_scan_finds_what_looking_at_every_offset_finds(buffer: bytearray, begin: int, short: int) -> None:
    at, end = min(begin, len(buffer)), max(0, len(buffer) - short)
    assert scanned(buffer, at, end) == naive(buffer, at, end)


@few
@given(BUFFERS, st.one_of(PIECES, st.just(header(5))))
def test_stale_bytes_behind_the_end_are_not_looked_at(buffer: bytearray, stale: bytes) -> None:
    end = len(buffer)
    clean, dirty = scanned(buffer, 0, end), scanned(buffer + stale, 0, end)
    assert dirty == clean == naive(buffer, 0, end)


def test_a_header_cut_by_the_end_is_not_found_and_one_that_ends_there_is() -> None:
    for length in (0, 5, 300, 2**24):
        for before in (0, 1, 7, 511, 512, 513, 16_383, 16_384, 16_896, 20_000):
            buffer = bytearray(bytes(before) + header(length) + bytes(40))
            assert scanned(buffer, 0, before + 12) == [before]
            assert scanned(buffer, 0, before + 11) == []
            assert scanned(buffer, before, before + 12) == [before]


def test_headers_that_overlap_the_edges_of_blocks_are_found_once() -> None:
    noise = Random(1).randbytes(40_000)
    for at in (*range(500, 516), *range(1530, 1540), *range(16_380, 16_390), *range(32_000, 32_002)):
        buffer = bytearray(noise)
        buffer[at : at + 12] = header(1000)
        assert scanned(buffer, 0, len(buffer)) == [at]


def test_a_length_of_four_gibibytes_or_more_is_no_header_to_be_looked_for() -> None:
    assert scanned(bytearray(header(2**32) + bytes(20)), 0, 32) == []
    assert scanned(bytearray(header(2**32 - 1) + bytes(20)), 0, 32) == [0]


def test_the_upper_half_of_a_length_is_looked_at_whatever_the_lower_one_is() -> None:
    large = [header(upper << shift | 7) for shift in (32, 48) for upper in range(1, 3000)]
    buffer = bytearray(b"".join(large) + header(5))
    assert scanned(buffer, 0, len(buffer)) == [len(buffer) - 12]
    at, end, found = 0, len(buffer) - 11, []
    while at < end:
        some, at = pure._by_lanes(buffer, at, end)
        found += some
    assert found == [len(buffer) - 12]


def test_an_empty_buffer_holds_nothing() -> None:
    for end in range(12):
        assert kernel.scan(bytearray(end), 0, end)[0] == []


@few
@given(BUFFERS, st.integers(0, 20))
@example(bytearray(header(0) * 40), 0)
def test_all_offsets_tested_at_once_are_the_same_as_one_by_one(buffer: bytearray, at: int) -> None:
    end, found, place = len(buffer), [], at
    while place < end - 11:
        some, then = pure._by_lanes(buffer, place, end - 11)
        assert then > place
        found, place = found + some, then
    assert found == naive(buffer, at, end)


def test_chained_headers_of_a_file_are_among_those_found() -> None:
    file = File(ten().payloads * 40)
    assert scanned(bytearray(file.data), 0, len(file.data)) == file.at[:-1]


def test_the_walk_of_the_kernel_stops_at_the_first_frame_that_is_not_sound() -> None:
    file = File(ten().payloads * 300)
    data = bytearray(file.data)
    for number in (0, 1, 1023, 1024, 1025, 2999):
        hurt = bytearray(data)
        hurt[file.at[number + 1] - 1] ^= 1
        begins, ends, stop = kernel.walk(hurt, memoryview(hurt), 0, len(hurt), {})
        assert (len(begins), len(ends), stop) == (number, number, file.at[number])
    begins, ends, stop = kernel.walk(data, memoryview(data), 0, len(data) - 1, {})
    assert (begins, stop) == ([at + 12 for at in file.at[:-2]], file.at[-2])


def test_a_hop_goes_over_every_header_that_lies_whole_before_the_end() -> None:
    data = bytearray(frame(b"") + header(1000) + bytes(20))
    assert kernel.hop(data, 0, 28, {}) == (2, 16 + 1016, 16)
    assert kernel.hop(data, 0, 27, {}) == (1, 16, 0)
    assert kernel.hop(data, 16, 28, {}) == (1, 16 + 1016, 16)
    assert kernel.hop(data, 3, 48, {}) == (0, 3, 3)


def test_more_lengths_than_are_remembered_are_no_trouble() -> None:
    known = dict.fromkeys(range(1 << 16, (1 << 17) + 5), 0)
    data = bytearray(ten().data)
    assert kernel.hop(data, 0, len(data), known)[:2] == (10, len(data))
    assert len(known) < 1 << 16
