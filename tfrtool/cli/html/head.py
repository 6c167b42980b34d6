"""Write the page of `head`: a card for each record, with a table of features and thumbnails of images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.cli.html.page import Cell, HtmlColumn, Page, data, hint, said, status, table
from tfrtool.cli.html.thumbnails import Thumbnails
from tfrtool.cli.printers.head import lines
from tfrtool.cli.suggestions import advice
from tfrtool.cli.text import plural
from tfrtool.payload.features.view import FeatureListView, FeatureView
from tfrtool.payload.text import size_text
from tfrtool.report import FileReport
from tfrtool.verbs.head import Record

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.framing.damage import Damage

WIDTH = 240
"""Characters of a preview."""
CARD_ROWS = 1_000
"""Features of one record."""
DAMAGE_LINES = 20
"""Damaged ranges shown for one input."""
_ALL = 16 << 20
"""Characters of all cards of a page, without images."""
_COLUMNS = (
    HtmlColumn("feature"),
    HtmlColumn("kind", "text"),
    HtmlColumn("values", "number"),
    HtmlColumn("what they are"),
)


class HeadPage(Page):
    """Holds the first cards, up to a total size; further records are counted."""

    command = "head"

    def __init__(self, values: int | None) -> None:
        super().__init__()
        self._values = values
        self._images = Thumbnails()
        self._cards: list[str] = []
        self._room = _ALL
        self._left_out = 0
        self._damage: list[str] = []
        self._more = 0

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Record):
            self._record(name, event)
        elif isinstance(event, FileReport):
            self._report(event)
            self._damage, self._more = [], 0
        elif len(self._damage) < DAMAGE_LINES:
            damage: Damage = event  # type: ignore[assignment]
            self._damage.append(f"bytes {damage.begin:,} to {damage.end:,}: {damage.fault}: {damage.message}")
        else:
            self._more += 1

    def _add(self, parts: Iterator[str]) -> bool:
        """Add a card if there is space; images do not count here."""
        if self._room > 0:
            images = self._images.length
            card = "".join(parts)
            self._room -= len(card) - (self._images.length - images)
            if self._room > 0:
                self._cards.append(card)
        return self._room > 0

    def _record(self, name: str, record: Record) -> None:
        if not self._add(self._card(name, record)):
            self._left_out += 1

    def _card(self, name: str, record: Record) -> Iterator[str]:
        kind = record.kind or ("too large to read" if record.payload is None else "no features")
        what = f"{escape(kind)}, {size_text(record.size)} at byte {record.offset:,}"
        views = _views(record)
        yield f'<section class="card{" long" if len(views) > 20 else ""}">\n'
        yield f"<h3>{data(name)} record {record.index:,}</h3>\n<p>{what}</p>\n"
        rows = list(self._rows(record))
        yield from table(_COLUMNS, rows, sorts=len(rows) > 1)
        if (hidden := len(views) - CARD_ROWS) > 0:
            yield f'<p class="faint">and {plural(hidden, "more feature")}; --keys lists all names</p>\n'
        yield "</section>\n"

    def _rows(self, record: Record) -> Iterator[Sequence[Cell]]:
        views = _views(record)
        for at, line in enumerate(islice(lines(record, WIDTH, self._values), CARD_ROWS)):
            shown = f'<span class="mono"><bdi>{escape(line.values)}</bdi></span>'
            if at < len(views):
                shown += self._images.of(views[at])
            name = f'<span class="mono"><bdi>{escape(line.name)}</bdi></span>'
            yield name, escape(line.kind), int(line.number) if line.number else None, shown

    def _report(self, report: FileReport) -> None:
        """Add a card for an input that is not clean."""
        if report.status != "clean" and not self._add(self._problems(report)):
            self._left_out += 1

    def _problems(self, report: FileReport) -> Iterator[str]:
        yield f'<section class="card">\n<h3>{data(report.path)}</h3>\n<p>{status(report)}</p>\n'
        if message := report.error[1] if report.error else report.message:
            yield f"<p>{said(message)}</p>\n"
        if self._damage:
            yield f"<ul>\n{''.join(f'<li>{said(line)}</li>' for line in self._damage)}</ul>\n"
        if self._more:
            yield f'<p class="faint">and {plural(self._more, "more damaged range")}</p>\n'
        if next_step := advice(report):
            yield hint(next_step)
        yield "</section>\n"

    def records(self) -> str:
        return f"{plural(self.summary.records, 'record')} read"

    def parts(self) -> Iterator[str]:
        yield from self._cards
        if self._left_out:
            yield f'<p class="faint">and {plural(self._left_out, "more card")} not shown</p>\n'


def _views(record: Record) -> list[FeatureView | FeatureListView]:
    found = record.features()
    return [*found.features, *found.feature_lists] if found else []
