#!/usr/bin/env python3
"""The record files that are measured: five shapes of data sets, the same bytes at every run.

    python tests/benchmarks/workloads.py --data DIR small text

| name   | what each record is                    | records   | bytes  |
|--------|----------------------------------------|-----------|--------|
| small  | an Example of 10 features              |   691,555 | 150 MB |
| text   | an Example of a text and an id         |   120,393 | 300 MB |
| image  | an Example of 3 features, 110 kB       |     1,270 | 140 MB |
| huge   | an Example of one value of 2 MB        |       751 | 1.5 GB |
| events | an Event with one scalar               | 1,520,001 | 103 MB |

`small.gz` and `text.gz` are the same, packed whole by gzip. A file holds a few thousand different records in random
order, so that it is made in seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from struct import pack

sys.path[:0] = [str(Path(__file__).parents[2])]

from tfrtool.framing.encode import frame  # noqa: E402

WORDS = (
    "the",
    "of",
    "and",
    "a",
    "to",
    "in",
    "is",
    "was",
    "it",
    "for",
    "record",
    "file",
    "with",
    "as",
    "on",
    "be",
    "at",
)
TAGS = ("loss", "accuracy", "rate", "gradient", "valid/loss", "valid/accuracy", "epoch_time", "time")


def directory(path: str | None) -> Path:
    """Where files are kept: what `--data` says, or a directory of our own among the system's temporary ones."""
    return Path(path) if path else Path(tempfile.gettempdir()) / "tfrtool-benchmarks"


def prepare(name: str, where: Path, scale: float = 1.0) -> Path:
    """The file of a workload with `scale` times its records, made if it is not there."""
    path = where / f"{name.removesuffix('.gz')}-{scale:g}.tfrecord{'.gz' if name.endswith('.gz') else ''}"
    if not path.exists():
        where.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        with open(unfinished, "wb") as file:
            if name.endswith(".gz"):
                packer = zlib.compressobj(6, zlib.DEFLATED, 31)
                plain = prepare(name.removesuffix(".gz"), where, scale)
                with open(plain, "rb") as source:
                    while piece := source.read(1 << 20):
                        file.write(packer.compress(piece))
                file.write(packer.flush())
            else:
                file.writelines(_frames(name, scale))
        unfinished.rename(path)
    return path


def _frames(name: str, scale: float) -> Iterator[bytes]:
    random = Random(name)
    records, different, payload = WORKLOADS[name]
    count = max(1, round(records * scale))
    pool = [frame(payload(random)) for _ in range(min(different, count))]
    if name == "events":
        yield frame(b"\x09" + pack("<d", 1.7e9) + _sized(3, b"brain.Event:2"))
        count -= 1
    for _ in range(-(-count // len(pool))):
        random.shuffle(pool)
        yield from islice(pool, min(count, len(pool)))
        count -= len(pool)


# Payloads, as protocol buffers have them


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _sized(number: int, *parts: bytes) -> bytes:
    """A length-delimited field."""
    data = b"".join(parts)
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _feature(name: str, kind: int, *values: bytes) -> bytes:
    """One entry of an Example's map: `kind` 1 is a list of bytes, 2 of floats, 3 of integers."""
    listed = [_sized(1, value) for value in values] if kind == 1 else [_sized(1, *values)]
    return _sized(1, _sized(1, name.encode()), _sized(2, _sized(kind, *listed)))


def _small(random: Random) -> bytes:
    numbers = [_feature(f"n{i}", 3, _varint(random.randrange(1 << 21))) for i in range(5)]
    floats = [_feature(f"f{i}", 2, random.randbytes(4)) for i in range(4)]
    return _sized(1, *numbers, *floats, _feature("name", 1, random.randbytes(random.randint(15, 30)).hex().encode()))


def _text(random: Random) -> bytes:
    words = random.choices(WORDS, k=random.randint(100, 350))
    words += [random.randbytes(random.randint(1, 4)).hex() for _ in range(random.randint(100, 430))]
    random.shuffle(words)
    return _sized(
        1, _feature("text", 1, " ".join(words).encode()), _feature("id", 3, _varint(random.randrange(1 << 40)))
    )


def _image(random: Random) -> bytes:
    return _sized(
        1,
        _feature("image/encoded", 1, random.randbytes(random.randint(90_000, 130_000))),
        _feature("image/class/label", 3, _varint(random.randrange(1000))),
        _feature("image/format", 1, b"jpeg"),
    )


def _huge(random: Random) -> bytes:
    return _sized(1, _feature("value", 1, random.randbytes(2_000_000 - random.randrange(4000))))


def _event(random: Random) -> bytes:
    """What `tf.summary.scalar` writes: a tensor of one float, and the name of the plugin."""
    plugin = _sized(9, _sized(1, _sized(1, b"scalars")))
    tensor = _sized(8, b"\x08\x01" + _sized(2) + _sized(4, random.randbytes(4)))
    value = _sized(1, _sized(1, random.choice(TAGS).encode()), plugin, tensor)
    return (
        b"\x09" + pack("<d", 1.7e9 + random.random()) + b"\x10" + _varint(random.randrange(1 << 14)) + _sized(5, value)
    )


Payload = Callable[[Random], bytes]
WORKLOADS: dict[str, tuple[int, int, Payload]] = {
    "small": (691_555, 5000, _small),
    "text": (120_393, 5000, _text),
    "image": (1_270, 200, _image),
    "huge": (751, 8, _huge),
    "events": (1_520_001, 5000, _event),
}
"""The number of records at scale 1, how many of them differ, and what makes one."""

NAMES = (*WORKLOADS, "small.gz", "text.gz")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the record files that are measured, and print their paths.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(NAMES)}; all by default")
    parser.add_argument("--data", metavar="DIR", help="where files are kept (a temporary directory)")
    parser.add_argument("--scale", type=float, default=1.0, metavar="X", help="how many times the usual records")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no such workload: {', '.join(sorted(unknown))}")
    for name in options.names or NAMES:
        print(prepare(name, directory(options.data), options.scale))


if __name__ == "__main__":
    main()
