"""Write the page of `stat`: the figures of all files, a histogram, advice, and a row for each file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from tfrtool.cli.html.page import Cell, FileRows, HtmlColumn, Page, data, figures, hint, said, status, table
from tfrtool.cli.printers.stat import bin_label, what_is_wrong
from tfrtool.cli.printers.stat import figures as figures_of
from tfrtool.cli.text import plural
from tfrtool.report import FileReport
from tfrtool.verbs.stat.dataset import DataSet, dataset_advice
from tfrtool.verbs.stat.job import StatReport, stat_report
from tfrtool.verbs.stat.sizes import Bin

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event

_COLUMNS = (
    HtmlColumn("file"),
    HtmlColumn("status", "word"),
    HtmlColumn("records", "number"),
    HtmlColumn("bytes on disk", "number"),
    HtmlColumn("payload bytes", "number"),
    HtmlColumn("smallest", "number"),
    HtmlColumn("median", "number"),
    HtmlColumn("mean", "number"),
    HtmlColumn("largest", "number"),
    HtmlColumn("content", "text"),
    HtmlColumn("repeats", "number"),
)


class StatPage(Page):
    """Holds a row for each of the first files, and totals: `total`, which another printer fills, or its own.

    Digests of payloads belong to one data set, so they cannot be added twice.
    """

    command = "stat"

    def __init__(self, total: DataSet | None) -> None:
        super().__init__()
        self._total, self._adds = total or DataSet(), total is None
        self._files = FileRows()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            return
        report = stat_report(event)
        if self._adds:
            self._total.add(report)
        self._files.add(report.status == "clean", _row(report))

    def parts(self) -> Iterator[str]:
        total = self._total
        if total.files.count:
            yield '<section class="card">\n'
            yield from figures((name, said(found)) for name, found in _in_words(total))
            yield "</section>\n"
        for one in dataset_advice(total):
            yield hint(one.message)
        yield from _drawn(total.histogram)
        yield "<h2>Files</h2>\n"
        rows = self._files.rows()
        wanted = [at for at in range(len(_COLUMNS)) if at < 10 or any(row[at] is not None for row in rows)]
        yield from table([_COLUMNS[at] for at in wanted], ([row[at] for at in wanted] for row in rows))
        yield self._files.rest()


def _in_words(total: DataSet) -> Iterator[tuple[str, str]]:
    for name, found in figures_of(total):
        yield name, found if isinstance(found, str) else ", ".join(found)


def _row(report: StatReport) -> Sequence[Cell]:
    where = data(report.path)
    if report.index:
        where += f'<p class="faint">index in {data(report.index)}</p>'
    if report.unchecked and report.status == "clean":
        where += '<p class="faint">payloads not checked</p>'
    if wrong := what_is_wrong(report):
        where += f"<p>{said(wrong)}</p>"
    if report.status not in ("clean", "damaged"):
        return (where, status(report), *[None] * 9)
    sizes = report.sizes
    packed = None if report.compression == "none" else report.compression
    made_of = ", ".join(filter(None, (report.kind, report.format, packed)))
    return (
        where,
        status(report),
        report.records,
        report.size,
        report.payload_bytes,
        sizes.min,
        sizes.p50,
        sizes.mean,
        sizes.max,
        escape(made_of),
        report.duplicates,
    )


def _drawn(bins: Sequence[Bin]) -> Iterator[str]:
    """Yield the histogram, unless it has only one bin."""
    if len(bins) < 2:
        return
    most = max(one.count for one in bins)
    yield "<h2>Payload sizes in bytes</h2>\n"
    yield '<table class="histogram"><tbody>\n'
    for one in bins:
        width = f"{max(100 * one.count / most, 0.5 if one.count else 0):.2f}"
        yield f'<tr><th scope="row" class="number">{bin_label(one)}</th><td class="wide">'
        yield '<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        yield f'<rect width="{width}" height="1"><title>{bin_label(one)} bytes: {plural(one.count, "record")}</title>'
        yield f'</rect></svg></td><td class="number">{one.count:,}</td></tr>\n'
    yield "</tbody></table>\n"
