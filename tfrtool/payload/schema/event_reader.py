"""Reading events in place, as far as their table has a place for what they say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from struct import unpack_from

from tfrtool.payload.schema.event_table import VALUES, EventTable
from tfrtool.payload.schema.values import Place
from tfrtool.payload.wire import I32, I64, LEN, VARINT, WireError, check_text, fields, read_varint, signed64

_WHAT = {3: "file_version", 4: "graph_def", 6: "log_message", 7: "session_log", 8: "run_metadata", 9: "meta_graph_def"}
_SHORT = 256  # bytes of a summary value that may be remembered
_KNOWN_MOST = 1 << 12
_HELD = 1 << 10  # values of an event that are held until it was walked to its end; those of more are found again
_START = 1  # SessionLog.START

Texts = dict[int, "Texts"]
"""Fields that hold texts, or messages that hold some; a field of nothing further is a text."""
Value = tuple[bytes, str, float | None]
"""The tag of a summary value, what it was logged as, and the number where it is one."""

_TEXTS: Texts = {3: {}, 6: {2: {}}, 7: {2: {}, 3: {}}, 8: {1: {}}, 10: {1: {}}}
_TEXTS_OF_VALUE: Texts = {1: {}, 7: {}, 9: {1: {1: {}}, 2: {}, 3: {}}}
"""The texts of an event beside its summaries, and of a summary value beside what was logged: names, versions, messages.
"""


@dataclass(slots=True)
class EventReader:
    """Reads events into tables; remembers what short summary values say, since a run repeats its tags."""

    known: dict[bytes, tuple[bytes, str, bool]] = field(default_factory=dict)

    def summarise(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], first: int, path: str
    ) -> tuple[EventTable, list[tuple[int, WireError]]]:
        """The table of the events `view[begins[i]:ends[i]]`, and those that do not parse."""
        table = EventTable()
        misfits = []
        for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            try:
                self._add(table, view[begin:end], Place(path, first + i))
            except WireError as error:
                misfits.append((i, error))
        table.cut()
        return table, misfits

    def _add(self, table: EventTable, payload: memoryview, place: Place) -> None:
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
                for inner, kind, first, last in fields(payload, begin, end):
                    if inner == 1 and kind == LEN:
                        value = self._value(payload, first, last)
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
                tag.add(scalar)

    def _values(self, payload: memoryview) -> Iterator[Value]:
        """The values of the summaries of an event that was walked before."""
        for number, wire, begin, end in fields(payload, 0, len(payload)):
            if number == 5 and wire == LEN:
                for inner, kind, first, last in fields(payload, begin, end):
                    if inner == 1 and kind == LEN:
                        yield self._value(payload, first, last)

    def _value(self, payload: memoryview, begin: int, end: int) -> Value:
        """The tag of a summary value, what it was logged as, and the number where it is one.

        Known by all but its last four bytes where those are of what was logged, such as a number: not where they are of
        the tag, and not where they are of a varint or a group, which may end sooner with a tag behind it.
        """
        key = bytes(payload[begin : end - 4]) if end - begin <= _SHORT else b""
        if key and (known := self.known.get(key)):
            name, logged, is_scalar = known
            return name, logged, unpack_from("<f", payload, end - 4)[0] if is_scalar else None
        name, kind, plugin, own = b"", "", "", 0
        scalar: float | None = None
        for number, wire, first, last in fields(payload, begin, end):
            own = last - first if number in VALUES and wire in (I32, I64, LEN) else 0
            if number in _TEXTS_OF_VALUE and wire == LEN:
                _check_texts(payload, first, last, _TEXTS_OF_VALUE[number])
            if number == 1 and wire == LEN:
                name = bytes(payload[first:last])
            elif number in VALUES:
                kind = VALUES[number]
                scalar = unpack_from("<f", payload, first)[0] if number == 2 and wire == I32 else None
            elif number == 9 and wire == LEN:
                plugin = _plugin(payload, first, last)
        logged = plugin or kind or "nothing"
        if key and own >= 4:
            if len(self.known) >= _KNOWN_MOST:
                self.known.clear()
            self.known[key] = name, logged, scalar is not None
        return name, logged, scalar


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
