"""The vocabulary of the framing tests: building small files, and damaging them.

Every function returns new bytes. `File` keeps the payloads and offsets of what was framed, so that a test can say
"record 4" and mean its bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import frame
from tfrtool.framing.layout import Layout
from tfrtool.framing.stream import MemoryStream
from tfrtool.framing.walk import Batch, walk


@dataclass(frozen=True)
class File:
    """Framed payloads, and where each frame begins; `at[-1]` is the size."""

    payloads: tuple[bytes, ...]

    @property
    def data(self) -> bytes:
        return b"".join(map(frame, self.payloads))

    @property
    def at(self) -> list[int]:
        offsets = [0]
        for payload in self.payloads:
            offsets.append(offsets[-1] + 16 + len(payload))
        return offsets

    def span(self, number: int) -> tuple[int, int]:
        """Where the frame of a record begins and ends."""
        return self.at[number], self.at[number + 1]

    def without(self, *numbers: int) -> tuple[bytes, ...]:
        """The payloads of all records but these."""
        return tuple(payload for number, payload in enumerate(self.payloads) if number not in numbers)


def ten(seed: int = 1, low: int = 40, high: int = 120) -> File:
    """Ten records of random bytes."""
    random = Random(seed)
    return File(tuple(random.randbytes(random.randint(low, high)) for _ in range(10)))


def flip(data: bytes, at: int, bit: int = 0) -> bytes:
    """One bit turned over."""
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def spoil(data: bytes, begin: int, end: int) -> bytes:
    """Every bit of a stretch turned over, so that each byte is certain to differ."""
    return data[:begin] + bytes(byte ^ 0xFF for byte in data[begin:end]) + data[end:]


def cut(data: bytes, at: int) -> bytes:
    """The file ends here."""
    return data[:at]


def drop(data: bytes, begin: int, end: int) -> bytes:
    """A stretch is missing."""
    return data[:begin] + data[end:]


def insert(data: bytes, at: int, what: bytes) -> bytes:
    """Bytes too many."""
    return data[:at] + what + data[at:]


def zero(data: bytes, begin: int, end: int) -> bytes:
    """A stretch of zeros."""
    return data[:begin] + bytes(end - begin) + data[end:]


def nest(file: File, before: bytes = b"", after: bytes = b"") -> bytes:
    """A payload that holds a whole record file, as a record or as a value inside a message does."""
    return before + file.data + after


def written_by(layout: Layout, payloads: Iterable[bytes]) -> bytes:
    """The payloads as a writer of that layout frames them."""
    frames = []
    for payload in payloads:
        length = layout.header.pack(len(payload), 0)[:8]
        head = layout.header.pack(len(payload), layout.stored(layout.crc(length)))
        frames += [head, payload, layout.footer.pack(layout.stored(layout.crc(payload)))]
    return b"".join(frames)


class Drip:
    """A stream read `step` bytes at a time, that holds its reader to what it promised to `discard_before`.

    Its size is unknown, as a pipe's is, unless `sized`.
    """

    def __init__(self, data: bytes, step: int, *, sized: bool = False) -> None:
        self.data, self.step, self.discarded = data, step, 0
        self.size = len(data) if sized else None

    def read_into(self, offset: int, view: memoryview) -> int:
        assert offset >= self.discarded, f"{offset} was asked for again after {self.discarded} was forgotten"
        got = 0
        while got < len(view):
            part = self.data[offset + got : offset + min(len(view), got + self.step)]
            if not part:
                break
            view[got : got + len(part)] = part
            got += len(part)
        return got

    def discard_before(self, offset: int) -> None:
        self.discarded = max(self.discarded, offset)


class Counting(MemoryStream):
    """A stream that counts what is read of it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.data, self.read = data, 0

    def read_into(self, offset: int, view: memoryview) -> int:
        got = super().read_into(offset, view)
        self.read += got
        return got


@dataclass(frozen=True)
class Walked:
    """What a walk found: the payloads it gave with the offsets of their frames, and the damage."""

    payloads: tuple[bytes, ...]
    offsets: tuple[int, ...]
    damage: tuple[Damage, ...]

    @property
    def ranges(self) -> list[tuple[int, int]]:
        return [(d.begin, d.end) for d in self.damage]

    @property
    def stretches(self) -> list[tuple[int, int]]:
        """The ranges, those that touch taken together."""
        out: list[tuple[int, int]] = []
        for begin, end in self.ranges:
            out[-1:] = [(out[-1][0], end)] if out and out[-1][1] == begin else [*out[-1:], (begin, end)]
        return out

    @property
    def faults(self) -> list[str]:
        return [d.fault for d in self.damage]

    @property
    def restorable(self) -> int:
        return sum(d.restorable for d in self.damage)

    def recovered(self, data: bytes) -> list[bytes]:
        """The payloads that the damage proves whole, read from the damaged file."""
        rescues = [d.recovery for d in self.damage if d.recovery and d.restorable and not d.recovery.layout]
        return [b"".join(data[begin:end] for begin, end in recovery.pieces) for recovery in rescues]


def walked(data: bytes | Drip | Counting, **how: object) -> Walked:
    """Walk to the end, checking that frames and damage tile the stream."""
    stream = MemoryStream(data) if isinstance(data, bytes) else data
    payloads: list[bytes] = []
    offsets: list[int] = []
    damage: list[Damage] = []
    reached = number = 0
    for item in walk(stream, payloads=True, **how):  # type: ignore[arg-type]
        assert item.begin == reached, "frames and damage leave a gap or overlap"
        reached = item.end
        if isinstance(item, Batch):
            assert item.view is not None
            assert item.first == number
            number += item.count
            payloads += [bytes(item.view[b:e]) for b, e in zip(item.begins, item.ends, strict=True)]
            offsets += [item.base + b - 12 for b in item.begins]
        else:
            assert item.begin < item.end
            damage.append(item)
            number += max(item.recovery.records if item.recovery else 1, 1) if item.record is not None else 0
    assert reached == len(data if isinstance(data, bytes) else data.data), "the walk did not come to the end"
    return Walked(tuple(payloads), tuple(offsets), tuple(damage))


def counted(data: bytes | Drip | Counting) -> tuple[int, list[Damage]]:
    """Walk the headers alone: how many records, and the damage."""
    stream = MemoryStream(data) if isinstance(data, bytes) else data
    records, reached = 0, 0
    damage: list[Damage] = []
    for item in walk(stream, headers_only=True):
        assert item.begin == reached
        reached = item.end
        if isinstance(item, Batch):
            records += item.count
        else:
            damage.append(item)
    assert reached == len(data if isinstance(data, bytes) else data.data), "the walk did not come to the end"
    return records, damage


def lies_at(frames: Iterable[bytes], data: bytes) -> list[int]:
    """Every offset of `data` at which one of these frames stands whole, in order."""
    found = set()
    for one in set(frames):
        at = data.find(one)
        while at >= 0:
            found.add(at)
            at = data.find(one, at + 1)
    return sorted(found)


def without_inner(payloads: Sequence[bytes], hurt: bytes, file: Sequence[bytes], inner: Sequence[bytes]) -> list[bytes]:
    """Return the recovered payloads without inner records, which may come out where no intact record holds one."""
    holders = [frame(one) for one in file if any(frame(part) in one for part in inner)]
    if any(holder in hurt for holder in holders):
        return list(payloads)
    return [one for one in payloads if one in file or one not in inner]


def subsequence(some: Iterable[bytes], of: Iterable[bytes]) -> bool:
    """Whether `some` stand in `of` in this order."""
    rest = iter(of)
    return all(item in rest for item in some)
