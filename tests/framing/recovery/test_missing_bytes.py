"""A record that lacks a few bytes: what is left of its checksum tells whether its payload may stand there whole."""

from __future__ import annotations

from random import Random

import pytest
from kit.damage import Drip, Walked, cut, drop, ten, walked, written_by

from tfrtool.framing.layout import WRONG_WRITERS, Layout

FILE = ten()
FEW = pytest.mark.parametrize("few", [1, 2, 3])
BEGIN, END = FILE.span(2)


def unproved(found: Walked) -> list[tuple[tuple[int, int], ...]]:
    return [d.recovery.pieces for d in found.damage if d.recovery and d.recovery.method == "unverified"]


@FEW
@pytest.mark.parametrize("number", [2, 9])
def test_a_payload_that_lacks_bytes_is_disproved_by_what_is_left_of_its_checksum(few: int, number: int) -> None:
    begin, end = FILE.span(number)
    hurt = drop(FILE.data, begin + 30, begin + 30 + few)
    for found in (walked(hurt), walked(Drip(hurt, 64))):
        assert (found.payloads, found.ranges) == (FILE.without(number), [(begin, end - few)])
        assert unproved(found) == []
        assert "what is left of its checksum disproves a payload of" in found.damage[0].message


@FEW
def test_a_payload_agrees_with_what_is_left_of_its_checksum_wherever_bytes_of_that_are_missing(few: int) -> None:
    for at in range(END - 4, END - few + 1):
        found = walked(drop(FILE.data, at, at + few))
        assert (found.payloads, found.ranges) == (FILE.without(2), [(BEGIN, END - few)])
        assert unproved(found) == [((BEGIN + 12, END - 4),)]
        assert f"{few} of the 4 bytes of the checksum are missing" in found.damage[0].message


def test_nothing_tells_whether_a_checksum_is_missing_or_four_bytes_of_the_payload() -> None:
    for at in (BEGIN + 30, END - 4):
        found = walked(drop(FILE.data, at, at + 4))
        assert unproved(found) == [((BEGIN + 12, END - 4),)]
        assert "4 bytes are missing at the end of the record: its checksum, or some of its payload of" in (
            found.damage[0].message
        )


@FEW
def test_a_torn_checksum_leaves_its_payload_unproved_alone(few: int) -> None:
    begin, end = FILE.span(9)
    assert unproved(walked(cut(FILE.data, end - few))) == [((begin + 12, end - 4),)]


@pytest.mark.parametrize("layout", WRONG_WRITERS, ids=lambda layout: layout.name)
def test_the_same_holds_of_the_checksum_of_a_wrong_writer(layout: Layout) -> None:
    data = written_by(layout, FILE.payloads)
    assert unproved(walked(drop(data, BEGIN + 30, BEGIN + 32))) == []
    assert ((BEGIN + 12, END - 4),) in unproved(walked(drop(data, END - 2, END)))


def test_a_large_payload_that_lacks_bytes_is_disproved_too() -> None:
    file = ten(2, 2 << 20, 3 << 20)
    begin, _ = file.span(9)
    for step in (1 << 16, 1 << 20):
        assert unproved(walked(Drip(drop(file.data, begin + 30, begin + 32), step))) == []
        assert len(unproved(walked(Drip(cut(file.data, len(file.data) - 2), step)))) == 1


def test_bytes_missing_before_a_lost_header_leave_the_payload_behind_it() -> None:
    hurt = drop(FILE.data, BEGIN + 30, BEGIN + 32)
    hurt = hurt[: END - 2] + Random(1).randbytes(12) + hurt[END + 10 :]
    assert FILE.payloads[3] in walked(hurt).recovered(hurt)
