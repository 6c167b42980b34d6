"""Detect the kind of a file's records by a vote of the first ones, and hold batches back until it is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrtool.framing.walk import Batch

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.framing.stream import ByteStream
    from tfrtool.payload.kinds import KindVote
    from tfrtool.types import Kind


_SAMPLED_BYTES = 1 << 24
"""Bytes of payloads that vote at most, if they show a kind."""
_AGREED_BYTES = 1 << 22
"""The same where all of them, and there are several, agree."""
_FEW = 16
"""Large records that vote at least while they show no kind."""
VOTERS = 1 << 12
"""Records that vote where most of them are empty."""
_EMPTY = 2
"""Bytes of the largest payload that may be an empty message."""
_RANGES = 1 << 12
"""Damaged ranges after the first record, after which no record votes."""


class KindDetector:
    """Observes the events of a file, in order, until the kind of its records is `settled`."""

    def __init__(self, data: ByteStream, framing: tuple[int, int]) -> None:
        """`data` is the decoded stream, and `framing` the number of bytes before and after each payload."""
        self._data = data
        self._framing = framing
        self._vote: KindVote | None = None
        self._sampled = self._ranges = 0
        self.settled = False
        """Whether the kind is final."""

    def observe(self, event: Batch | Damage) -> None:
        """Let the records of an event vote on the kind of the file."""
        if not isinstance(event, Batch):
            self._ranges += self._vote is not None
            self.settled = self._ranges > _RANGES
        elif event.begins or event.lengths:
            self._sample(event)

    def _sample(self, batch: Batch) -> None:
        if self._vote is None:
            from tfrtool.payload.kinds import KindVote

            self._vote = KindVote()
        vote = self._vote
        if vote.seen >= VOTERS and not vote.votes and max(batch.sizes) <= _EMPTY:
            return
        for begin, end in zip(batch.begins, batch.ends, strict=True) if batch.begins else self._hopped(batch):
            if end - begin <= _EMPTY and vote.seen >= VOTERS and not vote.votes:
                continue
            if batch.view is not None or end - begin <= _SAMPLED_BYTES:
                vote.add(self._payload(batch, begin, end))
            self._sampled += end - begin
            if self._enough(vote):
                self.settled = True
                return

    def _enough(self, vote: KindVote) -> bool:
        """Return whether enough records or bytes have voted."""
        if vote.decided:  # unless all were empty: others may follow
            return bool(vote.votes) or vote.seen >= 2 * VOTERS
        if self._sampled <= _AGREED_BYTES:
            return False
        if vote.kind in (None, "unknown"):
            return vote.seen >= _FEW and self._sampled > _SAMPLED_BYTES
        return self._sampled > _SAMPLED_BYTES or (len(vote.votes) == 1 and vote.seen > 1)

    def _hopped(self, batch: Batch) -> Iterator[tuple[int, int]]:
        """Yield begin and end of each payload in a batch of headers, relative to its base."""
        before, after = self._framing
        at = 0
        for length in batch.lengths:
            at += before
            yield at, at + length
            at += length + after

    def _payload(self, batch: Batch, begin: int, end: int) -> memoryview:
        if batch.view is not None:
            return batch.view[begin:end]
        # The walk was not asked for payloads, so they are read here.
        view = memoryview(bytearray(end - begin))
        return view[: self._data.read_into(batch.base + begin, view)]

    @property
    def kind(self) -> Kind | None:
        """The kind of the file so far; None where no record was observed."""
        return None if self._vote is None else self._vote.kind

    @property
    def has_evidence(self) -> bool:
        """Whether a record has voted on the kind; empty ones do not."""
        return self._vote is not None and bool(self._vote.votes)

    @property
    def featureless(self) -> bool:
        """Whether the first records are all of a kind without features, or of no known kind."""
        votes = set(self._vote.votes) if self._vote else set()
        return self.kind == "event" or (self.kind == "unknown" and votes <= {"unknown"})

    def why_unknown(self) -> str:
        """Say why the kind of the file is `unknown`."""
        votes = self._vote.votes if self._vote else {}
        near = self._vote.closest_kind if self._vote else None
        example = f"; one is {near[1]}" if near else ""
        if set(votes) <= {"unknown"}:
            return f"they are of no known kind (Example, SequenceExample, Event, OFRecord){example}"
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(votes.items()))
        return f"the first records are of several kinds: {kinds}{example}"


class RetainingStream:
    """A stream that keeps all its bytes until `release`. How many is bounded by what votes on the kind."""

    def __init__(self, data: ByteStream) -> None:
        self._data = data
        self._reached = 0
        self._waiting = True

    @property
    def size(self) -> int | None:
        """Bytes of the stream where that is known beforehand, else None."""
        return self._data.size

    def read_into(self, offset: int, view: memoryview) -> int:
        """Fill `view` from `offset` on; fewer bytes than asked for come only at the end of the stream."""
        return self._data.read_into(offset, view)

    def discard_before(self, offset: int) -> None:
        """The walk needs nothing before `offset` any more."""
        self._reached = offset
        if not self._waiting:
            self._data.discard_before(offset)

    def release(self) -> None:
        """Let go of what was kept, and from now on of what the walk has done with."""
        self._waiting = False
        self._data.discard_before(self._reached)


def until_kind_is_known(
    kind_detector: KindDetector, events: Iterator[Batch | Damage], most: int, data: ByteStream | RetainingStream
) -> Iterator[Batch | Damage]:
    """Yield the same events in order, none of them before the kind of the file is settled.

    At most `most` records are held back. Their payloads are not kept, but read from `data` once more.
    """
    held: list[Batch | Damage] = []
    last: Batch | Damage | None = None
    for event in events:
        kind_detector.observe(event)
        if isinstance(event, Batch):
            most -= event.count
            if kind_detector.settled or most <= 0:
                last = event
                break
            held.append(event if event.view is None else event.replaced(view=memoryview(b"")))
        elif held:
            if kind_detector.settled:
                last = event
                break
            held.append(event)
        else:
            yield event
    kind_detector.settled = kind_detector.settled or kind_detector.has_evidence
    yield from _again(held, data)
    held.clear()
    if isinstance(data, RetainingStream):
        data.release()
    if last is not None:
        yield last
    for event in events:
        if not kind_detector.settled:  # since all that were held back were empty
            kind_detector.observe(event)
        yield event


def _again(held: list[Batch | Damage], data: ByteStream) -> Iterator[Batch | Damage]:
    """Yield the events that were held back, with the payloads of batches read again."""
    buffer = memoryview(b"")
    for event in held:
        if isinstance(event, Batch) and event.view is not None and event.begins:
            first = event.begins[0]
            size = event.ends[-1] - first
            if len(buffer) < size:
                buffer = memoryview(bytearray(size))
            view = buffer[: data.read_into(event.base + first, buffer[:size])]
            begins, ends = [at - first for at in event.begins], [at - first for at in event.ends]
            event = event.replaced(base=event.base + first, view=view, begins=begins, ends=ends)
        yield event
