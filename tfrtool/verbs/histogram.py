"""A histogram of sizes, in few bins with round edges."""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.fields import Fields
from tfrtool.verbs.sizes import Sizes

BINS = 20
"""Bins that a histogram has at most; where a power of two is the step from edge to edge, one more, for size 0."""

_EVEN = 8
"""Bins are of one width where the largest size is less than that many times the smallest."""


class Bin(Fields, frozen=True):
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
