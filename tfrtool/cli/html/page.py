"""The frame of all pages, and the only home of escaping.

A page is one file: it names no other, a browser that opens it asks no network for anything, and its policy
(Content-Security-Policy) forbids what could. Without a script it lacks nothing but the sorting of tables.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from tfrtool import __version__
from tfrtool.cli.html.style import SCRIPT, STYLE
from tfrtool.cli.text import plural, printable, safe
from tfrtool.report import FileReport, Summary

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event

FILES = 10_000
"""Rows that a table of files has at most; those of sound files are the first to be left out."""

BROAD = 8
"""Columns of a table that does not fit beside one another where others do."""

Cell = str | int | float | None
"""What stands in a table: markup, a number, or nothing."""


def data(text: str) -> str:
    """Text that came from data (a path, a name, a value) as markup, kept from turning what stands beside it around."""
    return f"<bdi>{escape(safe(text))}</bdi>"


def said(sentence: str) -> str:
    """A sentence of ours, in which data may stand that was quoted already, as markup."""
    return escape(printable(sentence))


class HtmlColumn(NamedTuple):
    """A column of a table: its heading, and what stands in it.

    A `number`, a `word` that stays on one line, a `text` that is cut between words alone, a `sentence` that asks for
    room, or anything else.
    """

    head: str
    kind: str = ""


def table(columns: Sequence[HtmlColumn], rows: Iterable[Sequence[Cell]], *, sorts: bool = True) -> Iterator[str]:
    """A table; on a narrow screen each row becomes a card, and the headings stand before its cells."""
    classes = ("stack", "broad" if len(columns) > BROAD else "", "sorts" if sorts else "")
    yield f'<div class="scroll"><table class="{" ".join(filter(None, classes))}"><thead><tr>'
    for column in columns:
        yield f'<th scope="col"{_class(column)}>{escape(column.head)}</th>'
    yield "</tr></thead><tbody>\n"
    for row in rows:
        cells = (_cell(column, cell) for column, cell in zip(columns, row, strict=True))
        yield f"<tr>{''.join(cells)}</tr>\n"
    yield "</tbody></table></div>\n"


def _class(column: HtmlColumn) -> str:
    return f' class="{column.kind}"' if column.kind else ""


def _cell(column: HtmlColumn, cell: Cell) -> str:
    head = f' data-head="{escape(column.head)}"' if column.head else ""
    if isinstance(cell, int | float):
        shown = f"{cell:,}" if isinstance(cell, int) else f"{cell:,.1f}"
        return f'<td{_class(column)}{head} data-value="{cell}">{shown}</td>'
    return f"<td{_class(column)}{head}>{cell or ''}</td>"


def figures(rows: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Names and what belongs to them; names are text, the others markup."""
    yield "<dl>\n"
    for name, markup in rows:
        yield f"<dt>{escape(name)}</dt><dd>{markup}</dd>\n"
    yield "</dl>\n"


def status(report: FileReport) -> str:
    """The status of a file, in its colour."""
    return f'<span class="status {report.status}">{report.status}</span>'


def hint(sentence: str) -> str:
    """What to do next."""
    return f'<p class="hint">{said(sentence)}</p>\n'


class FileRows:
    """The rows of a table of files: no more than `FILES`, in their order, and how many have no room."""

    def __init__(self) -> None:
        self._sound: list[tuple[int, Sequence[Cell]]] = []
        self._other: list[tuple[int, Sequence[Cell]]] = []
        self._count = 0

    def add(self, clean: bool, row: Sequence[Cell]) -> None:
        """Take in the row of one file."""
        rows = self._sound if clean else self._other
        if len(rows) < FILES:
            rows.append((self._count, row))
        self._count += 1

    def rows(self) -> list[Sequence[Cell]]:
        """Those that have room."""
        room = FILES - len(self._other)
        return [row for _, row in sorted(self._other + self._sound[:room], key=lambda numbered: numbered[0])]

    def rest(self) -> str:
        """How many files have no row, as markup."""
        left = self._count - min(self._count, len(self.rows()))
        return f'<p class="faint">and {plural(left, "more file")}; --json lists all</p>\n' if left else ""


class Page:
    """A printer that prints nothing, and in the end has a page to `write`.

    A command's page takes in what is found by `show`, in bounded memory, and gives its `parts` in the end.
    """

    command = ""

    def __init__(self) -> None:
        self.summary = Summary()
        self.missing: Sequence[str] = ()

    def show(self, name: str, event: Event) -> None:
        """One finding, record or report of the input `name`; its report is the last."""
        raise NotImplementedError

    def parts(self) -> Iterator[str]:
        """What stands below the heading and the totals, as markup."""
        raise NotImplementedError

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        self.summary, self.missing = summary, missing

    def write(self, out: BinaryIO) -> None:
        """The whole page, as UTF-8."""
        for part in self._document():
            out.write(part.encode())

    def _document(self) -> Iterator[str]:
        policy = (
            f"default-src 'none'; img-src data:; style-src {_digest(STYLE)}; script-src {_digest(SCRIPT)}; "
            "base-uri 'none'; form-action 'none'"
        )
        title = f"tfrtool {self.command}"
        yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        yield f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">\n'
        yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        yield '<meta name="referrer" content="no-referrer">\n'
        yield f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n'
        yield f"<header><h1>{title}</h1>\n<p>{self._totals()}</p>\n</header>\n<main>\n"
        yield from self._not_there()
        yield from self.parts()
        made = datetime.now(UTC)
        yield f'</main>\n<footer>tfrtool {__version__}, <time datetime="{made:%Y-%m-%dT%H:%M:%SZ}">'
        yield f"{made:%Y-%m-%d %H:%M} UTC</time></footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"

    def _totals(self) -> str:
        found = self.summary
        counts = (
            ("clean", found.clean),
            ("damaged", found.damaged),
            ("foreign", found.foreign),
            ("error", found.errors),
            ("missing", found.missing),
        )
        named = {"error": "not read"}
        shown = [
            f'<span class="status {kind}">{count:,} {named.get(kind, kind)}</span>' for kind, count in counts if count
        ]
        return f"{plural(found.files, 'file')}: {', '.join(shown) or 'none'}; {self.records()}"

    def records(self) -> str:
        """The records that were counted, in words."""
        return plural(self.summary.records, "sound record" if self.summary.damaged else "record")

    def _not_there(self) -> Iterator[str]:
        from tfrtool.cli.warnings import missing_lines

        if self.missing:
            lines = "".join(f"<li><bdi>{escape(line)}</bdi></li>\n" for line in missing_lines(self.missing))
            yield f'<ul class="missing">\n{lines}</ul>\n'


def _digest(text: str) -> str:
    """How a policy names a style or a script that stands in the page."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
