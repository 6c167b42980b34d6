#!/usr/bin/env python3
"""What hostile files cost: to verify bytes that are hard on a reader of record files, against an intact file.

    python tests/benchmarks/hostile.py --size 32

Each is a whole process, in turn with one that reads an intact file of the same size and records of 216 bytes: `ratio`
is how many times longer it takes. The bounds are 64 MiB and a ratio of 20 (10 with the compiled kernel).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from struct import pack
from subprocess import run
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1]), str(Path(__file__).parents[2])]

from kit.make_samples import frame, masked  # noqa: E402
from processes import PROGRAM, Failed, print_table, side_by_side  # noqa: E402

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


def _repeated(what: bytes) -> Make:
    return lambda size: (what * (size // len(what) + 1))[:size]


def _header(length: int) -> bytes:
    packed = pack("<Q", length)
    return packed + pack("<I", masked(packed))


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


def _flip_in_footer(random: Random, record: bytearray) -> None:
    record[random.randrange(len(record) - 4, len(record))] ^= 1 << random.randrange(8)


def _every_other(size: int) -> bytes:
    random, length = Random(6), PAYLOAD + 16
    sound = [frame(random.randbytes(PAYLOAD)) for _ in range(_POOL)]
    return b"".join(random.choice(sound) + random.randbytes(length) for _ in range(size // length // 2))


def _headers_alone(size: int) -> bytes:
    random = Random(7)
    return _mixed([_header(random.randrange(100_000)) for _ in range(_POOL)], size)


def _dying_chains(size: int) -> bytes:
    """Headers that lead to each other over damaged payloads, up to bytes that are no record."""
    random, pieces = Random(8), []
    for _ in range(64):
        chain = [_header(length) + random.randbytes(length + 4) for length in random.choices(range(400), k=40)]
        pieces.append(b"".join(chain) + random.randbytes(random.randrange(20, 40)))
    return _mixed(pieces, size)


def _line_ends(size: int) -> bytes:
    """An intact file after a conversion of line ends."""
    return _records(_leave)(size).replace(b"\n", b"\r\n")[:size]


INTACT = "intact"
FILES: dict[str, Make] = {
    INTACT: _records(_leave),
    "all zeros": bytes,
    "random bytes": lambda size: Random(1).randbytes(size),
    "a log": _repeated(_TEXT),
    "int64 numbers": _packed("<q", lambda random: random.randrange(1000)),
    "int32 numbers": _packed("<i", lambda random: random.randrange(256)),
    "95 % zero bytes": _sparse,
    "lengths, random checksums": _packed(
        "<QI", lambda random: random.randrange(5000), lambda random: random.getrandbits(32)
    ),
    "a repeated pattern": _repeated(pack("<QIQ", 200, 1, 9)),
    "one bit of every header flipped": _records(_flip_in_header),
    "one bit of every payload flipped": _records(_flip_in_payload),
    "every data checksum wrong": _records(_flip_in_footer),
    "every other record overwritten": _every_other,
    "valid headers alone": _headers_alone,
    "headers of empty records alone": _repeated(_header(0)),
    "chains of headers that die": _dying_chains,
    "line ends converted": _line_ends,
}
"""Whole files, by name."""


def make_files(directory: Path, size: int) -> None:
    for name, make in FILES.items():
        (directory / name).write_bytes(make(size))


def measured(directory: Path, options: argparse.Namespace) -> Iterator[list[str]]:
    """Yield a row a file: seconds, peak memory, how many times the intact file's time."""
    command = [options.python, "-c", PROGRAM, "verify", "--quiet"]
    for name in options.only or FILES:
        paths = (str(directory / INTACT), str(directory / name))
        pair = side_by_side(*([*command, path] for path in paths), options.runs, allowed=(0, 1))
        yield [name, "", f"{pair.second.seconds:.2f}", f"{pair.second.peak:.0f}", f"{pair.ratio:.1f}"]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=float, default=32.0, metavar="MB", help="of each file (%(default)s)")
    parser.add_argument("--runs", type=int, default=3, metavar="N", help="how often each is read (%(default)s)")
    parser.add_argument(
        "--only", choices=FILES, action="append", metavar="FILE", help=", ".join(FILES).replace("%", "%%")
    )
    parser.add_argument("--data", metavar="DIR", help="where to put the files meanwhile (a temporary directory)")
    parser.add_argument("--python", default=sys.executable, help="runs tfrtool (this one)")
    parser.add_argument("--make", metavar="DIR", help="write the files there, and stop")
    options = parser.parse_args(arguments)
    size = max(1, round(options.size * 1_000_000))
    if options.make:
        make_files(Path(options.make), size)
        return 0
    with TemporaryDirectory(dir=options.data) as directory:
        # Made by another process: the memory that takes would show as everyone's peak.
        run([sys.executable, __file__, "--make", directory, "--size", str(options.size)], check=True)
        print_table(("verify", "", "s", "MiB", "ratio"), list(measured(Path(directory), options)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as error:
        sys.exit(str(error))
