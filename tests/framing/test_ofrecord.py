"""The walk over OFRecord framing: without checksums, by lengths and strict structure alone."""

from __future__ import annotations

from random import Random
from unittest.mock import ANY

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kit.damage import Counting, Drip, cut, drop, flip, insert, spoil, zero
from kit.messages import ofrecord

from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import frame, header, ofrecord_frame
from tfrtool.framing.ofrecord import hop_ofrecord, looks_like_ofrecord, walk_ofrecord
from tfrtool.framing.recovery import budget
from tfrtool.framing.stream import CAPACITY, MemoryStream
from tfrtool.framing.walk import Batch
from tfrtool.payload.kinds import plausible_ofrecord


def record(number: int, size: int = 10) -> bytes:
    return ofrecord(
        {"label": ("int32_list", [number, 7]), "name": ("bytes_list", [Random(number).randbytes(size + 3 * number)])}
    )


def framed(payloads: list[bytes]) -> bytes:
    return b"".join(map(ofrecord_frame, payloads))


PAYLOADS = [record(number) for number in range(8)]
DATA = framed(PAYLOADS)
AT = [len(framed(PAYLOADS[:number])) for number in range(9)]
THREE = (AT[3], AT[4])


def length(value: int) -> bytes:
    return value.to_bytes(8, "little", signed=True)


def walked(data: bytes | Drip | Counting) -> tuple[list[bytes], list[Damage]]:
    """The payloads and the damage, which tile the stream."""
    stream = MemoryStream(data) if isinstance(data, bytes) else data
    payloads: list[bytes] = []
    damage: list[Damage] = []
    reached = number = 0
    for event in walk_ofrecord(stream, plausible_ofrecord):
        assert event.begin == reached
        reached = event.end
        if isinstance(event, Batch):
            assert event.first == number
            number += event.count
            assert event.view is not None
            payloads += [bytes(event.view[b:e]) for b, e in zip(event.begins, event.ends, strict=True)]
        else:
            assert event.begin < event.end
            number += event.record is not None
            damage.append(event)
    assert reached == len(data if isinstance(data, bytes) else data.data)
    return payloads, damage


def without(*numbers: int) -> list[bytes]:
    return [payload for number, payload in enumerate(PAYLOADS) if number not in numbers]


def found(data: bytes) -> tuple[list[bytes], list[tuple[int, int, str]]]:
    payloads, damage = walked(data)
    return payloads, [(d.begin, d.end, d.fault) for d in damage]


def test_a_sound_file_gives_every_payload() -> None:
    assert found(DATA) == (PAYLOADS, [])
    assert found(b"") == ([], [])
    assert hop_ofrecord(MemoryStream(DATA)) == 8


def test_a_tail_torn_anywhere_is_what_is_left_of_the_record() -> None:
    for size in range(AT[7] + 1, AT[8]):
        assert found(cut(DATA, size)) == (PAYLOADS[:7], [(AT[7], size, "torn")])
        assert hop_ofrecord(MemoryStream(cut(DATA, size))) is None


def test_a_cut_between_records_is_sound() -> None:
    for number in range(9):
        assert found(cut(DATA, AT[number])) == (PAYLOADS[:number], [])
        assert hop_ofrecord(MemoryStream(cut(DATA, AT[number]))) == number


def test_torn_sentences_say_how_much_is_there() -> None:
    assert "5 of the 8 bytes of a length are there" in walked(cut(DATA, AT[7] + 5))[1][0].message
    present, whole = AT[8] - AT[7] - 8 - 6, AT[8] - AT[7] - 8
    assert f"{present} of {whole} bytes of its payload" in walked(cut(DATA, AT[8] - 6))[1][0].message


@pytest.mark.parametrize("value", [-1, -5, -(2**63)])
def test_a_negative_length_is_said_to_be_one(value: int) -> None:
    assert found(DATA + length(value)) == (PAYLOADS, [(AT[8], AT[8] + 8, "length")])
    assert found(insert(DATA, AT[3], length(value))) == (PAYLOADS, [(AT[3], AT[3] + 8, "length")])
    assert f"{value:,}, which is negative" in walked(DATA + length(value))[1][0].message


@pytest.mark.parametrize("value", [1000, 2**31, 2**60, 2**63 - 1])
def test_a_length_past_the_end_costs_itself_where_records_lead_on_to_the_end(value: int) -> None:
    assert found(insert(DATA, AT[3], length(value))) == (PAYLOADS, [(AT[3], AT[3] + 8, "length")])
    assert found(DATA + length(value)) == (PAYLOADS, [(AT[8], AT[8] + 8, "torn")])


