"""Writes the sample files under tests/data: `python tests/kit/make_samples.py`. Same bytes at every run.

Its encoder of frames and of Examples is a second one, on purpose: the tests hold the program against it.
"""

from __future__ import annotations

import struct
from pathlib import Path
from random import Random

from crc32c import crc32c

DATA = Path(__file__).parents[1] / "data"
Values = list[bytes] | list[int] | list[float]


def masked(data: bytes) -> int:
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def frame(payload: bytes) -> bytes:
    length = struct.pack("<Q", len(payload))
    return length + struct.pack("<I", masked(length)) + payload + struct.pack("<I", masked(payload))


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(values: Values) -> bytes:
    if not values:
        return b""
    if isinstance(values[0], bytes):
        return field(1, b"".join(field(1, value) for value in values))
    if isinstance(values[0], float):
        return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
    return field(3, field(1, b"".join(map(varint, values))))


def features(members: list[tuple[bytes, Values]]) -> bytes:
    return b"".join(field(1, field(1, name) + field(2, feature(values))) for name, values in members)


def example(*members: tuple[bytes, Values]) -> bytes:
    return field(1, features(list(members)))


def sequence_example(context: list[tuple[bytes, Values]], lists: list[tuple[bytes, list[Values]]]) -> bytes:
    steps = ((name, b"".join(field(1, feature(step)) for step in steps)) for name, steps in lists)
    return field(1, features(context)) + field(2, b"".join(field(1, field(1, n) + field(2, s)) for n, s in steps))


def flip(data: bytes, at: int, bit: int = 0) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def flower(number: int) -> bytes:
    chance = Random(number)
    name = (b"tulip", b"daisy", b"rose")[number % 3]
    image = b"\xff\xd8\xff\xe0\x00\x10JFIF\x00" + chance.randbytes(560 + 40 * number) + b"\xff\xd9"
    return example(
        (b"image/encoded", [image]),
        (b"image/format", [b"jpeg"]),
        (b"label", [number % 3]),
        (b"caption", [b"a " + name + " in the morning, 7\N{DEGREE SIGN}C".encode()]),
        (b"embedding", [round(chance.uniform(-1, 1), 3) for _ in range(8)]),
    )


def samples() -> dict[str, bytes]:
    """The sample files by name: twelve flowers, and the same file after an accident."""
    frames = [frame(flower(number)) for number in range(12)]
    begin = [sum(map(len, frames[:number])) for number in range(13)]
    sound = b"".join(frames)
    hurt = flip(sound, begin[3] + 1, 2)  # a bit of the length of record 3
    hurt = flip(hurt, begin[6] + 300, 5)  # a bit of the payload of record 6
    hurt = flip(hurt, begin[9] - 2, 1)  # a bit of the checksum stored behind record 8
    return {"flowers.tfrecord": sound, "flowers-damaged.tfrecord": hurt[:-200]}


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    for name, content in samples().items():
        (DATA / name).write_bytes(content)
