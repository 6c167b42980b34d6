"""Read the protobuf wire format in place: no copy, no recursion on data, every bound checked. Write varints.

A message is a run of fields. A field is a tag (its number and its wire type in one varint) and a value:

    VARINT 0   7 bits a byte, the lowest first, at most 10 bytes, cut to 64 bits; longer spellings than needed are legal
    I64    1   8 bytes                  I32  5   4 bytes
    LEN    2   a size, then that many bytes: text, bytes, a message, or a packed list
    SGROUP 3, EGROUP 4   the old groups; they are skipped whole

Limits are those of the protobuf runtimes: tags and sizes take at most 5 bytes, a size is below 2 GiB, groups nest at
most 100 deep. Sources: protobuf.dev/programming-guides/encoding, and the behaviour of the protobuf package, which the
tests hold this reader against.
"""

from __future__ import annotations

from collections.abc import Iterator

Buffer = bytes | memoryview
"""What a payload comes as. A memoryview must be contiguous and of single bytes (format `B`)."""

VARINT, I64, LEN, SGROUP, EGROUP, I32 = range(6)
WIRE_NAMES = ("varint", "64-bit", "sized", "group", "group end", "32-bit")
LONG_NAME = 1 << 10
"""Bytes of a name from which on nothing is remembered by it: so many names take so much memory, and no more."""
MAX_SIZE = 2**31 - 1
MAX_GROUP_DEPTH = 100

_MASK64 = 2**64 - 1
_CHUNK = 1 << 16
_CONTINUED = bytes(range(0x80, 0x100))
_GOES_ON = bytes(0x80) + b"\1" * 0x80  # byte of a varint -> does another follow?
_TOO_LONG = b"\1" * 10
_WIDTH = {I64: 8, I32: 4}


class WireError(ValueError):
    """The bytes are not the message that they should be: `why`, found `offset` bytes into the payload."""

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(f"{why}, at byte {offset} of the payload")
        self.offset = offset
        self.why = why


