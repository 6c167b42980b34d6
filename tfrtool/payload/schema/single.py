"""Records read one by one: those of an unusual form, and feature lists. Slower, and right about everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from tfrtool.payload.kinds import fits
from tfrtool.payload.schema.agree import Agreement
from tfrtool.payload.schema.content import blobs_of
from tfrtool.payload.schema.entries import Entry, Record, read_record
from tfrtool.payload.schema.family import Family
from tfrtool.payload.schema.feature import Feature, Key, Lists, Met
from tfrtool.payload.schema.lists import CODES
from tfrtool.payload.schema.numbers import floats, integers
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, Numbers, Place
from tfrtool.payload.wire import Buffer, WireError

_MANY = 1 << 12  # values that are looked at together


def one_by_one(
    p: Buffer, begins: Sequence[int], ends: Sequence[int], first: int, path: str, family: Family
) -> tuple[Table, list[tuple[int, WireError]]]:
    """The table of these records, and those that do not parse, which are not in it (see `read_record`)."""
    total = Table()
    misfits: list[tuple[int, WireError]] = []
    for i, (begin, end) in enumerate(zip(begins, ends, strict=True)):
        try:
            record = read_record(p, begin, end, family)
            if begin < end and not (record.entries or record.lists):
                _refuse_alien(p[begin:end], begin, family)
        except WireError as error:
            misfits.append((i, WireError(error.offset - begin, error.why)))
        else:
            total.merge(table_of(p, record, Place(path, first + i)))
    return total, misfits


def _refuse_alien(payload: Buffer, begin: int, family: Family) -> None:
    """Raise WireError for a record in which nothing of its kind was found, unless it is one without features."""
    found = fits(payload, family)
    if found and (family == "ofrecord" or fits(payload, "sequence_example")):
        raise WireError(begin + found.offset, found.why)


def table_of(p: Buffer, record: Record, place: Place) -> Table:
    """The table of one record."""
    features: dict[Key, Feature] = {}
    lengths: dict[Key, int] = {}
    for key, entry in record.entries.items():
        feature = features[key] = _feature(key, record, place)
        lists = feature.lists(entry.kind, place)
        lists.records = 1
        lists.shortest = lists.longest = lengths[key] = entry.count
        _add(p, lists, entry.spans(), place)
        lists.pieced = place if entry.pieced else None
        if entry.count:
            feature.filled = Met(0, place)
    for key, steps in record.lists.items():
        feature = features[key] = _feature(key, record, place)
        count = _add_steps(p, feature, steps, place)
        feature.steps = count, count
        lengths[key] = count
        if count:
            feature.filled = Met(0, place)
    agreement = Agreement.of(lengths, 1, lambda at: place)
    return Table(1, place, int(record.is_sequence), features, agreement, record.more)


def _feature(key: Key, record: Record, place: Place) -> Feature:
    twice = key in record.repeated
    return Feature(key[1], key[0], 1, int(twice), place if twice else None)


def _add_steps(p: Buffer, feature: Feature, found: Iterable[Entry], place: Place) -> int:
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


def _add(p: Buffer, lists: Lists, spans: Iterator[tuple[int, int]], place: Place) -> None:
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
