"""What `head` shows to people: a card for each record."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.cli.head_text import HeadPrinter
from tfrtool.cli.record_lines import Line, features, lines
from tfrtool.cli.terminal import console
from tfrtool.cli.text import plural, safe
from tfrtool.payload import size_text
from tfrtool.verbs.head import Record

if TYPE_CHECKING:
    from rich.table import Table

CARD_ROWS = 100
"""Features shown of one record."""
_LONGEST = 200  # characters shown of a name
_GAPS = 2 + 3 * 2  # columns before and between the columns
_LEAST = 24  # columns that a preview has, however long the names are


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
        what = f" record {record.index}: {kind}, {size_text(record.size)} at byte {record.offset}"
        self._console.print(Text.assemble((safe(name), "bold"), what), soft_wrap=True)
        width = self._console.width
        rows = self._rows(record, width)
        if self._values is None:
            left = sum(max(len(row[column]) for row in rows) for column in range(3))
            rows = self._rows(record, max(width - left - _GAPS, _LEAST))
        self._console.print(Padding(_card(rows), (0, 0, 0, 2)))
        found = features(record)
        hidden = len(found.features) + len(found.feature_lists) - CARD_ROWS if found else 0
        if hidden > 0:
            self._console.print(f"  and {plural(hidden, 'more feature')}; --keys lists the names of all")
        self._console.print()

    def _rows(self, record: Record, width: int) -> list[Line]:
        rows = islice(lines(record, width, self._values), CARD_ROWS)
        return [row if len(row.name) <= _LONGEST else row._replace(name=row.name[:_LONGEST] + "...") for row in rows]


def _card(rows: list[Line]) -> Table:
    from rich.table import Table
    from rich.text import Text

    card = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    card.add_column(style="cyan", overflow="fold")
    card.add_column(style="dim", overflow="fold")
    card.add_column(style="dim", overflow="fold", justify="right")
    card.add_column(overflow="fold")
    for row in rows:
        card.add_row(*map(Text, row))
    return card
