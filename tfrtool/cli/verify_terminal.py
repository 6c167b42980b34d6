"""What `verify` shows to people: for a damaged file its strip, a table of the damage, and one sentence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from tfrtool.cli.remedies import advice, command
from tfrtool.cli.strip import LOST, RESTORABLE, SOUND, Strip
from tfrtool.cli.terminal import can_encode, console, table, totals
from tfrtool.cli.text import plural, printable, safe
from tfrtool.cli.verify_text import Toll, verdict
from tfrtool.payload import size_text
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.session import Event
    from tfrtool.framing.damage import Damage

TABLE_ROWS = 20
"""Damaged ranges shown for one file."""

_STATES = ((SOUND, "sound", "green"), (RESTORABLE, "can be brought back", "yellow"), (LOST, "damaged", "red"))
_STATUS_STYLE = {"clean": "green", "damaged": "bold red", "foreign": "bold red", "error": "bold red"}


class VerifyTerminal:
    """Prints each file when it is done; holds a strip and the first `TABLE_ROWS` ranges, however many there are."""

    def __init__(self, color: bool, quick: bool) -> None:
        self._console = console(color)
        self._glyphs = "█▒╳" if can_encode("█▒╳") else "=+x"
        self._quick = quick
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
        self._begin()

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        said, hint = printable(verdict(report, self._toll, self._quick)), printable(report.hint or "")
        line = Text.assemble((safe(report.path), "bold"), ": ", (report.status, _STATUS_STYLE[report.status]))
        if report.status in ("clean", "damaged"):
            line.append(f", {plural(report.records, 'sound record' if report.status == 'damaged' else 'record')}")
        if report.bytes is not None:
            line.append(f", {size_text(report.bytes)}")
        if report.status != "damaged":
            parts = filter(None, (said, printable(advice(report) or "")))
            self._console.print(line.append("; ").append("; ".join(parts)), soft_wrap=True)
            return
        self._console.print(line, soft_wrap=True)
        self._draw_strip(report)
        self._draw_table(sum(report.faults.values()))
        self._console.print(Text("; ".join(filter(None, (said, hint)))))
        if remedy := report.remedy:
            before = f"to {remedy.aim}, run: " if remedy.aim else "run: "
            self._console.print(Text.assemble(before, (printable(command(remedy)), "bold")), soft_wrap=True)
        self._console.print()

    def _draw_strip(self, report: FileReport) -> None:
        from rich.text import Text

        width = self._console.width
        total = report.bytes or max((damage.end for damage in self._first), default=0)
        cells = self._strip.cells(total, width)
        line = Text(no_wrap=True)
        for state, run in groupby(cells):
            line.append(self._glyphs[state] * len(list(run)), _STATES[state][2])
        self._console.print(line)
        legend = Text()
        for state, meaning, style in _STATES:
            if state in cells:
                legend.append(self._glyphs[state], style).append(f" {meaning}   ")
        self._console.print(legend)

    def _draw_table(self, found: int) -> None:
        rows = [
            (
                f"{damage.begin}-{damage.end}",
                "" if damage.record is None else str(damage.record),
                damage.fault,
                _whole(damage),
                printable(damage.message),
            )
            for damage in self._first
        ]
        heads = ("bytes", "record", "fault", "brought back", "what is wrong")
        self._console.print(table(self._console.width, heads, rows))
        if found > len(rows):
            self._console.print(f"and {found - len(rows)} more; --json lists all")

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        totals(self._console, summary, missing, plural(summary.records, "sound record"))


def _whole(damage: Damage) -> str:
    if damage.restorable > 1:
        return f"{damage.restorable} records"
    return "yes" if damage.restorable else "no" if damage.record is not None else ""
