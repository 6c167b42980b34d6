"""Read events in place, as far as their table has a place for what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import unpack_from

from tfrtool.payload.content.tensors import WIDTHS, Number, number_at, number_of
from tfrtool.payload.schema.events import VALUES, EventTable
from tfrtool.payload.schema.values import RecordPlace
from tfrtool.payload.wire.reader import I32, I64, LEN, VARINT, WireError, check_text, fields, read_varint, signed64

_WHAT = {3: "file_version", 4: "graph_def", 6: "log_message", 7: "session_log", 8: "run_metadata", 9: "meta_graph_def"}
_PLAIN = frozenset(("old_histogram", "image", "histogram", "audio"))
"""What has no number, whatever its last bytes."""
_LAST = 4
_SHORT = 256  # bytes of a summary value that may be remembered
_KNOWN_MOST = 1 << 12
_HELD = 1 << 10  # values of an event that are held until it was walked to its end; those of more are found again
_START = 1  # SessionLog.START

Texts = dict[int, "Texts"]
"""Fields that hold texts, or messages that hold some; a field of nothing further is a text."""
Value = tuple[bytes, str, tuple[float, bool] | None]
"""The tag of a summary value, what it was logged as, and its number if it is one, with whether that is no float32."""

_TEXTS: Texts = {3: {}, 6: {2: {}}, 7: {2: {}, 3: {}}, 8: {1: {}}, 10: {1: {}}}
_TEXTS_OF_VALUE: Texts = {1: {}, 7: {}, 9: {1: {1: {}}, 2: {}, 3: {}}}
"""The texts of an event beside its summaries, and of a summary value beside what was logged: names, versions, messages.
"""


class EventReader:
    """Reads events into tables; remembers what short summary values say, since a run repeats its tags.

    A value is known by all of its bytes but those of its number, which stand where they stood in the last value of the
    same length: `spots` has their offset and how many they are. Of what has no number the last four bytes may differ
    where they are of what was logged: not where they are of the tag, and not where they are of a varint or a group,
    which may end sooner with a tag behind it.
    """

    def __init__(self) -> None:
        self.known: dict[tuple[int, bytes], tuple[bytes, str, str]] = {}
        self.spots: dict[int, tuple[int, int]] = {}

    def summarise(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str
    ) -> tuple[EventTable, list[tuple[int, WireError]]]:
        """Return the table of the events `view[begins[i]:ends[i]]`, and those that do not parse."""
        table = EventTable()
        misfits = []
        for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            try:
                self._add(table, view[begin:end], RecordPlace(path, first + i))
            except WireError as error:
                misfits.append((i, error))
        table.cut()
        return table, misfits

    def _add(self, table: EventTable, payload: memoryview, place: RecordPlace) -> None:
        time: float | None = None
        step, stepped, starts, what = 0, False, False, ""
        values: list[Value] = []
        count = 0
        for number, wire, begin, end in fields(payload, 0, len(payload)):
            if number == 1 and wire == I64:
                time = unpack_from("<d", payload, begin)[0]
            elif number == 2 and wire == VARINT:
                step = signed64(read_varint(payload, begin, end)[0])
            elif number == 5 and wire == LEN:
                stepped = True
                for value in self._values_of(payload, begin, end):
                    if count < _HELD:
                        values.append(value)
                    count += 1
            elif number in _TEXTS and wire == LEN:
                _check_texts(payload, begin, end, _TEXTS[number])
            if number in _WHAT and wire == LEN:
                what = _WHAT[number]
                if number == 7:
                    starts = any(
                        part == 1 and kind == VARINT and payload[at] == _START
                        for part, kind, at, _ in fields(payload, begin, end)
                    )
        table.add(place, time, step if stepped and not starts else None, starts, what)
        for name, logged, scalar in values if count <= _HELD else self._values(payload):
            tag = table.tag(name, place, step)
            tag.values += 1
            tag.low, tag.high = min(tag.low, step), max(tag.high, step)
            tag.count(logged)
            if scalar is not None:
                tag.add(*scalar)

    def _values(self, payload: memoryview) -> Iterator[Value]:
        """Yield the values of the summaries of an event that was walked before."""
        for number, wire, begin, end in fields(payload, 0, len(payload)):
            if number == 5 and wire == LEN:
                yield from self._values_of(payload, begin, end)

    def _values_of(self, payload: memoryview, begin: int, end: int) -> Iterator[Value]:
        """Yield the values of the summary in `[begin, end)`."""
        for number, wire, first, last in fields(payload, begin, end):
            if number == 1 and wire == LEN:
                yield self._value(payload, first, last)

    def _value(self, payload: memoryview, begin: int, end: int) -> Value:
        """Return the tag of a summary value, what it was logged as, and the number where it is one."""
        size = end - begin
        if spot := self.spots.get(size):
            at, width = spot
            key = bytes(payload[begin : begin + at])
            if at + width < size:
                key += payload[begin + at + width : end]
            known = self.known.get((at, key))
            if known is not None:
                name, logged, code = known
                if code == "f":
                    return name, logged, (unpack_from("<f", payload, begin + at)[0], False)
                return name, logged, (number_at(payload, begin + at, code), True) if code else None
        name, kind, plugin, logged_size = b"", "", "", 0
        found: Number | None = None
        for number, wire, first, last in fields(payload, begin, end):
            logged_size = last - first if number in VALUES and wire == LEN else 0
            if number in _TEXTS_OF_VALUE and wire == LEN:
                _check_texts(payload, first, last, _TEXTS_OF_VALUE[number])
            if number == 1 and wire == LEN:
                name = bytes(payload[first:last])
            elif number in VALUES:
                kind, found = VALUES[number], None
                if number == 2 and wire == I32:
                    found = Number(number_at(payload, first, "f"), "f", first)
                elif number == 8 and wire == LEN:
                    found = number_of(payload, first, last)
            elif number == 9 and wire == LEN:
                plugin = _plugin(payload, first, last)
        logged = plugin or kind or "nothing"
        if size <= _SHORT:
            at, width = size - _LAST, _LAST
            if found and found.at is not None:
                at, width = found.at - begin, WIDTHS[found.code]
            elif logged_size < _LAST or kind not in _PLAIN:
                width = 0  # whatever differs may be of what was logged, and of what that is
            if width:
                if len(self.known) >= _KNOWN_MOST:
                    self.known.clear()
                self.spots[size] = at, width
                key = bytes(payload[begin : begin + at]) + bytes(payload[begin + at + width : end])
                self.known[at, key] = name, logged, found.code if found else ""
        return name, logged, (found.value, found.code != "f") if found else None


def _check_texts(payload: memoryview, begin: int, end: int, texts: Texts) -> None:
    """Raise WireError where a text is not UTF-8, which protobuf refuses."""
    if not texts:
        check_text(payload, begin, end)
        return
    for number, wire, first, last in fields(payload, begin, end):
        if wire == LEN and number in texts:
            _check_texts(payload, first, last, texts[number])


def _plugin(payload: memoryview, begin: int, end: int) -> str:
    for number, wire, first, last in fields(payload, begin, end):
        if number == 1 and wire == LEN:
            for inner, kind, at, stop in fields(payload, first, last):
                if inner == 1 and kind == LEN:
                    return str(payload[at : min(stop, at + 64)], "utf-8", "replace")
    return ""
