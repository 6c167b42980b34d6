"""Text conversions of binary data: CR LF for LF, and Latin-1 written as UTF-8. Detect them, and undo them by a decoder.

A conversion is proved by undoing it: then intact records appear that were not there before.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal
from zlib import decompressobj
from zlib import error as zlib_error

from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.stream import ByteStream, MemoryStream
from tfrtool.framing.walk import Batch, walk
from tfrtool.suggestion import Suggestion

_STEP = 1 << 16
NO_TEXT = re.compile("[\udc80-\udcff]")
"""How Python decodes a byte that is not UTF-8 with `surrogateescape` (PEP 383)."""


class TextModeDecoder:
    """Decode a stream to what it was before the conversion that `diagnosis` names.

    Bytes that cannot be restored stay as they are, or become a question mark; the record around them then fails its
    checksum. `data` is told to forget what was decoded.
    """

    def __init__(self, data: ByteStream, diagnosis: str) -> None:
        self._data = data
        self._crlf = diagnosis == "crlf"
        self.converted = self.left = 0
        """Line feeds, or bytes from 128 on, so far: those that were converted, and those that cannot have been."""

    def chunks(self) -> Iterator[bytes]:
        """Yield the decoded bytes in order."""
        undo, count = (_line_feeds, line_ends) if self._crlf else (_single_bytes, high_bytes)
        at, buffer, last = 0, memoryview(bytearray(_STEP)), False
        while not last:
            got = self._data.read_into(at, buffer)
            last = got < _STEP
            used, decoded = undo(bytes(buffer[:got]), last)
            converted, left = count(bytes(buffer[:used]))
            self.converted, self.left = self.converted + converted, self.left + left
            at += used
            self._data.discard_before(at)
            if decoded:
                yield decoded


def undone(data: bytes, diagnosis: str) -> bytes:
    """Return some bytes as they were before a conversion."""
    return b"".join(TextModeDecoder(MemoryStream(data), diagnosis).chunks())


# Both take a chunk and whether it is the last, and return how many bytes of it they used, and the result.


def _line_feeds(chunk: bytes, last: bool) -> tuple[int, bytes]:
    used = chunk if last or not chunk.endswith(b"\r") else chunk[:-1]
    return len(used), used.replace(b"\r\n", b"\n")


def line_ends(chunk: bytes) -> tuple[int, int]:
    """Count line feeds with a carriage return before them, and those without."""
    converted = chunk.count(b"\r\n")
    return converted, chunk.count(b"\n") - converted


def _single_bytes(chunk: bytes, last: bool) -> tuple[int, bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    text = decoder.decode(chunk, last)
    return len(chunk) - len(decoder.getstate()[0]), _encoded(text)


def high_bytes(chunk: bytes) -> tuple[int, int]:
    """Count bytes from 128 on that were written as several, and those that were not."""
    text = chunk.decode("utf-8", "surrogateescape")
    left = len(NO_TEXT.findall(text))
    return len(text) - len(text.encode("ascii", "ignore")) - left, left


def _encoded(text: str) -> bytes:
    """The bytes that became `text`, read as Latin-1 or, for a few of them, as Windows-1252."""
    try:
        return text.encode("latin-1", "surrogateescape")
    except UnicodeEncodeError:
        return b"".join(map(_byte, text))


def _byte(char: str) -> bytes:
    try:
        return char.encode("latin-1" if ord(char) < 256 else "cp1252", "surrogateescape")
    except UnicodeEncodeError:
        return b"?"  # a byte that cannot be recovered


_REPLACEMENT = "\ufffd".encode()
_LIKELY = 0.5
"""The same for a first look at few bytes."""
_GLANCE = 1 << 16
"""Bytes that tell text from most binary data."""
_HELD_SAMPLE = 1 << 20
"""Unpacked bytes in which records are counted."""
_SURE = 0.9
"""The share of line ends, or of bytes from 128 on, that must look converted: damage can have hit the others."""


@dataclass(frozen=True, slots=True)
class TextConversion:
    """The text conversion that a file went through."""

    diagnosis: str
    message: str
    hint: str
    suggestion: Suggestion | None = None
    packed: Literal["gzip", "zlib"] | None = None
    """The compression of the converted bytes; None for plain records."""


AGAIN = (
    "fetch the file again as binary: no text mode, no re-encoding, no line-end conversion (git: mark *.tfrecord -text)"
)


def as_found(found: TextConversion, converted: int, left: int) -> TextConversion:
    """Describe a whole file in which so many bytes were converted, and so many (`left`) were not."""
    many, said = f"{converted:,} of {converted + left:,}", found.message
    if found is _CRLF and (left or converted == 1):
        which = f"{many} line feeds" if left else "the one line feed"
        said = f"{which} became CR LF: a part of the file went through a text mode, or bytes were put in"
    elif found is _LATIN and left:
        said = f"{many} bytes from 128 on were written as two: Latin-1 encoded as UTF-8"
    return replace(found, message=said)


def as_begun(found: TextConversion, head: bytes, whole: bool) -> TextConversion:
    """Describe a file of which only these first bytes can be read, which may be the `whole` file."""
    said = as_found(found, *(line_ends if found is _CRLF else high_bytes)(head))
    return said if whole else replace(said, message=f"in the first {len(head):,} bytes, {said.message}")


_CRLF = TextConversion("crlf", "every line feed became CR LF: the file was written or copied in text mode", AGAIN)
_LATIN = TextConversion("utf8-mangled", "every byte from 128 on was written as two: Latin-1 encoded as UTF-8", AGAIN)


def packed_text_conversion(head: bytes) -> TextConversion | None:
    """Return the conversion that gzip or zlib data with these first bytes went through, or None.

    Proved where all of it unpacks once that is undone, to a record with a sound header, and not as it is; or where it
    gives more sound records before it breaks.
    """
    if head[:1] not in (b"\x1f", b"\x78") or not looks_converted(head):
        return None
    as_it_is, whole = _unpacked(head)
    if whole:
        return None
    for found in (_CRLF, _LATIN):
        before = undone(head, found.diagnosis)
        if len(before) < len(head):
            unpacked, whole = _unpacked(before)
            sound = header_is_sound(unpacked)
            if sound and (whole or _records(MemoryStream(unpacked)) > _records(MemoryStream(as_it_is))):
                return replace(found, packed="gzip" if head[:1] == b"\x1f" else "zlib")
    return None


def _unpacked(head: bytes) -> tuple[bytes, bool]:
    """Return the first bytes that compressed data gives, and whether all of it decompresses.

    What is no deflate data breaks within some thousand bytes, so little of it cannot tell: then it must be all.
    """
    unzip, first, most = decompressobj(47), bytearray(), 1 << 26
    try:
        for at in range(0, len(head), 256):
            out = unzip.decompress(head[at : at + 256], 1 << 20)
            most -= len(out)
            if len(first) < _HELD_SAMPLE:
                first += out
            if unzip.eof or most < 0:
                break
    except zlib_error:
        return bytes(first), False
    return bytes(first), unzip.eof or len(head) >= _GLANCE


def looks_converted(sample: bytes) -> bool:
    """Return whether bytes of a damaged file look converted, so that a search is worthwhile."""
    newlines = sample.count(b"\n")
    return (newlines > 0 and sample.count(b"\r\n") >= _LIKELY * newlines) or _is_text(sample)


def text_conversion(head: bytes) -> TextConversion | None:
    """Return the conversion that the first bytes of a decoded stream went through, or None.

    Proved where undoing it makes sound records appear that were not there. Where bytes were replaced by U+FFFD the
    conversion cannot be undone, and the only evidence is that binary data is valid UTF-8. Where sound records hold
    CR LF, that is theirs: no more than a part of the file was converted.
    """
    newlines = head.count(b"\n")
    if newlines and head.count(b"\r\n") >= _SURE * newlines and _gains(head, "crlf"):
        return None if _has_sound_crlf(head) else _CRLF
    if not _is_text(head[:_GLANCE]):
        return None
    text = head.decode("utf-8", "surrogateescape")
    lost = head.count(_REPLACEMENT)
    if lost >= 4 and not NO_TEXT.search(text[:-3]) and not text.isprintable() and any(ord(c) < 9 for c in text):
        message = f"binary data was read as text: {lost:,} bytes of the first {len(head):,} became U+FFFD and are lost"
        return TextConversion("utf8-mangled", message, AGAIN)
    if _is_text(head) and _gains(head, "utf8-mangled"):
        return _LATIN
    return None


def _is_text(head: bytes) -> bool:
    """Return whether there are bytes from 128 on, nearly all of them UTF-8."""
    text = head.decode("utf-8", "surrogateescape")
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return beyond > 0 and len(NO_TEXT.findall(text)) <= (1 - _SURE) * beyond


def _gains(head: bytes, diagnosis: str) -> bool:
    return _records(MemoryStream(undone(head, diagnosis))) > _records(MemoryStream(head))


def _has_sound_crlf(head: bytes) -> bool:
    """Return whether an intact record holds CR LF, which undoing a conversion would change."""
    batches = (item for item in walk(MemoryStream(head)) if isinstance(item, Batch))
    return any(b"\r\n" in head[batch.begin : batch.end] for batch in batches)


def _records(data: ByteStream) -> int:
    return sum(item.count for item in walk(data) if isinstance(item, Batch))
