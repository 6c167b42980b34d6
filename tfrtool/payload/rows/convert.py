"""Convert payloads to rows, the values of features by name as tables and JSON hold them, and rows to payloads.

A row holds all that protobuf reads from a message. `write_row` writes it in the one form that the common writers use:
entries in the order of the row, a name and then a value, one list a feature, numbers packed, no varint longer than it
needs to be. A payload in this form comes back byte for byte. Of any other `read_row` reports what will come back
otherwise, as `RowChange`s: a `lost` one loses something, the rest leave every value as it was.
"""

from __future__ import annotations

from array import array
from typing import cast

from tfrtool.payload.rows.row import LISTS, NO_KIND, Cell, Message, Row, RowChange, RowError, Values
from tfrtool.payload.rows.values import CODES, few_unpacked, is_usual, packed, unpacked
from tfrtool.payload.wire.example import LISTS as LAYOUTS
from tfrtool.payload.wire.example import (
    TAGS,
    HeaderCache,
    ListKind,
    entries_within,
    is_shortest,
    read_entry,
    read_list,
    sized,
    sized_values,
)
from tfrtool.payload.wire.reader import LEN, LONG_NAME, Buffer, WireError, varint
from tfrtool.report import LossKind

RESPELLED = LossKind("row-respelled", "spelled in another way", lost=False)
_ENTRY, _VALUE = 1 << 3 | LEN, 2 << 3 | LEN  # the tags of fields 1 and 2


def read_row(
    payload: Buffer, message: Message, changes: list[RowChange] | None = None, *, lenient: bool = False
) -> Row:
    """Return the row of a payload; what will not come back is added to `changes`.

    Raises RowError where the payload is not that message to its last byte (`strict.misfit` has the rules; an OFRecord
    may have no features). `lenient` reads it as protobuf does instead: unknown fields are dropped, of two lists of a
    feature the last counts, one whose name is not UTF-8 is left out; RowError is then left for what no reader takes,
    and for a payload that is evidently another message.
    """
    data = bytes(payload)
    row = Row(message)
    if _read_common(data, row):
        return row
    from tfrtool.payload.rows.lenient import read_lenient

    found: list[RowChange] = []
    row = read_lenient(data, message, found, lenient)
    if not found and write_row(row) != data:
        found.append(RowChange("", RESPELLED))
    if changes is not None:
        changes += found
    return row


_caches = {layout: HeaderCache(layout) for layout in LAYOUTS}
"""Headers seen before, by how features are laid out; the note of a column is its name as text."""


def _read_common(p: bytes, row: Row) -> bool:
    """Fill the row from a payload spelled as `write_row` does, and return True; else the row is void."""
    try:
        if row.message == "ofrecord":
            return _read_entries(p, 0, len(p), _caches["ofrecord"], row.features)
        at = 0
        for tag in (_ENTRY, _VALUE) if row.message == "sequence_example" else (_ENTRY,):
            if at == len(p):
                break
            if p[at] != tag:
                continue
            end, begin = sized(p, at, len(p), tag)
            if begin == end or not is_shortest(p, at, begin):
                return False
            if tag == _VALUE:
                if not _read_feature_lists(p, begin, end, row.feature_lists):
                    return False
            elif not _read_entries(p, begin, end, _caches["example"], row.features):
                return False
            at = end
        return at == len(p)
    except (IndexError, WireError, UnicodeDecodeError):
        return False


def _read_entries(p: bytes, at: int, end: int, cache: HeaderCache, cells: dict[str, Cell]) -> bool:
    for entry, header in entries_within(p, at, end, cache):
        column = header.column
        name = column.note
        if name is None:
            name = column.note = column.name.decode()
        if name in cells or not header.shortest:
            return False
        kind, count = column.kind, header.count
        begin, stop = entry + header.head, entry + header.total
        if kind is None:
            cells[name] = NO_KIND
        elif kind == "bytes":
            cells[name] = Cell(kind, _several(p, begin, stop) if header.several else [p[begin:stop]] if count else [])
        else:
            cells[name] = Cell(kind, _numbers(kind, p[begin:stop]))
    return True


