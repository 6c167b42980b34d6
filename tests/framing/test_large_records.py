"""Records larger than the window, and faults wherever the window's edge falls."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest
from kit.damage import Counting, Drip, File, counted, cut, drop, flip, insert, spoil, ten, walked, zero

from tfrtool.framing.encode import header
from tfrtool.framing.stream import CAPACITY, ROOMY, MemoryStream
from tfrtool.framing.walk import Batch, walk

pytestmark = pytest.mark.slow

SMALL = ten()
BIG = Random(9).randbytes(3 << 20)
FILE = File(SMALL.payloads[:2] + (BIG,) + SMALL.payloads[2:5])
DATA, (BEGIN, END) = FILE.data, FILE.span(2)
MIDDLE = BEGIN + (1 << 20)


def test_a_large_record_is_given_whole() -> None:
    assert walked(DATA).payloads == FILE.payloads
    assert counted(DATA) == (6, [])


@pytest.mark.parametrize("size", range(CAPACITY - 17, CAPACITY + 2))
def test_a_record_about_as_large_as_the_window_is_given_whole(size: int) -> None:
    file = File((b"a", BIG[:size], b"b", BIG[-size:]))
    assert walked(file.data).payloads == file.payloads
    assert counted(file.data) == (4, [])


FEW = tuple(BIG[n : n + 90_000 + n] for n in range(12))
"""Records of which a window holds few, so that it is made wider."""


@pytest.mark.parametrize("size", [*range(ROOMY - 17, ROOMY + 2), 2 * ROOMY, 3 * CAPACITY])
def test_a_record_about_as_large_as_a_widened_window_is_given_whole(size: int) -> None:
    file = File((*FEW, BIG[:size], b"b", BIG[-size:], *FEW))
    assert walked(file.data).payloads == file.payloads
    assert counted(file.data) == (len(file.payloads), [])


@pytest.mark.parametrize("at", [0, 3, 7, 11, 12, 13, 20])
@pytest.mark.parametrize("hurt", [flip, lambda data, at: spoil(data, at, at + 40)], ids=["a bit", "some bytes"])
def test_damage_in_a_widened_window_costs_what_it_costs_elsewhere(at: int, hurt: Callable[[bytes, int], bytes]) -> None:
    file = File((*FEW, BIG, *FEW))
    found = walked(hurt(file.data, file.at[at] + 30_000))
    assert (found.payloads, found.ranges) == (file.without(at), [file.span(at)])


def test_a_widened_window_holds_as_many_records_as_it_has_room_for() -> None:
    counts = [batch.count for batch in walk(MemoryStream(File(FEW * 6).data)) if isinstance(batch, Batch)]
    assert max(counts) > ROOMY // 100_000 - 2
    assert sum(counts) == len(FEW * 6)


@pytest.mark.parametrize("payloads", [(BIG,) * 4, FEW * 4, (*FEW, BIG, BIG, b"a", BIG)], ids=["large", "few", "both"])
def test_no_byte_is_read_twice(payloads: tuple[bytes, ...]) -> None:
    stream = Counting(File(payloads).data)
    assert walked(stream).payloads == payloads
    assert stream.read < len(stream.data) + len(payloads) * 2048 + 4096


def test_a_record_of_more_than_the_most_that_is_held_is_sound_without_its_payload() -> None:
    events = list(walk(MemoryStream(DATA), payloads=True, max_record=len(BIG) - 1))
    assert all(isinstance(event, Batch) for event in events)
    assert [event.count for event in events if event.view is None] == [1]
    assert sum(event.count for event in events) == 6


@pytest.mark.parametrize("at", [BEGIN + 12, MIDDLE, END - 5])
def test_a_bit_flipped_in_a_large_payload_loses_it_alone(at: int) -> None:
    found = walked(flip(DATA, at, 4))
    assert (found.payloads, found.ranges, found.faults) == (FILE.without(2), [(BEGIN, END)], ["data-crc"])


@pytest.mark.parametrize(
    ("hurt", "how"),
    [
        (flip(DATA, BEGIN + 2), "mended-header"),
        (flip(DATA, BEGIN + 10), "mended-header"),
        (spoil(DATA, BEGIN, BEGIN + 12), "lost-header"),
        (zero(DATA, BEGIN, BEGIN + 12), "lost-header"),
        (flip(DATA, END - 2), "stored-checksum"),
    ],
)
def test_a_large_record_whose_framing_is_damaged_comes_back(hurt: bytes, how: str) -> None:
    found = walked(hurt)
    assert (found.payloads, found.ranges) == (FILE.without(2), [(BEGIN, END)])
    assert (found.damage[0].recovery.method, found.recovered(hurt) == [BIG]) == (how, True)


def test_a_large_record_that_lacks_bytes_of_its_header_comes_back() -> None:
    for missing in (1, 4, 11, 12):
        hurt = drop(DATA, BEGIN, BEGIN + missing)
        found = walked(hurt)
        assert (found.payloads, found.ranges) == (FILE.without(2), [(BEGIN, END - missing)])
        assert found.recovered(hurt) == [BIG]


@pytest.mark.parametrize("size", [BEGIN + 13, MIDDLE, END - 4, END - 1])
def test_a_large_record_that_is_torn_is_torn(size: int) -> None:
    found = walked(cut(DATA, size))
    assert (found.payloads, found.ranges, found.faults) == (FILE.payloads[:2], [(BEGIN, size)], ["torn"])
    assert counted(cut(DATA, size)) == (2, list(found.damage))


@pytest.mark.parametrize("missing", [1, 4096, 1 << 20])
def test_bytes_missing_in_a_large_payload_cost_it_alone(missing: int) -> None:
    found = walked(drop(DATA, MIDDLE, MIDDLE + missing))
    assert (found.payloads, found.ranges) == (FILE.without(2), [(BEGIN, END - missing)])


@pytest.mark.parametrize("extra", [1, 4096, 1 << 20])
def test_bytes_too_many_in_a_large_payload_cost_it_alone(extra: int) -> None:
    found = walked(insert(DATA, MIDDLE, bytes(extra)))
    assert (found.payloads, found.stretches) == (FILE.without(2), [(BEGIN, END + extra)])


def test_bytes_too_many_in_a_payload_of_some_hundred_kilobytes_are_taken_out() -> None:
    file = File((b"a", BIG[:700_000], b"b"))
    hurt = insert(file.data, 500_000, b"INFO: text\n" * 100)
    assert walked(hurt).recovered(hurt) == [file.payloads[1]]


def test_a_large_hole_in_a_large_record_loses_it_alone() -> None:
    found = walked(zero(DATA, MIDDLE, MIDDLE + CAPACITY * 3))
    assert (found.payloads, found.ranges, found.faults) == (FILE.without(2), [(BEGIN, END)], ["data-crc"])


def test_a_large_hole_over_small_records_is_one_range() -> None:
    file = File(SMALL.payloads * 1000)
    begin, end = file.at[3], file.at[9000]
    found = walked(zero(file.data, begin, end))
    assert (found.ranges, found.faults) == ([(begin, end)], ["zeros"])
    assert len(found.payloads) == 3 + 1000


def test_a_large_record_of_record_files_stays_closed() -> None:
    inner = File(SMALL.payloads * 400)
    file = File((b"a", b"(" + inner.data + b")", b"b"))
    begin, end = file.span(1)
    for hurt in (flip(file.data, begin), flip(file.data, begin + 300_000), flip(file.data, begin + 40)):
        found = walked(hurt)
        assert (found.payloads, found.ranges) == ((b"a", b"b"), [(begin, end)])


# A file that shrinks while it is read


@pytest.mark.parametrize("size", [0, 5, SMALL.at[4], SMALL.at[4] + 5, SMALL.at[9] + 40])
def test_a_file_that_shrank_since_it_was_opened_ends_where_it_ends(size: int) -> None:
    for longer in (1, 100, 1 << 22):
        stream = Drip(SMALL.data[:size], 64, sized=True)
        stream.size = size + longer
        assert walked(stream) == walked(SMALL.data[:size])
        stream.discarded = 0
        assert counted(stream) == counted(SMALL.data[:size])


# The edge of the window

TAIL = ten(4, 0, 40)


def damages(data: bytes, at: list[int]) -> list[bytes]:
    """One of each kind of damage to the small records."""
    return [
        flip(data, at[4] + 1),
        spoil(data, at[4], at[4] + 12),
        flip(data, at[5] - 5),
        drop(data, at[4] + 3, at[4] + 8),
        insert(data, at[4], b"INFO: text\n"),
        insert(data, at[5] - 5, b"INFO: text\n"),
        insert(data, at[4], header(2**40)),
        zero(data, at[4], at[7] + 2),
        cut(data, at[9] + 5),
    ]


@pytest.mark.parametrize("back", range(1, len(TAIL.data), 23))
def test_damage_is_explained_alike_wherever_the_edge_of_the_window_falls(back: int) -> None:
    first = File((BIG[: CAPACITY - 16 - back],))
    for hurt in damages(TAIL.data, TAIL.at):
        alone, behind = walked(hurt), walked(first.data + hurt)
        shift = len(first.data)
        assert behind.payloads[1:] == alone.payloads
        assert behind.ranges == [(begin + shift, end + shift) for begin, end in alone.ranges]
        assert behind.faults == alone.faults
        assert behind.recovered(first.data + hurt) == alone.recovered(hurt)
        assert walked(Drip(first.data + hurt, 1000)) == behind
        assert counted(Drip(first.data + hurt, 1000)) == counted(first.data + hurt)
