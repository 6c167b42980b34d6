"""What `convert` writes into a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from tfrtool.cli.convert_words import hint, oneflow_line, sentence
from tfrtool.cli.text import paint, printable, row
from tfrtool.payload.values import text_of
from tfrtool.report import ConvertReport, FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event
    from tfrtool.framing.damage import Damage
    from tfrtool.verbs.conversion import Conversion


class ConvertText:
    """Lines as the help of the command lays down; those of inputs come when all outputs are published."""

    def __init__(self, conversion: Conversion, color: bool, stream: TextIO) -> None:
        self._conversion = conversion
        self._color = color
        self._stream = stream
        self._reports: list[FileReport] = []

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._reports.append(event)
        else:
            damage: Damage = event  # type: ignore[assignment]
            self._row(name, damage.fault, (damage.begin, damage.end, damage.record), damage.message)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for report in self._reports:
            self._file(report)
        for name in self._conversion.outputs:
            self._line(f"{row([name])}\toutput\n")
        line = oneflow_line(self._conversion)
        if line:
            self._line(f"OneFlow\t{printable(line)}\n")
        if missing:
            from tfrtool.cli.missing import rows

            for name, said in rows(missing):
                self._row(name, "missing", (None,) * 3, said)

    def _file(self, report: FileReport) -> None:
        counts: tuple[object, ...] = (None, None, None)
        if isinstance(report, ConvertReport):
            counts = (report.records, report.written, report.skipped)
            for loss in report.losses if not self._conversion.failed else ():
                name = None if loss.feature is None else text_of(loss.feature)
                self._row(report.path, "lost" if loss.lost else "changed", (name, loss.records), loss.what)
        said, advice = sentence(report, self._conversion), hint(report, self._conversion)
        self._row(report.path, report.status, counts, f"{said}; {advice}" if advice else said)

    def _row(self, name: str, state: str, fields: Sequence[object], said: str) -> None:
        shown = paint(state, "green" if state in ("clean", "changed") else "red") if self._color else state
        self._line(f"{row([name])}\t{shown}\t{row(fields)}\t{printable(said)}\n")

    def _line(self, line: str) -> None:
        if self._stream is sys.stdout:
            sys.stdout.write(line)
            return
        with suppress(OSError):  # that nobody can read a report changes nothing about the output
            self._stream.write(line)
            self._stream.flush()
