"""A few bytes between two records cost no record, though with the header behind them they read as a length."""

from __future__ import annotations

from random import Random

import pytest
from kit.damage import Drip, File, flip, insert, spoil, walked

from tfrtool.framing.encode import frame

EQUAL = File(tuple(Random(n).randbytes(1001) for n in range(400)))
STRAY = b"\r"
"""This byte and the length 1001 read as 256,269, which leads from behind one record of `EQUAL` to another."""
AT = EQUAL.at[3]


@pytest.mark.parametrize("step", [1 << 10, 1 << 20])
def test_a_stray_byte_that_leads_to_a_later_record_costs_none(step: int) -> None:
    hurt = insert(EQUAL.data, AT, STRAY)
    for found in (walked(hurt), walked(Drip(hurt, step))):
        assert (found.payloads, found.ranges, found.faults) == (EQUAL.payloads, [(AT, AT + 1)], ["stray"])


@pytest.mark.parametrize("size", [40, 45, 83])
def test_no_stray_byte_costs_a_record(size: int) -> None:
    file = File(tuple(Random(n).randbytes(size) for n in range(300)))
    for byte in range(256):
        assert walked(insert(file.data, file.at[3], bytes([byte]))).payloads == file.payloads, byte


@pytest.mark.parametrize("what", [b"\n", b"\r\n", b"\0", b"\0\0\0", bytes(4), bytes(5)])
def test_bytes_behind_every_record_cost_none(what: bytes) -> None:
    random = Random(1)
    payloads = tuple(random.randbytes(random.randint(10, 60)) for _ in range(2000))
    assert walked(b"".join(frame(payload) + what for payload in payloads)).payloads == payloads


def test_a_stray_byte_before_a_damaged_header_costs_that_record_at_most() -> None:
    hurt = insert(flip(EQUAL.data, AT), AT, STRAY)
    assert walked(hurt).recovered(hurt) == [EQUAL.payloads[3]]
    hurt = insert(spoil(EQUAL.data, AT + 8, AT + 20), AT, STRAY)
    assert walked(hurt).payloads == EQUAL.without(3)


def test_a_stray_byte_costs_none_where_the_record_before_that_later_one_is_damaged() -> None:
    for at in (EQUAL.at[255] + 20, EQUAL.at[255], EQUAL.at[254]):
        assert len(walked(insert(spoil(EQUAL.data, at, at + 12), AT, STRAY)).payloads) == 399


def test_a_record_with_a_byte_too_many_and_another_changed_costs_itself_alone() -> None:
    payloads = tuple(Random(n).randbytes(300) for n in range(600))
    pieces = [frame(payload) for payload in payloads]
    for n in range(1, 600, 2):
        pieces[n] = insert(flip(pieces[n], 20), 150, b"x")
    assert walked(b"".join(pieces)).payloads == payloads[::2]
