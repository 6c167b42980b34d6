"""What `head` writes: tab-separated fields in a pipe, names alone for `--keys`, bytes alone for `--raw`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.damage_told import DamageTold
from tfrtool.cli.record_lines import lines
from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, row, safe_name
from tfrtool.errors import TfrtoolError
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.head import Record

if TYPE_CHECKING:
    from tfrtool.cli.printers_base import Event

PREVIEW = 80
"""Columns of a preview in a pipe, where nobody says how many there are."""


class HeadPrinter(DamageTold):
    """What all printers of `head` do with what is no record: standard error tells of it."""

    def record(self, name: str, record: Record) -> None:
        """Print one record."""
        raise NotImplementedError

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Record):
            self.record(name, event)
            return
        super().show(name, event)
        if isinstance(event, FileReport) and event.status == "clean":
            self.hint(event)

    def hint(self, report: FileReport) -> None:
        """Tell what a sound file makes one wonder about."""
        if report.hint:
            say(report.hint, report.path)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.missing import say_missing

            say_missing(missing)


class HeadText(HeadPrinter):
    """A line for each feature: path, number of the record, name, kind, number of values, preview."""

    def __init__(self, values: int | None) -> None:
        super().__init__()
        self._values = values

    def record(self, name: str, record: Record) -> None:
        for line in lines(record, PREVIEW, self._values):
            sys.stdout.write(row((name, record.index)) + "\t" + "\t".join(line) + "\n")


class HeadKeys(HeadPrinter):
    """The names of features, each once, in the order in which they are first met."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[bytes] = set()

    def record(self, name: str, record: Record) -> None:
        found = record.features()
        names = [view.name for view in found.features] if found else []
        names += [view.name for view in found.feature_lists] if found else []
        for feature in names:
            if feature not in self._seen:
                self._seen.add(feature)
                sys.stdout.write(safe_name(feature) + "\n")


class HeadRaw(HeadPrinter):
    """The payload of the one record, byte for byte."""

    def __init__(self, skip: int) -> None:
        super().__init__()
        self._skip = skip
        self._written = False
        self._name = ""

    def show(self, name: str, event: Event) -> None:
        self._name = name
        super().show(name, event)

    def record(self, name: str, record: Record) -> None:
        if record.payload is None:
            raise TfrtoolError(f"{name}: record {record.index} is too large to be held: {record.size} bytes")
        if record.index > self._skip:
            damaged = record.index - self._skip
            are = "1 is" if damaged == 1 else f"{damaged:,} are"
            say(f"this is record {record.index}: of those before it, {are} damaged", name)
        sys.stdout.buffer.write(record.payload)
        self._written = True

    def hint(self, report: FileReport) -> None:
        if self._written:  # else it is an error, which says as much
            super().hint(report)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        super().end(summary, missing)
        if not self._written and not summary.exit:
            raise TfrtoolError(f"{self._name} has no record {self._skip}: it holds {plural(summary.records, 'record')}")
