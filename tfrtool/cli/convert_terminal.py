"""What `convert` shows to people: what was written where, and a table of what was lost or changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from tfrtool.cli.convert_words import hint, oneflow_line, outputs_shown, sentence
from tfrtool.cli.table import Column, heading, short, table
from tfrtool.cli.terminal import console, totals
from tfrtool.cli.text import plural, printable, safe
from tfrtool.payload.values import size_text, text_of
from tfrtool.report import About, ConvertReport, FileReport, Loss, LossKind, Summary

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.framing.damage import Damage
    from tfrtool.verbs.conversion import Conversion

_SHOWN = 20
"""Losses, and damaged ranges, of one run that are shown."""
_DAMAGE = (Column("bytes"), Column("record", right=True), Column("fault", "bare"), Column("what is wrong"))
_LOSSES = (Column("feature", "name"), Column("", "bare"), Column("records", right=True), Column("what happened"))
_STYLES = {"clean": "green", "damaged": "bold red", "foreign": "bold red"}


class ConvertTerminal:
    """Prints everything when all outputs are published; holds the first `_SHOWN` damaged ranges of each input."""

    def __init__(self, conversion: Conversion, color: bool, stream: TextIO) -> None:
        self._conversion = conversion
        self._console = console(color, stream)
        self._reports: list[FileReport] = []
        self._damage: list[Damage] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._reports.append(event)
            if event.status == "damaged" and self._damage:
                self._table_of_damage(event)
            self._damage = []
        elif len(self._damage) < _SHOWN:
            self._damage.append(event)  # type: ignore[arg-type]

    def _table_of_damage(self, report: FileReport) -> None:
        rows = [
            (
                f"{damage.begin}-{damage.end}",
                "" if damage.record is None else str(damage.record),
                damage.fault,
                printable(damage.message),
            )
            for damage in self._damage
        ]
        self._console.print(table(self._console, _DAMAGE, rows))
        found = report.faults.total()
        if found > len(rows):
            self._console.print(f"and {found - len(rows):,} more; --json lists all")

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for report in self._reports:
            if not report.error:  # which standard error tells
                self._file(report)
        self._changes()
        self._outputs()
        would_be = "would be " if self._conversion.options.dry_run else ""
        written = sum(report.written for report in self._conversion.reports)
        totals(self._console, summary, missing, f"{plural(written, 'record')} {would_be}written")

    def _file(self, report: FileReport) -> None:
        from rich.text import Text

        line = Text.assemble((report.status, _STYLES[report.status]))
        if report.bytes is not None:
            line.append(f", {size_text(report.bytes)}")
        line.append(f"; {printable(sentence(report, self._conversion))}")
        heading(self._console, safe(report.path), line)
        advice = hint(report, self._conversion)
        if advice:
            self._console.print(Text(printable(advice)), soft_wrap=True)  # whole, so that it can be copied

    def _outputs(self) -> None:
        from rich.text import Text

        outputs = self._conversion.outputs
        if outputs and not self._conversion.files_are_direct:
            written = sum(report.written for report in self._conversion.reports)
            line = Text(f"{plural(written, 'record')} in {plural(len(outputs), 'file')}: ")
            line.append(safe(outputs_shown(outputs)), "bold")
            self._console.print(line, soft_wrap=True)
        oneflow = oneflow_line(self._conversion)
        if oneflow:
            self._console.print(Text(f"OneFlow reads them with {printable(oneflow)}"), soft_wrap=True)

    def _changes(self) -> None:
        found = _together(self._conversion.reports)
        if not found or self._conversion.failed:
            return
        rows = [
            (
                "" if loss.feature is None else short(safe(text_of(loss.feature))),
                "lost" if loss.lost else "changed",
                f"{loss.records:,}",
                printable(loss.what),
            )
            for loss in found[:_SHOWN]
        ]
        self._console.print(table(self._console, _LOSSES, rows))
        if len(found) > _SHOWN:
            self._console.print(f"and {len(found) - _SHOWN:,} more; --json lists all")


def _together(reports: Sequence[ConvertReport]) -> list[Loss]:
    """The losses of all inputs, losses before changes, what happened most first."""
    found: dict[tuple[bytes | None, LossKind, About], Loss] = {}
    for report in reports:
        for loss in report.losses:
            fact = loss.feature, loss.kind, loss.about
            found.setdefault(fact, Loss(*fact, 0, 0, 0)).records += loss.records
    return sorted(found.values(), key=lambda loss: (not loss.lost, -loss.records))
