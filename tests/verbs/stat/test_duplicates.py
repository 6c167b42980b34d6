"""Payloads that occur more than once, found in bounded memory."""

from __future__ import annotations

import resource
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrtool.errors import WriteError
from tfrtool.verbs.stat import duplicates
from tfrtool.verbs.stat.duplicates import Digests, Place, Repeats

payloads = st.lists(st.binary(max_size=1), max_size=40) | st.lists(st.binary(max_size=3), max_size=200)


def digests(values: list[bytes], step: int = 7) -> Digests:
    made = Digests()
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


@given(payloads)
def test_repeats_equal_those_of_a_dictionary(values: list[bytes]) -> None:
    made = digests(values)
    assert made.repeats() == naive([values])
    made.close()


@given(st.lists(payloads, max_size=4))
def test_files_keep_their_numbers(files: list[list[bytes]]) -> None:
    total = Digests()
    for number, values in enumerate(files):
        total.update(digests(values), number)
    assert total.repeats() == naive(files)


@given(st.lists(payloads, max_size=4))
def test_merge_is_associative_and_changes_no_operand(files: list[list[bytes]]) -> None:
    every = []
    for number, values in enumerate(files):
        one = Digests()
        one.update(digests(values), number)
        every.append(one)
    left = reduce(Digests.merge, every, Digests())
    right = reduce(lambda right, left: left.merge(right), reversed(every), Digests())
    assert left.repeats() == right.repeats() == naive(files)
    assert [one.repeats().count for one in every] == [naive([values]).count for values in files]


def test_a_payload_in_pieces_equals_the_whole() -> None:
    made = Digests()
    made.add([b"abcd"], 0)
    made.add_in_pieces([b"ab", b"", b"cd"], 1)
    assert made.repeats() == Repeats(1, (Place(0, 1), Place(0, 0)))


def test_digests_beyond_the_cache_go_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "CACHE_KIB", 64)
    made = digests([b"same"] * 9000, step=100)
    assert made.repeats() == Repeats(8999, (Place(0, 1), Place(0, 0)))
    made.close()


def test_no_space_for_digests_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(duplicates, "CACHE_KIB", 64)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    made = Digests()
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(WriteError, match="temporary file.*TMPDIR"):
            made.add((n.to_bytes(4) for n in range(20_000)), 0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
