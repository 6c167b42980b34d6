"""Lists of numbers as the wire packs them, and as arrays."""

from __future__ import annotations

import re
import sys
from array import array
from typing import TYPE_CHECKING

from tfrtool.payload.usual import ListKind
from tfrtool.payload.wire import LEN, WireError, check_varints, read_size, signed32, signed64, varint, varints

if TYPE_CHECKING:
    from tfrtool.payload.messages import MessageClass

CODES: dict[ListKind, str] = {"float": "f", "double": "d", "int64": "q", "int32": "i"}
"""Kind of a list of numbers -> the type of the array that holds it."""
_BIG_ENDIAN = sys.byteorder == "big"
_TAG = bytes([1 << 3 | LEN])
_SHORT = 30
"""Bytes of packed varints up to which a loop is faster than protobuf."""
_LONGEST = 56
"""Bits before the last byte of the longest number that is not negative."""
_FEW = 8
"""The same in numbers, on the way back."""


def few_unpacked(kind: ListKind, raw: bytes) -> array | None:  # type: ignore[type-arg]
    """The numbers of a packed list, where that is short, spelled in the usual way, and none below 0; else often None.

    Raises WireError where `unpacked` does.
    """
    if kind in ("float", "double") or raw.isascii():
        return unpacked(kind, raw)
    if len(raw) > _SHORT:
        return None
    numbers, number, shift = [], 0, 0
    for byte in raw:
        if byte > 0x7F:
            if shift == _LONGEST:
                return None
            number |= (byte & 0x7F) << shift
            shift += 7
        elif byte or not shift:
            numbers.append(number | byte << shift)
            number = shift = 0
        else:
            return None
    if shift or (kind == "int32" and max(numbers) > 0x7FFFFFFF):
        return None
    return array(CODES[kind], numbers)


def unpacked(kind: ListKind, raw: bytes) -> array:  # type: ignore[type-arg]
    """The numbers of a packed list. Raises WireError where it holds no whole number of them."""
    if kind in ("float", "double"):
        numbers = array(CODES[kind])
        if len(raw) % numbers.itemsize:
            raise WireError(0, f"a packed list of {len(raw)} bytes, which {numbers.itemsize} does not divide")
        numbers.frombytes(raw)
        if _BIG_ENDIAN:
            numbers.byteswap()
        return numbers
    if raw.isascii():  # each byte is a number
        return array(CODES[kind], list(raw))
    if len(raw) > _SHORT:
        return array(CODES[kind], _by_protobuf(kind, raw))
    check_varints(raw, 0, len(raw))
    return array(CODES[kind], map(signed32 if kind == "int32" else signed64, varints(raw, 0, len(raw))))


def _by_protobuf(kind: ListKind, raw: bytes) -> list[int]:
    from google.protobuf.message import DecodeError

    try:
        numbers: list[int] = _list_class(kind).FromString(_TAG + varint(len(raw)) + raw).value[:]
    except DecodeError:
        check_varints(raw, 0, len(raw))
        raise WireError(0, "a packed list that protobuf does not take") from None
    return numbers


def _list_class(kind: ListKind) -> MessageClass:
    from tfrtool.payload.messages import message_class

    return message_class("oneflow", "Int32List" if kind == "int32" else "Int64List")


def packed(kind: ListKind, values: array) -> bytes:  # type: ignore[type-arg]
    """Numbers as a packed list, of the usual spelling."""
    if kind in ("float", "double"):
        if _BIG_ENDIAN:
            values = array(values.typecode, values)
            values.byteswap()
        return values.tobytes()
    if len(values) > _FEW:
        whole: bytes = _list_class(kind)(value=values.tolist()).SerializeToString()
        return whole[read_size(whole, 1, len(whole))[1] :]
    return b"".join(map(varint, values))


def is_usual(kind: ListKind, raw: bytes, numbers: array) -> bool:  # type: ignore[type-arg]
    """Whether a packed list is what `packed` makes of its numbers."""
    if kind in ("float", "double") or len(raw) == len(numbers):
        return True
    if kind == "int64":
        return _DRAWN_OUT.search(raw) is None
    return packed(kind, numbers) == raw


_DRAWN_OUT = re.compile(rb"[\x80-\xff](?:\x00|(?<=[\x80-\xff]{9})[^\x01])", re.DOTALL)
"""The end of a varint that takes more bytes than it needs, or bits that an int64 has not."""
