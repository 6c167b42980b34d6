"""What events files hold: tags, steps, times, and where a run began again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import inf, isfinite
from struct import unpack_from

from tfrtool.payload.schema.feature import Met
from tfrtool.payload.schema.values import Numbers, Place
from tfrtool.payload.wire import I32, I64, LEN, VARINT, WireError, fields, read_varint, signed64

TAGS = 1 << 15
"""Tags that are described, those of most values."""
_WHAT = {3: "file_version", 4: "graph_def", 6: "log_message", 7: "session_log", 8: "run_metadata", 9: "meta_graph_def"}
_VALUES = {2: "scalar", 3: "old_histogram", 4: "image", 5: "histogram", 6: "audio", 8: "tensor"}
_SHORT = 256  # bytes of a summary value that may be remembered
_KNOWN_MOST = 1 << 12
_START = 1  # SessionLog.START


@dataclass(slots=True)
class Tag:
    """The values logged under one tag: their number, the least and the greatest step, and what they were logged as.

    `numbers` has those that are one float32, as PyTorch and TensorFlow 1 log scalars; None where there are none.
    """

    values: int
    first: Place
    low: int
    high: int
    kinds: dict[str, int] = field(default_factory=dict)
    numbers: Numbers | None = None

    def add(self, number: float) -> None:
        """Take in a scalar."""
        numbers = self.numbers = self.numbers or Numbers(None)
        numbers.values += 1
        if isfinite(number):
            numbers.least, numbers.greatest = min(numbers.least, number), max(numbers.greatest, number)
        elif number == number:
            numbers.infinite += 1
        else:
            numbers.nan += 1

    def merge(self, other: Tag) -> None:
        if self.numbers and other.numbers:
            self.numbers.merge(other.numbers)
        elif other.numbers:
            self.numbers = other.numbers.copy()
        self.values += other.values
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count

    def copy(self) -> Tag:
        numbers = self.numbers.copy() if self.numbers else None
        return Tag(self.values, self.first, self.low, self.high, dict(self.kinds), numbers)


@dataclass(slots=True)
class Ends:
    """What joining two stretches needs of each: the file, the times and the steps at their ends."""

    path: str
    first_time: float
    last_time: float
    first_step: int | None
    last_step: int | None
    first_stepped: Met | None


@dataclass(slots=True)
class EventTable:
    """The events of a stretch of records; `EventTable()` is the identity of `merge`, which is associative.

    A restart is a step below the one before it in the same file, or a session that starts. `gap` is the longest time
    in seconds between one event and the next of the same file, with the later one.
    """

    records: int = 0
    first: Place | None = None
    earliest: float = inf
    latest: float = -inf
    low: int | None = None
    high: int | None = None
    restarts: int = 0
    first_restart: Met | None = None
    gap: float = 0.0
    gap_at: Place | None = None
    other: dict[str, int] = field(default_factory=dict)
    tags: dict[bytes, Tag] = field(default_factory=dict)
    more: bool = False
    ends: Ends | None = None

    def add(self, place: Place, time: float, step: int | None, starts: bool, what: str) -> None:
        """Add the next event: its wall time, its step if it carries a summary, whether a session starts with it."""
        ends = self.ends
        if ends is None:
            ends = self.ends = Ends(place.path, time, time, None, None, None)
            self.first = place
        if time - ends.last_time > self.gap:
            self.gap, self.gap_at = time - ends.last_time, place
        ends.last_time = time
        if time == time:
            self.earliest, self.latest = min(self.earliest, time), max(self.latest, time)
        if step is not None:
            if ends.last_step is None:
                ends.first_step, ends.first_stepped = step, Met(self.records, place)
            elif step < ends.last_step:
                starts = True
            ends.last_step = step
            self.low = step if self.low is None else min(self.low, step)
            self.high = step if self.high is None else max(self.high, step)
        if starts:
            self.restarts += 1
            self.first_restart = self.first_restart or Met(self.records, place)
        if what:
            self.other[what] = self.other.get(what, 0) + 1
        self.records += 1

    def merge(self, other: EventTable) -> None:
        """Add a later stretch to this one; `other` stays as it is."""
        if not other.records or other.ends is None:
            return
        restart = other.first_restart.after(self.records) if other.first_restart else None
        self.restarts += other.restarts
        mine, theirs = self.ends, other.ends
        gap, gap_at = other.gap, other.gap_at
        if mine and mine.path == theirs.path:
            between = theirs.first_time - mine.last_time
            if between >= gap and between > 0:
                gap, gap_at = between, other.first
            if mine.last_step is not None and theirs.first_step is not None and theirs.first_step < mine.last_step:
                self.restarts += 1
                lower = theirs.first_stepped.after(self.records) if theirs.first_stepped else None
                restart = min(filter(None, (restart, lower)))
        if gap > self.gap:
            self.gap, self.gap_at = gap, gap_at
        self.first_restart = self.first_restart or restart
        self.earliest, self.latest = min(self.earliest, other.earliest), max(self.latest, other.latest)
        if other.low is not None and other.high is not None:
            self.low = other.low if self.low is None else min(self.low, other.low)
            self.high = other.high if self.high is None else max(self.high, other.high)
        for what, count in other.other.items():
            self.other[what] = self.other.get(what, 0) + count
        for name, tag in other.tags.items():
            if name in self.tags:
                self.tags[name].merge(tag)
            else:
                self.tags[name] = tag.copy()
        self.first = self.first or other.first
        self.ends = _joined(mine, theirs, self.records)
        self.records += other.records
        self.more |= other.more
        if len(self.tags) > 2 * TAGS:
            self.cut()

    def cut(self) -> None:
        """Drop the tags that are beyond the bound."""
        if len(self.tags) > TAGS:
            order = sorted(self.tags, key=lambda name: (-self.tags[name].values, len(name), name))
            kept = set(order[:TAGS])
            self.tags = {name: tag for name, tag in self.tags.items() if name in kept}
            self.more = True


def _joined(mine: Ends | None, theirs: Ends, before: int) -> Ends:
    """The ends of both stretches; those of the later one alone where it is of another file."""
    stepped = theirs.first_stepped.after(before) if theirs.first_stepped else None
    if mine is None or mine.path != theirs.path:
        return replace(theirs, first_stepped=stepped)
    last = theirs.last_step if theirs.last_step is not None else mine.last_step
    if mine.first_step is not None:
        return replace(mine, last_time=theirs.last_time, last_step=last)
    return Ends(mine.path, mine.first_time, theirs.last_time, theirs.first_step, last, stepped)


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
        time, step, stepped, starts = 0.0, 0, False, False
        values: list[tuple[bytes, str, float | None]] = []
        what = ""
        for number, wire, begin, end in fields(payload, 0, len(payload)):
            if number == 1 and wire == I64:
                time = unpack_from("<d", payload, begin)[0]
            elif number == 2 and wire == VARINT:
                step = signed64(read_varint(payload, begin, end)[0])
            elif number == 5 and wire == LEN:
                stepped = True
                for inner, kind, first, last in fields(payload, begin, end):
                    if inner == 1 and kind == LEN:
                        values.append(self._value(payload, first, last))
            elif number in _WHAT and wire == LEN:
                what = _WHAT[number]
                if number == 7:
                    starts = any(
                        part == 1 and kind == VARINT and payload[at] == _START
                        for part, kind, at, _ in fields(payload, begin, end)
                    )
        table.add(place, time, step if stepped and not starts else None, starts, what)
        for name, logged, scalar in values:
            tag = table.tags.get(name)
            if tag is None:
                tag = table.tags[name] = Tag(0, place, step, step)
            tag.values += 1
            tag.low, tag.high = min(tag.low, step), max(tag.high, step)
            tag.kinds[logged] = tag.kinds.get(logged, 0) + 1
            if scalar is not None:
                tag.add(scalar)
        if len(table.tags) > 2 * TAGS:
            table.cut()

    def _value(self, payload: memoryview, begin: int, end: int) -> tuple[bytes, str, float | None]:
        """The tag of a summary value, what it was logged as, and the number where it is one.

        Known by all but its last four bytes where those are of what was logged, such as a number: not where they are of
        the tag.
        """
        key = bytes(payload[begin : end - 4]) if end - begin <= _SHORT else b""
        if key and (known := self.known.get(key)):
            name, logged, is_scalar = known
            return name, logged, unpack_from("<f", payload, end - 4)[0] if is_scalar else None
        name, kind, plugin, own = b"", "", "", 0
        scalar: float | None = None
        for number, wire, first, last in fields(payload, begin, end):
            own = last - first if number in _VALUES else 0
            if number == 1 and wire == LEN:
                name = bytes(payload[first:last])
            elif number in _VALUES:
                kind = _VALUES[number]
                scalar = unpack_from("<f", payload, first)[0] if number == 2 and wire == I32 else None
            elif number == 9 and wire == LEN:
                plugin = _plugin(payload, first, last)
        logged = plugin or kind or "nothing"
        if key and own >= 4:
            if len(self.known) >= _KNOWN_MOST:
                self.known.clear()
            self.known[key] = name, logged, scalar is not None
        return name, logged, scalar


def _plugin(payload: memoryview, begin: int, end: int) -> str:
    for number, wire, first, last in fields(payload, begin, end):
        if number == 1 and wire == LEN:
            for inner, kind, at, stop in fields(payload, first, last):
                if inner == 1 and kind == LEN:
                    return str(payload[at : min(stop, at + 64)], "utf-8", "replace")
    return ""
