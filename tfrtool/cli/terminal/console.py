"""Print to a terminal with rich, which must not interpret data as markup, emoji or highlighting."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from tfrtool.cli.text import plural, printable
from tfrtool.cli.warnings import missing_lines
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from rich.console import Console


def console(color: bool, stream: TextIO | None = None) -> Console:
    """Return a console on a stream, standard output by default."""
    from rich.console import Console

    return Console(
        file=stream or sys.stdout,
        force_terminal=True,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def can_encode(glyphs: str, stream: TextIO | None = None) -> bool:
    """Return whether a stream, standard output by default, can encode these characters."""
    try:
        glyphs.encode((stream or sys.stdout).encoding)
    except UnicodeError:
        return False
    return True


def advise(console: Console, said: str, report: FileReport) -> None:
    """Print a message about an input and the next step; a command is in one piece, so that it can be copied."""
    from rich.text import Text

    if words := advised(said, report):
        console.print(Text(words))
    show_command(console, report)


def advised(said: str, report: FileReport) -> str:
    """Return a message about an input and the next step unless that is a command, made printable."""
    from tfrtool.cli.suggestions import suggestion_words

    suggestion = report.suggestion
    words = (said, report.hint, suggestion_words(suggestion) if suggestion and not suggestion.verb else None)
    return printable("; ".join(filter(None, words)))


def show_command(console: Console, report: FileReport) -> None:
    """Print the suggested command, if any, in one piece, so that it can be copied."""
    from rich.text import Text

    from tfrtool.cli.suggestions import command

    suggestion = report.suggestion
    if suggestion and suggestion.verb:
        before = f"to {suggestion.aim}, run: " if suggestion.aim else "run: "
        console.print(Text.assemble(before, (printable(command(suggestion)), "bold")), soft_wrap=True)


def totals(console: Console, summary: Summary, missing: Sequence[str], records: str) -> None:
    """Print missing shards, and the totals of several files; `records` is the text for the records counted."""
    from rich.text import Text

    for said in missing_lines(missing):
        console.print(Text(said, "red"), soft_wrap=True)
    if summary.files > 1 or missing:
        counts = (
            (summary.clean, "clean"),
            (summary.damaged, "damaged"),
            (summary.foreign, "foreign"),
            (summary.errors, "not read"),
            (summary.missing, "missing"),
        )
        parts = ", ".join(f"{count:,} {what}" for count, what in counts if count)
        console.print(f"{plural(summary.files, 'file')}: {parts}; {records}")