@pytest.mark.parametrize("number", [0, 3, 7])
def test_a_damaged_length_costs_its_record(number: int) -> None:
    begin, end = AT[number], AT[number + 1]
    for by in (1, -1, 5, 200, 2**40):
        size = len(PAYLOADS[number])
        payloads, damage = walked(DATA[:begin] + length(size + by) + DATA[begin + 8 :])
        assert payloads == without(number)
        assert (damage[0].begin, damage[-1].end) == (begin, end)


@pytest.mark.parametrize("number", [0, 3, 7])
def test_a_payload_that_is_no_ofrecord_is_said_to_be_none(number: int) -> None:
    begin, end = AT[number], AT[number + 1]
    for at in (begin + 8, begin + 9, begin + 10):
        assert found(spoil(DATA, at, at + 1)) == (without(number), [(begin, end, "payload")])
    other = DATA[:begin] + ofrecord_frame(b"hello, world") + DATA[end:]
    assert found(other) == (without(number), [(begin, begin + 20, "payload")])


def test_a_value_that_is_changed_goes_unseen_since_nothing_speaks_for_it() -> None:
    payloads, damage = walked(flip(DATA, AT[4] - 1))
    assert (len(payloads), damage) == (8, [])


@pytest.fixture
def unheld(monkeypatch: pytest.MonkeyPatch) -> None:
    """Payloads larger than a window are not held, as those of more than 64 MiB are not."""
    monkeypatch.setattr("tfrtool.framing.ofrecord._HELD", CAPACITY)


def spans(data: bytes) -> list[tuple[int, int, int | str]]:
    """Where batches and damage begin and end, and how many records or which fault they are."""
    events = walk_ofrecord(MemoryStream(data), plausible_ofrecord)
    return [(e.begin, e.end, e.count if isinstance(e, Batch) else e.fault) for e in events]


@pytest.mark.parametrize("more", [1, 2])
@pytest.mark.usefixtures("unheld")
def test_a_damaged_length_of_a_record_too_large_to_be_held_costs_its_record(more: int) -> None:
    """It leads behind one or two more records, into the middle of the next."""
    data = framed([record(number, CAPACITY) for number in range(5)])
    size = len(record(1, CAPACITY)) + 8
    begin = len(framed([record(0, CAPACITY)]))
    hurt = data[:begin] + length((more + 1) * size + 1000) + data[begin + 8 :]
    kept = [span for span in spans(data) if span[0] != begin]
    assert spans(hurt) == sorted([*kept, (begin, begin + size, "length")])


@pytest.mark.usefixtures("unheld")
def test_a_record_too_large_to_be_held_may_have_any_number_of_features() -> None:
    payloads = [record(0) * 40_000, record(1) * 20_000]
    assert [span[2] for span in spans(framed(payloads))] == [1, 1]


@pytest.mark.parametrize("also", ["torn", "zeros"])
def test_a_length_that_no_writer_makes_costs_its_record_alone_whatever_else_is_damaged(also: str) -> None:
    hurt = spoil(DATA, AT[3] + 5, AT[3] + 6)
    end, hurt = {"torn": (7, cut(hurt, AT[8] - 3)), "zeros": (8, hurt + bytes(50))}[also]
    assert walked(hurt)[0] == [payload for payload in without(3) if payload in PAYLOADS[:end]]


def test_a_record_of_no_bytes_is_none() -> None:
    assert found(insert(DATA, AT[3], length(0))) == (PAYLOADS, [(AT[3], AT[3] + 8, "zeros")])
    assert found(framed([b""])) == ([], [(0, 8, "zeros")])
    assert hop_ofrecord(MemoryStream(DATA + length(0))) is None


@pytest.mark.parametrize("count", [8, 9, 300, 300_000])
def test_zeros_are_holes_wherever_they_stand(count: int) -> None:
    assert found(DATA + bytes(count)) == (PAYLOADS, [(AT[8], AT[8] + count, "zeros")])
    assert found(insert(DATA, AT[3], bytes(count))) == (PAYLOADS, [(AT[3], AT[3] + count, "zeros")])
    assert found(bytes(count) + DATA) == (PAYLOADS, [(0, count, "zeros")])


def test_a_hole_over_records_is_one_range_without_a_number() -> None:
    payloads, damage = walked(zero(DATA, AT[2], AT[5]))
    assert payloads == without(2, 3, 4)
    assert [(d.begin, d.end, d.fault, d.record) for d in damage] == [(AT[2], AT[5], "zeros", None)]


@pytest.mark.parametrize("what", [b"\1\2\3\4", b"INFO: a line of a log\n", b"\xff" * 100])
def test_bytes_between_records_are_the_only_damage(what: bytes) -> None:
    for number in (0, 3):
        assert found(insert(DATA, AT[number], what)) == (PAYLOADS, [(AT[number], AT[number] + len(what), "length")])


