"""Print the results of `verify`, and of `verify --index`: for pipes, terminals and as JSON Lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfrtool.cli.printers.base import TsvPrinter
from tfrtool.cli.printers.jsonl import JsonPrinter
from tfrtool.cli.terminal.console import advise, advised, console, show_command, totals
from tfrtool.cli.terminal.coverage_bar import LOST, RESTORABLE, SOUND, CoverageBar, CoverageBarView
from tfrtool.cli.terminal.table import TableColumn, draw_table, heading
from tfrtool.cli.text import plural, printable, safe
from tfrtool.payload.text import size_text
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.index import IndexFault

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.framing.damage import Damage


class DamageCount:
    """Counts the damaged records of one file, as far as they are known, and the recoverable ones."""

    def __init__(self) -> None:
        self.records = 0
        self.restorable = 0
        self.given_up = False
        """There may be more damaged records."""

    def add(self, damage: Damage) -> None:
        known = damage.record is not None
        self.records += damage.restorable or (damage.recovery.records if known and damage.recovery else known)
        self.restorable += damage.restorable
        self.given_up = self.given_up or damage.given_up

    def __str__(self) -> str:
        if not self.records and not self.given_up:
            return "no records affected"
        return recoverable_text(self.restorable, self.records, self.given_up)


def recoverable_text(recoverable: int, damaged: int, at_least: bool = False) -> str:
    """Return `1 of 4 damaged records is recoverable`."""
    records = "at least " * at_least + plural(damaged, "damaged record")
    return f"{recoverable:,} of {records} {'is' if recoverable == 1 else 'are'} recoverable"


def verdict(report: FileReport, count: DamageCount, quick: bool) -> str:
    """Return a report as one sentence, without the next step."""
    if report.error:
        said = report.error[1]
    elif report.status == "damaged":
        from tfrtool.verbs.reading.diagnose import extent

        back = str(count)
        if report.converted and report.restorable is not None:
            back = recoverable_text(report.restorable, report.restorable + report.damaged_records)
        said = extent(report)
        if report.damaged_bytes and report.restorable is not None:
            said = f"{said}; {back}"
        if report.diagnosis and report.message:
            said = f"{report.message}; {said}"
    else:
        said = report.message or _clean(report, quick)
    if report.index_faults is not None:
        agrees = (
            "the index matches" if not report.index_faults else f"{plural(report.index_faults, 'fault')} in the index"
        )
        said = f"{said}; {agrees}"
    return said


def _clean(report: FileReport, quick: bool) -> str:
    if report.format == "ofrecord":
        return "structure intact; payloads not checked (OFRecord has no checksums)"
    if not report.records:
        return "no records"
    return "all length checksums match; payloads not checked" if quick else "all checksums match"


class VerifyText(TsvPrinter):
    """Writes a line for each damaged range, then a line for the input."""

    def __init__(self, color: bool, quick: bool) -> None:
        super().__init__(color)
        self._quick = quick
        self._count = DamageCount()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            said = verdict(event, self._count, self._quick)
            if event.hint or event.suggestion:
                from tfrtool.cli.suggestions import advice

                said = f"{said}; {advice(event)}"
            self.row(name, event.status, (event.records, event.damaged_bytes, event.restorable), said)
            self._count = DamageCount()
        else:
            damage: Damage = event  # type: ignore[assignment]
            self._count.add(damage)
            fields = (damage.begin, damage.end, damage.record, damage.restorable)
            self.row(name, damage.fault, fields, damage.message)


TABLE_ROWS = 20
"""Damaged ranges shown for one file."""
MANY = 20
"""With more files than this, those that are not clean are listed again at the end, up to this number."""

_MEANINGS = {SOUND: "intact", RESTORABLE: "recoverable", LOST: "damaged"}
_COLUMNS = (
    TableColumn("", "bare"),
    TableColumn("bytes"),
    TableColumn("record", right=True),
    TableColumn("fault", "bare"),
    TableColumn("message"),
)
_STATUS_STYLE = {"clean": "green", "damaged": "bold red", "foreign": "bold red", "error": "bold red"}


class VerifyTerminal:
    """Prints each file when it is done; holds a bar and the first `TABLE_ROWS` ranges."""

    def __init__(self, color: bool, quick: bool) -> None:
        self._console = console(color)
        self._bars = CoverageBarView(_MEANINGS)
        self._quick = quick
        self._wrong: list[tuple[str, str]] = []
        self._begin()

    def _begin(self) -> None:
        self._first: list[Damage] = []
        self._count = DamageCount()
        self._bar = CoverageBar()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            damage: Damage = event  # type: ignore[assignment]
            self._count.add(damage)
            self._bar.add(damage.begin, damage.end, bool(damage.restorable))
            if len(self._first) < TABLE_ROWS:
                self._first.append(damage)
            return
        if event.status != "error":  # reported on standard error
            self._file(event)
        if event.status != "clean" and len(self._wrong) <= MANY:
            self._wrong.append((event.path, event.status))
        self._begin()

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        said = printable(verdict(report, self._count, self._quick))
        line = Text.assemble((report.status, _STATUS_STYLE[report.status]))
        if report.status in ("clean", "damaged"):
            line.append(f", {plural(report.records, 'intact record' if report.status == 'damaged' else 'record')}")
        if report.bytes is not None:
            line.append(f", {size_text(report.bytes)}")
        if report.status != "damaged":
            heading(self._console, safe(report.path), line.append("; ").append(advised(said, report)))
            show_command(self._console, report)
            return
        heading(self._console, safe(report.path), line)
        self._draw_bar(report)
        self._draw_table(sum(report.faults.values()))
        advise(self._console, said, report)
        self._console.print()

    def _draw_bar(self, report: FileReport) -> None:
        total = report.bytes or max((damage.end for damage in self._first), default=0)
        width = self._console.width
        self._console.print(self._bars.line(self._bar, total, width))
        self._console.print(self._bars.legend(width))

    def _draw_table(self, found: int) -> None:
        rows = [
            (
                self._bars.mark(RESTORABLE if damage.restorable else LOST),
                f"{damage.begin}-{damage.end}",
                "" if damage.record is None else str(damage.record),
                damage.fault,
                _said(damage),
            )
            for damage in self._first
        ]
        self._console.print(draw_table(self._console, _COLUMNS, rows))
        if found > len(rows):
            self._console.print(f"and {found - len(rows):,} more; --json lists all")

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if summary.files > MANY:
            self._name_again()
        totals(self._console, summary, missing, plural(summary.records, "intact record"))

    def _name_again(self) -> None:
        from rich.text import Text

        for path, status in self._wrong[:MANY]:
            heading(self._console, safe(path), Text(status, _STATUS_STYLE[status]))
        if len(self._wrong) > MANY:
            self._console.print("and more; --json lists all")


def _said(damage: Damage) -> str:
    said = printable(damage.message)
    return said if damage.restorable < 2 else f"{said}; {plural(damage.restorable, 'record')} recoverable"


class IndexJson(JsonPrinter):
    """Adds an `index` object for each of the first lines that do not match, and their total to the `summary`."""

    def __init__(self, extra: Sequence[str] = ()) -> None:
        super().__init__(extra)
        self._faults = 0

    def summary(self, summary: Summary, missing: Sequence[str]) -> dict[str, Any]:
        return {**super().summary(summary, missing), "index_faults": self._faults}

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._faults += event.index_faults or 0
        if not isinstance(event, IndexFault):
            super().show(name, event)
            return
        fields = {"line": event.line, "offset": event.offset, "size": event.size, "message": json_text(event.message)}
        self.write("index", {"path": json_text(name), **fields})


class IndexText(VerifyText):
    """Adds a line for each of the first index lines that do not match, with the fault `index`."""

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, IndexFault):
            super().show(name, event)
            return
        end = None if event.offset is None or event.size is None else event.offset + event.size
        self.row(name, "index", (event.offset, end, None, None), said(event))


class IndexTerminal(VerifyTerminal):
    """Adds the index lines that do not match below the file."""

    def _begin(self) -> None:
        super()._begin()
        self._faults: list[IndexFault] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, IndexFault):
            self._faults.append(event)
        else:
            super().show(name, event)

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        super()._file(report)
        for fault in self._faults:
            self._console.print(Text(f"  index {printable(said(fault))}"))
        if more := (report.index_faults or 0) - len(self._faults):
            self._console.print(f"  and {more:,} more")


def said(fault: IndexFault) -> str:
    """Return the message of an index fault, with its line number."""
    return f"line {fault.line}: {fault.message}"
