"""Fields and lists written in parts, the large ones as views of what was read."""

from __future__ import annotations

from collections.abc import Iterator

from tfrtool.payload.mapping_numbers import checked_int32, fit_int32, packed_ints
from tfrtool.payload.mapping_rules import Refused
from tfrtool.payload.wire import signed64, varint, varints

Pieces = list[bytes | memoryview]
"""A payload in parts, to be written one after another."""


def size_of(pieces: Pieces) -> int:
    """The bytes of all pieces."""
    return sum(map(len, pieces))


def sized(number: int, pieces: Pieces) -> Pieces:
    """A LEN field that holds the pieces."""
    return [bytes((number << 3 | 2,)) + varint(size_of(pieces)), *pieces]


def packed(data: bytes) -> Pieces:
    """The content of a list of numbers: one packed run, or nothing, as protobuf writes it."""
    return sized(1, [data]) if data else []


def int64_as_int32(pieces: Iterator[memoryview]) -> bytes:
    """Runs of packed int64 as one of int32; raises OutOfRange."""
    data = b"".join(pieces)
    if fit_int32(data):
        return data
    return packed_ints(checked_int32(map(signed64, varints(data, 0, len(data)))))


def as_doubles(name: bytes, values: list[memoryview]) -> bytes:
    """What `--double bytes` made of a list of doubles, back again."""
    if len(values) != 1 or len(values[0]) % 8:
        raise Refused(name, "not one value of a multiple of 8 bytes, as doubles are stored", "leave its kind at bytes")
    return bytes(values[0])
