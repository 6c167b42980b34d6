"""Pack and unpack lists of numbers, and write single values as JSON text.

A float is written as its shortest decimal, bytes as text or base64.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from base64 import b64encode
from typing import TYPE_CHECKING

from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import LEN, WireError, check_varints, read_size, signed32, signed64, varint, varints

if TYPE_CHECKING:
    from tfrtool.payload.wire.messages import MessageClass


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
    """Return the numbers of a packed list. Raises WireError where it holds no whole number of them."""
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
    from tfrtool.payload.wire.messages import message_class

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
    """Return whether a packed list is what `packed` makes of its numbers."""
    if kind in ("float", "double") or len(raw) == len(numbers):
        return True
    if kind == "int64":
        return _DRAWN_OUT.search(raw) is None
    return packed(kind, numbers) == raw


_DRAWN_OUT = re.compile(rb"[\x80-\xff](?:\x00|(?<=[\x80-\xff]{9})[^\x01])", re.DOTALL)
"""The end of a varint that takes more bytes than it needs, or bits that an int64 has not."""


_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEAD = 256
_ESCAPED = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
"""Characters that JSON allows in a string, at which some readers of lines end a line, or which command a terminal."""
_HAS_ESCAPED = re.compile(f"[{_ESCAPED}]")
_LEAST_NORMAL = 2.0**-126
_FEW_TEXTS = 4


def is_text(value: bytes) -> bool:
    """Is a value UTF-8 without control characters other than tab and line ends?"""
    if _CONTROL.search(value, 0, _HEAD) or _CONTROL.search(value):
        return False
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def string(text: str) -> str:
    """Return a JSON string on one line, in UTF-8, that can be printed."""
    from json.encoder import encode_basestring

    quoted: str = encode_basestring(text)
    if _HAS_ESCAPED.search(quoted):
        return _HAS_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
    return quoted


def base64_string(value: bytes) -> str:
    """Return a JSON string of base64."""
    return f'"{b64encode(value).decode()}"'


def doubles(values: array[float]) -> list[str]:
    """Doubles as JSON numbers that read back as the same; NaN and infinities as strings."""
    return [repr(value) if math.isfinite(value) else _named(value) for value in values]


def floats(values: array[float]) -> list[str]:
    """Return the same for float32 values: of the decimals that read back as the same float32, the shortest."""
    if not all(map(math.isfinite, values)):
        return [_one(value) if math.isfinite(value) else _named(value) for value in values]
    if len(values) <= _FEW_TEXTS:
        return [_one(value) for value in values]
    if min(map(abs, values)) < _LEAST_NORMAL and any(0 < abs(value) < _LEAST_NORMAL for value in values):
        return [_one(value) for value in values]
    return _many(values)


def _many(values: array[float]) -> list[str]:
    """All in one go, with more digits for those that need them. None of them is below the normal numbers, but 0."""
    texts = [""] * len(values)
    left = list(range(len(values)))
    numbers = list(values)
    for digits in (6, 7, 8, 9):
        tried = ((f"%.{digits}g," * len(left)) % tuple(numbers))[:-1].split(",")
        read = array("f", map(float, tried))
        missed = []
        for at, text, got, number in zip(left, tried, read, numbers, strict=True):
            if got == number:
                texts[at] = text if "." in text or "e" in text else text + ".0"
            else:
                missed.append(at)
        if not missed:
            break
        left, numbers = missed, [values[at] for at in missed]
    return texts


def are_spelled_by(decimals: list[float], values: array[float]) -> bool:
    """Is each decimal what its float32 value shows as, in nine digits or fewer? NaN and infinities are."""
    if len(values) == 1:
        decimal, value = decimals[0], values[0]
        if decimal == value or any(float(f"{value:.{digits}g}") == decimal for digits in (8, 9, 7)):
            return True
    left = [(d, v) for d, v in zip(decimals, values, strict=True) if d != v and d == d]
    for digits in (8, 9, 7, 6):
        if not left:
            return True
        shown = ((f"%.{digits}g," * len(left)) % tuple(v for _, v in left))[:-1].split(",")
        left = [pair for pair, text in zip(left, shown, strict=True) if float(text) != pair[0]]
    return not left or all(abs(v) < _LEAST_NORMAL and float(_one(v)) == d for d, v in left)


def _one(value: float) -> str:
    for digits in range(6 if abs(value) >= _LEAST_NORMAL else 1, 10):
        text = f"{value:.{digits}g}"
        if array("f", (float(text),))[0] == value:
            break
    return text if "." in text or "e" in text else text + ".0"


def _named(value: float) -> str:
    return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
