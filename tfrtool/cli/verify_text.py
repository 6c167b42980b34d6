"""What `verify` says, and the lines that it writes into a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.text import paint, plural, printable, row
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.framing.damage import Damage


class Toll:
    """How many records of one file are damaged, as far as that can be told, and how many can be brought back."""

    def __init__(self) -> None:
        self.records = 0
        self.restorable = 0
        self.given_up = False
        """Whether there may be more."""

    def add(self, damage: Damage) -> None:
        known = damage.record is not None
        self.records += damage.restorable or (damage.rescue.records if known and damage.rescue else known)
        self.restorable += damage.restorable
        self.given_up = self.given_up or damage.given_up

    def __str__(self) -> str:
        if not self.records and not self.given_up:
            return "no record lies in what is damaged"
        least = "at least " * self.given_up
        return f"{self.restorable} of {least}{plural(self.records, 'damaged record')} can be brought back whole"


def verdict(report: FileReport, toll: Toll, quick: bool) -> str:
    """What a report says, in one sentence for people, without what to do next."""
    if report.error:
        said = report.error[1]
    elif report.status == "damaged":
        from tfrtool.verbs.diagnose import extent

        back = str(toll)
        if report.converted and report.restorable is not None:
            damaged = plural(report.restorable + report.damaged_records, "damaged record")
            back = f"{report.restorable:,} of {damaged} can be brought back whole"
        said = extent(report)
        if report.damaged_bytes and report.restorable is not None:
            said = f"{said}; {back}"
        if report.diagnosis and report.message:
            said = f"{report.message}; {said}"
    else:
        said = report.message or _clean(report, quick)
    if report.index_faults is not None:
        agrees = (
            "the index agrees" if not report.index_faults else f"{plural(report.index_faults, 'fault')} in the index"
        )
        said = f"{said}; {agrees}"
    return said


def _clean(report: FileReport, quick: bool) -> str:
    if report.format == "ofrecord":
        return "the structure is whole; OFRecord has no checksums, so the payloads are not checked"
    if not report.records:
        return "no records"
    return "every length checksum holds; payloads were not checked" if quick else "every checksum holds"


class VerifyText:
    """A line for each damaged range, and a line for each input, as the help of the command lays down."""

    def __init__(self, color: bool, quick: bool) -> None:
        self._color = color
        self._quick = quick
        self._toll = Toll()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            said = verdict(event, self._toll, self._quick)
            if event.hint or event.remedy:
                from tfrtool.cli.remedies import advice

                said = f"{said}; {advice(event)}"
            self._row(name, event.status, (event.records, event.damaged_bytes, event.restorable), said)
            self._toll = Toll()
        else:
            damage: Damage = event  # type: ignore[assignment]
            self._toll.add(damage)
            fields = (damage.begin, damage.end, damage.record, damage.restorable)
            self._row(name, damage.fault, fields, damage.message)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.missing import rows

            for name, said in rows(missing):
                self._row(name, "missing", (None,) * 3, said)

    def _row(self, name: str, state: str, fields: Sequence[object], said: str) -> None:
        shown = paint(state, "green" if state == "clean" else "red") if self._color else state
        sys.stdout.write(f"{row([name])}\t{shown}\t{row(fields)}\t{printable(said)}\n")
