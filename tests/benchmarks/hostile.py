#!/usr/bin/env python3
"""Bytes that are hard on a reader of record files: to search for a header in, and whole damaged files.

python tests/benchmarks/hostile.py DIR BYTES
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from struct import pack

sys.path[:0] = [str(Path(__file__).parents[2])]

from tfrtool.framing.encode import frame, header  # noqa: E402

PAYLOAD = 200
"""Bytes of a payload where nothing else is said."""
_POOL = 1 << 10
_TEXT = b"INFO:root:step 1200 of 5000, loss 0.3017, accuracy 0.91\n"

Make = Callable[[int], bytes]
"""Makes so many bytes, the same at every call."""


def _mixed(pieces: list[bytes], size: int) -> bytes:
    """Pieces in random order."""
    random, count = Random(2), -(-size // min(map(len, pieces)))
    return b"".join(random.choices(pieces, k=count))[:size]


def _packed(layout: str, *values: Callable[[Random], int]) -> Make:
    random = Random(3)
    pieces = [pack(layout, *(value(random) for value in values)) for _ in range(1 << 14)]
    return lambda size: _mixed(pieces, size)


def _sparse(size: int) -> bytes:
    """95 of 100 bytes zero, and the others anywhere."""
    random = Random(4)
    pieces = [bytes(random.randrange(1, 256) if random.random() < 0.05 else 0 for _ in range(64)) for _ in range(_POOL)]
    return _mixed(pieces, size)


SEARCHED: dict[str, Make] = {
    "random": lambda size: Random(1).randbytes(size),
    "text": lambda size: (_TEXT * (size // len(_TEXT) + 1))[:size],
    "zeros": bytes,
    "int64 0..999": _packed("<q", lambda random: random.randrange(1000)),
    "int32 0..255": _packed("<i", lambda random: random.randrange(256)),
    "95 % zero bytes": _sparse,
    "lengths, random checksums": _packed(
        "<QI", lambda random: random.randrange(5000), lambda random: random.getrandbits(32)
    ),
}
"""Bytes without a record."""


def _records(hurt: Callable[[Random, bytearray], None]) -> Make:
    """Record files of equal records, each hurt in its own way."""

    def make(size: int) -> bytes:
        random = Random(5)
        pool = [bytearray(frame(random.randbytes(PAYLOAD))) for _ in range(_POOL)]
        for one in pool:
            hurt(random, one)
        return _mixed([bytes(one) for one in pool], size // len(pool[0]) * len(pool[0]))

    return make


def _leave(random: Random, record: bytearray) -> None:
    pass


def _flip_in_header(random: Random, record: bytearray) -> None:
    record[random.randrange(12)] ^= 1 << random.randrange(8)


def _flip_in_payload(random: Random, record: bytearray) -> None:
    record[random.randrange(12, len(record) - 4)] ^= 1 << random.randrange(8)


def _every_other(size: int) -> bytes:
    random, length = Random(6), PAYLOAD + 16
    sound = [frame(random.randbytes(PAYLOAD)) for _ in range(_POOL)]
    return b"".join(random.choice(sound) + random.randbytes(length) for _ in range(size // length // 2))


def _headers_alone(size: int) -> bytes:
    random = Random(7)
    return _mixed([header(random.randrange(100_000)) for _ in range(_POOL)], size)


FILES: dict[str, Make] = {
    "sound": _records(_leave),
    "all zeros": SEARCHED["zeros"],
    "random bytes": SEARCHED["random"],
    "lengths, random checksums": SEARCHED["lengths, random checksums"],
    "one bit of every header flipped": _records(_flip_in_header),
    "sound headers, nothing else": _headers_alone,
    "one bit of every payload flipped": _records(_flip_in_payload),
    "every other record overwritten": _every_other,
}


def main() -> None:
    directory, size = Path(sys.argv[1]), int(sys.argv[2])
    for name, make in FILES.items():
        (directory / name).write_bytes(make(size))


if __name__ == "__main__":
    main()
