"""Summarize events files: tags, steps, times, and where a run began again."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf, isfinite
from typing import NamedTuple

from tfrtool.payload.schema.values import Numbers, RecordPlace, shortest

TAGS = 1 << 15
"""Tags that are described, those of most values."""
NAMES = 1 << 24
"""Bytes that these tags may take in all."""
PLUGINS = 4
"""Names of plugins that are told apart under one tag: the shortest. A writer gives a tag to one."""
VALUES = {2: "scalar", 3: "old_histogram", 4: "image", 5: "histogram", 6: "audio", 8: "tensor"}
"""What a value is logged as by its field, where no plugin is named."""
OTHER = "other"
"""As what the values of all other plugins count."""
_OWN = frozenset((*VALUES.values(), "nothing", OTHER))


class FirstSeen(NamedTuple):
    """A record in which something was first seen: its number within the stretch of records, and its place."""

    at: int
    place: RecordPlace

    def after(self, before: int) -> FirstSeen:
        """Return the same, seen from a stretch that begins `before` records earlier."""
        return FirstSeen(before + self.at, self.place)


@dataclass(slots=True)
class Tag:
    """The values logged under one tag: their number, the least and the greatest step, and what they were logged as.

    `kinds` has the names of `PLUGINS` plugins at most; their values are counted whole, since of the shortest names none
    is ever dropped. `numbers` has those that are one number each: a float32 by itself, as PyTorch and TensorFlow 1 log
    scalars, or a tensor of one element, as TensorFlow 2 does; None where there are none. `wide`: not all are float32.
    """

    values: int
    first: RecordPlace
    low: int
    high: int
    kinds: dict[str, int] = field(default_factory=dict)
    numbers: Numbers | None = None
    wide: bool = False

    def count(self, kind: str, values: int = 1) -> None:
        """Count values that were logged as this."""
        known = self.kinds.get(kind)
        if known is not None:
            self.kinds[kind] = known + values
            return
        self.kinds[kind] = values
        if len(self.kinds) > PLUGINS:
            plugins = self.kinds.keys() - _OWN
            dropped = plugins - shortest(plugins, PLUGINS)
            if dropped or OTHER in self.kinds:
                self.kinds[OTHER] = self.kinds.pop(OTHER, 0) + sum(self.kinds.pop(name) for name in dropped)

    def add(self, number: float, wide: bool) -> None:
        """Take in a scalar, which is no float32 if `wide`."""
        self.wide |= wide
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
        self.wide |= other.wide
        self.values += other.values
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)
        for kind, count in other.kinds.items():
            self.count(kind, count)

    def copy(self) -> Tag:
        numbers = self.numbers.copy() if self.numbers else None
        return Tag(self.values, self.first, self.low, self.high, dict(self.kinds), numbers, self.wide)

    @property
    def number_kind(self) -> str:
        """Return the kind of feature that holds such numbers."""
        return "double" if self.wide else "float"


@dataclass(slots=True)
class Ends:
    """What joining two stretches needs of each: the file, and the times and the steps at their ends, where they have
    any.
    """

    path: str
    first_time: float | None = None
    first_timed: RecordPlace | None = None
    last_time: float | None = None
    first_step: int | None = None
    first_stepped: FirstSeen | None = None
    last_step: int | None = None


@dataclass(slots=True)
class EventTable:
    """The events of a stretch of records; `EventTable()` is the identity of `merge`, which is associative.

    A restart is a step below the one before it in the same file, or a session that starts. `gap` is the longest time
    in seconds between one event that has a time and the next of the same file, with the later one. `more` says that
    there were more tags than are described, or longer ones.

    Which of too many tags are kept is decided as they come. So a sum that was never cut is the same however its
    stretches are; in one that was, a tag that is kept may have been dropped before: then its counts are too low.
    """

    records: int = 0
    first: RecordPlace | None = None
    earliest: float = inf
    latest: float = -inf
    low: int | None = None
    high: int | None = None
    restarts: int = 0
    first_restart: FirstSeen | None = None
    gap: float = 0.0
    gap_at: RecordPlace | None = None
    other: dict[str, int] = field(default_factory=dict)
    tags: dict[bytes, Tag] = field(default_factory=dict)
    more: bool = False
    ends: Ends | None = None
    named: int = field(default=0, repr=False, compare=False)

    @classmethod
    def of_blanks(cls, records: int, first: RecordPlace) -> EventTable:
        """Return the table of so many events that say nothing."""
        return cls(records, first, ends=Ends(first.path))

    def add(self, place: RecordPlace, time: float | None, step: int | None, starts: bool, what: str) -> None:
        """Add the next event: its wall time, its step if it carries a summary, whether a session starts with it."""
        ends = self.ends
        if ends is None:
            ends = self.ends = Ends(place.path)
            self.first = place
        if time is not None and time == time:
            if ends.last_time is None:
                ends.first_time, ends.first_timed = time, place
            elif time - ends.last_time > self.gap:
                self.gap, self.gap_at = time - ends.last_time, place
            ends.last_time = time
            self.earliest, self.latest = min(self.earliest, time), max(self.latest, time)
        if step is not None:
            if ends.last_step is None:
                ends.first_step, ends.first_stepped = step, FirstSeen(self.records, place)
            elif step < ends.last_step:
                starts = True
            ends.last_step = step
            self.low = step if self.low is None else min(self.low, step)
            self.high = step if self.high is None else max(self.high, step)
        if starts:
            self.restarts += 1
            self.first_restart = self.first_restart or FirstSeen(self.records, place)
        if what:
            self.other[what] = self.other.get(what, 0) + 1
        self.records += 1

    def tag(self, name: bytes, place: RecordPlace, step: int) -> Tag:
        """Return the tag of that name, begun in this record if there was none."""
        found = self.tags.get(name)
        if found is None:
            if self._is_full():
                self.cut()
            found = self.tags[name] = Tag(0, place, step, step)
            self.named += len(name)
        return found

    def merge(self, other: EventTable) -> None:
        """Add a later stretch to this one; `other` stays as it is."""
        if not other.records or other.ends is None:
            return
        restart = other.first_restart.after(self.records) if other.first_restart else None
        self.restarts += other.restarts
        mine, theirs = self.ends, other.ends
        gap, gap_at = other.gap, other.gap_at
        if mine and mine.path == theirs.path:
            if mine.last_time is not None and theirs.first_time is not None:
                between = theirs.first_time - mine.last_time
                if between >= gap and between > 0:
                    gap, gap_at = between, theirs.first_timed
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
                self.named += len(name)
        self.first = self.first or other.first
        self.ends = _joined(mine, theirs, self.records)
        self.records += other.records
        self.more |= other.more
        if self._is_full():
            self.cut()

    def _is_full(self) -> bool:
        """Between cuts twice as many tags are kept as are described, so that cutting takes linear time."""
        return len(self.tags) > 2 * TAGS or self.named > 2 * NAMES

    def cut(self) -> None:
        """Drop the tags that are beyond the bounds."""
        if len(self.tags) <= TAGS and self.named <= NAMES:
            return
        kept: set[bytes] = set()
        size = 0
        for name in sorted(self.tags, key=lambda name: (-self.tags[name].values, len(name), name)):
            if len(kept) < TAGS and size + len(name) <= NAMES:
                kept.add(name)
                size += len(name)
        self.tags = {name: tag for name, tag in self.tags.items() if name in kept}
        self.named = size
        self.more = True


def _joined(mine: Ends | None, theirs: Ends, before: int) -> Ends:
    """Return the ends of both stretches; those of the later one alone where it is of another file."""
    stepped = theirs.first_stepped.after(before) if theirs.first_stepped else None
    if mine is None or mine.path != theirs.path:
        return replace(theirs, first_stepped=stepped)
    first, last = (mine if mine.first_time is not None else theirs), (theirs if theirs.last_time is not None else mine)
    joined = Ends(mine.path, first.first_time, first.first_timed, last.last_time)
    joined.last_step = theirs.last_step if theirs.last_step is not None else mine.last_step
    if mine.first_step is not None:
        joined.first_step, joined.first_stepped = mine.first_step, mine.first_stepped
    else:
        joined.first_step, joined.first_stepped = theirs.first_step, stepped
    return joined