def read_varint(view: Buffer, at: int, end: int, limit: int = 10) -> tuple[int, int]:
    """The unsigned value at `at`, cut to 64 bits, and the offset behind it; at most `limit` bytes before `end`."""
    value = shift = 0
    begin = at
    stop = min(end, at + limit)
    while at < stop:
        byte = view[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & _MASK64, at
        shift += 7
    if at == begin + limit:
        raise WireError(begin, f"a number takes more than {limit} bytes")
    raise WireError(begin, "a number is cut off")


def read_size(view: Buffer, at: int, end: int) -> tuple[int, int]:
    """Return the size of a LEN field, and the offset of its first byte; the caller compares the two with `end`."""
    size, behind = read_varint(view, at, end, 5)
    if size > MAX_SIZE:
        raise WireError(at, f"a size of {size} bytes, beyond the 2 GiB that protobuf allows")
    return size, behind


def read_tag(view: Buffer, at: int, end: int) -> tuple[int, int, int]:
    """Return the field number, the wire type and the offset of the value."""
    tag, behind = read_varint(view, at, end, 5)
    if tag >> 3 == 0 or tag > 0xFFFFFFFF:
        raise WireError(at, f"{tag >> 3} is not a field number")
    return tag >> 3, tag & 7, behind


def fields(view: Buffer, begin: int, end: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield each field of the message in `[begin, end)` as `(number, wire type, begin, end)` of its value.

    The value of a LEN field leaves its size out; that of a group leaves its tags out. Raises WireError at the first
    byte that breaks the format, once the fields before it were given.
    """
    at = begin
    while at < end:
        tag = view[at]
        if tag < 0x80:
            number, wire, value = tag >> 3, tag & 7, at + 1
            if number == 0:
                raise WireError(at, "0 is not a field number")
        else:
            number, wire, value = read_tag(view, at, end)
        if wire == LEN:
            if value < end and view[value] < 0x80:
                stop = value + 1 + view[value]
                value += 1
            else:
                size, value = read_size(view, value, end)
                stop = value + size
        elif wire == VARINT:
            stop = value + 1 if value < end and view[value] < 0x80 else read_varint(view, value, end)[1]
        elif wire in _WIDTH:
            stop = value + _WIDTH[wire]
        elif wire == SGROUP:
            stop, behind = _skip_group(view, value, end, number)
            yield number, wire, value, stop
            at = behind
            continue
        elif wire == EGROUP:
            raise WireError(at, f"the end of a group {number} that never began")
        else:
            raise WireError(at, f"{wire} is not a wire type")
        if stop > end:
            raise WireError(at, f"field {number} needs {stop - value} bytes where {max(end - value, 0)} are left")
        yield number, wire, value, stop
        at = stop


def _skip_group(view: Buffer, at: int, end: int, number: int) -> tuple[int, int]:
    """Return the end of the group's content and the offset behind its end tag. A stack, so that no data can recurse."""
    begin = at
    open_groups = [number]
    while at < end:
        here = at
        number, wire, at = read_tag(view, at, end)
        if wire == LEN:
            size, at = read_size(view, at, end)
            at += size
        elif wire == VARINT:
            at = read_varint(view, at, end)[1]
        elif wire in _WIDTH:
            at += _WIDTH[wire]
        elif wire == SGROUP:
            open_groups.append(number)
            if len(open_groups) > MAX_GROUP_DEPTH:
                raise WireError(here, f"groups nest more than {MAX_GROUP_DEPTH} deep")
        elif wire == EGROUP:
            if open_groups.pop() != number:
                raise WireError(here, f"the end of a group {number} that is not the open one")
            if not open_groups:
                return here, at
        else:
            raise WireError(here, f"{wire} is not a wire type")
    raise WireError(begin, "a group is cut off")


def signed64(value: int) -> int:
    """Return the int64 that a varint spells."""
    return value - 2**64 if value >= 2**63 else value


def signed32(value: int) -> int:
    """Return the int32 that a varint spells: its low 32 bits, as protobuf cuts them."""
    return ((value & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def check_text(view: Buffer, begin: int, end: int) -> None:
    """Raise WireError unless `[begin, end)` is UTF-8, as protobuf demands of a string."""
    try:
        str(view[begin:end], "utf-8")
    except UnicodeDecodeError as error:
        raise WireError(begin + error.start, "a name or text is not UTF-8") from None


def check_varints(view: Buffer, begin: int, end: int, window: int | None = None) -> None:
    """Raise WireError unless `[begin, end)` is a run of whole varints.

    With a `window`, only that many bytes and the very last one are looked at, whatever the size of the list.
    """
    if begin == end:
        return
    if view[end - 1] >= 0x80:
        raise WireError(end - 1, "the last number of a packed list is cut off")
    if end - begin < 10:
        return
    stop = end if window is None else min(end, begin + window)
    for at in range(begin, stop, _CHUNK):
        found = bytes(view[at : min(at + _CHUNK + 9, stop)]).translate(_GOES_ON).find(_TOO_LONG)
        if found >= 0:
            raise WireError(at + found, "a number takes more than 10 bytes")


def count_varints(view: Buffer, begin: int, end: int) -> int:
    """Return how many varints `[begin, end)` holds: the bytes that do not say that another follows."""
    count = 0
    while begin < end:
        stop = min(begin + _CHUNK, end)
        count += len(bytes(view[begin:stop]).translate(None, _CONTINUED))
        begin = stop
    return count


def varints(view: Buffer, begin: int, end: int) -> Iterator[int]:
    """Yield the unsigned values of the packed varints in `[begin, end)`."""
    at = begin
    while at < end:
        value = view[at]
        if value < 0x80:
            at += 1
        else:
            value, at = read_varint(view, at, end)
        yield value


def varint(value: int) -> bytes:
    """Return a number as a varint, in the fewest bytes; a negative one is extended to 64 bits, as protobuf does."""
    if 0 <= value < 0x80:
        return _ONE_BYTE[value]
    value &= _MASK64
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_ONE_BYTE = [bytes([value]) for value in range(0x80)]
