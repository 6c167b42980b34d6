"""Write the page of `schema`: a row for each feature, with remarks, and the files that were read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import TYPE_CHECKING

from tfrtool.cli.html.page import Cell, FileRows, HtmlColumn, Page, data, said, status, table
from tfrtool.cli.printers.schema import SchemaLine, lines, sentences
from tfrtool.cli.suggestions import advice
from tfrtool.cli.text import plural, safe
from tfrtool.payload.schema.dataset import Schema
from tfrtool.report import FileReport

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event

ROWS = 10_000
"""Most features that are shown."""

_FEATURES = (
    HtmlColumn("feature"),
    HtmlColumn("kind", "text"),
    HtmlColumn("records", "number"),
    HtmlColumn("fewest values", "number"),
    HtmlColumn("most values", "number"),
    HtmlColumn("what they are", "sentence"),
)
_TAGS = (
    HtmlColumn("tag"),
    HtmlColumn("kind", "text"),
    HtmlColumn("values", "number"),
    HtmlColumn("first step", "number"),
    HtmlColumn("last step", "number"),
    HtmlColumn("what they are", "sentence"),
)
_FILES = (
    HtmlColumn("file"),
    HtmlColumn("status", "word"),
    HtmlColumn("records", "number"),
    HtmlColumn("result", "sentence"),
)


class SchemaPage(Page):
    """Holds one schema of all inputs: `total`, which another printer fills, or one of its own."""

    command = "schema"

    def __init__(self, total: Schema | None) -> None:
        super().__init__()
        self._total, self._adds = total or Schema(), total is None
        self._files = FileRows()

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, Schema):
            if self._adds:
                self._total.merge(event)
        elif isinstance(event, FileReport):
            found = event.error[1] if event.error else event.message or ""
            words = said("; ".join(filter(None, (found, advice(event)))))
            self._files.add(event.status == "clean", (data(event.path), status(event), event.records, words))

    def parts(self) -> Iterator[str]:
        total = self._total
        total.cut()
        if kinds := ", ".join(f"{count:,} {kind}" for kind, count in total.kinds_of_files.items()):
            yield f"<p>{escape(safe(kinds))}</p>\n"
        events = total.kind == "event"
        rows = list(islice(lines(total), ROWS + 1))
        if rows:
            yield f"<h2>{'Tags' if events else 'Features'}</h2>\n"
            yield from table(_TAGS if events else _FEATURES, map(_row, rows[:ROWS]))
        if len(rows) > ROWS:
            yield '<p class="faint">and more; --json lists all</p>\n'
        notes = "".join(f"<li>{escape(safe(sentence))}</li>\n" for sentence in sentences(total))
        if notes:
            yield f"<h2>Notes</h2>\n<ul>\n{notes}</ul>\n"
        yield "<h2>Files</h2>\n"
        yield from table(_FILES, self._files.rows())
        yield self._files.rest()

    def records(self) -> str:
        return f"{plural(self.summary.records, 'record')} read"


def _row(line: SchemaLine) -> Sequence[Cell]:
    """Return a row, from text that is safe already."""
    name = f'<span class="mono"><bdi>{escape(line.name)}</bdi></span>'
    remarks = "".join(f'<p class="hint">{escape(remark)}</p>' for remark in line.remarks)
    return name, escape(line.kind), line.records, line.fewest, line.most, f"<bdi>{escape(line.what)}</bdi>{remarks}"
