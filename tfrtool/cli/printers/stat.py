"""Print the results of `stat`: for pipes, terminals and as JSON Lines, and the figures that pages show too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tfrtool.cli.printers.base import TsvPrinter
from tfrtool.cli.printers.jsonl import JsonPrinter
from tfrtool.cli.streams import say
from tfrtool.cli.suggestions import advice
from tfrtool.cli.terminal.console import advise, can_encode, console, totals
from tfrtool.cli.terminal.table import beside, heading
from tfrtool.cli.text import plural, printable, safe
from tfrtool.payload.text import size_text, sizes_text
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.stat.dataset import Advice, DataSet, dataset_advice
from tfrtool.verbs.stat.job import StatReport, stat_report
from tfrtool.verbs.stat.sizes import Bin, Sizes, Spread

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.verbs.stat.duplicates import Place


_JSON_FIELDS = (
    "bytes",
    "damaged_bytes",
    "payload_bytes",
    "overhead_bytes",
    "compression_ratio",
    "duplicates",
    "index",
    "unchecked",
)


class StatJson(JsonPrinter):
    """Adds sizes, a histogram (bins from `lo` to `hi`, exclusive) and advice to each `file` object.

    The `summary` has those of all files, and `shards`: how the records are distributed.
    """

    def __init__(self) -> None:
        super().__init__(_JSON_FIELDS)
        self.total = DataSet()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            super().show(name, event)
            return
        report = stat_report(event)
        self.total.add(report)
        values = self._file(report)
        values["first_duplicate"] = report.first_duplicate and dict(
            zip(("record", "earlier"), report.first_duplicate, strict=True)
        )
        values["sizes"] = report.sizes._asdict()
        values["histogram"] = [asdict(one) for one in report.histogram]
        values["advice"] = _advice(dataset_advice(DataSet.of(report)))
        self.write("file", values)

    def summary(self, summary: Summary, missing: Sequence[str]) -> dict[str, Any]:
        total = self.total
        found = total.repeats()
        return {
            **super().summary(summary, missing),
            "payload_bytes": total.payloads.total,
            "overhead_bytes": total.framing,
            "compression_ratio": total.ratio,
            "duplicates": None if found is None else found.count,
            "first_duplicate": None
            if found is None or found.first is None
            else dict(zip(("record", "earlier"), map(self._place, found.first), strict=True)),
            "sizes": total.sizes._asdict(),
            "histogram": [asdict(one) for one in total.histogram],
            "shards": _shards(total),
            "advice": _advice(dataset_advice(total)),
        }

    def _place(self, place: Place) -> dict[str, Any]:
        return {"path": json_text(self.total.paths[place.file]), "index": place.record}


def _shards(total: DataSet) -> dict[str, Any]:
    """Return the number of record files, and the minimum, median, mean and maximum of their bytes and records."""
    return {
        "files": total.files.count,
        "empty": total.hollow[0] if total.hollow else 0,
        "bytes": _brief(total.files),
        "records": _brief(total.records),
        "evenness": total.evenness,
        "largest": json_text(total.largest[1]) if total.largest else None,
    }


def _brief(sizes: Sizes) -> dict[str, Any]:
    spread = sizes.spread()
    return {"min": spread.min, "p50": spread.p50, "mean": spread.mean, "max": spread.max}


def _advice(found: Sequence[Advice]) -> list[dict[str, Any]]:
    return [{"kind": one.kind, "message": json_text(one.message)} for one in found]


def what_is_wrong(report: StatReport) -> str:
    """Return the damage of a report in one sentence; empty for a clean file."""
    said = report.error[1] if report.error else report.message or ""
    return "; ".join(filter(None, (said, advice(report))))


def repeats(data: DataSet) -> str | None:
    """Return the number of repeated payloads and the first one; None if they were not counted."""
    found = data.repeats()
    if found is None:
        return None
    if found.first is None:
        return "no repeated payloads"
    later, earlier = found.first
    several = len(data.paths) > 1
    return (
        f"{plural(found.count, 'record')} with a repeated payload; first: {_place(data, later, several)} repeats "
        f"{_place(data, earlier, several)}"
    )


def _place(data: DataSet, place: Place, several: bool) -> str:
    return f"record {place.record}" + (f" of '{data.paths[place.file]}'" if several else "")


_NAMED_KINDS = {"example": "Example", "sequence_example": "SequenceExample", "event": "Event", "ofrecord": "OFRecord"}
_NAMED_FORMATS = {"tfrecord": "TFRecord", "ofrecord": "OFRecord"}


def figures(data: DataSet) -> Iterator[tuple[str, str | list[str]]]:
    """Yield the name and the text of each figure; a list has several parts."""
    kinds = ", ".join(_NAMED_KINDS.get(kind, "payloads of unknown kind") for kind in sorted(data.kinds))
    formats = " and ".join(_NAMED_FORMATS[name] for name in sorted(data.formats)) or "no"
    yield "content", f"{kinds}, in {formats} framing" if kinds else f"{formats} framing"
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
            f"{size_text(data.packed)} decompress to {size_text(data.unpacked)} (ratio {data.ratio:.2f})",
        )
    if data.files.count > 1:
        yield "files", _spread_over(data)
    if (found := repeats(data)) is not None:
        yield "repeats", printable(found)


def _spread_over(data: DataSet) -> str:
    size, records = data.files.spread(), data.records.spread()
    if size.min is None or size.max is None or size.p50 is None:
        return ""
    said = f"{sizes_text(size.min, size.max)} each, median {size_text(size.p50)}"
    low, high = _number(records.min), _number(records.max)
    said += f"; {low if low == high else f'{low} to {high}'} record{'' if high == '1' else 's'} each"
    return f"{said}; {data.hollow[0]:,} without records" if data.hollow else said


def _percent(value: float) -> str:
    return "less than 0.1 %" if 0 < value < 0.1 else f"{value:.1f} %"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:,.1f}"


def bin_label(one: Bin) -> str:
    """Return the range of sizes of a bin, inclusive."""
    return f"{one.lo:,}" if one.hi == one.lo + 1 else f"{one.lo:,} - {one.hi - 1:,}"


_STATUS_STYLE = {"clean": "green", "damaged": "bold red", "foreign": "bold red", "error": "bold red"}
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEFT = 18
"""Columns to the left of the figures."""
_WIDEST = 60
"""Columns of the longest bar, on a terminal of any width."""


class StatTerminal:
    """Prints a line for each file when it is read, and the totals at the end."""

    def __init__(self, color: bool) -> None:
        self._console = console(color)
        self._blocks = can_encode(_EIGHTHS)
        self.total = DataSet()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            return
        report = stat_report(event)
        self.total.add(report)
        if report.status != "error":  # reported on standard error
            self._heading(report)

    def _heading(self, report: StatReport) -> None:
        from rich.text import Text

        line = Text.assemble((report.status, _STATUS_STYLE[report.status]))
        if report.status != "foreign":
            line.append(f", {plural(report.records, 'intact record' if report.status == 'damaged' else 'record')}")
            line.append(f", {size_text(report.size if report.size is not None else report.bytes or 0)}")
            if report.compression_ratio:
                line.append(f" of {report.compression}")
            if report.unchecked and report.status == "clean":
                line.append("; payloads not checked")
            if report.index:
                line.append(f"; index in {safe(report.index)}")
        heading(self._console, safe(report.path), line)
        if what_is_wrong(report):
            advise(self._console, report.message or "", report)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        from rich.padding import Padding
        from rich.table import Table

        data = self.total
        if data.files.count:
            card = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
            card.add_column(style="cyan")
            card.add_column(overflow="fold")
            for name, found in figures(data):
                card.add_row(
                    name, found if isinstance(found, str) else beside(found, self._console.width - _LEFT, gap=3)
                )
            self._console.print(Padding(card, (0, 0, 0, 2)))
            self._draw(data.histogram)
            for one in dataset_advice(data):
                self._hint(one.message)
        totals(self._console, summary, missing, plural(data.payloads.count, "record"))

    def _draw(self, bins: Sequence[Bin]) -> None:
        """Print the histogram, a line per bin, unless there is only one."""
        from rich.text import Text

        if len(bins) < 2:
            return
        labels = [bin_label(one) for one in bins]
        counts = [f"{one.count:,}" for one in bins]
        left, right = max(map(len, labels)), max(map(len, counts))
        width = max(1, min(_WIDEST, self._console.width - left - right - 6))
        most = max(one.count for one in bins)
        for label, count, one in zip(labels, counts, bins, strict=True):
            bar = self._bar(one.count, most, width)
            line = Text(f"  {label.rjust(left)}  ", no_wrap=True)
            self._console.print(line.append(bar.ljust(width), "green").append(f"  {count.rjust(right)}"))

    def _bar(self, count: int, most: int, width: int) -> str:
        """Return a bar in proportion to a count; a count above 0 has at least the smallest bar."""
        if not count:
            return ""
        if not self._blocks:
            return "#" * max(1, count * width // most)
        full, part = divmod(max(1, count * width * 8 // most), 8)
        return "█" * full + (_EIGHTHS[part] if part else "")

    def _hint(self, message: str) -> None:
        from rich.text import Text

        self._console.print(Text.assemble(("hint: ", "bold"), printable(message)))


class StatText(TsvPrinter):
    """Writes a line for each input and one for all; advice goes to standard error."""

    fields = 14

    def __init__(self, color: bool) -> None:
        super().__init__(color)
        self.total = DataSet()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            return  # the report has the total, and `verify` the details
        report = stat_report(event)
        self.total.add(report)
        figures = (report.records, report.payload_bytes, report.overhead_bytes, *_sizes(report.sizes), report.size)
        kinds = (report.format, report.compression, report.kind, report.duplicates)
        self.row(name, report.status, (*figures, *kinds), what_is_wrong(report))

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        super().end(summary, missing)
        total = self.total
        found = total.repeats()
        if summary.files > 1:
            figures = (total.payloads.count, total.payloads.total, total.framing, *_sizes(total.sizes))
            kinds = (None, None, None, None if found is None else found.count)
            self.row("total", "", (*figures, total.files.total, *kinds), "")
        if found and found.first:
            say(repeats(total) or "")
        for one in dataset_advice(total):
            say(one.message)


def _sizes(spread: Spread) -> tuple[object, ...]:
    mean = None if spread.mean is None else f"{spread.mean:.1f}"
    return spread.min, spread.p50, mean, spread.p95, spread.p99, spread.max
