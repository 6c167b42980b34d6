"""What `verify` shows to people: for a damaged file its strip, a table of the damage, and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.strip import LOST, RESTORABLE, SOUND, Strip
from tfrtool.cli.strip_terminal import StripDrawn
from tfrtool.cli.table import Column, heading, table
from tfrtool.cli.terminal import advise, advised, console, show_command, totals
from tfrtool.cli.text import plural, printable, safe
from tfrtool.cli.verify_text import Toll, verdict
from tfrtool.payload.values import size_text
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.framing.damage import Damage

TABLE_ROWS = 20
"""Damaged ranges shown for one file."""
MANY = 20
"""Files after which those that are not clean are named once more at the end; as many are named."""

_MEANINGS = {SOUND: "sound", RESTORABLE: "can be brought back", LOST: "damaged"}
_COLUMNS = (
    Column("", "bare"),
    Column("bytes"),
    Column("record", right=True),
    Column("fault", "bare"),
    Column("what is wrong"),
)
_STATUS_STYLE = {"clean": "green", "damaged": "bold red", "foreign": "bold red", "error": "bold red"}


class VerifyTerminal:
    """Prints each file when it is done; holds a strip and the first `TABLE_ROWS` ranges, however many there are."""

    def __init__(self, color: bool, quick: bool) -> None:
        self._console = console(color)
        self._drawn = StripDrawn(_MEANINGS)
        self._quick = quick
        self._wrong: list[tuple[str, str]] = []
        self._begin()

    def _begin(self) -> None:
        self._first: list[Damage] = []
        self._toll = Toll()
        self._strip = Strip()

    def show(self, name: str, event: Event) -> None:
        if not isinstance(event, FileReport):
            damage: Damage = event  # type: ignore[assignment]
            self._toll.add(damage)
            self._strip.add(damage.begin, damage.end, bool(damage.restorable))
            if len(self._first) < TABLE_ROWS:
                self._first.append(damage)
            return
        if event.status != "error":  # which standard error tells
            self._file(event)
        if event.status != "clean" and len(self._wrong) <= MANY:
            self._wrong.append((event.path, event.status))
        self._begin()

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        said = printable(verdict(report, self._toll, self._quick))
        line = Text.assemble((report.status, _STATUS_STYLE[report.status]))
        if report.status in ("clean", "damaged"):
            line.append(f", {plural(report.records, 'sound record' if report.status == 'damaged' else 'record')}")
        if report.bytes is not None:
            line.append(f", {size_text(report.bytes)}")
        if report.status != "damaged":
            heading(self._console, safe(report.path), line.append("; ").append(advised(said, report)))
            show_command(self._console, report)
            return
        heading(self._console, safe(report.path), line)
        self._draw_strip(report)
        self._draw_table(sum(report.faults.values()))
        advise(self._console, said, report)
        self._console.print()

    def _draw_strip(self, report: FileReport) -> None:
        total = report.bytes or max((damage.end for damage in self._first), default=0)
        width = self._console.width
        self._console.print(self._drawn.line(self._strip, total, width))
        self._console.print(self._drawn.legend(width))

    def _draw_table(self, found: int) -> None:
        rows = [
            (
                self._drawn.mark(RESTORABLE if damage.restorable else LOST),
                f"{damage.begin}-{damage.end}",
                "" if damage.record is None else str(damage.record),
                damage.fault,
                _said(damage),
            )
            for damage in self._first
        ]
        self._console.print(table(self._console, _COLUMNS, rows))
        if found > len(rows):
            self._console.print(f"and {found - len(rows):,} more; --json lists all")

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if summary.files > MANY:
            self._name_again()
        totals(self._console, summary, missing, plural(summary.records, "sound record"))

    def _name_again(self) -> None:
        from rich.text import Text

        for path, status in self._wrong[:MANY]:
            heading(self._console, safe(path), Text(status, _STATUS_STYLE[status]))
        if len(self._wrong) > MANY:
            self._console.print("and more; --json lists all")


def _said(damage: Damage) -> str:
    said = printable(damage.message)
    return said if damage.restorable < 2 else f"{said}; {plural(damage.restorable, 'record')} can be brought back"
