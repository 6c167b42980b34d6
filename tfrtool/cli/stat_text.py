"""The lines that `stat` writes into a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.stat_words import repeats, what_is_wrong
from tfrtool.cli.streams import say
from tfrtool.cli.text import paint, printable, row
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.dataset import DataSet, advice
from tfrtool.verbs.sizes import Spread
from tfrtool.verbs.stat import stat_report

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event

_FIELDS = 14  # between the status and what is wrong


class StatText:
    """A line for each input and one for all, as the help of the command lays down; advice goes to standard error."""

    def __init__(self, color: bool) -> None:
        self._color = color
        self.total = DataSet()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            return  # the report tells how much is damaged, and `verify` what
        report = stat_report(event)
        self.total.add(report)
        figures = (report.records, report.payload_bytes, report.overhead_bytes, *_sizes(report.sizes), report.size)
        kinds = (report.format, report.compression, report.kind, report.duplicates)
        self._row(name, report.status, (*figures, *kinds), what_is_wrong(report))

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.missing import rows

            for name, said in rows(missing):
                self._row(name, "missing", (None,) * _FIELDS, said)
        total = self.total
        found = total.repeats()
        if summary.files > 1:
            figures = (total.payloads.count, total.payloads.total, total.framing, *_sizes(total.sizes))
            kinds = (None, None, None, None if found is None else found.count)
            self._row("total", "", (*figures, total.files.total, *kinds), "")
        if found and found.first:
            say(repeats(total) or "")
        for one in advice(total):
            say(one.message)

    def _row(self, name: str, state: str, fields: Sequence[object], said: str) -> None:
        shown = paint(state, "green" if state == "clean" else "red") if self._color and state else state
        sys.stdout.write(f"{row([name])}\t{shown}\t{row(fields)}\t{printable(said)}\n")


def _sizes(spread: Spread) -> tuple[object, ...]:
    mean = None if spread.mean is None else f"{spread.mean:.1f}"
    return spread.min, spread.p50, mean, spread.p95, spread.p99, spread.max
