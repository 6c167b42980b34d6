"""Read the features of a record for mapping, as protobuf reads them: lists are spans of the payload, not values.

What readers would not agree on is noted: a list that is set twice, fields that the message does not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tfrtool.payload.mapping.rules import KINDS, Side
from tfrtool.payload.wire.example import WIDTHS, ListKind
from tfrtool.payload.wire.reader import I32, I64, LEN, SGROUP, VARINT, WireError, check_varints, fields, read_tag
from tfrtool.report import LossKind

_NUMBERS = {side: {number: kind for kind, number in kinds.items()} for side, kinds in KINDS.items()}
_WIRE: dict[ListKind, int] = {"bytes": LEN, "float": I32, "int64": VARINT, "double": I64, "int32": VARINT}
Span = tuple[int, int]
NOT_TEXT = LossKind("name-not-utf8", "the name is not UTF-8, and the feature is left out")


class NotText(WireError):
    """A name is not UTF-8, which protobuf refuses, though all else can be read."""


@dataclass(slots=True)
class Item:
    """One feature: `lists` are the spans of its list message, more than one where it is set more than once.

    `unknown` are spans of whole fields, tag and all, that do not belong into a feature, and `beside` those that do not
    belong beside it in its entry, `within` those inside the list. `joined`: the list was set more than once;
    `overridden`: so was one of another kind, which counts no more; `split`: its numbers do not stand in one run, as
    TensorFlow's parser needs them to, which reads the first run alone (2.21, `parse_single_example`). `respelled`: what
    is around its list will be written in fewer bytes, or in another order.
    """

    name: bytes
    kind: ListKind | None = None
    lists: list[Span] = field(default_factory=list)
    unknown: list[tuple[int, Span]] = field(default_factory=list)
    beside: list[Span] = field(default_factory=list)
    within: bool = False
    joined: bool = False
    split: bool = False
    overridden: bool = False
    respelled: bool = False


@dataclass(slots=True)
class MappingRecord:
    """A record read: its features in order, and whole fields that belong to no message, at its top and beside them.

    `merged`: the features, or the feature lists, stood in more than one part. `steps` are the feature lists of a
    SequenceExample, `parts` the fields that it has of its two, empty ones too. `respelled` is that of `Item`, of any.
    `nameless` are the names that are not UTF-8, whose features are in none of the others.
    """

    items: list[Item] = field(default_factory=list)
    top: list[Span] = field(default_factory=list)
    beside: list[Span] = field(default_factory=list)
    merged: bool = False
    steps: list[tuple[bytes, list[Item]]] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    respelled: bool = False
    nameless: list[bytes] = field(default_factory=list)

    def leave_out(self, item: Item, at: int, lenient: bool) -> bool:
        """Whether the name of an item whose entry begins at `at` is not UTF-8. Raises NotText unless `lenient`."""
        try:
            item.name.decode()
            return False
        except UnicodeDecodeError as error:
            if not lenient:
                raise NotText(at + error.start, "a name is not UTF-8") from None
        self.nameless.append(item.name)
        return True


def whole_fields(view: memoryview, begin: int, end: int) -> Iterator[tuple[int, int, int, int, Span]]:
    """Yield each field as `fields` gives it, and the span from its tag to its end."""
    at = begin
    for number, wire, first, last in fields(view, begin, end):
        stop = read_tag(view, last, end)[2] if wire == SGROUP else last
        yield number, wire, first, last, (at, stop)
        at = stop


def _is_drawn(first: int, last: int, span: Span) -> bool:
    """Return whether the tag and the size before a LEN value take more bytes than they need, for a field below 16."""
    return first - span[0] > 1 + max(1, ((last - first).bit_length() + 6) // 7)


def read_record(view: memoryview, side: Side, sequence: bool = False, *, lenient: bool = False) -> MappingRecord:
    """Read an Example, an OFRecord or, with `sequence`, a SequenceExample. Raises WireError where it is not sound.

    `lenient` leaves out features whose names are not UTF-8, where otherwise the first raises NotText.
    """
    record = MappingRecord()
    if side == "ofrecord":
        _read_features(view, 0, len(view), side, record, lenient)
        return record
    for number, wire, first, last, span in whole_fields(view, 0, len(view)):
        if wire != LEN or number not in (1, 2) or (number == 2 and not sequence):
            record.top.append(span)
            continue
        record.merged |= number in record.parts
        record.respelled |= _is_drawn(first, last, span)
        record.parts.append(number)
        if number == 1:
            _read_features(view, first, last, side, record, lenient)
        else:
            _read_lists(view, first, last, record, lenient)
    return record


def _read_features(view: memoryview, begin: int, end: int, side: Side, record: MappingRecord, lenient: bool) -> None:
    for number, wire, first, last, span in whole_fields(view, begin, end):
        if number == 1 and wire == LEN:
            item, values, name_at = _read_entry(view, first, last)
            if record.leave_out(item, name_at, lenient):
                continue
            for at, stop in values:
                _read_feature(view, at, stop, side, item)
            record.items.append(item)
            record.respelled |= item.respelled or _is_drawn(first, last, span)
        else:
            record.beside.append(span)


def _read_entry(view: memoryview, begin: int, end: int) -> tuple[Item, list[Span], int]:
    """Return an entry of a map: its item, the spans of its values, and where its name begins."""
    item, values, order, name_at = Item(b""), [], [], begin
    for number, wire, first, last, span in whole_fields(view, begin, end):
        if wire == LEN and number in (1, 2):
            order.append(number)
            item.respelled |= _is_drawn(first, last, span)
        if number == 1 and wire == LEN:
            item.name, name_at = bytes(view[first:last]), first
        elif number == 2 and wire == LEN:
            values.append((first, last))
        else:
            item.beside.append(span)
    item.respelled |= order != [1, 2]
    if not values:
        refuse_nested(item.name, begin)
    return item, values, name_at


def refuse_nested(name: bytes, at: int) -> None:
    """Raise WireError where the name of an entry without a value is an entry itself: the message is another one."""
    if _is_entry(name):
        raise WireError(at, "what should be a name is an entry: this message nests one level deeper or less")


def _is_entry(name: bytes) -> bool:
    """Return whether a name reads as a name with a value, as that of an Example that is taken for an OFRecord does."""
    try:
        return [number for number, wire, _, _ in fields(name, 0, len(name)) if wire == LEN] == [1, 2]
    except WireError:
        return False


def _read_feature(view: memoryview, begin: int, end: int, side: Side, item: Item) -> None:
    numbers = _NUMBERS[side]
    for number, wire, first, last, span in whole_fields(view, begin, end):
        if wire != LEN or number not in numbers:
            item.unknown.append((number, span))
            continue
        kind = numbers[number]
        if item.kind not in (kind, None):
            item.lists, item.overridden, item.within, item.split = [], True, False, False
        item.kind = kind
        item.lists.append((first, last))
        item.respelled |= _is_drawn(first, last, span)
        item.joined = len(item.lists) > 1
        _check_list(view, first, last, kind, item)


def _check_list(view: memoryview, begin: int, end: int, kind: ListKind, item: Item) -> None:
    """Raise WireError unless the list holds whole values."""
    runs = singles = 0
    for number, wire, first, last in fields(view, begin, end):
        if number != 1 or wire not in (_WIRE[kind], LEN):
            item.within = True
        elif wire == LEN and kind in WIDTHS:
            if (last - first) % WIDTHS[kind]:
                raise WireError(first, f"a packed list of {last - first} bytes, which {WIDTHS[kind]} does not divide")
        elif wire == LEN and kind != "bytes":
            check_varints(view, first, last)
        if wire == LEN:
            runs += 1
        else:
            singles += 1
    item.split |= kind != "bytes" and runs > 0 and runs + singles > 1


def values_of(view: memoryview, spans: list[Span], kind: ListKind) -> Iterator[memoryview]:
    """Yield the values of a list in pieces: single values of bytes, and runs of numbers as they are packed."""
    for begin, end in spans:
        for number, wire, first, last in fields(view, begin, end):
            if number == 1 and wire in (_WIRE[kind], LEN):
                yield view[first:last]


def _read_lists(view: memoryview, begin: int, end: int, record: MappingRecord, lenient: bool) -> None:
    for number, wire, first, last, span in whole_fields(view, begin, end):
        if number != 1 or wire != LEN:
            record.beside.append(span)
            continue
        item, values, name_at = _read_entry(view, first, last)
        if record.leave_out(item, name_at, lenient):
            continue
        record.respelled |= item.respelled or _is_drawn(first, last, span)
        record.beside.extend(item.beside)
        steps: list[Item] = []
        for at, stop in values:
            for inner, how, low, high, whole in whole_fields(view, at, stop):
                if inner == 1 and how == LEN:
                    step = Item(item.name)
                    _read_feature(view, low, high, "example", step)
                    steps.append(step)
                    record.respelled |= step.respelled or _is_drawn(low, high, whole)
                else:
                    record.beside.append(whole)
        record.steps.append((item.name, steps))
