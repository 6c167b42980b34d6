"""Two accidents in one file: each costs its own records, and none between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from kit.damage import File, cut, drop, flip, insert, spoil, ten, walked, zero

from tfrtool.framing.encode import footer, frame, header
from tfrtool.framing.recovery import budget

UNLIKE = ten()
ALIKE = File(tuple(Random(n).randbytes(50) for n in range(10)))
"""Records of one length, as those of tensors are: only what they hold tells them apart."""

TEXT = b"INFO:root:step 7 of 9\n"

Accident = Callable[[bytes, list[int], int], bytes]

# What happens to record `n`, and how many records it costs.
ACCIDENTS: dict[str, tuple[Accident, int]] = {
    "a flipped length": (lambda data, at, n: flip(data, at[n]), 1),
    "a lost header": (lambda data, at, n: spoil(data, at[n], at[n] + 12), 1),
    "a flipped payload": (lambda data, at, n: flip(data, at[n] + 20), 1),
    "a lost header and payload": (lambda data, at, n: spoil(data, at[n], at[n] + 30), 1),
    "a flipped checksum": (lambda data, at, n: flip(data, at[n + 1] - 2), 1),
    "a hole over it": (lambda data, at, n: zero(data, at[n], at[n + 1]), 1),
    "a hole over it and a part of the next": (lambda data, at, n: zero(data, at[n], at[n + 1] + 20), 2),
    "a hole from within it into the next": (lambda data, at, n: zero(data, at[n] + 20, at[n + 1] + 20), 2),
    "bytes missing from its header": (lambda data, at, n: drop(data, at[n] + 2, at[n] + 7), 1),
    "bytes missing from its payload": (lambda data, at, n: drop(data, at[n] + 20, at[n] + 30), 1),
    "a missing footer": (lambda data, at, n: drop(data, at[n + 1] - 4, at[n + 1]), 1),
    "its end and the next begin missing": (lambda data, at, n: drop(data, at[n + 1] - 9, at[n + 1] + 9), 2),
    "four bytes before it": (lambda data, at, n: insert(data, at[n], b"\x11\x12\x13\x14"), 0),
    "text before it": (lambda data, at, n: insert(data, at[n], TEXT), 0),
    "text in its payload": (lambda data, at, n: insert(data, at[n] + 25, TEXT), 1),
    "text in its header": (lambda data, at, n: insert(data, at[n] + 5, TEXT), 1),
    "a stray header before it": (lambda data, at, n: insert(data, at[n], header(2**40)), 0),
    "the file cut in it": (lambda data, at, n: cut(data, at[n] + 25), 10),
    "the file cut in its header": (lambda data, at, n: cut(data, at[n] + 12), 10),
}


def pairs() -> Iterator[Any]:
    for first, (_, cost) in ACCIDENTS.items():
        for second in ACCIDENTS if cost < 10 else ():
            yield pytest.param(first, second, id=f"{first}, {second}")


@pytest.mark.parametrize(("first", "second"), list(pairs()))
def test_two_accidents_cost_what_each_costs_alone(first: str, second: str) -> None:
    for file in (UNLIKE, ALIKE):
        for early, late in ((0, 2), (2, 4), (2, 5), (2, 8), (5, 8)):
            (happens, cost), (too, costs) = ACCIDENTS[first], ACCIDENTS[second]
            hurt = happens(too(file.data, file.at, late), file.at, early)
            gone = {*range(early, early + cost), *range(late, late + costs)}
            found = walked(hurt)
            assert found.payloads == file.without(*gone), (early, late)
            saved = found.recovered(hurt)
            assert len(set(saved)) == len(saved), "one payload twice"
            assert set(saved) <= {file.payloads[number] for number in gone if number < 10}


@pytest.mark.parametrize("size", [0, 40, 300])
def test_every_sound_record_is_found_however_many_gaps_there_are(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(budget, "_ALLOWANCE", 1 << 16)  # so that looking ahead is paid up soon
    one = frame(bytes(range(256))[:size] * 2)
    assert len(walked(one + (b"\xfe" + one) * 1999 + one).payloads) == 2001


def test_a_header_of_which_too_little_is_there_has_no_checksums_to_tell() -> None:
    first, last = b"A" * 50, b"xyz"
    data = frame(b"hello") + Random(1).randbytes(12) + first + footer(first) + last + footer(last)
    found = walked(data)
    assert found.payloads == (b"hello",)
    assert found.damage[-1].end == len(data)


def test_a_header_is_no_payload_of_a_mended_one() -> None:
    data = frame(b"first") + flip(header(8), 2) + frame(b"x" * 60) + frame(b"last")
    found = walked(data)
    assert not any(damage.recovery and damage.recovery.records for damage in found.damage)


@pytest.mark.parametrize("first", [1, 7, 2000, 4999, (1 << 32) + 7])
@pytest.mark.parametrize("how", ["two bytes missing", "two bytes too many and one changed"])
def test_a_number_at_the_beginning_of_a_payload_makes_it_no_record_file(first: int, how: str) -> None:
    """It reads as the length of a record, as the first of an array of small integers does."""
    large = first.to_bytes(8, "little") + b"".join(n.to_bytes(8, "little") for n in range(1, 625))
    file = File((large, *ALIKE.payloads, *UNLIKE.payloads))
    hurt = drop(file.data, file.at[8] + 30, file.at[8] + 32)
    hurt = drop(hurt, 1000, 1002) if how == "two bytes missing" else insert(flip(hurt, 2000), 1000, b"xy")
    assert walked(hurt).payloads == file.without(0, 8)
