"""Two damages side by side: what is mended beside a sound record is mended beside one that is mended too."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from kit.damage import drop, flip, insert, spoil, ten, walked

from tfrtool.framing.encode import frame

FILE = ten(3, 150, 300)
Accident = Callable[[bytes], bytes]

FIRST: dict[str, Accident] = {
    "header cut": lambda f: drop(f, 0, 4),
    "header gone": lambda f: drop(f, 0, 12),
    "header with bytes in it": lambda f: insert(f, 6, b"\x81" * 6),
    "payload with a line end in it": lambda f: insert(f, 90, b"\r"),
    "payload with much in it": lambda f: insert(f, 90, b"\x81" * 500),
    "payload behind zeros": lambda f: insert(f, 12, bytes(512)),
    "checksum flipped": lambda f: flip(f, len(f) - 2, 3),
}
SECOND: dict[str, Accident] = {
    "header flipped": lambda f: flip(f, 0, 2),
    "header overwritten": lambda f: spoil(f, 0, 12),
    "header cut": lambda f: drop(f, 0, 4),
    "header gone": lambda f: drop(f, 0, 12),
}


@pytest.mark.parametrize(("first", "second"), list(product(FIRST, SECOND)))
def test_both_of_two_records_come_back_that_are_mended_alone(first: str, second: str) -> None:
    for number in (0, 3, 8):
        frames = [frame(payload) for payload in FILE.payloads]
        frames[number], frames[number + 1] = FIRST[first](frames[number]), SECOND[second](frames[number + 1])
        hurt = b"".join(frames)
        found = walked(hurt)
        assert found.payloads == FILE.without(number, number + 1)
        assert found.recovered(hurt) == list(FILE.payloads[number : number + 2])


@pytest.mark.parametrize("first", ["payload with a line end in it", "checksum flipped"])
def test_a_record_that_is_mended_comes_back_before_bytes_of_no_record(first: str) -> None:
    frames = [frame(payload) for payload in FILE.payloads]
    hurt = b"".join([*frames[:3], FIRST[first](frames[3]), b"a line of a log, of some other process\n", *frames[4:]])
    found = walked(hurt)
    assert (found.payloads, found.recovered(hurt)) == (FILE.without(3), [FILE.payloads[3]])


def test_other_bytes_than_a_line_end_are_not_looked_for_where_no_boundary_follows() -> None:
    """Many bytes would be tried, and each try may agree by chance."""
    frames = [frame(payload) for payload in FILE.payloads]
    hurt = b"".join([*frames[:3], insert(frames[3], 90, b"\x81"), b"a line of a log, of some other one\n", *frames[4:]])
    assert walked(hurt).recovered(hurt) == []
