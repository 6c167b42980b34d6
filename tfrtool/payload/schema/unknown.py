"""Summarize payloads of no known kind: the fields at their top, by number and wire type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tfrtool.payload.schema.columns import blobs_of
from tfrtool.payload.schema.values import Blobs, RecordPlace
from tfrtool.payload.validate import nearly
from tfrtool.payload.wire.reader import LEN, WireError, fields

FIELDS = 4096
"""Fields that are described, those of the lowest numbers."""
_MANY = 1 << 12


@dataclass(slots=True)
class WireField:
    """One field: in how many records, the first, how often in one of them at least and at most, and what it holds."""

    records: int
    first: RecordPlace
    fewest: int
    most: int
    values: Blobs

    def merge(self, other: WireField) -> None:
        self.records += other.records
        self.fewest, self.most = min(self.fewest, other.fewest), max(self.most, other.most)
        self.values.merge(other.values)

    def copy(self) -> WireField:
        return WireField(self.records, self.first, self.fewest, self.most, self.values.copy())


@dataclass(slots=True)
class WireTable:
    """The fields of a stretch of records. `WireTable()` is the identity of `merge`, which is associative.

    `opaque` counts the records that are no protocol buffers at all; `payloads` says what those hold, and their sizes.
    `near` says how near the first record comes to a known kind that comes near to one, and which record that is.
    """

    records: int = 0
    first: RecordPlace | None = None
    opaque: int = 0
    first_opaque: RecordPlace | None = None
    payloads: Blobs = field(default_factory=Blobs)
    fields: dict[tuple[int, int], WireField] = field(default_factory=dict)
    more: bool = False
    near: tuple[RecordPlace, str] | None = None

    def merge(self, other: WireTable) -> None:
        """Add a later stretch to this one; `other` stays as it is."""
        self.records += other.records
        self.first = self.first or other.first
        self.opaque += other.opaque
        self.first_opaque = self.first_opaque or other.first_opaque
        self.payloads.merge(other.payloads)
        self.more |= other.more
        self.near = self.near or other.near
        for key, found in other.fields.items():
            if key in self.fields:
                self.fields[key].merge(found)
            else:
                self.fields[key] = found.copy()
        if len(self.fields) > 2 * FIELDS:
            self.cut()

    def cut(self) -> None:
        """Drop the fields that are beyond the bound."""
        if len(self.fields) > FIELDS:
            self.fields = {key: self.fields[key] for key in sorted(self.fields)[:FIELDS]}
            self.more = True


def summarise_wire(view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str) -> WireTable:
    """Return the table of the payloads `view[begins[i]:ends[i]]`."""
    table = WireTable()
    for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        payload, place = view[begin:end], RecordPlace(path, first + i)
        one = WireTable(1, place)
        if table.near is None and (near := nearly(payload)):
            one.near = place, near
        try:
            one.fields = _fields_of(payload, place)
            one.more = len(one.fields) > FIELDS
        except WireError:
            one.opaque, one.first_opaque = 1, place
            one.payloads = blobs_of(payload, [(0, len(payload))], lambda _, place=place: place)  # type: ignore[misc]
        table.merge(one)
    table.cut()
    return table


def _fields_of(payload: memoryview, place: RecordPlace) -> dict[tuple[int, int], WireField]:
    found: dict[tuple[int, int], WireField] = {}
    spans: dict[tuple[int, int], list[tuple[int, int]]] = {}
    held = 0
    for number, wire, begin, end in fields(payload, 0, len(payload)):
        one = found.get((number, wire))
        if one is None:
            if len(found) > 2 * FIELDS:
                found = {key: found[key] for key in sorted(found)[:FIELDS]}
            one = found[number, wire] = WireField(1, place, 0, 0, Blobs())
        one.most += 1
        if wire == LEN:
            spans.setdefault((number, wire), []).append((begin, end))
            held += 1
            if held >= _MANY:
                _flush(payload, found, spans, place)
                held = 0
    _flush(payload, found, spans, place)
    for one in found.values():
        one.fewest = one.most
    return found


def _flush(
    payload: memoryview,
    found: dict[tuple[int, int], WireField],
    spans: dict[tuple[int, int], list[tuple[int, int]]],
    place: RecordPlace,
) -> None:
    for key, some in spans.items():
        if key in found:
            found[key].values.merge(blobs_of(payload, some, lambda _: place))
    spans.clear()