def _read_feature_lists(p: bytes, at: int, end: int, lists: dict[str, list[Cell]]) -> bool:
    while at < end:
        begin, name_end, at, stop, shortest = read_entry(p, at, end)
        name = p[begin:name_end].decode()
        if name in lists or not shortest:
            return False
        steps = lists[name] = []
        while at < stop:
            step_end, begin = sized(p, at, stop, _ENTRY)
            if not is_shortest(p, at, begin):
                return False
            steps.append(_read_step(p, begin, step_end) if begin < step_end else NO_KIND)
            at = step_end
    return True


def _read_step(p: bytes, at: int, end: int) -> Cell:
    kind, begin, count, several, shortest = read_list(p, at, end, TAGS["example"])
    if not shortest:
        raise WireError(at, "a size takes more bytes than it needs")
    if kind == "bytes":
        return Cell(kind, _several(p, begin, end) if several else [p[begin:end]] if count else [])
    return Cell(kind, _numbers(kind, p[begin:end]))


def _several(p: bytes, at: int, end: int) -> list[bytes]:
    values = []
    for begin, stop in sized_values(p, at, end):
        if not is_shortest(p, at, begin):
            raise WireError(at, "a size takes more bytes than it needs")
        values.append(p[begin:stop])
        at = stop
    return values


def _numbers(kind: ListKind, raw: bytes) -> Values:
    if not raw:
        return array(CODES[kind])
    numbers = few_unpacked(kind, raw)
    if numbers is not None:
        return numbers
    numbers = unpacked(kind, raw)
    if not is_usual(kind, raw, numbers):
        raise WireError(0, "a number takes more bytes than it needs")
    return numbers


_FIELDS: dict[Message, dict[ListKind, int]] = {
    message: {kind: number << 3 | LEN for number, kind in lists.items()} for message, lists in LISTS.items()
}


_heads: dict[str, bytes] = {}
_MOST_HEADS = 1 << 12


def _sized(tag: int, data: bytes) -> bytes:
    return bytes((tag,)) + varint(len(data)) + data


def write_row(row: Row) -> bytes:
    """Return the payload of a row. Raises RowError for a kind that the message has not: a double in an Example."""
    tags = _FIELDS[row.message]
    context = b"".join(_entry(name, _feature(name, cell, tags)) for name, cell in row.features.items())
    if row.message == "ofrecord":
        return context
    out = _sized(_ENTRY, context) if context else b""
    if row.message == "sequence_example" and row.feature_lists:
        lists = (_entry(name, _steps(name, steps, tags)) for name, steps in row.feature_lists.items())
        out += _sized(_VALUE, b"".join(lists))
    return out


def _entry(name: str, value: bytes) -> bytes:
    head, size = _heads.get(name) or _head(name), len(value)
    whole = len(head) + 2 + size
    if whole < 0x80:
        return b"\n%c%b\x12%c%b" % (whole, head, size, value)
    return _sized(_ENTRY, head + _sized(_VALUE, value))


def _head(name: str) -> bytes:
    """Return the field of a name in its entry. It is kept unless it is long: names are few and come again."""
    head = _sized(_ENTRY, name.encode())
    if len(head) <= LONG_NAME:
        if len(_heads) >= _MOST_HEADS:
            _heads.clear()
        _heads[name] = head
    return head


def _steps(name: str, steps: list[Cell], tags: dict[ListKind, int]) -> bytes:
    return b"".join(_sized(_ENTRY, _feature(name, step, tags)) for step in steps)


def _feature(name: str, cell: Cell, tags: dict[ListKind, int]) -> bytes:
    kind, values = cell
    if kind is None:
        return b""
    if kind not in tags:
        raise RowError(f"an Example has no list of {kind}", name)
    if kind != "bytes":
        run = packed(kind, cast("array[int]", values))
    elif len(values) == 1:
        run = cast("list[bytes]", values)[0]
    else:
        return _sized(tags[kind], b"".join(_sized(_ENTRY, value) for value in values))
    if not values:
        return _sized(tags[kind], b"")
    if len(run) < 0x7E:
        return b"%c%c\n%c%b" % (tags[kind], len(run) + 2, len(run), run)
    return _sized(tags[kind], _sized(_ENTRY, run))
