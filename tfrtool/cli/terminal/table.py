"""Print tables on terminals of any width: nothing is cut, and what does not fit in a row goes below it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

NARROW = 72
"""Width of a terminal below which each row is a paragraph."""
LEAST = 24
"""Least width of the last column; with less, each row is a paragraph."""
LONGEST_NAME = 1000
"""Characters shown of a name."""
_GAP = 2
_PART = 3  # a name wider than this part of the terminal gets its own line


class TableColumn(NamedTuple):
    """A column, and how its fields are shown where a row is a paragraph: after the head, or alone.

    A name has a line of its own there, and wherever it is too wide for its column.
    """

    head: str = ""
    style_below: Literal["labelled", "bare", "name"] = "labelled"
    right: bool = False
    style: str = ""


class TableWidths(NamedTuple):
    """The widths of all columns but the last (empty if rows are paragraphs), and of the last."""

    lefts: tuple[int, ...]
    last: int


def table_widths(
    width: int, columns: Sequence[TableColumn], rows: Iterable[Sequence[str | Text]], narrow: int = NARROW
) -> TableWidths:
    """Return the widths for rows on a terminal of `width` columns; rows may lack their last fields."""
    from rich.cells import cell_len

    widest = max(width // _PART, LEAST)
    lefts = [cell_len(column.head) for column in columns[:-1]]
    for row in rows:
        for number, field in enumerate(row[: len(lefts)]):
            cells = cell_len(str(field))
            if columns[number].style_below != "name" or cells <= widest:
                lefts[number] = max(lefts[number], cells)
    last = width - sum(lefts) - _GAP * len(lefts)
    if width < narrow or last < LEAST:
        return TableWidths((), max(width - _GAP, 1))
    return TableWidths(tuple(lefts), last)


def draw_table(
    console: Console,
    columns: Sequence[TableColumn],
    rows: Iterable[Sequence[str | Text]],
    *,
    width: int | None = None,
    narrow: int = NARROW,
) -> RenderableType:
    """Return a table without rules, whose last column wraps. All text must be safe already.

    `width` is that of the terminal by default.
    """
    from rich.console import Group

    width = width or console.width
    shown = [[_encodable(field, console.encoding) for field in row] for row in rows]
    how = table_widths(width, columns, shown, narrow)
    return Group(*(_beside(columns, shown, how) if how.lefts else _below(columns, shown, width)))


def beside(parts: Iterable[str | Text], width: int, gap: int = _GAP) -> Text:
    """Join parts to lines, as many per line as fit; a part is broken only if it is wider than a line."""
    from rich.text import Text

    lines = [Text()]
    for part in parts:
        if lines[-1] and lines[-1].cell_len + gap + Text(str(part)).cell_len > width:
            lines.append(Text())
        lines[-1].append(" " * gap if lines[-1] else "").append(part)
    return Text("\n").join(lines)


def heading(console: Console, name: str, said: Text, mark: str = ":") -> None:
    """Print a name, safe already, `mark` and text; after a long name, the text starts on a new line.

    A long name is written in one piece, which the terminal breaks, so that it can be copied.
    """
    from rich.padding import Padding
    from rich.text import Text

    width = console.width
    lead = Text.assemble((name, "bold"), mark)
    line = Text.assemble(lead, " ", said)
    if line.cell_len <= width:
        first, rest = line, list[Text]()
    elif 2 * lead.cell_len > width:
        first, rest = lead, [said]
    else:
        first, *rest = line.wrap(console, width - _GAP)
    console.print(first, soft_wrap=True)
    for part in rest:
        console.print(Padding(part, (0, 0, 0, _GAP)))


def short(name: str) -> str:
    """Return a name, visibly cut if it is longer than `LONGEST_NAME`."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}..."


def _beside(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[str | Text]], how: TableWidths
) -> Iterator[RenderableType]:
    from rich.text import Text

    grid = _grid(columns, how)
    if any(column.head for column in columns):
        _add(grid, [Text(column.head, "bold") for column in columns])
    for row in rows:
        fields = [_styled(field, column.style) for column, field in zip(columns, row, strict=True)]
        for number, width in enumerate(how.lefts):
            if fields[number].cell_len > width:  # only names are wider than their column
                yield grid
                yield fields[number]
                grid = _grid(columns, how)
                fields[number] = Text()
        _add(grid, fields)
    yield grid


def _grid(columns: Sequence[TableColumn], how: TableWidths) -> Table:
    from rich.table import Table

    grid = Table.grid()  # versions of rich count padding differently
    for column, width in zip(columns, (*how.lefts, how.last), strict=True):
        if grid.columns:
            grid.add_column(width=_GAP)
        grid.add_column(justify="right" if column.right else "left", overflow="fold", width=width)
    return grid


def _add(grid: Table, fields: Sequence[Text]) -> None:
    first, *others = fields
    grid.add_row(first, *(cell for field in others for cell in ("", field)))


def _below(
    columns: Sequence[TableColumn], rows: Iterable[Sequence[str | Text]], width: int
) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    for *fields, last in rows:
        named = any(field and column.style_below == "name" for column, field in zip(columns, fields, strict=False))
        indent = _GAP if named else 0
        parts: list[Text] = []
        for column, field in zip(columns, fields, strict=False):
            if not field:
                continue
            if column.style_below == "name":
                yield _styled(field, column.style or "bold")
            else:
                style = column.style if named else "bold"
                label = f"{column.head} " if column.style_below == "labelled" and column.head else ""
                parts.append(Text(label, style).append_text(_styled(field, style)))
        line, said = beside(parts, width - indent), _styled(last, "")
        if last and line.cell_len + _GAP + said.cell_len <= width - indent:
            line, said = line.append(" " * _GAP).append_text(said), Text()
        yield Padding(line, (0, 0, 0, indent))
        if said:
            yield Padding(said, (0, 0, 0, _GAP))


def _styled(field: str | Text, style: str) -> Text:
    from rich.text import Text

    return Text(field, style, overflow="fold") if isinstance(field, str) else field


def _encodable(field: str | Text, encoding: str) -> str | Text:
    """Return a field as the terminal will show it, so that widths are right."""
    return field.encode(encoding, "backslashreplace").decode(encoding) if isinstance(field, str) else field
