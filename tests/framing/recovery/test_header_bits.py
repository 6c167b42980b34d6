"""Mending headers, and running the checksum backwards, held against trying everything."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfrtool.framing.crc import crc32c, header_is_sound, masked_crc
from tfrtool.framing.encode import footer, header
from tfrtool.framing.recovery import crc_math as algebra
from tfrtool.framing.recovery.header_bits import candidate_lengths, one_bit_apart

LENGTHS = [0, 1, 68, 4096, 123_456_789, 2**31 - 1, 2**40 + 3]


def flipped(data: bytes, bits: tuple[int, ...]) -> bytes:
    number = int.from_bytes(data, "little")
    for bit in bits:
        number ^= 1 << bit
    return number.to_bytes(len(data), "little")


def proposes(length: int, bits: tuple[int, ...]) -> bool:
    """Whether `length` is proposed for its header with these bits flipped, or right as it stands."""
    hurt = flipped(header(length), bits)
    found = list(candidate_lengths(hurt))
    assert len(set(found)) == len(found), "a length is proposed twice"
    as_it_stands = int.from_bytes(hurt[:8], "little")
    assert as_it_stands not in found
    return length == as_it_stands or length in found


@pytest.mark.parametrize("length", LENGTHS)
def test_every_single_flip_is_mended(length: int) -> None:
    assert all(proposes(length, (bit,)) for bit in range(96))


@pytest.mark.parametrize("length", [68, 123_456_789])
def test_every_pair_of_flips_is_mended(length: int) -> None:
    assert all(proposes(length, pair) for pair in combinations(range(96), 2))


def test_three_flips_are_mended_where_at_most_one_is_in_the_checksum() -> None:
    random = Random(7)
    for _ in range(1500):
        length, bits = random.choice(LENGTHS), tuple(random.sample(range(96), 3))
        if sum(bit >= 64 for bit in bits) != 2:
            assert proposes(length, bits), bits


@given(st.binary(min_size=12, max_size=12))
def test_what_is_proposed_is_few_flips_away_and_agrees_with_the_checksum(head: bytes) -> None:
    length, stored = int.from_bytes(head[:8], "little"), head[8:]
    for proposed in candidate_lengths(head):
        flips = (proposed ^ length).bit_count()
        assert 1 <= flips <= 3
        raw = proposed.to_bytes(8, "little")
        at_most_one = header_is_sound(raw + stored) or (
            flips <= 2 and one_bit_apart(masked_crc(raw), int.from_bytes(stored, "little"))
        )
        assert at_most_one


def test_one_bit_apart_is_neither_equal_nor_two() -> None:
    assert one_bit_apart(5, 4)
    assert not one_bit_apart(5, 5)
    assert not one_bit_apart(5, 6)


# Backwards

few = settings(max_examples=60)


@few
@given(st.binary(max_size=60), st.integers(0, 2**32 - 1))
def test_each_state_leads_to_the_checksum(data: bytes, crc: int) -> None:
    states = algebra.backwards(data, crc)
    assert len(states) == len(data) + 1
    for i, state in enumerate(states):
        assert crc32c(data[i:], state ^ 0xFFFFFFFF) == crc


@few
@given(st.binary(max_size=60), st.integers(0, 60))
def test_starts_are_where_the_rest_has_that_checksum(data: bytes, at: int) -> None:
    crc = crc32c(data[at:])
    assert algebra.starts(data, crc) == [i for i in range(len(data) + 1) if crc32c(data[i:]) == crc]


@few
@given(st.binary(max_size=40), st.binary(min_size=1, max_size=20), st.integers(0, 40))
def test_splits_are_where_taking_bytes_out_gives_that_checksum(payload: bytes, extra: bytes, at: int) -> None:
    at = min(at, len(payload))
    data, crc = payload[:at] + extra + payload[at:], crc32c(payload)
    found = algebra.splits(data, len(payload), crc)
    assert at in found
    every = range(len(payload) + 1)
    assert found == [i for i in every if crc32c(data[:i] + data[i + len(extra) :]) == crc]


def test_nothing_fits_a_checksum_of_something_else() -> None:
    data = Random(2).randbytes(500)
    assert algebra.starts(data, crc32c(b"something else")) == []
    assert algebra.splits(data, 400, crc32c(b"something else")) == []


@few
@given(st.binary(max_size=30), st.binary(max_size=30), st.binary(max_size=10))
def test_the_first_end_is_where_the_checksum_of_what_came_before_stands(
    before: bytes, payload: bytes, behind: bytes
) -> None:
    data, begin = before + payload + footer(payload) + behind, len(before)
    ends = (i for i in range(begin, len(data) - 3) if footer(data[begin:i]) == data[i : i + 4])
    assert algebra.first_end(data, begin) == next(ends)
    assert algebra.first_end(data[: begin + len(payload) + 3], begin) is None


@few
@given(st.binary(min_size=1, max_size=300), st.data())
def test_one_flipped_bit_is_found_and_two_are_not(payload: bytes, data: st.DataObject) -> None:
    bits = data.draw(st.lists(st.integers(0, 8 * len(payload) - 1), min_size=2, max_size=2, unique=True))
    crc = crc32c(payload)
    assert algebra.flipped_bit(flipped(payload, tuple(bits[:1])), crc) == bits[0]
    assert algebra.flipped_bit(flipped(payload, tuple(bits)), crc) is None
    assert algebra.flipped_bit(payload, crc) is None