def test_bytes_that_are_missing_cost_the_record_alone() -> None:
    for begin, end in ((0, 4), (2, 3), (0, 8), (7, 12)):
        payloads, damage = walked(drop(DATA, AT[3] + begin, AT[3] + end))
        assert payloads == without(3)
        assert (damage[0].begin, damage[-1].end) == (AT[3], AT[4] - (end - begin))


@pytest.mark.parametrize("size", [1, 3, 8, 12, 20])
def test_a_block_missing_from_a_payload_costs_that_record_alone(size: int) -> None:
    for number in range(7):
        for begin in range(AT[number] + 8, AT[number + 1] - size + 1):
            hurt = drop(DATA, begin, begin + size)
            assert found(hurt) == (without(number), [(AT[number], AT[number + 1] - size, ANY)])


def test_a_record_that_lacks_bytes_is_told_apart_wherever_the_edge_of_the_window_falls() -> None:
    hurt = drop(DATA, AT[4] - 2, AT[4])
    for before in range(CAPACITY - len(DATA) - 20, CAPACITY + 20, 7):
        first = record(99, before - 400)
        payloads, damage = walked(ofrecord_frame(first) + hurt)
        assert payloads == [first, *without(3)]
        assert "the next one begins 2 bytes before its end" in damage[0].message


def test_records_are_numbered_across_damage() -> None:
    hurt = spoil(spoil(DATA, AT[2] + 8, AT[2] + 9), AT[5] + 8, AT[5] + 9)
    assert [d.record for d in walked(hurt)[1]] == [2, 5]


# Records that hold records


def holding(inner: bytes) -> list[bytes]:
    return [PAYLOADS[0], ofrecord({"file": ("bytes_list", [inner])}), PAYLOADS[1]]


def test_a_record_that_holds_a_record_file_stays_closed_while_its_length_stands() -> None:
    for inner in (DATA, frame(b"a TFRecord") * 3):
        outer = holding(inner)
        data, begin = framed(outer), AT[1]
        end = begin + 8 + len(outer[1])
        assert found(data) == (outer, [])
        assert found(spoil(data, begin + 8, begin + 9)) == ([outer[0], outer[2]], [(begin, end, "payload")])


def test_a_torn_record_that_holds_a_record_file_stays_closed_unless_the_cut_falls_between_two_of_its_records() -> None:
    data = framed(holding(DATA)[:2])
    inside = data.index(DATA)
    for size in range(inside, len(data)):
        if size - inside not in AT:
            assert found(cut(data, size)) == (PAYLOADS[:1], [(AT[1], size, "torn")])


# Large records, chunks, work


@pytest.mark.parametrize("size", [CAPACITY - 60, CAPACITY, 3 * CAPACITY + 1])
def test_records_about_and_above_the_size_of_the_window_are_given_whole(size: int) -> None:
    large = [PAYLOADS[0], record(1, size), PAYLOADS[2]]
    data = framed(large)
    begin, end = AT[1], AT[1] + 8 + len(large[1])
    assert found(data) == (large, [])
    assert found(cut(data, end - 1)) == (large[:1], [(begin, end - 1, "torn")])
    assert found(spoil(data, begin + 8, begin + 9)) == ([large[0], large[2]], [(begin, end, "payload")])
    assert hop_ofrecord(MemoryStream(data)) == 3
    assert walked(Drip(data, 4096)) == walked(data)


def test_damage_is_the_same_wherever_the_edge_of_the_window_falls() -> None:
    hurt = [insert(DATA, AT[3], b"text"), zero(DATA, AT[2], AT[4]), cut(DATA, AT[8] - 3), spoil(DATA, AT[3], AT[3] + 9)]
    for back in range(0, len(DATA), 29):
        first = ofrecord_frame(record(1, CAPACITY - back))
        for data in hurt:
            alone, behind = walked(data), walked(first + data)
            assert behind[0][1:] == alone[0]
            assert [(d.begin - len(first), d.end - len(first), d.fault) for d in behind[1]] == [
                (d.begin, d.end, d.fault) for d in alone[1]
            ]


@st.composite
def accidents(draw: st.DrawFn) -> bytes:
    data = DATA
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.sampled_from([1, 4, 8, 9, 50, 150])))
        what = draw(st.sampled_from([b"INFO\n", bytes(20), length(0), length(-1), length(50), length(2**60)]))
        change = draw(st.sampled_from([spoil, zero, drop]))
        kind = draw(st.sampled_from(["change", "change", "cut", "insert"]))
        data = {"change": change(data, at, end), "cut": cut(data, at), "insert": insert(data, at, what)}[kind]
    return data


