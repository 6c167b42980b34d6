"""Summarize records of any legal form one by one, by the rules of protobuf, and feature lists.

As protobuf does: of two kinds set in one feature the last wins, the same kind twice is one longer list, packed and
unpacked numbers may mix, an entry without a name is named "", unknown fields are skipped, and of two entries of the
same name the last counts. Unlike protobuf, which refuses an Example with a name that is not UTF-8, this takes any bytes
for a name, as the parser of tf.io does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from tfrtool.payload.features.view import Spans, find_lists, map_entries, pieces_of
from tfrtool.payload.kinds import fits
from tfrtool.payload.schema.columns import CODES, blobs_of
from tfrtool.payload.schema.feature import Feature, Key, ListSummary, within
from tfrtool.payload.schema.packed_numbers import floats, integers
from tfrtool.payload.schema.table import FEATURES, Table
from tfrtool.payload.schema.values import Blobs, Numbers, RecordPlace
from tfrtool.payload.wire.example import LISTS, PACKED, TAGS, Layout, ListKind, read_list
from tfrtool.payload.wire.reader import LEN, Buffer, WireError, check_varints, count_varints, fields

_STEPS = 1 << 12  # steps that are held of all feature lists of a record, so that they need not be found twice


class Entry:
    """A feature of one record: its kind, its number of values, and where they are.

    `spans` gives `(begin, end)` of each bytes value, or of each run of packed numbers; `run` is the one that there is,
    where it was found to be one at once. `pieced` says, once they were gone through, whether there is a packed run
    among several.
    """

    __slots__ = ("_found", "_view", "count", "kind", "pieced", "run")

    def __init__(
        self, view: Buffer, kind: ListKind | None, count: int, found: Spans, run: tuple[int, int] | None = None
    ) -> None:
        self._view = view
        self.kind = kind
        self.count = count
        self._found = found
        self.run = run
        self.pieced = False

    def spans(self) -> Iterator[tuple[int, int]]:
        if self.run is not None:
            yield self.run
        elif self.kind is not None:
            pieces, any_packed = 0, False
            for begin, end in self._found:
                for first, last, packed in pieces_of(self._view, begin, end, self.kind, 1):
                    pieces, any_packed = pieces + 1, any_packed or packed
                    yield first, last
            self.pieced = any_packed and pieces > 1


class Steps:
    """The steps of a feature list, each a feature without a name, to be gone through as often as one likes.

    Raises WireError at once where protobuf would refuse one of them. Of a list of more than `room` steps none is held.
    """

    __slots__ = ("_held", "_spans", "_view")

    def __init__(self, view: Buffer, spans: Spans, room: int) -> None:
        self._view, self._spans = view, spans
        found = steps(view, spans)
        held = list(islice(found, room + 1))
        self._held = held if len(held) <= room else None
        for _ in found:
            pass

    @property
    def held(self) -> int:
        """Return how many steps are held."""
        return len(self._held or ())

    def __iter__(self) -> Iterator[Entry]:
        return steps(self._view, self._spans) if self._held is None else iter(self._held)


class RecordEntries:
    """One record: its features and feature lists by name, the last of each, and which names stood more than once.

    `room` is how many steps may still be held.
    """

    __slots__ = ("entries", "is_sequence", "lists", "more", "repeated", "room")

    def __init__(self) -> None:
        self.entries: dict[Key, Entry] = {}
        self.lists: dict[Key, Steps] = {}
        self.repeated: set[Key] = set()
        self.more = False
        self.is_sequence = False
        self.room = _STEPS

    def _bounded(self, found: dict[Key, object]) -> None:
        if len(found) > 2 * FEATURES:
            kept = within(found, FEATURES)
            for key in [key for key in found if key not in kept]:
                del found[key]
            self.repeated &= set(found)
            self.more = True


def read_record(view: Buffer, begin: int, end: int, layout: Layout) -> RecordEntries:
    """Read the record in `[begin, end)`; raises WireError where protobuf would refuse it for more than a name."""
    record = RecordEntries()
    if layout == "ofrecord":
        _read_features(view, begin, end, record, layout)
        return record
    for number, wire, first, last in fields(view, begin, end):
        if wire == LEN and number == 1:
            _read_features(view, first, last, record, layout)
        elif wire == LEN and number == 2:
            record.is_sequence = True
            for name, value in map_entries(view, [(first, last)]):
                key = (True, name)
                if key in record.lists:
                    record.repeated.add(key)
                found = record.lists[key] = Steps(view, value, record.room)
                record.room -= found.held
                record._bounded(record.lists)  # type: ignore[arg-type]
    return record


def _read_features(view: Buffer, begin: int, end: int, record: RecordEntries, layout: Layout) -> None:
    for name, value in map_entries(view, [(begin, end)]):
        key = (False, name)
        if key in record.entries:
            record.repeated.add(key)
        record.entries[key] = read_feature(view, value, layout)
        record._bounded(record.entries)  # type: ignore[arg-type]


def read_feature(view: Buffer, spans: Spans, layout: Layout) -> Entry:
    """Return a feature in one or several pieces; its lists are checked, those too that a later one overrides."""
    if isinstance(spans, list) and len(spans) == 1:
        ((begin, end),) = spans
        common = _common(view, begin, end, layout)
        if common is not None:
            return common
    return Entry(view, *find_lists(view, spans, LISTS[layout]))


def _common(view: Buffer, begin: int, end: int, layout: Layout) -> Entry | None:
    """Return a feature of one list in the common form; None where it is not, or is broken."""
    try:
        kind, first, count, several, _ = read_list(view, begin, end, TAGS[layout])
        if count == PACKED:
            check_varints(view, first, end)
            count = count_varints(view, first, end)
    except (IndexError, WireError):
        return None
    if several:
        return Entry(view, kind, count, [(first, end)])
    return Entry(view, kind, count, [], (first, end) if count else None)


def steps(view: Buffer, spans: Spans) -> Iterator[Entry]:
    """Yield the steps of a feature list, each a feature without a name."""
    for begin, end in spans:
        for number, wire, first, last in fields(view, begin, end):
            if number == 1 and wire == LEN:
                yield read_feature(view, [(first, last)], "example")


_MANY = 1 << 12  # values that are looked at together


def one_by_one(
    p: Buffer, begins: Sequence[int], ends: Sequence[int], first: int, path: str, layout: Layout
) -> tuple[Table, list[tuple[int, WireError]]]:
    """Return the table of these records, and those that do not parse, which are not in it (see `read_record`)."""
    total = Table()
    misfits: list[tuple[int, WireError]] = []
    for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        try:
            record = read_record(p, begin, end, layout)
            if begin < end and not (record.entries or record.lists):
                _refuse_alien(p[begin:end], begin, layout)
        except WireError as error:
            misfits.append((i, WireError(error.offset - begin, error.why)))
        else:
            total.merge(table_of(p, record, RecordPlace(path, first + i)))
    return total, misfits


def _refuse_alien(payload: Buffer, begin: int, layout: Layout) -> None:
    """Raise WireError for a record in which nothing of its kind was found, unless it is one without features."""
    found = fits(payload, layout)
    if found and (layout == "ofrecord" or fits(payload, "sequence_example")):
        raise WireError(begin + found.offset, found.why)


def table_of(p: Buffer, record: RecordEntries, place: RecordPlace) -> Table:
    """Return the table of one record."""
    features: dict[Key, Feature] = {}
    for key, entry in record.entries.items():
        feature = features[key] = _feature(key, record, place)
        lists = feature.lists(entry.kind, place)
        lists.records = 1
        lists.shortest = lists.longest = entry.count
        _add(p, lists, entry.spans(), place)
        lists.pieced = place if entry.pieced else None
    for key, steps in record.lists.items():
        feature = features[key] = _feature(key, record, place)
        count = _add_steps(p, feature, steps, place)
        feature.steps = count, count
    return Table(1, place, int(record.is_sequence), features, record.more)


def _feature(key: Key, record: RecordEntries, place: RecordPlace) -> Feature:
    twice = key in record.repeated
    return Feature(key[1], key[0], 1, int(twice), place if twice else None)


def _add_steps(p: Buffer, feature: Feature, found: Iterable[Entry], place: RecordPlace) -> int:
    """Add the steps of a feature list; their number. Values of many steps are looked at together."""
    waiting: dict[str | None, list[tuple[int, int]]] = {}
    count = 0
    for count, step in enumerate(found, 1):  # noqa: B007
        lists = feature.lists(step.kind, place)
        lists.records = 1
        lists.shortest, lists.longest = min(lists.shortest, step.count), max(lists.longest, step.count)
        if step.run is None:
            _add(p, lists, step.spans(), place)
            lists.pieced = place if step.pieced else lists.pieced
            continue
        runs = waiting.setdefault(step.kind, [])
        runs.append(step.run)
        if len(runs) == _MANY:
            _add(p, lists, iter(runs), place)
            runs.clear()
    for kind, runs in waiting.items():
        _add(p, feature.kinds[kind], iter(runs), place)
    return count


def _add(p: Buffer, lists: ListSummary, spans: Iterator[tuple[int, int]], place: RecordPlace) -> None:
    """Add the values of one list."""
    if isinstance(lists.values, Blobs):
        while some := list(islice(spans, _MANY)):
            lists.values.merge(blobs_of(p, some, lambda _: place))
    elif isinstance(lists.values, Numbers):
        runs = (p[begin:end] for begin, end in spans)
        if lists.kind in CODES:
            floats(runs, CODES[lists.kind], lists.values)
        else:
            integers(runs, lists.values, lists.kind == "int32")
