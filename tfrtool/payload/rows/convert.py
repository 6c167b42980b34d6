"""A record as a row: the values of its features by name, as tables and JSON hold them; and payloads made from rows.

What a row holds is all that protobuf says of a message. `write_row` spells it in the one way in which the common
writers do: entries in the order of the row, a name and then a value, one list a feature, numbers packed, no varint
longer than it needs to be. A payload that is spelled so comes back byte for byte. Of any other `read_row` says what
will come back otherwise, as `RowChange`s: a `lost` one loses something, the rest leave every value as it was.
"""

from __future__ import annotations

from array import array
from typing import cast

from tfrtool.payload.rows.row import LISTS, NO_KIND, Cell, Message, Row, RowChange, RowError, Values
from tfrtool.payload.rows.values import CODES, few_unpacked, is_usual, packed, unpacked
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import LEN, LONG_NAME, Buffer, WireError, read_size, varint
from tfrtool.report import LossKind

RESPELLED = LossKind("row-respelled", "spelled in another way", lost=False)
_ENTRY, _VALUE = 1 << 3 | LEN, 2 << 3 | LEN  # the tags of fields 1 and 2


def read_row(
    payload: Buffer, message: Message, changes: list[RowChange] | None = None, *, lenient: bool = False
) -> Row:
    """The row of a payload; what will not come back is added to `changes`.

    Raises RowError where the payload is not that message to its last byte (`strict.misfit` has the rules; an OFRecord
    may have no features). `lenient` reads it as protobuf does instead: unknown fields are dropped, of two lists of a
    feature the last counts, one whose name is not UTF-8 is left out; RowError is then left for what no reader takes,
    and for a payload that is evidently another message.
    """
    data = bytes(payload)
    row = Row(message)
    if _usual(data, row):
        return row
    from tfrtool.payload.rows.lenient import read_lenient

    found: list[RowChange] = []
    row = read_lenient(data, message, found, lenient)
    if not found and write_row(row) != data:
        found.append(RowChange("", RESPELLED))
    if changes is not None:
        changes += found
    return row


def _usual(p: bytes, row: Row) -> bool:
    """Fill the row from a payload that is spelled as `write_row` does; False if it is not, the row then being void."""
    kinds = LISTS[row.message]
    try:
        if row.message == "ofrecord":
            return _usual_entries(p, 0, len(p), kinds, row.features)
        at = 0
        for tag in (_ENTRY, _VALUE):
            if at == len(p):
                break
            if p[at] != tag:
                continue
            at, end = _bounds(p, at + 1, len(p))
            if at == end:
                return False
            if tag == _VALUE:
                if row.message == "example" or not _usual_lists(p, at, end, kinds, row.feature_lists):
                    return False
            elif not _usual_entries(p, at, end, kinds, row.features):
                return False
            at = end
        return at == len(p)
    except (IndexError, WireError, UnicodeDecodeError):
        return False


def _bounds(p: bytes, at: int, end: int) -> tuple[int, int]:
    """Where a value of field LEN begins and ends, its size being at `at`. Raises WireError for a long spelling too."""
    size = p[at]
    at += 1
    if size > 0x7F:
        size, at = read_size(p, at - 1, end)
        if not p[at - 1]:
            raise WireError(at, "a size takes more bytes than it needs")
    if at + size > end:
        raise WireError(at, "a value is cut off")
    return at, at + size


def _usual_entries(p: bytes, at: int, end: int, kinds: dict[int, ListKind], cells: dict[str, Cell]) -> bool:
    while at < end:
        name, at, stop = _usual_entry(p, at, end)
        if name in cells:
            return False
        cells[name] = _usual_cell(p, at, stop, kinds) if at < stop else NO_KIND
        at = stop
    return True


def _usual_lists(p: bytes, at: int, end: int, kinds: dict[int, ListKind], lists: dict[str, list[Cell]]) -> bool:
    while at < end:
        name, at, stop = _usual_entry(p, at, end)
        if name in lists:
            return False
        steps = lists[name] = []
        while at < stop:
            if p[at] != _ENTRY:
                return False
            at, behind = _bounds(p, at + 1, stop)
            steps.append(_usual_cell(p, at, behind, kinds) if at < behind else NO_KIND)
            at = behind
    return True


def _usual_entry(p: bytes, at: int, end: int) -> tuple[str, int, int]:
    """The name of an entry, and where its value begins and ends, which is the end of the entry too."""
    if p[at] != _ENTRY:
        raise WireError(at, "not an entry")
    if p[at + 1] < 0x80 and p[at + 2] == _ENTRY and p[at + 3] < 0x80:  # short, as nearly all are: sizes of one byte
        stop, behind = at + 2 + p[at + 1], at + 4 + p[at + 3]
        if stop <= end and p[behind] == _VALUE and p[behind + 1] < 0x80 and behind + 2 + p[behind + 1] == stop:
            return p[at + 4 : behind].decode(), behind + 2, stop
    at, stop = _bounds(p, at + 1, end)
    if p[at] != _ENTRY:
        raise WireError(at, "not a name")
    at, behind = _bounds(p, at + 1, stop)
    name = p[at:behind].decode()
    if behind >= stop or p[behind] != _VALUE:
        raise WireError(behind, "not a value")
    at, behind = _bounds(p, behind + 1, stop)
    if behind != stop:
        raise WireError(behind, "more than a name and a value")
    return name, at, stop


def _usual_cell(p: bytes, at: int, end: int, kinds: dict[int, ListKind]) -> Cell:
    """The one list of a feature in `[at, end)`, which is not empty."""
    kind = kinds.get(p[at] >> 3)
    if kind is None or p[at] & 7 != LEN:
        raise WireError(at, "not a list")
    if end - at < 0x80 and p[at + 1] == end - at - 2 >= 2 and p[at + 2] == _ENTRY and p[at + 3] == end - at - 4:
        raw = p[at + 4 : end]
        if kind == "bytes":
            return Cell(kind, [raw])
        if raw:
            return Cell(kind, _usual_numbers(kind, raw))
    at, stop = _bounds(p, at + 1, end)
    if stop != end:
        raise WireError(stop, "more than a list")
    if kind == "bytes":
        values: list[bytes] = []
        while at < end:
            if p[at] != _ENTRY:
                raise WireError(at, "not a value")
            at, stop = _bounds(p, at + 1, end)
            values.append(p[at:stop])
            at = stop
        return Cell(kind, values)
    if at == end:
        return Cell(kind, array(CODES[kind]))
    if p[at] != _ENTRY:
        raise WireError(at, "not packed")
    at, stop = _bounds(p, at + 1, end)
    if stop != end or at == end:
        raise WireError(at, "a list in pieces, or none")
    return Cell(kind, _usual_numbers(kind, p[at:end]))


def _usual_numbers(kind: ListKind, raw: bytes) -> Values:
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
    """The payload of a row. Raises RowError for a kind that the message has not: a double in an Example."""
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
    """The field of a name in its entry, remembered unless it is long: names are few and come again."""
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
