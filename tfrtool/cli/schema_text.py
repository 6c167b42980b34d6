"""What `schema` writes into a pipe, and what all its printers say on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.schema_lines import lines, sentences
from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe
from tfrtool.payload.schema.schema import Schema
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.session import Event
    from tfrtool.framing.damage import Damage

DAMAGE_LINES = 20
"""Damaged ranges told of for one input."""


class SchemaPrinter:
    """Adds the schemas of the inputs up; standard error tells of what was passed over."""

    def __init__(self) -> None:
        self.total = Schema()
        self._damage: list[Damage] = []
        self._more = 0

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Schema):
            self.total.merge(event)
        elif isinstance(event, FileReport):
            self._tell(event)
            self._damage.clear()
            self._more = 0
        elif len(self._damage) < DAMAGE_LINES:
            self._damage.append(event)  # type: ignore[arg-type]
        else:
            self._more += 1

    def _tell(self, report: FileReport) -> None:
        if report.status == "foreign":
            say("; ".join(filter(None, (report.message, report.hint))), report.path)
            return
        for damage in self._damage:
            say(f"bytes {damage.begin}-{damage.end}: {damage.fault}: {damage.message}", report.path)
        if self._more:
            from tfrtool.sources.shell import shell_word

            found = plural(self._more, "more damaged range")
            say(f"{found}; run: tfrtool verify --payload {shell_word(report.path)}", report.path)

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        for name in missing:
            say("missing from its shard set", name)
        self.total.cut()
        self.print(summary)

    def print(self, summary: Summary) -> None:
        """Print the schema of all inputs."""
        raise NotImplementedError


class SchemaText(SchemaPrinter):
    """A line of tab-separated fields for each feature, as the help of the command lays down."""

    def print(self, summary: Summary) -> None:
        for line in lines(self.total):
            remarks = "; ".join(line.remarks)
            counts = f"{line.records}\t{line.fewest}\t{line.most}"
            sys.stdout.write(f"{line.name}\t{line.kind}\t{counts}\t{_ascii(line.what)}\t{_ascii(remarks)}\n")
        for sentence in sentences(self.total):
            say(safe(sentence))


def _ascii(text: str) -> str:
    return text if sys.stdout.encoding.lower().startswith("utf") else text.replace("…", "...")
