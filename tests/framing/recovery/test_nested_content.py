"""What of a damaged record is its content: records in it that must stay closed, and those of the file that must not."""

from __future__ import annotations

from random import Random

import pytest
from kit.damage import File, cut, drop, flip, insert, nest, spoil, ten, walked
from kit.messages import sized

from tfrtool.framing.encode import frame
from tfrtool.framing.recovery.gap_scan import Ledger
from tfrtool.framing.recovery.lookahead import Ahead
from tfrtool.framing.recovery.nested import Value, held
from tfrtool.framing.stream import Held

INNER = File(ten(5, 30, 60).payloads[:6])
BESIDE = ten(3, 20, 60).payloads
NAME = sized(1, sized(1, b"name") + sized(2, b"and what it is"))


def around(payload: bytes) -> File:
    """Three records, one that holds the payload, and three more."""
    return File((*BESIDE[:3], payload, *BESIDE[3:6]))


def message(inner: bytes, before: bytes = NAME, after: bytes = sized(1, b"behind it")) -> bytes:
    """A message whose last value but one is the bytes, two messages deep, as an Example has it."""
    return sized(1, before + sized(1, sized(1, b"key") + sized(2, sized(1, inner))) + after)


BARE, VALUE = around(nest(INNER)), around(message(INNER.data))
EACH = pytest.mark.parametrize(("file", "begins"), [(BARE, 0), (VALUE, VALUE.payloads[3].index(INNER.data))])


# Where a value that may be a record file is


def seen(payload: bytes) -> Value | None:
    return held(Ahead(Held(frame(payload)), Ledger()), 0, len(payload))


def test_a_record_file_is_seen_as_the_payload_or_as_a_value_of_a_message() -> None:
    assert seen(INNER.data) == Value(0, len(INNER.data), 0, "file")
    whole = message(INNER.data)
    begin = whole.index(INNER.data)
    assert seen(whole) == Value(begin, len(INNER.data), len(whole) - begin - len(INNER.data), "file")
    assert seen(flip(whole, begin + 9)) == seen(whole), "its first header may be damaged"


def test_a_message_that_breaks_off_tells_what_is_open_there() -> None:
    whole = message(INNER.data)
    begin = whole.index(INNER.data)
    for at in range(begin - 6, begin):
        value = seen(spoil(whole, at, begin + 12))
        assert value is not None
        assert value.seen != "file"
        assert value.tail == len(whole) - begin - len(INNER.data)


def test_other_payloads_hold_no_record_file() -> None:
    assert seen(b"") is seen(b"text, and nothing else in it") is seen(Random(1).randbytes(100)) is None
    value = seen(message(b"\xff\xd8" + bytes(500)))
    assert value is not None
    assert value.seen == "else"


# Content stays closed


@EACH
def test_an_inner_header_that_bytes_put_in_move_to_the_end_of_the_outer_record_opens_nothing(
    file: File, begins: int
) -> None:
    begin, end = file.span(3)
    for inner in INNER.at[1:-1]:
        at = begin + 12 + begins + inner
        hurt = insert(file.data, at - 7, b"\xfe" * (end - at))
        found = walked(hurt)
        assert found.payloads == file.without(3)
        assert found.rescued(hurt) == [file.payloads[3]]


def test_an_inner_record_that_lacks_bytes_and_so_ends_where_the_outer_one_does_opens_nothing() -> None:
    begin, end = BARE.span(3)
    for at in range(begin + 12 + INNER.at[5] + 12, end - 7):
        assert walked(drop(BARE.data, at, at + 4)).payloads == BARE.without(3)
        behind = drop(BARE.data, BARE.at[5] + 20, BARE.at[5] + 30)
        assert walked(drop(behind, at, at + 4)).payloads == BARE.without(3, 5)
    assert walked(drop(BARE.data, end - 4, end)).payloads == BARE.without(3)


@EACH
def test_two_accidents_in_a_record_that_holds_others_open_nothing(file: File, begins: int) -> None:
    begin, end = file.span(3)
    first = begin + 12 + begins
    for one in (*range(first - 4 if begins else first + 4, first + 12, 3), *range(first + 16, end - 40, 23)):
        for other in range(one + 8, end - 40, 29):
            for hurt in (
                drop(drop(file.data, other, other + 5), one, one + 6),
                insert(drop(file.data, other, other + 5), one, b"a line of a log\n"),
                insert(insert(file.data, other, b"\xfe" * 9), one, b"a line of a log\n"),
            ):
                found = walked(hurt)
                assert {*found.payloads, *found.rescued(hurt)} <= set(file.payloads), (one, other)
                assert found.payloads == file.without(3), (one, other)


