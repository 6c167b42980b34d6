"""Batches that wait until the kind of their file is known, so that all payloads are judged by one kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfrtool.framing.walk import Batch

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.framing.window import Readable
    from tfrtool.verbs.voting import Voting


class Unforgotten:
    """A stream that forgets nothing until `release`. What that keeps is bounded by what votes on the kind."""

    def __init__(self, data: Readable) -> None:
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

    def forget(self, offset: int) -> None:
        """The walk needs nothing before `offset` any more."""
        self._reached = offset
        if not self._waiting:
            self._data.forget(offset)

    def release(self) -> None:
        """Forget what was kept, and from now on what the walk forgets."""
        self._waiting = False
        self._data.forget(self._reached)


def waiting(
    voting: Voting, events: Iterator[Batch | Damage], most: int, data: Readable | Unforgotten
) -> Iterator[Batch | Damage]:
    """The same events in their order, none of them before the kind of the file is settled by all that votes on it.

    At most `most` records are waited for. Payloads that wait are not held: they are read from `data` once more.
    """
    held: list[Batch | Damage] = []
    last: Batch | Damage | None = None
    for event in events:
        voting.listen(event)
        if isinstance(event, Batch):
            most -= event.count
            if voting.settled or most <= 0:
                last = event
                break
            held.append(event if event.view is None else event.replaced(view=memoryview(b"")))
        elif held:
            if voting.settled:
                last = event
                break
            held.append(event)
        else:
            yield event
    voting.settled = voting.settled or voting.heard
    yield from _again(held, data)
    held.clear()
    if isinstance(data, Unforgotten):
        data.release()
    if last is not None:
        yield last
    for event in events:
        if not voting.settled:  # since all were empty that were waited for
            voting.listen(event)
        yield event


def _again(held: list[Batch | Damage], data: Readable) -> Iterator[Batch | Damage]:
    """What was held, with the payloads of batches."""
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
