"""Write the page of `verify`: a row for each file, and the map, the damage and the next step of each damaged one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.html.coverage_map import damage_map
from tfrtool.cli.html.page import Cell, FileRows, HtmlColumn, Page, data, hint, said, status, table
from tfrtool.cli.printers.verify import DamageCount, verdict
from tfrtool.cli.suggestions import advice
from tfrtool.cli.terminal.coverage_bar import CoverageBar
from tfrtool.cli.text import plural
from tfrtool.payload.text import size_text
from tfrtool.report import FileReport
from tfrtool.verbs.index import IndexFault

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.framing.damage import Damage

ROWS = 10_000
"""Most damaged ranges and index lines on a page."""
SECTIONS = 1_000
"""Most files with a map on a page."""

_FILES = (
    HtmlColumn("file"),
    HtmlColumn("status", "word"),
    HtmlColumn("intact records", "number"),
    HtmlColumn("bytes", "number"),
    HtmlColumn("damaged bytes", "number"),
    HtmlColumn("recoverable", "number"),
    HtmlColumn("result", "sentence"),
)
_DAMAGE = (
    HtmlColumn("offset", "number"),
    HtmlColumn("end", "number"),
    HtmlColumn("record", "number"),
    HtmlColumn("fault", "word"),
    HtmlColumn("recoverable", "number"),
    HtmlColumn("message", "sentence"),
)


class VerifyPage(Page):
    """Holds the maps and the first damaged ranges of damaged files."""

    command = "verify"

    def __init__(self, quick: bool) -> None:
        super().__init__()
        self._quick = quick
        self._files = FileRows()
        self._sections: list[str] = []
        self._only = ""  # the section of the first file, shown if it is the only one
        self._count = self._wrong = 0
        self._room = ROWS
        self._begin()

    def _begin(self) -> None:
        self._damage_count = DamageCount()
        self._bar = CoverageBar()
        self._rows: list[Sequence[Cell]] = []
        self._index: list[str] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._file(event)
            self._begin()
        elif not isinstance(event, IndexFault):
            self._damage(event)  # type: ignore[arg-type]
        elif self._room:
            self._room -= 1
            self._index.append(f"line {event.line}: {event.message}")

    def _damage(self, damage: Damage) -> None:
        self._damage_count.add(damage)
        self._bar.add(damage.begin, damage.end, bool(damage.restorable))
        if self._room:
            self._room -= 1
            fields = (damage.begin, damage.end, damage.record, damage.fault, damage.restorable)
            self._rows.append((*fields, said(damage.message)))

    def _file(self, report: FileReport) -> None:
        self._count += 1
        found = said(verdict(report, self._damage_count, self._quick))
        where = data(report.path)
        if report.status != "clean" or report.index_faults:
            self._wrong += 1
            if len(self._sections) < SECTIONS:
                where = f'<a href="#f{self._count}">{where}</a>'
                self._sections.append("".join(self._section(report)))
        elif self._count == 1:
            self._only = "".join(self._section(report))
        figures = (report.records, report.bytes, report.damaged_bytes, report.restorable)
        self._files.add(report.status == "clean", (where, status(report), *figures, found))

    def _section(self, report: FileReport) -> Iterator[str]:
        records = plural(report.records, "intact record" if report.status == "damaged" else "record")
        long = " long" if len(self._rows) > 20 else ""
        yield f'<section class="card{long}" id="f{self._count}">\n<h3>{data(report.path)}</h3>\n<p>{status(report)}'
        if report.status in ("clean", "damaged"):
            yield f", {records}"
        if report.bytes is not None:
            yield f", {size_text(report.bytes)}"
        yield "</p>\n"
        if report.status in ("clean", "damaged") and (total := self._total(report)):
            yield from damage_map(self._bar, total)
        if self._rows:
            yield from table(_DAMAGE, self._rows)
        left = report.faults.total() - len(self._rows)
        if left > 0:
            yield f'<p class="faint">and {plural(left, "more damaged range")}; --json lists all</p>\n'
        yield from self._index_faults(report)
        yield f"<p>{said(verdict(report, self._damage_count, self._quick))}</p>\n"
        if next_step := advice(report):
            yield hint(next_step)
        yield "</section>\n"

    def _total(self, report: FileReport) -> int:
        if report.bytes is not None:
            return report.bytes
        return max((int(row[1] or 0) for row in self._rows), default=0)

    def _index_faults(self, report: FileReport) -> Iterator[str]:
        if self._index:
            lines = "".join(f"<li>{said(line)}</li>\n" for line in self._index)
            yield f"<p>Index lines that do not match the file:</p>\n<ul>\n{lines}</ul>\n"
        if (left := (report.index_faults or 0) - len(self._index)) > 0:
            yield f'<p class="faint">and {plural(left, "more line")}</p>\n'

    def parts(self) -> Iterator[str]:
        if self.summary.files > 1:
            yield "<h2>Files</h2>\n"
            yield from table(_FILES, self._files.rows())
            yield self._files.rest()
            if self._sections:
                yield "<h2>Problems</h2>\n"
        else:
            yield self._only
        yield from self._sections
        if left := self._wrong - len(self._sections):
            yield f'<p class="faint">and {plural(left, "more file")} without a map; verify them one at a time</p>\n'
