"""head: the first records, whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tfrtool.framing.layout import HEADER, OFRECORD_HEADER
from tfrtool.framing.walk import Batch
from tfrtool.framing.window import CAPACITY
from tfrtool.payload.kinds import kind_of
from tfrtool.verbs.reading import Reading, reading

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.report import FileReport, Kind
    from tfrtool.verbs.options import Options


@dataclass(slots=True)
class Record:
    """A sound record: its number in the file and the offset of its frame, its payload, and what kind that is.

    `size` is the payload's, in bytes. `payload` is None where it is too large to be held in memory; a large one is a view
    that is good until the next item is asked for.
    """

    index: int
    offset: int
    size: int
    kind: Kind | None
    payload: bytes | memoryview | None


def head_file(name: str, options: Options, n: int = 5, skip: int = 0) -> Iterator[Record | Damage | FileReport]:
    """Yield `n` sound records after the first `skip`, damage met on the way, then the report of what was read."""
    yield from reading(name, options, lambda read: _head(read, n, skip))


def _head(read: Reading, n: int, skip: int) -> Iterator[Record | Damage | FileReport]:
    last = skip + n
    shown = 0
    if n > 0:
        before = HEADER if read.identity.format == "tfrecord" else OFRECORD_HEADER
        for event in read.events(payloads=True):
            if not isinstance(event, Batch):
                yield event
                continue
            for i in range(max(0, skip - shown), min(event.count, last - shown)):
                yield _record(event, i, before)
            shown += event.count
            if shown >= last:
                break
    report = read.report()
    report.records = min(shown, last)
    yield report


def _record(batch: Batch, i: int, before: int) -> Record:
    begin, end = batch.begins[i], batch.ends[i]
    payload: bytes | memoryview | None = None
    if batch.view is not None:
        payload = batch.view[begin:end]
        if len(payload) <= CAPACITY:  # copying a larger one would take longer than reading it
            payload = bytes(payload)
    kind = None if payload is None else kind_of(payload)
    return Record(batch.first + i, batch.base + begin - before, end - begin, kind, payload)
