"""What `schema` shows to people: a table of the features, and sentences under it."""

from __future__ import annotations

from itertools import islice

from tfrtool.cli.schema_lines import Line, lines, sentences
from tfrtool.cli.schema_text import SchemaPrinter
from tfrtool.cli.terminal import console, table
from tfrtool.cli.text import plural, safe
from tfrtool.report import Summary

ROWS = 200
"""Features shown."""
_LONGEST = 100  # characters shown of a name


class SchemaTerminal(SchemaPrinter):
    """Prints one table of all inputs together, at the end."""

    def __init__(self, color: bool) -> None:
        super().__init__()
        self._console = console(color)

    def print(self, summary: Summary) -> None:
        from rich.text import Text

        total = self.total
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in total.kinds.items())
        heading = Text.assemble((plural(summary.files, "file"), "bold"), f": {kinds or 'no records'}")
        self._console.print(heading, soft_wrap=True)
        rows = list(islice(lines(total), ROWS + 1))
        if rows:
            heads = ("tag", "kind", "values", "steps", "") if total.kind == "event" else _HEADS
            self._console.print(table(self._console.width, heads, [_row(line) for line in rows[:ROWS]]))
        if len(rows) > ROWS:
            self._console.print("and more; a pipe or --json gets all")
        for line in rows[:ROWS]:
            for remark in line.remarks:
                self._console.print(Text.assemble((line.name[:_LONGEST], "yellow"), f": {remark}"), soft_wrap=True)
        for sentence in sentences(total):
            self._console.print(Text(safe(sentence)), soft_wrap=True)


_HEADS = ("feature", "kind", "records", "values", "what they are")


def _row(line: Line) -> tuple[str, str, str, str, str]:
    name = line.name if len(line.name) <= _LONGEST else f"{line.name[:_LONGEST]}..."
    counts = f"{line.fewest:,}" if line.fewest == line.most else f"{line.fewest:,}-{line.most:,}"
    return name, line.kind, f"{line.records:,}", counts, line.what
