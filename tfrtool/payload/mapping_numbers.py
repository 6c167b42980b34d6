"""Numbers of one width as numbers of another, to the last bit.

Python's own floats cannot carry every float32: widening quietens a signalling NaN. So NaNs are converted as bits.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator

from tfrtool.payload.wire import Buffer, signed64, varint, varints

_INT32 = rb"[\x80-\xff]{0,3}[\x00-\x7f]|[\x80-\xff]{4}[\x00-\x07]|[\x80-\xff]{4}[\xf8-\xff]\xff{4}\x01"
_INT32S = re.compile(rb"(?:" + _INT32 + rb")*+", re.DOTALL)
"""Varints that mean the same as int32 and as int64: below 2^31, or negative and extended to 64 bits."""

_QUIET_BITS = (1 << 29) - 1  # the bits of a double's fraction that a float lacks
_CHUNK = 1 << 13


class Inexact(ValueError):
    """A double that no float equals: the `index` in its list, and the value."""

    def __init__(self, index: int, value: float) -> None:
        super().__init__(f"value {index} of it, {value!r}, is no float")
        self.index = index
        self.value = value


class OutOfRange(ValueError):
    """An int64 that is no int32: the `index` in its list, and the value."""

    def __init__(self, index: int, value: int) -> None:
        super().__init__(f"value {index} of it, {value}, is no int32")
        self.index = index
        self.value = value


def fit_int32(packed: Buffer) -> bool:
    """Whether sound packed varints are written in a form that means the same as int32 and as int64."""
    return _INT32S.fullmatch(packed) is not None


def packed_ints(values: Iterable[int]) -> bytes:
    """Signed numbers as packed varints, negative ones extended to 64 bits, as protobuf writes int32 and int64."""
    return b"".join(map(varint, values))


def checked_int32(values: Iterable[int]) -> Iterator[int]:
    """The values, as long as they fit; raises OutOfRange."""
    for index, value in enumerate(values):
        if not -(2**31) <= value < 2**31:
            raise OutOfRange(index, value)
        yield value


def all_int32(packed: Buffer) -> bool:
    """Whether every int64 among sound packed varints is in the range of int32."""
    return fit_int32(packed) or all(-(2**31) <= signed64(v) < 2**31 for v in varints(packed, 0, len(packed)))


def narrowed(raw: Buffer, exact: bool) -> tuple[bytes, int]:
    """Little-endian doubles as floats, and how many of them changed.

    Raises Inexact for a finite number beyond the range of float, and, with `exact`, for whatever would change.
    """
    parts, changed = [], 0
    for at in range(0, len(raw), 8 * _CHUNK):
        part, count = _narrowed(bytes(raw[at : at + 8 * _CHUNK]), at // 8, exact)
        parts.append(part)
        changed += count
    return b"".join(parts), changed


def _narrowed(raw: bytes, first: int, exact: bool) -> tuple[bytes, int]:
    count = len(raw) // 8
    values = struct.unpack(f"<{count}d", raw)
    try:
        floats = bytearray(struct.pack(f"<{count}f", *values))
    except OverflowError:
        index = next(i for i, value in enumerate(values) if _overflows(value))
        raise Inexact(first + index, values[index]) from None
    back = struct.pack(f"<{count}d", *struct.unpack(f"<{count}f", floats))
    if back == raw and not any(value != value for value in values):
        return bytes(floats), 0
    changed = 0
    for index, value in enumerate(values):
        at = 8 * index
        if value != value:
            bits = int.from_bytes(raw[at : at + 8], "little")
            fits = not bits & _QUIET_BITS
            # A payload in the lower bits alone would vanish, and leave an infinity.
            fraction = (bits >> 29 & 0x7FFFFF) or 0x400000
            floats[4 * index : 4 * index + 4] = (bits >> 63 << 31 | 0x7F800000 | fraction).to_bytes(4, "little")
        else:
            fits = raw[at : at + 8] == back[at : at + 8]
        if not fits:
            if exact:
                raise Inexact(first + index, value)
            changed += 1
    return bytes(floats), changed


def _overflows(value: float) -> bool:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return True
    return False


def widened(raw: Buffer) -> bytes:
    """Little-endian floats as doubles, which hold every one of them; the inverse of `narrowed` where that was exact."""
    return b"".join(_widened(bytes(raw[at : at + 4 * _CHUNK])) for at in range(0, len(raw), 4 * _CHUNK))


def _widened(raw: bytes) -> bytes:
    count = len(raw) // 4
    values = struct.unpack(f"<{count}f", raw)
    doubles = bytearray(struct.pack(f"<{count}d", *values))
    for index, value in enumerate(values):
        if value != value:
            bits = int.from_bytes(raw[4 * index : 4 * index + 4], "little")
            wide = bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
            doubles[8 * index : 8 * index + 8] = wide.to_bytes(8, "little")
    return bytes(doubles)
