"""Record files damaged at random, for measuring what is saved of them; each is made again from its `Case` alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log
from random import Random

from kit.damage import File, cut, drop, flip, insert, nest, zero
from kit.messages import entry, numbers, raw_example, sized

ORDINARY = ("small", "equal", "large", "mixed")
NESTED = ("nested", "nested-example")
SHAPES = (*ORDINARY, *NESTED)
"""How a file is made: payloads of 20..300 bytes, all of one length, of 1..200 KB, small and large ones, and small ones
with some that hold a record file, as the payload or as a value of an Example."""

FIELDS = ("length", "length-crc", "payload", "data-crc")
FLIPS = tuple(f"flip-{field}" for field in FIELDS)
INSERTS = ("random", "zeros", "text", "records")
ENDS = ("torn", "torn-zeros", "torn-junk")
"""The file ends inside a record, and zeros or other bytes may follow. Once a file, after all other damage."""
MIXED = "mixed"
STALE = ("stale-512", "stale-4096")
"""A block of a disk holds what it, or another file, held elsewhere; blocks are aligned."""
BLOCKS = (
    "burst",
    "zeroed",
    "missing",
    "four-missing",
    *(f"inserted-{what}" for what in INSERTS),
    "four-inserted",
    "swapped",
    "repeated",
    *STALE,
    "interleaved",
    "head-cut",
)
KINDS = (*FLIPS, *BLOCKS, *ENDS, MIXED)

LARGEST_BLOCK = 64 << 10
TEXT = b"INFO:root:step 1200 of 5000, loss 0.3017\nWARNING:root:the queue is full, waiting\n"


@dataclass(frozen=True)
class Case:
    """One damaged file: the kind and the number of its damages, the shape of the file, and a seed."""

    kind: str
    damages: int
    shape: str
    number: int

    def __str__(self) -> str:
        return f"{self.kind} {self.damages} {self.shape} {self.number}"


@dataclass(frozen=True)
class HurtFile:
    """The file as it was and as it is. `inner` are the records that stood inside its records, `other` those of the file
    from which blocks came; `done` says in order what was done to it, at which offset."""

    file: File
    data: bytes
    inner: frozenset[bytes]
    other: frozenset[bytes]
    done: tuple[str, ...]


def hurt_file(case: Case) -> HurtFile:
    """Make the file of a case, and damage it."""
    random = Random(str(case))
    inner: list[bytes] = []
    file = _made(random, case.shape, inner)
    other = File(tuple(_payload(random, random.randint(20, 300), True) for _ in range(300)))
    data, done = file.data, []
    for kind in _kinds(random, case):
        data, what = _hurt(random, kind, file, other, data)
        done.append(what)
    return HurtFile(file, data, frozenset(inner), frozenset(other.payloads), tuple(done))


# Files


def _made(random: Random, shape: str, inner: list[bytes]) -> File:
    raw = random.random() < 0.5
    if shape == "large":
        return File(tuple(_payload(random, _size(random, 1_000, 200_000), raw) for _ in range(random.randint(3, 8))))
    if shape == "equal":
        size = _size(random, 20, 3_000)
        return File(tuple(_payload(random, size, raw) for _ in range(random.randint(8, 40))))
    small = [_payload(random, random.randint(20, 300), raw) for _ in range(random.randint(8, 30))]
    if shape == "mixed":
        small += [_payload(random, _size(random, 1_000, 200_000), raw) for _ in range(random.randint(1, 3))]
    elif shape != "small":
        small += [_holder(random, shape, inner) for _ in range(random.randint(1, 4))]
    random.shuffle(small)
    return File(tuple(small))


def _holder(random: Random, shape: str, inner: list[bytes]) -> bytes:
    held = [_payload(random, random.randint(20, 100), False) for _ in range(random.randint(1, 12))]
    inner += held
    if shape == "nested":
        return nest(File(tuple(held)))
    return _example(random, File(tuple(held)).data)


def _payload(random: Random, size: int, raw: bool) -> bytes:
    return random.randbytes(size) if raw else _example(random, random.randbytes(max(1, size - 60)))


def _example(random: Random, value: bytes) -> bytes:
    image = entry(b"image/encoded", sized(1, sized(1, value)))
    label = entry(b"label", numbers(3, random.randrange(1 << 40)))
    name = entry(b"name", sized(1, sized(1, random.randbytes(8).hex().encode())))
    return raw_example(*random.sample([image, label, name], 3))


def _size(random: Random, low: int, high: int) -> int:
    """Between the two, and as likely from 1,000 to 2,000 as from 2,000 to 4,000."""
    return int(2 ** random.uniform(log(low, 2), log(high, 2)))


# Damage


def _kinds(random: Random, case: Case) -> list[str]:
    if case.kind != MIXED:
        return [case.kind] * case.damages
    kinds = random.choices((*FLIPS, *BLOCKS, *ENDS), k=case.damages)
    # A flip names a field by its offset in the file as it was; a tail is torn off once, from what the rest made of it.
    flips = [kind for kind in kinds if kind in FLIPS]
    ends = [kind for kind in kinds if kind in ENDS][:1]
    return [*flips, *(kind for kind in kinds if kind not in (*FLIPS, *ENDS)), *ends]


def _hurt(random: Random, kind: str, file: File, other: File, data: bytes) -> tuple[bytes, str]:
    if kind in FLIPS:
        return _flipped(random, kind, file, data)
    at = random.randrange(max(1, len(data)))
    if kind in ENDS:
        tail = {"torn": b"", "torn-zeros": bytes(random.choice((16, 4096))), "torn-junk": random.randbytes(20)}[kind]
        return cut(data, at) + tail, f"{kind} at {at}"
    if kind == "head-cut":
        size = min(random.randint(1, 200), len(data) // 2)
        return drop(data, 0, size), f"head-cut of {size}"
    if kind == "interleaved":
        return _interleaved(random, other, data)
    if kind in STALE:
        return _stale(random, int(kind.removeprefix("stale-")), other, data)
    if kind == "four-missing":
        return drop(data, at, at + 4), f"four-missing at {at}"
    if kind == "four-inserted":
        return insert(data, at, random.randbytes(4)), f"four-inserted at {at}"
    if kind == "burst":
        size = min(random.randint(2, 64), len(data) - at)
        return data[:at] + random.randbytes(size) + data[at + size :], f"burst of {size} at {at}"
    size = _size(random, 1, min(LARGEST_BLOCK, max(1, len(data) // 2)))
    if kind.startswith("inserted"):
        what = _EXTRA[kind.removeprefix("inserted-")](random, size, other)
        return insert(data, at, what), f"{kind} of {len(what)} at {at}"
    end = min(len(data), at + size)
    if kind == "swapped":
        first, second = sorted((at, random.randrange(max(1, len(data)))))
        size = min(size, second - first, len(data) - second)
        parts = [data[:first], data[second : second + size], data[first + size : second], data[first : first + size]]
        return b"".join(parts) + data[second + size :], f"swapped {size} at {first} and {second}"
    if kind == "repeated":
        to = random.choice((end, random.randrange(max(1, len(data)))))
        return insert(data, to, data[at:end]), f"repeated {end - at} of {at} at {to}"
    return {"zeroed": zero, "missing": drop}[kind](data, at, end), f"{kind} {end - at} at {at}"


def _flipped(random: Random, kind: str, file: File, data: bytes) -> tuple[bytes, str]:
    number = random.randrange(len(file.payloads))
    begin, end = file.span(number)
    field = kind.removeprefix("flip-")
    first, last = {
        "length": (begin, begin + 8),
        "length-crc": (begin + 8, begin + 12),
        "payload": (begin + 12, end - 4),
        "data-crc": (end - 4, end),
    }[field]
    at, bit = random.randrange(first, last), random.randrange(8)
    return flip(data, at, bit), f"{kind} at {at} bit {bit}, of record {number}"


def _interleaved(random: Random, other: File, data: bytes) -> tuple[bytes, str]:
    """Two writers with one file: whole buffers of the second between those of the first."""
    size, at = random.choice((512, 4096)), random.randrange(max(1, len(data)))
    parts, count = [data[:at]], random.randint(1, 5)
    for number in range(count):
        parts += [other.data[number * size : (number + 1) * size], data[at : at + size]]
        at += size
    return b"".join((*parts, data[at:])), f"interleaved {count} buffers of {size} before {at}"


def _stale(random: Random, size: int, other: File, data: bytes) -> tuple[bytes, str]:
    blocks = max(1, len(data) // size)
    at, old = random.randrange(blocks) * size, random.randrange(blocks) * size
    source = random.choice((data, other.data))
    block = source[old : old + size][: len(data) - at]
    return data[:at] + block + data[at + len(block) :], f"stale block of {len(block)} at {at}"


def _random(random: Random, size: int, _: File) -> bytes:
    return random.randbytes(size)


def _filled(what: bytes, _: Random, size: int, __: File) -> bytes:
    return (what * (size // len(what) + 1))[:size]


def _records(random: Random, size: int, other: File) -> bytes:
    data = other.data
    at = random.randrange(max(1, len(data) - size))
    return data[at : at + size]


_EXTRA: dict[str, Callable[[Random, int, File], bytes]] = {
    "random": _random,
    "zeros": partial(_filled, b"\0"),
    "text": partial(_filled, TEXT),
    "records": _records,
}
