"""Write the frame of all pages, and escape all text in them.

A page is a single file that works offline; its Content-Security-Policy forbids requests. Without scripts, only sorting
is missing.
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
"""Most rows of a table of files; clean files are the first to be left out."""

BROAD = 8
"""Tables with more columns than this become cards on wider screens than others."""

Cell = str | int | float | None
"""Content of a table cell: markup, a number, or nothing."""


def data(text: str) -> str:
    """Return text from data (a path, a name, a value) as markup, isolated from the direction of the text around it."""
    return f"<bdi>{escape(safe(text))}</bdi>"


def said(sentence: str) -> str:
    """Return a message, whose data is escaped for terminals already, as markup."""
    return escape(printable(sentence))


class HtmlColumn(NamedTuple):
    """A column of a table: its heading and its kind of content.

    A `number`, a `word` that stays on one line, a `text` that breaks only between words, a `sentence` that needs space,
    or anything else.
    """

    head: str
    kind: str = ""


def table(columns: Sequence[HtmlColumn], rows: Iterable[Sequence[Cell]], *, sorts: bool = True) -> Iterator[str]:
    """Yield a table; on a narrow screen each row becomes a card, and headings precede the cells."""
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
    """Yield a list of names, which are text, and their values, which are markup."""
    yield "<dl>\n"
    for name, markup in rows:
        yield f"<dt>{escape(name)}</dt><dd>{markup}</dd>\n"
    yield "</dl>\n"


def status(report: FileReport) -> str:
    """Return the status of a file, in its color."""
    return f'<span class="status {report.status}">{report.status}</span>'


def hint(sentence: str) -> str:
    """Return the next step as markup."""
    return f'<p class="hint">{said(sentence)}</p>\n'


class FileRows:
    """The rows of a table of files: the first `FILES` in their order, and the number of the rest."""

    def __init__(self) -> None:
        self._sound: list[tuple[int, Sequence[Cell]]] = []
        self._other: list[tuple[int, Sequence[Cell]]] = []
        self._count = 0

    def add(self, clean: bool, row: Sequence[Cell]) -> None:
        """Add the row of one file."""
        rows = self._sound if clean else self._other
        if len(rows) < FILES:
            rows.append((self._count, row))
        self._count += 1

    def rows(self) -> list[Sequence[Cell]]:
        """Return the rows to show."""
        room = FILES - len(self._other)
        return [row for _, row in sorted(self._other + self._sound[:room], key=lambda numbered: numbered[0])]

    def rest(self) -> str:
        """Return the number of files without a row, as markup."""
        left = self._count - min(self._count, len(self.rows()))
        return f'<p class="faint">and {plural(left, "more file")}; --json lists all</p>\n' if left else ""


class Page:
    """A printer that prints nothing, and can `write` a page at the end.

    The page of a command collects events in `show`, in bounded memory, and yields its content in `parts`.
    """

    command = ""

    def __init__(self) -> None:
        self.summary = Summary()
        self.missing: Sequence[str] = ()

    def show(self, name: str, event: Event) -> None:
        """Take one finding, record or report of the input `name`; its report is the last."""
        raise NotImplementedError

    def parts(self) -> Iterator[str]:
        """Yield the content below the heading and the totals, as markup."""
        raise NotImplementedError

    def end(self, summary: Summary, missing: Sequence[str]) -> None:
        self.summary, self.missing = summary, missing

    def write(self, out: BinaryIO) -> None:
        """Write the whole page, as UTF-8."""
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
        yield from self._missing_shards()
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
        """Return the number of records as text."""
        return plural(self.summary.records, "intact record" if self.summary.damaged else "record")

    def _missing_shards(self) -> Iterator[str]:
        from tfrtool.cli.warnings import missing_lines

        if self.missing:
            lines = "".join(f"<li><bdi>{escape(line)}</bdi></li>\n" for line in missing_lines(self.missing))
            yield f'<ul class="missing">\n{lines}</ul>\n'


def _digest(text: str) -> str:
    """Return the digest by which a policy allows an inline style or script."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
