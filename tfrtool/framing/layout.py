"""What a frame looks like on disk.

    TFRecord   | uint64 length | uint32 masked CRC-32C(length) | payload | uint32 masked CRC-32C(payload) |
               0               8                              12       12+n                            16+n
    OFRecord   | int64 length | payload |
               0              8        8+n

All integers are little-endian. Neither format has a file header, an index, padding or an end mark, so a file of no
bytes is a TFRecord file of no records. Source: `record_writer.h` of TensorFlow (TFRecord), `ofrecord_dataset.h` of
OneFlow.

Some writers got the checksums wrong in every record. Their files hold whole payloads, and `Layout` names how to read
them: the same picture with another checksum function, or with big-endian integers.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from tfrtool.framing.crc import Bytes, crc32c, rotated, unmasked

HEADER = 12
"""Bytes of a TFRecord header: the length and its checksum."""
FOOTER = 4
"""Bytes of a TFRecord footer: the checksum of the payload."""
FRAMING = HEADER + FOOTER
"""Bytes that TFRecord framing adds to each payload."""
LONGEST = 1 << 32
"""From here on a length is no record where the size of the stream is unknown, and no such header is looked for."""
OFRECORD_HEADER = 8
"""Bytes of an OFRecord header: the length alone."""
AROUND = {"tfrecord": (HEADER, FOOTER), "ofrecord": (OFRECORD_HEADER, 0)}
"""Bytes before and behind each payload, by format."""


class Layout(NamedTuple):
    """One way of writing TFRecord framing.

    `header` and `footer` give the byte order, `crc(data, value)` the checksum function, `stored` the form in which its
    result is written, and `bare` the way back.
    """

    name: str
    words: str
    header: Struct
    footer: Struct
    crc: Callable[..., int]
    stored: Callable[[int], int]
    bare: Callable[[int], int]

    def sound(self, head: Bytes) -> bool:
        """Whether the first 12 bytes are a length and its checksum."""
        return len(head) >= HEADER and self.stored(self.crc(head[:8])) == self.header.unpack_from(head)[1]

    def length(self, head: Bytes) -> int:
        """The length that a header tells, be it sound or not."""
        length: int = self.header.unpack_from(head)[0]
        return length


def _as_it_is(crc: int) -> int:
    return crc


def _turned(value: int) -> int:
    return int.from_bytes(value.to_bytes(4, "little"), "big")


def _rotated_and_turned(crc: int) -> int:
    return _turned(rotated(crc))


def _turned_and_unmasked(stored: int) -> int:
    return unmasked(_turned(stored))


_LITTLE, _BIG = (Struct("<QI"), Struct("<I")), (Struct(">QI"), Struct(">I"))

TFRECORD = Layout("tfrecord", "masked CRC-32C", *_LITTLE, crc32c, rotated, unmasked)

WRONG_WRITERS = (
    Layout("crc32", "plain CRC-32 where CRC-32C belongs", *_LITTLE, crc32, rotated, unmasked),
    Layout("crc32-unmasked", "plain CRC-32 without the mask", *_LITTLE, crc32, _as_it_is, _as_it_is),
    Layout("unmasked", "CRC-32C without the mask", *_LITTLE, crc32c, _as_it_is, _as_it_is),
    Layout("big-endian", "big-endian integers", *_BIG, crc32c, rotated, unmasked),
    Layout("big-endian-checksums", "big-endian checksums", *_LITTLE, crc32c, _rotated_and_turned, _turned_and_unmasked),
)
"""Layouts whose checksums still prove each payload."""

ZEROED = Layout(
    "zero-checksums", "zeros in place of checksums", *_LITTLE, lambda data, value=0: 0, _as_it_is, _as_it_is
)
"""The layout that proves nothing: only an unbroken chain of lengths to the end of the file speaks for it."""

LAYOUTS = {layout.name: layout for layout in (TFRECORD, *WRONG_WRITERS, ZEROED)}
