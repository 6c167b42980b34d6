"""What `stat` shows to people: a line for each file, and one picture of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.stat_figures import bin_label, figures
from tfrtool.cli.stat_words import what_is_wrong
from tfrtool.cli.table import beside, heading
from tfrtool.cli.terminal import advise, can_encode, console, totals
from tfrtool.cli.text import plural, printable, safe
from tfrtool.payload.values import size_text
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.dataset import DataSet, advice
from tfrtool.verbs.histogram import Bin
from tfrtool.verbs.stat import StatReport, stat_report

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event

_STATUS_STYLE = {"clean": "green", "damaged": "bold red", "foreign": "bold red", "error": "bold red"}
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEFT = 18
"""Columns left of the figures."""
_WIDEST = 60
"""Columns of the longest bar, on a terminal of any width."""


class StatTerminal:
    """Prints a line for each file when it is read, and holds what all of them add up to."""

    def __init__(self, color: bool) -> None:
        self._console = console(color)
        self._blocks = can_encode(_EIGHTHS)
        self.total = DataSet()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            return
        report = stat_report(event)
        self.total.add(report)
        if report.status != "error":  # which standard error tells
            self._heading(report)

    def _heading(self, report: StatReport) -> None:
        from rich.text import Text

        line = Text.assemble((report.status, _STATUS_STYLE[report.status]))
        if report.status != "foreign":
            line.append(f", {plural(report.records, 'sound record' if report.status == 'damaged' else 'record')}")
            line.append(f", {size_text(report.size if report.size is not None else report.bytes or 0)}")
            if report.compression_ratio:
                line.append(f" of {report.compression}")
            if report.unchecked and report.status == "clean":
                line.append("; payloads unchecked")
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
            for one in advice(data):
                self._hint(one.message)
        totals(self._console, summary, missing, plural(data.payloads.count, "record"))

    def _draw(self, bins: Sequence[Bin]) -> None:
        """The histogram, a line for each bin; one bin alone tells nothing that the figures do not."""
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
        """A bar in proportion to a count; one that is not 0 shows at least a sliver."""
        if not count:
            return ""
        if not self._blocks:
            return "#" * max(1, count * width // most)
        full, part = divmod(max(1, count * width * 8 // most), 8)
        return "█" * full + (_EIGHTHS[part] if part else "")

    def _hint(self, message: str) -> None:
        from rich.text import Text

        self._console.print(Text.assemble(("hint: ", "bold"), printable(message)))
