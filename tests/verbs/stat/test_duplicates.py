"""Payloads that occur more than once, found in bounded memory."""

from __future__ import annotations

import tempfile
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrtool.errors import WriteError
from tfrtool.verbs.stat.duplicates import Digests, Place, Repeats

payloads = st.lists(st.binary(max_size=1), max_size=40) | st.lists(st.binary(max_size=3), max_size=200)
held = st.integers(1, 50)


def digests(values: list[bytes], held: int, step: int = 7) -> Digests:
    made = Digests(held=held)
    for start in range(0, len(values), step):
        made.add(values[start : start + step], start)
    return made


def naive(files: list[list[bytes]]) -> Repeats:
    seen: dict[bytes, Place] = {}
    repeats = []
    for file, values in enumerate(files):
        for record, value in enumerate(values):
            earlier = seen.setdefault(value, Place(file, record))
            if earlier != (file, record):
                repeats.append((Place(file, record), earlier))
    return Repeats(len(repeats), repeats[0] if repeats else None)


@given(payloads, held)
def test_repeats_are_those_of_a_dictionary_however_few_digests_are_held(values: list[bytes], held: int) -> None:
    made = digests(values, held)
    assert made.repeats() == naive([values])
    made.close()


@given(st.lists(payloads, max_size=4), held)
def test_files_taken_in_after_one_another_are_as_one_and_keep_their_numbers(
    files: list[list[bytes]], held: int
) -> None:
    total = Digests(held=held)
    for number, values in enumerate(files):
        total.update(digests(values, held), number)
    assert total.repeats() == naive(files)


@given(st.lists(payloads, max_size=4), held)
def test_merging_is_associative_and_changes_no_operand(files: list[list[bytes]], held: int) -> None:
    every = []
    for number, values in enumerate(files):
        one = Digests(held=held)
        one.update(digests(values, held), number)
        every.append(one)
    left = reduce(Digests.merge, every, Digests())
    right = reduce(lambda right, left: left.merge(right), reversed(every), Digests())
    assert left.repeats() == right.repeats() == naive(files)
    assert [one.repeats().count for one in every] == [naive([values]).count for values in files]


def test_a_payload_in_pieces_is_the_same_as_in_one() -> None:
    made = Digests()
    made.add([b"abcd"], 0)
    made.add_in_pieces([b"ab", b"", b"cd"], 1)
    assert made.repeats() == Repeats(1, (Place(0, 1), Place(0, 0)))


def test_thousands_of_the_same_are_merged_over_all_levels() -> None:
    made = digests([b"same"] * 9000, held=2, step=2)
    assert made.repeats() == Repeats(8999, (Place(0, 1), Place(0, 0)))
    made.close()


def test_no_room_for_digests_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(WriteError, match="temporary file.*TMPDIR"):
        digests([b"a", b"b"], held=1)
