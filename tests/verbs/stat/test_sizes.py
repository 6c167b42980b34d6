"""Sizes as a multiset: exact, mergeable, and in few bytes; and their histogram."""

from __future__ import annotations

import math
import tracemalloc
from functools import reduce
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tfrtool.verbs.stat.sizes import BINS, NOTHING, Bin, Sizes, Spread, histogram

small = st.integers(0, 40)
any_size = small | st.integers(0, 2**64 - 1) | st.integers(0, 64).map(lambda power: 2**power - 1)
lists = st.lists(any_size, max_size=60)


def naive(values: list[int]) -> Spread:
    """The nearest rank, by sorting all."""
    if not values:
        return NOTHING
    ordered = sorted(values)

    def rank(percent: int) -> int:
        return ordered[max(0, math.ceil(percent * len(ordered) / 100) - 1)]

    return Spread(ordered[0], rank(50), sum(ordered) / len(ordered), rank(95), rank(99), ordered[-1])


@given(lists, st.integers(0, 9))
def test_percentiles_are_exact_however_few_sizes_are_held_in_the_dictionary(values: list[int], limit: int) -> None:
    sizes = Sizes(values, limit=limit)
    assert sizes.spread() == naive(values)
    assert (sizes.count, sizes.total) == (len(values), sum(values))
    assert list(sizes.items()) == sorted({value: values.count(value) for value in values}.items())


def test_percentiles_of_a_hundred_sizes_are_those_sizes() -> None:
    assert Sizes(range(1, 101)).spread() == Spread(1, 50, 50.5, 95, 99, 100)
    assert Sizes([7]).spread() == Spread(7, 7, 7.0, 7, 7, 7)


@given(st.lists(lists, max_size=6), st.integers(0, 9))
def test_any_split_merges_to_the_same_sizes_from_either_side(parts: list[list[int]], limit: int) -> None:
    every = [Sizes(part, limit=limit) for part in parts]
    before = [list(one.items()) for one in every]
    from_left = reduce(Sizes.merge, every, Sizes())
    from_right = reduce(lambda right, left: left.merge(right), reversed(every), Sizes())
    assert from_left == from_right == Sizes([value for part in parts for value in part])
    assert [list(one.items()) for one in every] == before


def test_sizes_beyond_the_limit_are_packed_and_still_counted() -> None:
    sizes = Sizes(limit=8)
    for start in range(0, 1000, 10):
        sizes.add(range(start, start + 20))
        assert len(sizes._fresh) <= 8
    assert list(sizes.items())[:12] == [(n, 1 if n < 10 else 2) for n in range(12)]
    assert sizes.spread().max == 1009


def test_a_hundred_thousand_different_sizes_take_sixteen_bytes_each() -> None:
    tracemalloc.start()
    sizes = Sizes(limit=1 << 10)
    for start in range(0, 100_000, 500):
        sizes.add(range(start, start + 500))
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes.spread().p99 == 98_999
    assert held < 2_500_000 and peak < 6_000_000


@given(lists)
def test_each_size_is_in_one_bin_and_the_bins_are_few_and_next_to_each_other(values: list[int]) -> None:
    bins = histogram(Sizes(values))
    assert sum(one.count for one in bins) == len(values)
    assert all(one.count == sum(one.lo <= value < one.hi for value in values) for one in bins)
    assert all(left.hi == right.lo for left, right in pairwise(bins))
    assert len(bins) <= BINS + 1
    if values:
        assert bins[0].count and bins[-1].count


def test_sizes_alike_are_in_bins_of_one_round_width() -> None:
    bins = histogram(Sizes([*range(741, 1181)]))
    assert {one.hi - one.lo for one in bins} == {50}
    assert (bins[0], bins[-1].hi) == (Bin(700, 750, 9), 1200)
    assert histogram(Sizes([741, 750, 1180])) == [Bin(600, 800, 2), Bin(800, 1000, 0), Bin(1000, 1200, 1)]
    assert histogram(Sizes([216] * 9)) == [Bin(216, 217, 9)]


def test_sizes_far_apart_are_in_bins_that_double_and_zero_has_its_own() -> None:
    assert histogram(Sizes([0, 0, 5, 300])) == [
        *(Bin(0, 1, 2), Bin(1, 2, 0), Bin(2, 4, 0), Bin(4, 8, 1), Bin(8, 16, 0)),
        *(Bin(16, 32, 0), Bin(32, 64, 0), Bin(64, 128, 0), Bin(128, 256, 0), Bin(256, 512, 1)),
    ]
    assert histogram(Sizes()) == []
