"""The walk: sound frames in batches, and damage, in the order of the stream and without a gap between them.

Records larger than the window: read past it, checked piece by piece, and held whole where they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import sub
from struct import Struct
from typing import TYPE_CHECKING, Any

from tfrtool.framing.crc import Masked, crc32c, header_is_sound, rotated, unmasked
from tfrtool.framing.kernel import select as kernel
from tfrtool.framing.layout import FOOTER, FRAMING, HEADER, LONGEST
from tfrtool.framing.stream import CAPACITY, ByteStream, Window

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.framing.recovery.explain import Resync


_STEP = 1 << 21  # bytes that are read and checked while they are in the processor's cache
_PASSING = 3 << 19  # the same where they are not held: all the memory that takes
_AHEAD = 1 << 10  # bytes behind a record that are read with it: the next header, most likely of one as large

_CRC = Struct("<I").unpack_from


class Large:
    """Reads the large records of a walk into memory of its own, and gives its window what follows them.

    That memory is used again for each: fresh memory takes several times as long to fill.
    """

    __slots__ = ("_data", "_memory", "_window")

    def __init__(self, data: ByteStream, window: Window) -> None:
        self._data = data
        self._window = window
        self._memory = memoryview(b"")

    def read(self, at: int, length: int, held: bool) -> tuple[int, int, memoryview | None]:
        """The masked checksum of the `length` bytes behind the header at `at`, the one stored behind them, and them.

        They are None unless they are to be `held`; the view is good until the next call. The stream must hold them,
        and the window their header. A stored checksum of -1 is none: the stream got shorter meanwhile.
        """
        window, begin = self._window, at + HEADER
        here = min(window.base + window.fill - begin, length)
        step = _STEP if held else _PASSING
        room = self._room((length if held else min(length - here, step)) + FOOTER + _AHEAD)
        known = window.peek(begin, here)
        crc, to = crc32c(known), 0
        if held:
            room[:here], to = known, here
        while length - here > step:
            part = room[to : to + step]
            if self._data.read_into(begin + here, part) < step:
                return rotated(crc), -1, None
            crc = crc32c(part, crc)
            here += step
            to = here if held else 0
        end = to + length - here
        got = to + self._data.read_into(begin + here, room[to : end + FOOTER + _AHEAD])
        if got < end + FOOTER:
            return rotated(crc), -1, None
        crc = crc32c(room[to:end], crc)
        window.restart(begin + length + FOOTER, room[end + FOOTER : got])
        return rotated(crc), _CRC(room, end)[0], room[:length] if held else None

    def _room(self, size: int) -> memoryview:
        if len(self._memory) < size:
            self._memory = memoryview(bytearray(size))
        return self._memory[:size]


# What only damage or large records need is imported when the first is met: the former takes as long as counting the
# records of a small file.

MAX_RECORD = 1 << 30
"""Largest payload that is held in memory, in bytes, where payloads are asked for."""

_AFTER_DAMAGE = 1 << 10
_SPARSE = 1 << 14
_FETCH_SPARSE = 1 << 10
_FEW = 1 << 8  # records of a window: with fewer, what is done once a batch takes as long as what is done for each

_HEADER = Struct("<QI")
_FOOTER = Struct("<I")


class Batch:
    """Sound frames one after another, as columns: `[begin, end)` of the stream, `count` records from number `first` on.

    The payload of frame `i` is `view[begins[i]:ends[i]]`, and that byte 0 of `view` stands at `base` of the stream. The
    view is reused: it is good until the next batch is asked for. In a walk over headers alone there are no columns, but
    `lengths` of the payloads where they were asked for; a record too large to be held has a view of None.
    """

    # No dataclass: importing those takes a fifth of the time in which the records of a file are counted.
    __slots__ = ("base", "begin", "begins", "count", "end", "ends", "first", "lengths", "view")

    def __init__(
        self,
        begin: int,
        end: int,
        first: int,
        count: int,
        base: int,
        view: memoryview | None,
        begins: list[int],
        ends: list[int],
        lengths: Sequence[int] = (),
    ) -> None:
        self.begin = begin
        self.end = end
        self.first = first
        self.count = count
        self.base = base
        self.view = view
        self.begins = begins
        self.ends = ends
        self.lengths = lengths

    def replaced(self, **changes: Any) -> Batch:
        """The same with other values in some columns."""
        return Batch(**{**{name: getattr(self, name) for name in self.__slots__}, **changes})

    @property
    def sizes(self) -> Sequence[int]:
        """Bytes of each payload."""
        return self.lengths or list(map(sub, self.ends, self.begins))


def walk(
    data: ByteStream,
    *,
    payloads: bool = False,
    max_record: int = MAX_RECORD,
    headers_only: bool = False,
    lengths: bool = False,
    stopped: Callable[[], bool] = bool,
    start: int = 0,
    number: int = 0,
) -> Iterator[Batch | Damage]:
    """Walk TFRecord framing from the first byte to the last.

    `payloads` asks that each batch give its payloads; then a record larger than the window is read into memory whole,
    up to `max_record` bytes. `headers_only` hops from header to header, and reads payloads only to explain damage: a
    record is then sound when its length checksum holds and all its bytes are there; `lengths` asks for the lengths of
    the payloads there. Frames and damage tile the stream.

    The first damage says what TensorFlow makes of it, unless `stopped` says that it would not come so far. Where it is
    gone on from `start`, so many bytes were walked before, with `number` records in them.
    """
    walker = _Walker(data, payloads, max_record)
    walker.reached, walker.number, walker.damaged = start, number, start > 0
    walker.batch_begin = start
    walker.stopped = stopped
    if lengths:
        walker.lengths = []
    return walker.hop() if headers_only else walker.walk()


class _Walker:
    def __init__(self, data: ByteStream, payloads: bool, max_record: int) -> None:
        self.data = data
        self.window = Window(data)
        self.payloads = payloads
        self.max_record = max_record
        self.known: kernel.Known = {}
        self.lengths: list[int] | None = None  # of the records that were hopped over and are not yet in a batch
        self.reached = 0
        self.number = 0
        self.batch_begin = 0  # where the last batch began: its records show what the file holds, once damage is met
        self.damaged = False
        self.stopped: Callable[[], bool] = bool
        self._large: Large | None = None
        self._resync: Resync | None = None
        self._refused = 0

    @property
    def large(self) -> Large:
        """What reads records that are larger than the window."""
        if self._large is None:
            self._large = Large(self.data, self.window)
        return self._large

    @property
    def resync(self) -> Resync:
        """What explains damage. Its budget earns for all that the walk has passed."""
        if self._resync is None:
            from tfrtool.framing.recovery.budget import WorkBudget
            from tfrtool.framing.recovery.explain import Resync

            self._resync = Resync(self.data, WorkBudget())
        self._resync.budget.advance(self.reached)
        return self._resync

    def walk(self) -> Iterator[Batch | Damage]:
        at, window = self.reached, self.window
        span = fetch = window.capacity
        while True:
            index = window.load(at, FRAMING, fetch)
            fetch = window.capacity
            # The kernel chains headers before it checks payloads, so behind damage it is given little, then more.
            limit = min(window.fill, index + span)
            begins, ends, stop = kernel.walk(window.buffer, window.view, index, limit, self.known)
            if span < window.capacity:
                span *= 4
                if not begins and limit < window.fill:
                    begins, ends, stop = self._one(index)
            if begins:
                end = window.base + stop
                yield self._batch(at, end, len(begins), window.base, window.view, begins, ends)
                if len(begins) < _FEW and window.capacity == CAPACITY <= span and stop - index > CAPACITY >> 1:
                    window.grow()
                    span = fetch = window.capacity
                self.batch_begin, at = at, end
                self.data.discard_before(self.batch_begin)
                self.reached = at
                continue
            if window.fill == index:
                return
            length, crcs = self._sound_length(index), None
            if length is not None:
                end = at + FRAMING + length
                if end - at <= window.capacity and end > window.base + window.fill and window.fill - index < end - at:
                    index = window.load(at, end - at)
                    if window.fill - index >= end - at:
                        continue
                elif end - at > window.capacity and self._fits(length, end) and self._affordable(end):
                    want, got, view = self.large.read(at, length, self.payloads and length <= self.max_record)
                    if want == got:
                        yield self._batch(at, end, 1, at + HEADER, view, [0], [length])
                        self.batch_begin = at = end
                        self.data.discard_before(at)
                        continue
                    crcs = want, got
                    self.resync.budget.charge(length)
            found, at = self._damage(at, length, crcs)
            yield from self._told(found, length)
            self.data.discard_before(at)
            span = _AFTER_DAMAGE

    def _one(self, index: int) -> tuple[list[int], list[int], int]:
        """The one frame at `index`, if it is whole in the window and sound."""
        window = self.window
        length = self._sound_length(index)
        end = window.fill if length is None else min(window.fill, index + FRAMING + length)
        if length is None or end < index + FRAMING + length or not self._affordable(window.base + end):
            return [], [], index
        return kernel.walk(window.buffer, window.view, index, end, self.known)

    def hop(self) -> Iterator[Batch | Damage]:
        """The walk over headers. The last record hopped over is held back until its end proves to be a boundary."""
        at, held, fetch, window = self.reached, None, CAPACITY, self.window
        while True:
            index = window.load(at, HEADER, fetch)
            count, stop, last = self._hop(index)
            to, last = window.base + stop, window.base + last
            if count and stop > window.fill and not self._fits(to - last - FRAMING, to):
                count, to = count - 1, last
                if self.lengths is not None:
                    del self.lengths[-1]
                last = at if not count else self._before(at, last)
            if count:
                begin = at if held is None else held
                held_count = count if held is not None else count - 1
                if held_count:
                    yield self._batch(begin, last, held_count, begin, None, [], [])
                self.batch_begin, held, at = at if held is None else held, last, to
                fetch = _FETCH_SPARSE if to - last > _SPARSE else CAPACITY
                self.data.discard_before(self.batch_begin)
                self.reached = at
                continue
            index = window.load(at, HEADER)
            length = self._sound_length(index)
            at_end = window.fill == index
            if held is not None:
                if not at_end and length is None and not self.resync.budget.exhausted and self._data_unsound(held, at):
                    length, at = at - held - FRAMING, held
                    if self.lengths is not None:
                        del self.lengths[-1]
                else:
                    yield self._batch(held, at, 1, held, None, [], [])
                held = None
            if at_end and at == window.base + index:
                return
            found, at = self._damage(at, length)
            yield from self._told(found, length)
            self.data.discard_before(at)
            fetch = CAPACITY

    def _hop(self, index: int) -> tuple[int, int, int]:
        window = self.window
        if self.lengths is None:
            return kernel.hop(window.buffer, index, window.fill, self.known)
        return kernel.hop_lengths(window.buffer, index, window.fill, self.known, self.lengths)

    def _before(self, at: int, last: int) -> int:
        """The begin of the record that ends at `last`, hopping again from `at`; both lie in the window."""
        window = self.window
        _, _, previous = kernel.hop(window.buffer, at - window.base, last - window.base, self.known)
        return window.base + previous

    def _data_unsound(self, begin: int, end: int) -> bool:
        stored = bytes(self.window.peek(end - 4, 4))
        crc = self.resync.ahead.far.crc(begin + HEADER, end - 4)
        unsound = len(stored) < 4 or rotated(crc) != _FOOTER.unpack(stored)[0]
        self.resync.budget.charge(end - begin if unsound else 0)
        return unsound

    def _batch(
        self, begin: int, end: int, count: int, base: int, view: memoryview | None, begins: list[int], ends: list[int]
    ) -> Batch:
        batch = Batch(begin, end, self.number, count, base, view, begins, ends)
        self.number += count
        if self.lengths is not None:
            batch.lengths, self.lengths = self.lengths[:count], self.lengths[count:]
        return batch

    def _sound_length(self, index: int) -> int | None:
        window = self.window
        if window.fill - index < HEADER or not header_is_sound(window.view[index : index + HEADER]):
            return None
        length: int = _HEADER.unpack_from(window.buffer, index)[0]
        return length

    def _affordable(self, end: int) -> bool:
        """Whether the payload of a record that ends at `end` may be read to see whether it is sound.

        Always where the next header follows, since the walk then goes on there; else once what was read in vain is
        earned back.
        """
        return not self.damaged or not self.resync.budget.exhausted or self.resync.ahead.is_boundary(end)

    def _fits(self, length: int, end: int) -> bool:
        # Where the size is not known, whether a record fits is found out by reading that far, so that is bounded.
        return (self.window.end is not None or length < LONGEST) and self.window.holds(end)

    def _damage(self, at: int, length: int | None, crcs: tuple[int, int] | None = None) -> tuple[list[Damage], int]:
        """The damage at `at`, where the header is unsound (`length` None) or sound and something behind it is not.

        `crcs` are the computed and the stored data checksum, where they are known already.
        """
        self.resync.nested.decide(self.resync.ahead, self.batch_begin, at)
        if length is None:
            return self.resync.explain(at, self.number)
        end = at + FRAMING + length
        if not self._fits(length, end):
            return self.resync.cut_short(at, self.number, length, False, None)
        confined = self.resync.is_confined(at, end)
        if crcs is None and (confined or not self.resync.budget.exhausted):
            crc = rotated(self.resync.ahead.far.crc(at + HEADER, end - 4))
            crcs = crc, _FOOTER.unpack(self.window.peek(end - 4, 4))[0]
            self.resync.budget.charge(0 if confined else length)
        if crcs is not None and crcs[0] != crcs[1]:
            from tfrtool.framing.recovery.wrong_writers import data_by_a_wrong_writer

            written = data_by_a_wrong_writer(self.resync.ahead, at, end, unmasked(Masked(crcs[0])))
            if written:
                from tfrtool.framing import messages
                from tfrtool.framing.damage import Damage
                from tfrtool.framing.layout import LAYOUTS

                message = messages.data_of_a_wrong_writer(length, LAYOUTS[written.writer].words)
                masked = Masked(crcs[0]), Masked(crcs[1])
                return [Damage(at, end, "data-crc", self.number, *masked, message, written)], end
        from tfrtool.framing.recovery.header_bits import one_bit_apart

        # A checksum that stands there with one bit flipped proves the end too.
        if crcs is None or not (confined or one_bit_apart(*crcs)):
            return self.resync.cut_short(at, self.number, length, True, crcs)
        from tfrtool.framing.damage import unsound_data

        return [unsound_data(at, end, self.number, *crcs)], end

    def _told(self, found: list[Damage], length: int | None) -> Iterator[Damage]:
        """The damage to be yielded; the first of a stream says what TensorFlow makes of it, which never sees more."""
        refused, before = self.resync.budget.denied, self._refused
        self._refused = refused
        for damage in found:
            if refused > before and damage.fault == "stray" and damage.end - damage.begin > FRAMING:
                from dataclasses import replace

                damage = replace(damage, given_up=True)
            if not self.damaged:
                from tfrtool.framing import messages

                self.damaged = True
                begin, end = damage.begin, damage.end
                if self.stopped():
                    seen = ""
                elif length is not None and not self._fits(length, begin + FRAMING + length):
                    seen = messages.tensorflow_too_long(length, begin)
                else:
                    seen = messages.tensorflow(damage.fault, begin, end)
                if seen:
                    from dataclasses import replace

                    damage = replace(damage, tensorflow=seen)
            if damage.record is not None:
                self.number += max(damage.recovery.records if damage.recovery else 1, 1)
            yield damage
