"""What `repair` writes into a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from tfrtool.cli.repair_toll import Toll, hint, sentence
from tfrtool.cli.text import paint, printable, row
from tfrtool.report import FileReport, RepairReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.cli.repair_plan import Plan
    from tfrtool.report import Outcome


class RepairText:
    """A line for each damaged range, and a line for each input, as the help of the command lays down."""

    def __init__(self, plan: Plan, color: bool, stream: TextIO) -> None:
        self._plan = plan
        self._color = color
        self._stream = stream
        self._toll = Toll()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, RepairReport):
            said = sentence(event, self._toll, self._plan)
            advice = hint(event, self._toll, self._plan)
            fields: tuple[object, ...] = (event.sound, event.records, event.dropped_bytes, event.output)
            self._row(name, event.status, fields, f"{said}; {advice}" if advice else said)
            self._toll = Toll()
        elif isinstance(event, FileReport):
            self._row(name, event.status, (None,) * 4, event.error[1] if event.error else "")
        else:
            outcome: Outcome = event  # type: ignore[assignment]
            self._toll.add(outcome)
            damage = outcome.damage
            fields = (damage.fault, damage.begin, damage.end, damage.record, outcome.records, outcome.dropped_bytes)
            said = "; ".join(filter(None, (damage.message, outcome.evidence)))
            self._row(name, outcome.action, fields, said)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.missing import rows

            for name, said in rows(missing):
                self._row(name, "missing", (None,) * 4, said)

    def _row(self, name: str, state: str, fields: Sequence[object], said: str) -> None:
        good = state in ("clean", "restored")
        shown = paint(state, "green" if good else "red") if self._color else state
        line = f"{row([name])}\t{shown}\t{row(fields)}\t{printable(said)}\n"
        if self._stream is sys.stdout:
            sys.stdout.write(line)
        else:
            with suppress(OSError):  # that nobody can read a report changes nothing about the output
                self._stream.write(line)
                self._stream.flush()
