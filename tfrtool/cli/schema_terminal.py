"""What `schema` shows to people: a table of the features, and sentences under it."""

from __future__ import annotations

from itertools import islice

from tfrtool.cli.schema_lines import LIST, Line, lines, sentences
from tfrtool.cli.schema_text import SchemaPrinter
from tfrtool.cli.table import Column, heading, short, table
from tfrtool.cli.terminal import console
from tfrtool.cli.text import plural, safe
from tfrtool.report import Summary

ROWS = 200
"""Features shown."""
_FEATURES = (
    Column("feature", "name"),
    Column("kind", "bare"),
    Column("records", right=True),
    Column("values", right=True),
    Column("what they are"),
)
_TAGS = (
    Column("tag", "name"),
    Column("kind", "bare"),
    Column("values", right=True),
    Column(""),
)


class SchemaTerminal(SchemaPrinter):
    """Prints one table of all inputs together, at the end."""

    def __init__(self, color: bool) -> None:
        super().__init__()
        self._console = console(color)

    def print(self, summary: Summary) -> None:
        from rich.text import Text

        total = self.total
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in total.kinds_of_files.items())
        records = f"{kinds} record{'' if sum(total.kinds.values()) == 1 else 's'}" if kinds else "no records"
        self._console.print(Text.assemble((plural(summary.files, "file"), "bold"), f": {records}"))
        rows = list(islice(lines(total), ROWS + 1))
        if rows:
            columns, fields = (_TAGS, _tag) if total.kind == "event" else (_FEATURES, _feature)
            self._console.print(table(self._console, columns, [fields(line) for line in rows[:ROWS]]))
        if len(rows) > ROWS:
            self._console.print("and more; a pipe or --json gets all")
        for line in rows[:ROWS]:
            for remark in line.remarks:
                heading(self._console, _subject(line), Text(remark))
        for sentence in sentences(total):
            self._console.print(Text(safe(sentence)))


def _subject(line: Line) -> str:
    """What a remark is about that does not stand in the row."""
    what = "feature list" if line.kind.startswith(LIST) else "feature"
    if not line.name:
        return f"the {what} without a name"
    return short(line.name) if what == "feature" else f"the {what} {short(line.name)}"


def _tag(line: Line) -> tuple[str, ...]:
    return short(line.name), line.kind, f"{line.records:,}", line.what


def _feature(line: Line) -> tuple[str, ...]:
    counts = f"{line.fewest:,}" if line.fewest == line.most else f"{line.fewest:,}-{line.most:,}"
    return short(line.name), line.kind, f"{line.records:,}", counts, line.what
