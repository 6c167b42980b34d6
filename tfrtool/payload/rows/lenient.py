"""Read rows of payloads in any legal form, as protobuf reads them, and report what is lost."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import TypeVar

from tfrtool.payload.kinds import kind_of
from tfrtool.payload.mapping.record import NOT_TEXT, refuse_nested
from tfrtool.payload.rows.row import LISTS, NO_KIND, Cell, Message, Row, RowChange, RowError
from tfrtool.payload.rows.values import CODES, unpacked
from tfrtool.payload.text import text_of
from tfrtool.payload.validate import misfit
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import I32, I64, LEN, VARINT, WireError, fields
from tfrtool.report import LossKind

_NAMES = {"example": "an Example", "sequence_example": "a SequenceExample", "ofrecord": "an OFRecord"}
_SINGLE: dict[ListKind, int] = {"bytes": LEN, "float": I32, "double": I64, "int64": VARINT, "int32": VARINT}
_TWICE = LossKind("name-twice", "the name stands more than once in a record, and the last is kept")
_OVERRIDDEN = LossKind("second-list", "a second list stands in the feature, and the last is kept")
_UNKNOWN = LossKind("row-unknown-field", "field {} is not known and is dropped")
_TWO_NAMES = LossKind("two-names", "an entry has two names, and the last is kept")

Spans = list[tuple[int, int]]
Item = TypeVar("Item")


def read_lenient(p: bytes, message: Message, changes: list[RowChange], lenient: bool) -> Row:
    """See `read_row`."""
    seen = kind_of(p)
    if seen not in (None, "unknown", message) and {seen, message} != {"example", "sequence_example"}:
        what = (
            "an OFRecord (or the bare features of an Example)" if seen == "ofrecord" else _NAMES.get(seen, "an Event")
        )
        why = f"by its structure it is {what}"
        raise RowError(f"the payload is not {_NAMES[message]}: {why}", misfit=WireError(0, why))
    if not lenient and p and (found := misfit(p, message)):
        why = f"the payload is not {_NAMES[message]}: {found}"
        raise RowError(why, misfit=WireError(found.offset, found.why))
    try:
        return _LenientReader(p, message, changes).row()
    except WireError as error:
        raise RowError(f"the payload is not {_NAMES[message]}: {error}", misfit=error) from None


class _LenientReader:
    def __init__(self, p: bytes, message: Message, changes: list[RowChange]) -> None:
        self.p = p
        self.kinds = LISTS[message]
        self.row_ = Row(message)
        self.changes = changes
        self.nameless = False

    def row(self) -> Row:
        row, p = self.row_, self.p
        if row.message == "ofrecord":
            self._map([(0, len(p))], row.features, self._cell)
            return row
        parts: dict[int, Spans] = {1: []} if row.message == "example" else {1: [], 2: []}
        for number, wire, begin, end in fields(p, 0, len(p)):
            if wire == LEN and number in parts:
                parts[number].append((begin, end))
            else:
                self._say("", _UNKNOWN, number)
        self._map(parts[1], row.features, self._cell)
        if 2 in parts:
            self._map(parts[2], row.feature_lists, self._steps)
        if self.changes and not (row.features or row.feature_lists or self.nameless):
            raise WireError(0, "no feature, and fields of another message")
        return row

    def _say(self, feature: str, kind: LossKind, *about: int) -> None:
        change = RowChange(feature, kind, about)
        if change not in self.changes[-8:]:
            self.changes.append(change)

    def _map(self, spans: Spans, items: dict[str, Item], read: Callable[[str, Spans], Item]) -> None:
        """The entries of a map; of a name that stands twice the last counts, in the place of the last."""
        for begin, end in spans:
            for number, wire, first, last in fields(self.p, begin, end):
                if number != 1 or wire != LEN:
                    self._say("", _UNKNOWN, number)
                    continue
                raw, value = self._entry(first, last)
                name = text_of(raw)
                if name.encode() != raw:
                    self._say(name, NOT_TEXT)
                    self.nameless = True
                    continue
                if name in items:
                    self._say(name, _TWICE)
                    del items[name]
                items[name] = read(name, value)

    def _entry(self, begin: int, end: int) -> tuple[bytes, Spans]:
        name = b""
        named = False
        value: Spans = []
        for number, wire, first, last in fields(self.p, begin, end):
            if number == 1 and wire == LEN:
                if named:
                    self._say(text_of(name), _TWO_NAMES)
                name, named = self.p[first:last], True
            elif number == 2 and wire == LEN:
                value.append((first, last))
            else:
                self._say(text_of(name), _UNKNOWN, number)
        if not value:
            refuse_nested(name, begin)
        return name, value

    def _steps(self, name: str, spans: Spans) -> list[Cell]:
        steps = []
        for begin, end in spans:
            for number, wire, first, last in fields(self.p, begin, end):
                if number == 1 and wire == LEN:
                    steps.append(self._cell(name, [(first, last)]))
                else:
                    self._say(name, _UNKNOWN, number)
        return steps

    def _cell(self, name: str, spans: Spans) -> Cell:
        """Return one feature: of two kinds the last counts, of two lists of one kind both."""
        kind: ListKind | None = None
        found: Spans = []
        for begin, end in spans:
            for number, wire, first, last in fields(self.p, begin, end):
                if wire != LEN or number not in self.kinds:
                    self._say(name, _UNKNOWN, number)
                    continue
                if self.kinds[number] != kind:
                    if kind is not None:
                        self._say(name, _OVERRIDDEN)
                    kind, found = self.kinds[number], []
                found.append((first, last))
        return NO_KIND if kind is None else self._values(name, kind, found)

    def _values(self, name: str, kind: ListKind, spans: Spans) -> Cell:
        p, single = self.p, _SINGLE[kind]
        pieces: list[bytes] = []
        for begin, end in spans:
            for number, wire, first, last in fields(p, begin, end):
                if number != 1 or wire not in (single, LEN):
                    self._say(name, _UNKNOWN, number)
                elif kind == "bytes":
                    pieces.append(p[first:last])
                else:
                    if wire == LEN:
                        unpacked(kind, p[first:last])  # each piece must be whole by itself
                    pieces.append(p[first:last])
        if kind == "bytes":
            return Cell(kind, pieces)
        return Cell(kind, unpacked(kind, b"".join(pieces)) if pieces else array(CODES[kind]))
