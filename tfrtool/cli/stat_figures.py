"""The figures of `stat` in words, for a terminal and for a page alike."""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.cli.stat_words import repeats
from tfrtool.cli.text import plural, printable
from tfrtool.payload.values import size_text, sizes_text
from tfrtool.verbs.dataset import DataSet
from tfrtool.verbs.histogram import Bin

_NAMED_KINDS = {"example": "Example", "sequence_example": "SequenceExample", "event": "Event", "ofrecord": "OFRecord"}
_NAMED_FORMATS = {"tfrecord": "TFRecord", "ofrecord": "OFRecord"}


def figures(data: DataSet) -> Iterator[tuple[str, str | list[str]]]:
    """What each figure is called, and what it is; a list is of several, to stand beside one another."""
    kinds = ", ".join(_NAMED_KINDS.get(kind, "payloads of no known kind") for kind in sorted(data.kinds))
    formats = " and ".join(_NAMED_FORMATS[name] for name in sorted(data.formats)) or "no"
    yield "made of", f"{kinds}, in {formats} framing" if kinds else f"{formats} framing"
    count, sizes = data.payloads.count, data.sizes
    if count and sizes.mean is not None:
        yield "payloads", f"{size_text(data.payloads.total)} in {plural(count, 'record')}"
        part = 100 * (data.overhead or 0)
        yield "framing", f"{size_text(data.framing)}, {_percent(part)} of the records"
        named = (
            ("smallest", sizes.min),
            ("median", sizes.p50),
            ("mean", sizes.mean),
            ("95 %", sizes.p95),
            ("99 %", sizes.p99),
            ("largest", sizes.max),
        )
        yield "bytes each", [f"{name} {_number(value)}" for name, value in named]
    if data.damaged:
        yield "damaged", size_text(data.damaged)
    if data.ratio is not None:
        yield (
            "compression",
            f"{size_text(data.packed)} unpack to {size_text(data.unpacked)}, {data.ratio:.2f} times",
        )
    if data.files.count > 1:
        yield "files", _spread_over(data)
    if (found := repeats(data)) is not None:
        yield "repeats", printable(found)


def _spread_over(data: DataSet) -> str:
    size, records = data.files.spread(), data.records.spread()
    if size.min is None or size.max is None or size.p50 is None:
        return ""
    said = f"{sizes_text(size.min, size.max)} each, the middle one {size_text(size.p50)}"
    low, high = _number(records.min), _number(records.max)
    said += f"; {low if low == high else f'{low} to {high}'} record{'' if high == '1' else 's'} each"
    return f"{said}; {data.hollow[0]:,} without a record" if data.hollow else said


def _percent(value: float) -> str:
    return "less than 0.1 %" if 0 < value < 0.1 else f"{value:.1f} %"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def bin_label(one: Bin) -> str:
    """The sizes of a bin, from the first to the last that is counted in it."""
    return f"{one.lo:,}" if one.hi == one.lo + 1 else f"{one.lo:,} - {one.hi - 1:,}"