def test_a_record_file_in_an_unknown_container_stays_closed_whichever_bit_is_flipped() -> None:
    file = around(nest(INNER, b"[" * 40, b"]" * 40))
    begin, end = file.span(3)
    for at in range(begin, end):
        assert walked(flip(file.data, at, at % 8)).payloads == file.without(3)


# What is the file's own does not


def test_a_block_of_records_misplaced_into_a_large_one_comes_back() -> None:
    small = ten()
    for before in (b"", sized(1, sized(1, b"name"))):
        large = Random(2).randbytes(4000)
        file = File((*BESIDE[:2], sized(1, before + sized(2, large)) if before else large, *BESIDE[2:4]))
        block = small.data[30 : small.at[7] + 40]
        at = file.at[2] + 1500
        found = walked(file.data[:at] + block + file.data[at + len(block) :])
        assert found.payloads == (*BESIDE[:2], *small.payloads[1:7], *BESIDE[2:4])


def test_the_header_of_a_broken_record_is_no_part_of_the_one_before_it() -> None:
    file = ten(low=100)
    hurt = drop(drop(file.data, file.at[5] + 40, file.at[5] + 41), file.at[4] + 30, file.at[4] + 37)
    found = walked(hurt)
    assert found.payloads == file.without(4, 5)
    assert found.ranges == [(file.at[4], file.at[5] - 7), (file.at[5] - 7, file.at[6] - 8)]


def test_the_header_of_the_last_record_ends_the_gap_before_it() -> None:
    file = ten()
    hurt = spoil(insert(file.data, file.at[9] + 20, b"\n"), file.at[8], file.at[8] + 12)
    hurt = insert(hurt, file.at[8], b"a line of a log\n")
    found = walked(hurt)
    assert found.payloads == file.without(8, 9)
    assert found.rescued(hurt) == list(file.payloads[8:])


def test_what_is_left_of_a_header_speaks_for_a_record_before_a_chain_that_breaks_off() -> None:
    file = ten()
    for left in range(3, 9):
        hurt = spoil(file.data, file.at[6], file.at[6] + 30)
        hurt = insert(hurt, file.at[3] + 12 - left, b"a line of a log\n")
        found = walked(hurt)
        assert file.payloads[3] in found.rescued(hurt), left


def test_a_record_file_as_the_payload_comes_back_though_its_header_and_the_record_before_it_are_broken() -> None:
    payload = nest(INNER)
    file = File((*BESIDE[:2], payload, *BESIDE[2:4]))
    hurt = drop(file.data, file.at[1] + 20, file.at[2] + 5)
    found = walked(hurt)
    assert found.payloads == file.without(1, 2)
    assert found.rescued(hurt) == [payload]


@pytest.mark.parametrize("claimed", [9_000, 90_000], ids=["within the file", "beyond its end"])
@pytest.mark.parametrize("value", [b"", sized(1, b"name")], ids=["no message", "a message"])
def test_records_behind_one_that_breaks_off_come_back_though_a_line_stands_between_them(
    value: bytes, claimed: int
) -> None:
    """A writer died in a large record, another went on behind it, and a logger wrote between its records."""
    large = Random(5).randbytes(claimed)
    torn = frame(sized(1, value + sized(2, large)) if value else large)[: 12 + 4_000]
    rest = File(tuple(Random(6).randbytes(100) for _ in range(200)))
    for lines in ([50], [190], [5, 80, 150], range(10, 200, 10)):
        hurt = rest.data
        for line in reversed(lines):
            hurt = insert(hurt, rest.at[line], b"a line of a log\n")
        found = walked(File(BESIDE).data + torn + hurt)
        assert found.payloads == (*BESIDE, *rest.payloads), lines
        assert found.ranges[0] == (len(File(BESIDE).data), len(File(BESIDE).data + torn))


def test_a_torn_record_that_holds_others_is_torn() -> None:
    begin = VALUE.at[3]
    for size in range(begin + 12, VALUE.at[4], 7):
        assert walked(cut(VALUE.data, size)).faults == ["torn"]
