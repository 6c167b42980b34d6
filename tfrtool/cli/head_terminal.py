"""What `head` shows to people: a card for each record."""

from __future__ import annotations

from itertools import islice

from tfrtool.cli.head_text import HeadPrinter
from tfrtool.cli.record_lines import Line, lines
from tfrtool.cli.table import Column, heading, layout, short, table
from tfrtool.cli.terminal import console
from tfrtool.cli.text import plural, safe
from tfrtool.payload.values import size_text
from tfrtool.verbs.head import Record

CARD_ROWS = 100
"""Features shown of one record."""
_COLUMNS = (Column(sort="name", style="cyan"), Column(), Column(right=True), Column())
_INDENT = 2


class HeadTerminal(HeadPrinter):
    """A heading for each record, and under it a row for each feature."""

    def __init__(self, color: bool, values: int | None) -> None:
        super().__init__()
        self._console = console(color)
        self._values = values

    def record(self, name: str, record: Record) -> None:
        from rich.padding import Padding
        from rich.text import Text

        kind = record.kind or ("too large to be held" if record.payload is None else "no features")
        what = f"record {record.index}: {kind}, {size_text(record.size)} at byte {record.offset}"
        heading(self._console, safe(name), Text(what), mark="")
        width = self._console.width - _INDENT
        rows = self._rows(record, width)
        if self._values is None:
            rows = self._rows(record, layout(width, _COLUMNS, rows, narrow=0).last)
        card = table(self._console, _COLUMNS, rows, width=width, narrow=0)
        self._console.print(Padding(card, (0, 0, 0, _INDENT)))
        found = record.features()
        hidden = len(found.features) + len(found.feature_lists) - CARD_ROWS if found else 0
        if hidden > 0:
            self._console.print(f"  and {plural(hidden, 'more feature')}; --keys lists the names of all")
        self._console.print()

    def _rows(self, record: Record, width: int) -> list[Line]:
        rows = islice(lines(record, width, self._values), CARD_ROWS)
        return [row._replace(name=short(row.name)) for row in rows]
