"""What `schema` writes into a pipe, and what all its printers say on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tfrtool.cli.damage_told import DamageTold
from tfrtool.cli.schema_lines import lines, sentences
from tfrtool.cli.schema_total import Adding
from tfrtool.cli.streams import say
from tfrtool.cli.text import safe
from tfrtool.report import Summary


class SchemaPrinter(Adding, DamageTold):
    """Adds the schemas of the inputs up; standard error tells of what was passed over."""

    verify = "tfrtool verify --payload"

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        if missing:
            from tfrtool.cli.missing import say_missing

            say_missing(missing)
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
