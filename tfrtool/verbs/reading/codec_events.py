"""Put the breaks of a gzip or zlib stream where they belong among the frames and damage of what it unpacks to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrtool.framing.damage import Damage, Recovery
from tfrtool.framing.walk import Batch

if TYPE_CHECKING:
    from tfrtool.sources.codecs.faults import CodecFault


def codec_damage(fault: CodecFault) -> Damage:
    """Return a break of the codec as damage of no bytes, at its offset in the decoded stream."""
    at, recovery = fault.offset_decoded, Recovery("recompressed-ok", 0, ()) if fault.harmless else None
    return Damage(at, at, "codec", detail=fault.detail, recovery=recovery, tensorflow=fault.tensorflow)


def with_codec_faults(
    events: Iterator[Batch | Damage], faults: list[CodecFault], header: int
) -> Iterator[Batch | Damage]:
    """Yield the same events with `faults` among them, in the order of where each begins.

    `faults` grows as the stream is read, never behind what was yielded. A batch is cut where a fault stands before one
    of its frames; a fault inside a frame or a damaged range comes after it. `header` is the bytes before each payload.
    """
    done = 0

    def up_to(end: int | None) -> Iterator[Damage]:
        nonlocal done
        while done < len(faults) and (end is None or faults[done].offset_decoded <= end):
            done += 1
            yield codec_damage(faults[done - 1])

    for event in events:
        cut = isinstance(event, Batch) and event.begins and done < len(faults)
        for part in _cut(event, faults[done:], header) if cut else (event,):  # type: ignore[arg-type]
            yield from up_to(part.begin)
            yield part
            yield from up_to(part.end)
    yield from up_to(None)


def _cut(batch: Batch, faults: list[CodecFault], header: int) -> Iterator[Batch]:
    """Yield a batch in parts, each of which ends where a fault stands before the next frame."""
    shift, at, done = batch.base - header, batch.begin, 0
    for fault in faults:
        here = bisect_left(batch.begins, fault.offset_decoded - shift, done)
        if done < here < batch.count:
            begin, at = at, shift + batch.begins[here]
            yield _part(batch, begin, at, done, here)
            done = here
    yield _part(batch, at, batch.end, done, batch.count)


def _part(batch: Batch, begin: int, end: int, first: int, stop: int) -> Batch:
    columns = {"begins": batch.begins[first:stop], "ends": batch.ends[first:stop]}
    return batch.replaced(begin=begin, end=end, first=batch.first + first, count=stop - first, **columns)
