"""Sizes as a multiset: exact percentiles of any number of them, in memory that their own sum bounds.

n different sizes add up to n²/2 at least, so a stream of B bytes has no more than the root of 2 B of them: half a
million in 150 GB, 1.5 million in a terabyte. Up to `IN_DICTIONARY` are counted in a dictionary of about 15 MB. What is
beyond lies in two sorted arrays, 16 bytes for each different size, which are copied when more sizes are merged into
them: 48 MB for that terabyte, whatever the number of records.

A histogram of sizes, in few bins with round edges.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

IN_DICTIONARY = 1 << 17
"""Different sizes that are counted in a dictionary before they are packed into arrays."""


class Spread(NamedTuple):
    """Sizes in brief, in bytes. A percentile is the smallest size that at least so many per cent of all do not exceed.

    That is a size that occurs (the nearest rank), and the same whatever the order and the split. All are None where
    there are no sizes.
    """

    min: int | None
    p50: int | None
    mean: float | None
    p95: int | None
    p99: int | None
    max: int | None


NOTHING = Spread(None, None, None, None, None, None)


class Sizes:
    """A multiset of sizes from 0 to 2^64 - 1. `Sizes()` is the identity of `merge`, which is associative."""

    __slots__ = ("_counts", "_fresh", "_sizes", "limit")

    def __init__(self, sizes: Iterable[int] = (), *, limit: int = IN_DICTIONARY) -> None:
        self.limit = limit
        self._fresh: Counter[int] = Counter()
        self._sizes = array("Q")  # ascending, each once
        self._counts = array("Q")
        self.add(sizes)

    def add(self, sizes: Iterable[int]) -> None:
        """Count these sizes too."""
        self._fresh.update(sizes)
        if len(self._fresh) > self.limit:
            self._pack()

    def update(self, other: Sizes) -> None:
        """Take in all that is in another, which does not change."""
        for size, count in other.items():
            self._fresh[size] += count
            if len(self._fresh) > self.limit:
                self._pack()

    def merge(self, other: Sizes) -> Sizes:
        """Both together; neither operand changes."""
        both = Sizes(limit=self.limit)
        both.update(self)
        both.update(other)
        return both

    def _pack(self) -> None:
        """Move the dictionary into the arrays: stretches between new sizes are copied whole."""
        old_sizes, old_counts = self._sizes, self._counts
        sizes, counts, done = array("Q"), array("Q"), 0
        for size in sorted(self._fresh):
            count = self._fresh[size]
            at = bisect_left(old_sizes, size, done)
            sizes += old_sizes[done:at]
            counts += old_counts[done:at]
            done = at
            if at < len(old_sizes) and old_sizes[at] == size:
                count += old_counts[at]
                done = at + 1
            sizes.append(size)
            counts.append(count)
        sizes += old_sizes[done:]
        counts += old_counts[done:]
        self._sizes, self._counts = sizes, counts
        self._fresh.clear()

    def items(self) -> Iterator[tuple[int, int]]:
        """Each size and how often it occurs, from the smallest on."""
        if not self._sizes:
            return iter(sorted(self._fresh.items()))
        if self._fresh:
            self._pack()
        return zip(self._sizes, self._counts, strict=True)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sizes) and list(self.items()) == list(other.items())

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Sizes({self.spread()})"

    @property
    def count(self) -> int:
        """How many sizes there are, each as often as it occurs."""
        return self._fresh.total() + sum(self._counts)

    @property
    def total(self) -> int:
        """The sum of them all, in bytes."""
        return sum(size * count for size, count in self.items())

    def spread(self) -> Spread:
        """The smallest, the largest, the mean and the percentiles."""
        n = self.count
        if not n:
            return NOTHING
        ranks = [1, _rank(n, 50), _rank(n, 95), _rank(n, 99), n]
        low, p50, p95, p99, high = self._ranked(ranks)
        return Spread(low, p50, self.total / n, p95, p99, high)

    def _ranked(self, ranks: list[int]) -> list[int]:
        """The sizes of these ranks, which ascend and begin at 1."""
        found: list[int] = []
        passed = 0
        for size, count in self.items():
            passed += count
            while len(found) < len(ranks) and ranks[len(found)] <= passed:
                found.append(size)
        return found


def _rank(n: int, percent: int) -> int:
    """The least rank that at least so many per cent of `n` do not exceed."""
    return max(1, -(-n * percent // 100))


BINS = 20
"""Bins that a histogram has at most; where a power of two is the step from edge to edge, one more, for size 0."""

_EVEN = 8
"""Bins are of one width where the largest size is less than that many times the smallest."""


@dataclass(frozen=True)
class Bin:
    """How many sizes there are from `lo` on that are below `hi`, in bytes."""

    lo: int
    hi: int
    count: int


def histogram(sizes: Sizes) -> list[Bin]:
    """Bins from the smallest size to the largest, each beginning where the one before ends; some may be empty.

    Where sizes are alike, the bins are of one width (1, 2 or 5 times a power of ten), and few for few records: each
    doubling of the records adds one (Sturges' rule). Else each edge is a power of two times the edge before.
    """
    spread = sizes.spread()
    low, high = spread.min, spread.max
    if low is None or high is None:
        return []
    even = high < _EVEN * low or high - low < BINS
    most = min(BINS, sizes.count.bit_length() + 1)
    edges = _even_edges(low, high, most) if even else _doubling_edges(low, high)
    counts = [0] * (len(edges) - 1)
    at = 0
    for size, count in sizes.items():
        while size >= edges[at + 1]:
            at += 1
        counts[at] += count
    return [Bin(lo, hi, count) for lo, hi, count in zip(edges, edges[1:], counts, strict=False)]


def _even_edges(low: int, high: int, most: int) -> list[int]:
    width = next(width for width in _round_widths() if high // width - low // width < most)
    return list(range(low // width * width, high // width * width + width + 1, width))


def _round_widths() -> Iterator[int]:
    """1, 2, 5, 10, 20, 50 and so on."""
    ten = 1
    while True:
        yield from (ten, 2 * ten, 5 * ten)
        ten *= 10


def _doubling_edges(low: int, high: int) -> list[int]:
    """Edges that are powers of two, or of four, sixteen … where there would be too many; 0 is a bin of its own."""
    first, last = max(low, 1).bit_length() - 1, high.bit_length()
    step = 1
    while -(-(last - first) // step) > BINS:
        step *= 2
    edges = [1 << power for power in range(first // step * step, last + step, step)]
    return edges if low else [0, *edges]
