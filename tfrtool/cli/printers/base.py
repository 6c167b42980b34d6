"""Define what a printer is, and choose the one for a command; each command has its printers in a module of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol, TextIO, TypeVar

from tfrtool.cli.streams import say
from tfrtool.cli.text import on_terminal, paint, plural, printable, row, wants_color
from tfrtool.cli.warnings import missing_rows
from tfrtool.report import FileReport

if TYPE_CHECKING:
    from tfrtool.cli.options import Common
    from tfrtool.framing.damage import Damage
    from tfrtool.payload.schema.dataset import Schema
    from tfrtool.report import Outcome, Summary
    from tfrtool.verbs.head import Record
    from tfrtool.verbs.index import IndexFault

    Event = Damage | IndexFault | Outcome | Record | Schema | FileReport


class Printer(Protocol):
    """Prints the results of a command as they arrive."""

    def show(self, name: str, event: Event) -> None:
        """Take one finding, record or report of the input `name`; its report is the last."""

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        """Print the totals after all inputs; `missing` are the names of missing shards."""


class SilentPrinter:
    """Prints nothing, for `--quiet`."""

    def show(self, name: str, event: Event) -> None:
        pass

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        pass


class TsvPrinter:
    """Writes lines of tab-separated fields: path, state, more fields, message. Subclasses implement `show`."""

    good = frozenset({"clean"})
    """States that are green; all others are red."""
    fields = 3
    """Fields between the state and the message in the line of an input."""

    def __init__(self, color: bool, stream: TextIO | None = None) -> None:
        self._color = color
        self._stream = stream or sys.stdout

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            for name, message in missing_rows(missing):
                self.row(name, "missing", (None,) * self.fields, message)

    def row(self, name: str, state: str, fields: Sequence[object], message: str) -> None:
        """Write one line about an input."""
        shown = paint(state, "green" if state in self.good else "red") if self._color and state else state
        self.line(f"{row([name])}\t{shown}\t{row(fields)}\t{printable(message)}\n")

    def line(self, line: str) -> None:
        """Write one line that is safe already."""
        if self._stream is sys.stdout:
            sys.stdout.write(line)
            return
        with suppress(OSError):  # records go to standard output, and do not depend on who reads the report
            self._stream.write(line)
            self._stream.flush()


DAMAGE_LINES = 20
"""Damaged ranges reported for one input."""


class DamageWarnings:
    """Reports the first damaged ranges of an input on standard error, once its report arrives."""

    verify = "tfrtool verify"
    """The command that lists all damage."""

    def __init__(self) -> None:
        self._damage: list[Damage] = []
        self._more = 0

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._report(event)
            self._damage.clear()
            self._more = 0
        elif len(self._damage) < DAMAGE_LINES:
            self._damage.append(event)  # type: ignore[arg-type]
        else:
            self._more += 1

    def _report(self, report: FileReport) -> None:
        if report.status == "foreign":
            from tfrtool.cli.suggestions import advice

            say(report.message or "", report.path, advice(report))
            return
        for damage in self._damage:
            say(f"bytes {damage.begin}-{damage.end}: {damage.fault}: {damage.message}", report.path)
        if self._more:
            from tfrtool.sources.os_text import shell_word

            found = plural(self._more, "more damaged range")
            say(found, report.path, f"run: {self.verify} {shell_word(report.path)}")


J = TypeVar("J")
T = TypeVar("T")
P = TypeVar("P")


def choose(
    common: Common,
    *,
    json: Callable[[], J],
    text: Callable[[bool], T],
    terminal: Callable[[bool], P],
    quiet: Callable[[], Any] = SilentPrinter,
    stream: TextIO | None = None,
) -> J | T | P:
    """Return the printer for the options and for where the report goes: `stream`, or standard output.

    `text` and `terminal` are called with whether to use color.
    """
    if common.json:
        return json()
    if common.quiet:
        silent: J = quiet()
        return silent
    person = on_terminal(stream)
    color = wants_color(common.color, person)
    return terminal(color) if person else text(color)
