"""Whether a payload holds a record file: what its first bytes say of the values in it.

A record file is the payload itself, or a bytes value of a message. A message tells the size of each value before it,
so its first bytes tell where such a value ends, and how much of the payload follows it. That stays true when the rest
of the payload is damaged or moved: so an inner chain of records that ends just so far before a boundary is content.
"""

from __future__ import annotations

from struct import Struct
from typing import Literal, NamedTuple

from tfrtool.framing.ahead import Ahead
from tfrtool.framing.layout import FRAMING, HEADER

_FIELDS = 64
_DEEP = 8
_LOW = 6 << 3
_HEADER = Struct("<II")
_LEAST = FRAMING + 1


class Value(NamedTuple):
    """A value of a payload that may be a record file: `size` bytes from `begin` of the payload on.

    `tail` bytes of the payload follow it. How it is `seen`: as a file, where it begins with the length of a record that
    fits it; cut, where the message cannot be read so far; or as something else, where it begins otherwise.
    """

    begin: int
    size: int
    tail: int
    seen: Literal["file", "cut", "else"]


def held(ahead: Ahead, start: int, length: int) -> Value | None:
    """The value in the payload of the record at `start` that may be a record file.

    That is the first that begins like one; else the innermost one that is open where the message cannot be read any
    further. None for a payload that is no message and does not begin like a record file.
    """
    first = start + HEADER
    open_values = [Value(0, length, 0, "cut")]
    begins = _begins(ahead, first, length)
    if begins is not None:
        return open_values[0]._replace(seen="file" if begins else "cut")
    at = fields = 0
    while fields < _FIELDS:
        around = open_values[-1]
        if at == around.begin + around.size:
            if len(open_values) == 1:
                return None
            open_values.pop()
            continue
        head = _field(ahead.peek(first + at, 11))
        if head is None or at + sum(head) > around.begin + around.size:
            break
        fields += 1
        width, size = head
        at += width
        value = Value(at, size, length - at - size, "cut")
        begins = _begins(ahead, first + at, size)
        if begins:
            return value._replace(seen="file")
        if size >= _LEAST and len(open_values) < _DEEP and _is_message(ahead.peek(first + at, 11), size):
            open_values.append(value)
        elif 2 * size > length:
            other = begins is None and any(ahead.peek(first + at, 8))
            return value._replace(seen="else" if other else "cut")
        else:
            at += size
    return open_values[-1] if fields > 1 and len(open_values) > 1 else None


def are_fields(ahead: Ahead, begin: int, end: int) -> bool:
    """Whether the bytes `[begin, end)` are whole fields of a message, as what follows a value in a payload is."""
    for _ in range(_FIELDS):
        field = _field(ahead.peek(begin, 11)) if begin < end else None
        if field is None:
            break
        begin += sum(field)
    return begin == end


def _begins(ahead: Ahead, at: int, size: int) -> bool | None:
    """Whether the value of `size` bytes begins with the header of a record that fits it, of which bits may be flipped.

    None where it does not; False where such a length is all that is there, or the lower half of one: a number of any
    other kind reads the same.
    """
    head = ahead.peek(at, HEADER)
    if len(head) < HEADER or size < _LEAST:
        return None
    low, high = _HEADER.unpack_from(head)
    if not 0 < low <= size - FRAMING:
        return None
    return not high and ahead.resembles(head)


def _is_message(data: bytes, size: int) -> bool:
    """Whether a value that begins so looks like a message; its first field is then one of bytes with a low number."""
    field = _field(data)
    return field is not None and data[0] & 7 == 2 and data[0] < _LOW and sum(field) <= size


def _field(data: bytes) -> tuple[int, int] | None:
    """How many bytes the tag and the length of a field take, and the length: 0 for a number, which is all tag here."""
    if not data or not data[0] >> 3 or data[0] & 0x80:
        return None
    kind = data[0] & 7
    if kind in (1, 5):
        return (9, 0) if kind == 1 else (5, 0)
    if kind not in (0, 2):
        return None
    value = shift = 0
    for width, byte in enumerate(data[1:], 2):
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return (width, value) if kind == 2 else (width, 0)
    return None
