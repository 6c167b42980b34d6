"""Read the features of one record in place, for showing: names, kinds, counts and, when asked for, values.

As protobuf does: of two kinds set in one feature the last wins, the same kind twice is one longer list, packed and
unpacked numbers may mix, an entry without a name is named "", unknown fields are skipped. Unlike protobuf: a name
that occurs twice in a record is shown twice, in order and marked, and a name need not be UTF-8.

A value takes two bytes of a record at least, and its place 150 bytes of memory. So where there are many they are found
again each time, and so are the pieces of a field that is set more than once: a record takes no more memory than it has
features.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from tfrtool.payload.text import JsonValue, Value, json_value, text_of
from tfrtool.payload.wire.example import LISTS, WIDTHS, ListKind
from tfrtool.payload.wire.reader import (
    I32,
    I64,
    LEN,
    VARINT,
    Buffer,
    WireError,
    check_varints,
    count_varints,
    fields,
    read_varint,
    signed32,
    signed64,
    varints,
)
from tfrtool.types import Kind

Spans = Iterable[tuple[int, int]]
"""`(begin, end)` of some stretches of a payload, in order; can be gone through again and again."""


class Pieces:
    """The values of the sized field `number` of a message that lies in the stretches `within`, from `since` on.

    The message was walked before: nothing is raised.
    """

    __slots__ = ("_number", "_since", "_view", "_within")

    def __init__(self, view: Buffer, within: Spans, number: int, since: int = 0) -> None:
        self._view, self._within, self._number, self._since = view, within, number, since

    def __iter__(self) -> Iterator[tuple[int, int]]:
        for begin, end in self._within:
            for number, wire, first, last in fields(self._view, begin, end):
                if number == self._number and wire == LEN and first >= self._since:
                    yield first, last


_WIRE: dict[ListKind, int] = {"bytes": LEN, "float": I32, "int64": VARINT, "double": I64, "int32": VARINT}
_CODE: dict[ListKind, str] = {"float": "f", "double": "d"}
_BATCH = 1024  # numbers unpacked at once
_TWICE = "the name stands more than once, readers keep the last"


@dataclass
class FeatureView:
    """One feature: `kind` is None where no list is set, `count` the number of its values.

    `repeated`: its name stands more than once in this record. `note` says, in a few words for people, what the values
    do not: an overridden name, the shape of a tensor. Values are read when asked for, and a bytes value is a view of
    the payload.
    """

    name: bytes
    kind: ListKind | None
    count: int
    read: Callable[[], Iterator[Value]]
    repeated: bool = False
    note: str = ""

    @property
    def text(self) -> str:
        """Return the name as text; bytes that are not UTF-8 are written \\xNN. Not safe for a terminal as it is."""
        return text_of(self.name)

    def values(self, limit: int | None = None) -> list[Value]:
        """The first `limit` values, or all: memoryview or bytes, int, or float (the float32 as it is, widened)."""
        return list(islice(self.read(), limit))

    def json_values(self, limit: int | None = None, cut: int | None = None) -> list[JsonValue]:
        """Return the same for JSON: text, or {"bytes": base64}; numbers; NaN and infinities as strings.

        float32 values are the shortest decimals that read back as the same float32. A bytes value longer than `cut`
        bytes becomes its beginning and its size: {"bytes": base64 of the first `cut`, "size": bytes in all}.
        """
        return [json_value(value, self.kind, cut) for value in islice(self.read(), limit)]


@dataclass
class FeatureListView:
    """One feature list of a SequenceExample: `count` steps, each a nameless feature, holding `values` values in all.

    `kinds` has the kinds of its steps; more than one is legal and no TensorFlow parser reads it.
    """

    name: bytes
    count: int
    values: int
    kinds: tuple[ListKind | None, ...]
    read: Callable[[], Iterator[FeatureView]]
    repeated: bool = False
    note: str = ""

    @property
    def text(self) -> str:
        """Return the name as text; bytes that are not UTF-8 are written \\xNN. Not safe for a terminal as it is."""
        return text_of(self.name)

    def steps(self, limit: int | None = None) -> list[FeatureView]:
        """Return the first `limit` steps, or all."""
        return list(islice(self.read(), limit))


@dataclass
class Features:
    """What a record holds, in the order of its bytes. `features` are the context, for a SequenceExample."""

    kind: Kind
    features: list[FeatureView] = field(default_factory=list)
    feature_lists: list[FeatureListView] = field(default_factory=list)


def features_of(payload: Buffer, kind: Kind) -> Features:
    """The features of an Example, a SequenceExample or an OFRecord; of any other kind, none. See `read_features`."""
    found = Features(kind)
    if kind == "ofrecord":
        found.features = _features(payload, [(0, len(payload))], LISTS["ofrecord"])
    elif kind in ("example", "sequence_example"):
        whole = [(0, len(payload))]
        for _ in fields(payload, 0, len(payload)):
            pass
        found.features = _features(payload, Pieces(payload, whole, 1), LISTS["example"])
        if kind == "sequence_example":
            found.feature_lists = _feature_lists(payload, Pieces(payload, whole, 2))
    return found


def map_entries(payload: Buffer, spans: Spans) -> Iterator[tuple[bytes, Spans]]:
    """Yield the name and the value of each entry of a map; a value that is set twice is two pieces, to be merged."""
    for begin, end in spans:
        for number, wire, first, last in fields(payload, begin, end):
            if number != 1 or wire != LEN:
                continue
            name = b""
            value: list[tuple[int, int]] = []
            for part, kind, at, stop in fields(payload, first, last):
                if kind == LEN and part == 1:
                    name = bytes(payload[at:stop])
                elif kind == LEN and part == 2 and len(value) < 2:
                    value.append((at, stop))
            yield name, value if len(value) < 2 else Pieces(payload, [(first, last)], 2)


def _features(payload: Buffer, spans: Spans, lists: dict[int, ListKind]) -> list[FeatureView]:
    views = [_feature(payload, name, value, lists) for name, value in map_entries(payload, spans)]
    mark_repeated(views)
    return views


def mark_repeated(views: list[FeatureView] | list[FeatureListView]) -> None:
    """Mark the names that stand more than once, and say so of all but the last."""
    if len({view.name for view in views}) == len(views):
        return
    left = Counter(view.name for view in views)
    many = {name for name, count in left.items() if count > 1}
    for view in views:
        left[view.name] -= 1
        view.repeated = view.name in many
        if left[view.name]:
            view.note = _TWICE


def _feature(payload: Buffer, name: bytes, spans: Spans, lists: dict[int, ListKind]) -> FeatureView:
    """Return a feature of an entry."""
    kind, count, found = find_lists(payload, spans, lists)
    if kind is None:
        return FeatureView(name, None, 0, nothing)
    return FeatureView(name, kind, count, partial(_values, payload, kind, found))


def find_lists(payload: Buffer, spans: Spans, lists: Mapping[int, ListKind]) -> tuple[ListKind | None, int, Spans]:
    """Of a feature in some pieces the kind, how many values, and where its lists of that kind are.

    All lists are checked, those too that a later one of another kind overrides.
    """
    kind: ListKind | None = None
    found: list[tuple[int, int]] = []
    count = field = 0
    for begin, end in spans:
        for number, wire, first, last in fields(payload, begin, end):
            if wire == LEN and number in lists:
                if number != field:
                    field, kind, found, count = number, lists[number], [], 0
                if len(found) < 2:
                    found.append((first, last))
                count += count_values(payload, first, last, lists[number])
    return kind, count, found if len(found) < 2 else Pieces(payload, spans, field, found[0][0])


def view_of(payload: Buffer, name: bytes, kind: ListKind, begin: int, end: int, number: int) -> FeatureView:
    """Return a view of the values that field `number` of the message in `[begin, end)` holds, packed or not."""
    count = count_values(payload, begin, end, kind, number)
    return FeatureView(name, kind, count, partial(_values, payload, kind, [(begin, end)], number))


def _feature_lists(payload: Buffer, spans: Spans) -> list[FeatureListView]:
    views = []
    for name, value in map_entries(payload, spans):
        count = values = 0
        kinds: dict[ListKind | None, None] = {}
        for step in _steps(payload, value):
            count += 1
            values += step.count
            kinds[step.kind] = None
        views.append(FeatureListView(name, count, values, tuple(kinds), partial(_steps, payload, value)))
    mark_repeated(views)
    return views


def _steps(payload: Buffer, spans: Spans) -> Iterator[FeatureView]:
    for begin, end in spans:
        for number, wire, first, last in fields(payload, begin, end):
            if number == 1 and wire == LEN:
                yield _feature(payload, b"", [(first, last)], LISTS["example"])


def nothing() -> Iterator[Value]:
    """No values."""
    return iter(())


def pieces_of(payload: Buffer, begin: int, end: int, kind: ListKind, number: int) -> Iterator[tuple[int, int, bool]]:
    """Where the values in field `number` of a message are: `(begin, end, packed)`, of one value or of a packed run."""
    single = _WIRE[kind]
    for found, wire, first, last in fields(payload, begin, end):
        if found == number and wire in (single, LEN):
            yield first, last, wire != single


def count_values(payload: Buffer, begin: int, end: int, kind: ListKind, number: int = 1) -> int:
    """Return how many values a list holds; raises WireError if a packed run of it holds no whole number of them."""
    count = 0
    width = WIDTHS.get(kind)
    for first, last, packed in pieces_of(payload, begin, end, kind, number):
        if not packed:
            count += 1
        elif width is None:
            check_varints(payload, first, last)
            count += count_varints(payload, first, last)
        elif (last - first) % width:
            raise WireError(first, f"a packed list of {last - first} bytes, which {width} does not divide")
        else:
            count += (last - first) // width
    return count


def _values(payload: Buffer, kind: ListKind, spans: Spans, number: int = 1) -> Iterator[Value]:
    view = memoryview(payload)
    for begin, end in spans:
        for first, last, packed in pieces_of(payload, begin, end, kind, number):
            if kind == "bytes":
                yield view[first:last]
            elif kind in _CODE:
                yield from unpack(view, first, last, _CODE[kind])
            else:
                signed = signed32 if kind == "int32" else signed64
                unsigned = varints(payload, first, last) if packed else (read_varint(payload, first, last)[0],)
                yield from map(signed, unsigned)


def unpack(view: Buffer, begin: int, end: int, code: str) -> Iterator[float | int]:
    """Yield the little-endian numbers of `struct` type `code` in `[begin, end)`, a batch at a time."""
    width = struct.calcsize(f"<{code}")
    for at in range(begin, end, width * _BATCH):
        count = min((end - at) // width, _BATCH)
        yield from struct.unpack_from(f"<{count}{code}", view, at)