@settings(max_examples=300)
@given(accidents(), st.sampled_from([1, 3, 64]), st.booleans())
def test_any_chunking_gives_the_same_and_asks_for_nothing_forgotten(data: bytes, step: int, sized: bool) -> None:
    assert walked(Drip(data, step, sized=sized)) == walked(data)


@settings(max_examples=300)
@given(accidents())
def test_what_is_given_is_plausible_and_whole(data: bytes) -> None:
    for payload in walked(data)[0]:
        assert plausible_ofrecord(payload)
        assert ofrecord_frame(payload) in data


def test_every_byte_changed_costs_at_most_its_own_record() -> None:
    for at in range(len(DATA)):
        number = sum(begin <= at for begin in AT) - 1
        payloads, _ = walked(spoil(DATA, at, at + 1))
        assert [p for p in payloads if p in PAYLOADS] == without(number)


HOSTILE = {
    "zeros": bytes,
    "needles": lambda size: (b"\0\0\0\0\n" * size)[:size],
    "lengths to the end": lambda size: b"".join(length(size - at - 8) + b"\n" * 8 for at in range(0, size, 16)),
    "records that lead nowhere": lambda size: (ofrecord_frame(PAYLOADS[0]) * size)[: size - 5] + b"\xff" * 5,
    "every other record damaged": lambda size: ((ofrecord_frame(PAYLOADS[0]) + DATA[3:40]) * size)[:size],
    "a length too long before each record": lambda size: ((length(2**60) + ofrecord_frame(PAYLOADS[0])) * size)[:size],
    "TFRecords": lambda size: (frame(PAYLOADS[0]) * size)[:size],
    "headers": lambda size: (header(30) * size)[:size],
}


@pytest.mark.slow
@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_bytes_are_read_in_proportion_to_the_stream(make, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(budget, "_ALLOWANCE", 1 << 20)
    for size in (1 << 18, 1 << 20):
        stream = Counting(make(size))
        walked(stream)
        assert stream.read <= 24 * size + (8 << 20)


# Telling the format


def test_ofrecords_look_like_ofrecords_and_tfrecords_do_not() -> None:
    assert looks_like_ofrecord(MemoryStream(DATA), plausible_ofrecord, 0)
    assert looks_like_ofrecord(MemoryStream(framed(PAYLOADS[:1])), plausible_ofrecord, 0)
    assert not looks_like_ofrecord(MemoryStream(frame(PAYLOADS[0]) * 3), plausible_ofrecord, 1 << 20)
    assert not looks_like_ofrecord(MemoryStream(b""), plausible_ofrecord, 1 << 20)


def test_a_first_record_that_is_damaged_is_passed_over_only_where_that_is_asked_for() -> None:
    hurt = MemoryStream(spoil(DATA, 0, 9))
    assert not looks_like_ofrecord(hurt, plausible_ofrecord, 0)
    assert looks_like_ofrecord(hurt, plausible_ofrecord, 1 << 20)


def test_a_long_length_and_a_torn_tail_cost_their_own_records_and_little_work() -> None:
    data = bytearray(b"".join(map(ofrecord_frame, PAYLOADS * 400)))[:-3]
    data[3] ^= 0x40
    steps = 0

    def plausible(view: memoryview) -> bool:
        nonlocal steps
        steps += 1
        return plausible_ofrecord(view)

    found = list(walk_ofrecord(MemoryStream(bytes(data)), plausible))
    records = sum(event.count for event in found if isinstance(event, Batch))
    assert records == 400 * len(PAYLOADS) - 2
    assert steps < 4 * records


@pytest.mark.parametrize("number", range(6))
def test_any_flipped_bit_of_a_length_and_a_torn_tail_cost_their_own_records(number: int) -> None:
    begin, end = AT[number], AT[number + 1]
    for bit in range(64):
        hurt = flip(DATA[:-5], begin + bit // 8, bit % 8)
        payloads, ranges = found(hurt)
        assert payloads == [p for p in PAYLOADS[:7] if p != PAYLOADS[number]]
        assert [(b, e) for b, e, _ in ranges] == [(begin, end), (AT[7], len(hurt))]


def test_records_of_no_bytes_cost_no_neighbour() -> None:
    hollow = length(0)
    one, other = PAYLOADS[:2]
    data = hollow + ofrecord_frame(one) + hollow + framed([other, one]) + hollow
    payloads, damage = walked(data)
    assert payloads == [one, other, one]
    assert [(d.end - d.begin, d.fault) for d in damage] == [(8, "zeros")] * 3
