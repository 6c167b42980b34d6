"""Keep sizes as a multiset with exact percentiles in bounded memory, and bin them for a histogram.

n different sizes add up to at least n²/2, so a stream of B bytes has at most sqrt(2 B) of them: half a million in 150
GB, 1.5 million in a terabyte. Up to `IN_DICTIONARY` sizes are counted in a dictionary of about 15 MB. Beyond that they
lie in two sorted arrays, 16 bytes for each different size, which are copied when more sizes are merged into them: 48 MB
for that terabyte, whatever the number of records.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

IN_DICTIONARY = 1 << 17
"""Different sizes that are counted in the dictionary before they are packed into arrays."""


class Spread(NamedTuple):
    """Summary of sizes, in bytes. Percentiles use the nearest-rank method.

    A percentile is a size that occurs, whatever the order and the split of the input. All fields are None if there are
    no sizes.
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
        """Add sizes, in bytes."""
        self._fresh.update(sizes)
        if len(self._fresh) > self.limit:
            self._pack()

    def update(self, other: Sizes) -> None:
        """Add all sizes of another, which does not change."""
        for size, count in other.items():
            self._fresh[size] += count
            if len(self._fresh) > self.limit:
                self._pack()

    def merge(self, other: Sizes) -> Sizes:
        """Return both together; neither operand changes."""
        both = Sizes(limit=self.limit)
        both.update(self)
        both.update(other)
        return both

    def _pack(self) -> None:
        """Merge the dictionary into the arrays, copying runs between new sizes whole."""
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
        """Yield each size and its count, in ascending order."""
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
        """Number of sizes, repeats included."""
        return self._fresh.total() + sum(self._counts)

    @property
    def total(self) -> int:
        """Sum of all sizes, in bytes."""
        return sum(size * count for size, count in self.items())

    def spread(self) -> Spread:
        """Return the smallest and largest size, the mean and the percentiles."""
        n = self.count
        if not n:
            return NOTHING
        ranks = [1, _rank(n, 50), _rank(n, 95), _rank(n, 99), n]
        low, p50, p95, p99, high = self._ranked(ranks)
        return Spread(low, p50, self.total / n, p95, p99, high)

    def _ranked(self, ranks: list[int]) -> list[int]:
        """Return the sizes of ascending ranks, which start at 1."""
        found: list[int] = []
        passed = 0
        for size, count in self.items():
            passed += count
            while len(found) < len(ranks) and ranks[len(found)] <= passed:
                found.append(size)
        return found


def _rank(n: int, percent: int) -> int:
    """Return the nearest rank of a percentile among `n` sizes."""
    return max(1, -(-n * percent // 100))


BINS = 20
"""Maximum number of bins; with edges at powers of two there is one more, for size 0."""

_EVEN = 8
"""Bins have equal widths if the largest size is less than this multiple of the smallest."""


@dataclass(frozen=True)
class Bin:
    """Number of sizes in `[lo, hi)`, in bytes."""

    lo: int
    hi: int
    count: int


def histogram(sizes: Sizes) -> list[Bin]:
    """Return contiguous bins from the smallest size to the largest; some may be empty.

    If sizes are similar, the bins have equal widths (1, 2 or 5 times a power of ten), and each doubling of the records
    adds one bin (Sturges' rule). Otherwise each edge is a power of two times the edge before.
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
    """Return edges at powers of two (or of four, sixteen … if there were too many); 0 has a bin of its own."""
    first, last = max(low, 1).bit_length() - 1, high.bit_length()
    step = 1
    while -(-(last - first) // step) > BINS:
        step *= 2
    edges = [1 << power for power in range(first // step * step, last + step, step)]
    return edges if low else [0, *edges]
