"""Files of wrong writers that are damaged too: the way is found again by that writer's own checksums."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.damage import File, Walked, cut, drop, flip, insert, lies_at, nest, spoil, ten, walked, written_by, zero

from tfrtool.framing.layout import WRONG_WRITERS, Layout
from tfrtool.framing.recovery.header_bits import candidate_lengths
from tfrtool.framing.recovery.wrong_writers import _by_lanes, headers

FILE = ten()
TEXT = b"WARNING: a line of a log\n"
EACH = pytest.mark.parametrize("layout", WRONG_WRITERS, ids=lambda layout: layout.name)
NUMBERS = pytest.mark.parametrize("number", [0, 1, 4, 9])

LOSING_ONE: dict[str, tuple[Callable[[bytes, int, int], bytes], str]] = {
    "a flipped bit in its payload": (lambda data, at, end: flip(data, at + 20), "data-crc"),
    "a block missing from its payload": (lambda data, at, end: drop(data, at + 20, at + 25), "data-crc"),
    "a spoilt header and payload": (lambda data, at, end: spoil(data, at, at + 30), "stray"),
    "a flipped bit in its length and one in its payload": (
        lambda data, at, end: flip(flip(data, at + 1), at + 20),
        "length-crc",
    ),
}
LOSING_NONE: dict[str, tuple[Callable[[bytes, int, int], bytes], str]] = {
    "a flipped bit in its length": (lambda data, at, end: flip(data, at + 1), "mended-header"),
    "flipped bits in its length": (lambda data, at, end: flip(flip(data, at + 1), at + 7, 3), "mended-header"),
    "a flipped bit in the checksum of its length": (lambda data, at, end: flip(data, at + 9), "mended-header"),
    "a spoilt header": (lambda data, at, end: spoil(data, at, at + 12), "lost-header"),
    "a header of zeros": (lambda data, at, end: zero(data, at, at + 12), "lost-header"),
    "a flipped bit in the checksum of its payload": (lambda data, at, end: flip(data, end - 1), "stored-checksum"),
}


def saved(data: bytes, found: Walked) -> list[bytes]:
    """The payloads that come back, in order."""
    out: list[bytes] = []
    for damage in found.damage:
        recovery = damage.recovery
        if recovery and damage.restorable and recovery.layout:
            layout = next(layout for layout in WRONG_WRITERS if layout.name == recovery.layout)
            at, end = recovery.pieces[0]
            while at < end:
                size = layout.length(data[at : at + 12])
                out.append(data[at + 12 : at + 12 + size])
                at += 16 + size
        elif recovery and damage.restorable:
            out.append(b"".join(data[begin:end] for begin, end in recovery.pieces))
    return out


def ways(found: Walked) -> list[str]:
    return [damage.recovery.method for damage in found.damage if damage.recovery and not damage.recovery.layout]


@EACH
@NUMBERS
@pytest.mark.parametrize("hurt", LOSING_NONE)
def test_a_record_that_its_checksums_still_prove_comes_back_with_all_the_others(
    layout: Layout, number: int, hurt: str
) -> None:
    spoilt, how = LOSING_NONE[hurt]
    data = spoilt(written_by(layout, FILE.payloads), *FILE.span(number))
    found = walked(data)
    assert saved(data, found) == list(FILE.payloads)
    assert ways(found) == [how]


@EACH
@NUMBERS
@pytest.mark.parametrize("hurt", LOSING_ONE)
def test_a_damaged_record_costs_itself_alone(layout: Layout, number: int, hurt: str) -> None:
    spoilt, fault = LOSING_ONE[hurt]
    data = spoilt(written_by(layout, FILE.payloads), *FILE.span(number))
    found = walked(data)
    assert saved(data, found) == list(FILE.without(number))
    assert found.stretches == [(0, len(data))]
    at_the_end = number == 9 and len(data) < FILE.at[-1]
    assert [d.fault for d in found.damage if not d.recovery] == ["torn" if at_the_end else fault]


@EACH
@NUMBERS
def test_a_line_of_text_between_records_costs_none(layout: Layout, number: int) -> None:
    data = insert(written_by(layout, FILE.payloads), FILE.at[number], TEXT)
    found = walked(data)
    assert saved(data, found) == list(FILE.payloads)
    lost = [d for d in found.damage if not d.recovery]
    assert [(d.begin, d.end, d.fault) for d in lost] == [(FILE.at[number], FILE.at[number] + len(TEXT), "stray")]


@EACH
@pytest.mark.parametrize("there", [12, 30, -1])
def test_a_cut_end_is_called_torn(layout: Layout, there: int) -> None:
    end = FILE.at[9] + there if there > 0 else FILE.at[10] + there
    found = walked(cut(written_by(layout, FILE.payloads), end))
    assert [(d.begin, d.end, d.fault, d.restorable) for d in found.damage] == [
        (0, FILE.at[9], "length-crc", 9),
        (FILE.at[9], end, "torn", 0),
    ]


@EACH
def test_several_accidents_cost_the_records_they_hit(layout: Layout) -> None:
    data = written_by(layout, FILE.payloads)
    data = insert(spoil(flip(data, FILE.at[7] + 20), FILE.at[5], FILE.at[5] + 40), FILE.at[2], TEXT)
    assert saved(data, walked(data)) == list(FILE.without(5, 7))


@EACH
def test_records_within_a_damaged_payload_do_not_come_out(layout: Layout) -> None:
    inner = written_by(layout, ten(3).payloads)
    payloads = (*FILE.payloads[:3], b"(" + inner + b")", *FILE.payloads[3:])
    at = File(payloads).at
    data = written_by(layout, payloads)
    for hurt in (flip(data, at[3] + 12), flip(data, at[3] + 2), spoil(data, at[3], at[3] + 12)):
        assert set(saved(hurt, walked(hurt))) <= set(payloads)


@EACH
def test_sound_records_behind_those_of_a_wrong_writer_are_found_as_before(layout: Layout) -> None:
    foreign = written_by(layout, ten(2).payloads)
    data = insert(foreign + FILE.data, len(foreign), TEXT)
    found = walked(data)
    assert (found.payloads, saved(data, found)) == (FILE.payloads, list(ten(2).payloads))


@EACH
def test_a_record_and_a_header_alone_do_not_name_a_writer_behind_damage(layout: Layout) -> None:
    one = written_by(layout, [b"x" * 40])
    assert saved(one, walked(one[1:] + one[:12] + bytes(100))) == []
    assert not walked(TEXT + one + b"\1" * 40).restorable


@settings(max_examples=150)
@given(st.sampled_from(WRONG_WRITERS), st.data())
def test_no_record_of_a_wrong_writer_that_stands_whole_is_lost_and_none_is_invented(
    layout: Layout, draw: st.DataObject
) -> None:
    data = written_by(layout, FILE.payloads)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(data) - 1))
        end = min(len(data), at + draw.draw(st.sampled_from([1, 2, 4, 12, 60])))
        hurt = draw.draw(st.sampled_from([spoil, zero, drop, lambda d, a, _: flip(d, a), lambda d, a, _: cut(d, a)]))
        data = hurt(data, at, end) or data
    whole = [data[at + 12 :] for at in lies_at([written_by(layout, [one]) for one in FILE.payloads], data)]
    stand = [one for one in FILE.payloads if any(rest.startswith(one) for rest in whole)]
    out = saved(data, walked(data))
    assert set(out) <= set(FILE.payloads)
    assert len(stand) < 2 or set(stand) <= set(out)


@EACH
@given(st.data())
def test_headers_are_found_wherever_they_stand_by_either_way_of_searching(layout: Layout, draw: st.DataObject) -> None:
    pieces = st.sampled_from([0, 1, 255, 1 << 16, 2**32 - 1]).map(
        lambda length: layout.header.pack(length, layout.stored(layout.crc(layout.header.pack(length, 0)[:8])))
    )
    filler = st.sampled_from([b"\0", b"\0\0\0\0", b"\1", bytes(40), b"text"])
    data = bytearray(b"".join(draw.draw(st.lists(pieces | filler, max_size=30)))) + bytes(12)
    stop = len(data) - 11
    there = [at for at in range(stop) if layout.sound(data[at : at + 12]) and layout.length(data[at : at + 12]) < 2**32]
    assert headers(layout, data, 0, stop) == there
    assert _by_lanes(layout, data, 0, stop) == there


@EACH
@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 63), min_size=1, max_size=3))
def test_up_to_three_flips_of_a_length_are_undone(layout: Layout, length: int, flips: set[int]) -> None:
    head = written_by(layout, [])
    head = layout.header.pack(length, layout.stored(layout.crc(layout.header.pack(length, 0)[:8])))
    for bit in flips:
        head = flip(head, bit // 8, bit % 8)
    assert length in candidate_lengths(head, layout)


def test_a_record_file_in_a_payload_of_a_wrong_writer_stays_there() -> None:
    for layout in WRONG_WRITERS:
        payloads = (*FILE.payloads[:2], nest(ten(3)), *FILE.payloads[2:])
        data = flip(written_by(layout, payloads), File(payloads).at[2] + 14)
        found = walked(data)
        assert (found.payloads, saved(data, found)) == ((), [*FILE.payloads])
