"""What of a damaged record is its content: records in it that must stay closed, and those of the file that must not."""

from __future__ import annotations

from random import Random

import pytest
from kit.damage import File, flip, insert, nest, spoil, ten, walked
from kit.messages import sized

from tfrtool.framing.encode import frame

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


# Content stays closed


def test_a_record_file_in_an_unknown_container_stays_closed_whichever_bit_is_flipped() -> None:
    file = around(nest(INNER, b"[" * 40, b"]" * 40))
    begin, end = file.span(3)
    for at in range(begin, end):
        assert walked(flip(file.data, at, at % 8)).payloads == file.without(3)


# What is the file's own does not


def test_what_is_left_of_a_header_speaks_for_a_record_before_a_chain_that_breaks_off() -> None:
    file = ten()
    for left in range(3, 9):
        hurt = spoil(file.data, file.at[6], file.at[6] + 30)
        hurt = insert(hurt, file.at[3] + 12 - left, b"a line of a log\n")
        found = walked(hurt)
        assert file.payloads[3] in found.recovered(hurt), left


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
