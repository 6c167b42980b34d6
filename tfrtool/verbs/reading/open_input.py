"""Packed files whose first bytes hide it: a damaged header, a first member that is lost, a text conversion.

`open_source` tells gzip and zlib by a sound header at the first byte. What has none is looked at here, once nothing
else explains it, and a source that proves to be packed after all is made one that unpacks. What there is to be unpacked
has to hold records.
"""

from __future__ import annotations

import zlib
from contextlib import closing
from typing import TYPE_CHECKING, Literal

from tfrtool.framing.crc import header_is_sound
from tfrtool.framing.ofrecord import looks_like_ofrecord
from tfrtool.framing.recovery.budget import WorkBudget
from tfrtool.framing.recovery.explain import Resync
from tfrtool.payload.kinds import plausible_ofrecord
from tfrtool.sources.codecs.container import CONTAINERS, GZIP_MAGIC, gzip_header
from tfrtool.sources.codecs.damaged_header import LOOK, deflate_begins, packed_as
from tfrtool.sources.codecs.decoder import Decoder
from tfrtool.sources.codecs.members import continues_past, next_member
from tfrtool.sources.codecs.text_mode import packed_text_conversion
from tfrtool.sources.detect.signatures import may_be_ofrecord
from tfrtool.sources.spool import Spool
from tfrtool.verbs.reading.identify import told_apart

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream
    from tfrtool.sources.source import Source

_RECORDS = 1 << 20
"""How far records are looked for in what is unpacked, and beside it, in bytes."""
_IN_A_FILE = 64 << 20
"""How far the first gzip member that can be read may begin, in bytes; where gzip was asked for it may be anywhere."""
_IN_A_PIPE = 1 << 20
"""The same where the input can only be read forwards, so that what is passed over has to be held."""
_ENOUGH = 64 << 20
"""Unpacked bytes after which the end of a member is not waited for."""
_FAR = 1 << 63
"""Behind the end of any file."""


class _From:
    """The packed bytes of a source from some byte on, none of which is forgotten: they will be read again."""

    def __init__(self, data: ByteStream, begin: int = 0) -> None:
        self._data, self._begin = data, begin
        self.size = None if data.size is None else data.size - begin

    def read_into(self, offset: int, view: memoryview) -> int:
        return self._data.read_into(self._begin + offset, view)

    def discard_before(self, offset: int) -> None:
        pass


def unwrap(source: Source, wanted: str) -> None:
    """Have a source unpacked that is packed, though its first bytes do not say so plainly.

    `wanted` is the compression that was asked for, or `auto`.
    """
    if source.format_mismatch is None and _convert(source, wanted):
        return
    if source.compression != "none" or header_is_sound(source.raw_head):
        return
    asked = source.format_mismatch is not None
    if not asked and may_be_ofrecord(source.head):
        return  # no packed data begins so, and to search all of a large file for gzip members takes long
    if asked and wanted == "zlib":
        if packed_as(source.raw_head) == "zlib":
            source.decompress_as("zlib", checked=True)
        return
    at_start = not asked and Resync(source.data, WorkBudget()).record_at_start()
    kind = packed_as(source.raw_head)
    if kind and not at_start and (asked or (_goes_on(source, 0, kind) and _holds_records(source, 0, kind))):
        source.decompress_as(kind, checked=True)
        return
    later = _later_member(source, asked)
    if later is not None:
        source.decompress_as("gzip", checked=True, lead=later)


def _convert(source: Source, wanted: str) -> bool:
    """Undo a text conversion of packed bytes, where that is proved; whether there was one."""
    if wanted == "none" or header_is_sound(source.raw_head):
        return False
    found = packed_text_conversion(source.raw_head)
    if found is None:
        return False
    assert found.packed is not None
    source.decompress_as(found.packed, checked=True, text=found)
    return True


def _later_member(source: Source, asked: bool) -> int | None:
    """Whether the file is gzip data from some member further on: how many bytes stand before it that hold records."""
    identity = told_apart(source, "auto", sound=False)
    sniffed = identity.sniffed
    if identity.format != "tfrecord" and (sniffed is None or sniffed.diagnosis != "gzip"):
        return None
    raw = _From(source.encoded)
    stop: int | None = _IN_A_FILE if source.reopenable else _IN_A_PIPE
    if identity.found:  # records that are packed as they are can be found without unpacking
        stop = _RECORDS
    elif asked and source.reopenable:
        stop = None
    at = next_member(raw, 0, forget=False, stop=stop)[0]
    if at is None:
        return None
    beside = (at > _RECORDS or identity.found) and Resync(source.data, WorkBudget()).record_within(at)
    if (beside or identity.found) and not (source.reopenable and continues_past(raw, at, _FAR, _FAR)):
        return None
    if asked or (_goes_on(source, at, "gzip") and _holds_records(source, at)):
        return at if beside else 0
    return None


def _goes_on(source: Source, at: int, kind: Literal["gzip", "zlib"]) -> bool:
    """Whether a member is the file's, not a part of a record's payload: another follows, or nothing, or it is long.

    Of a payload, the checksum and the next record follow. Only so much of a member is read as records are looked for.
    """
    data = bytearray(_RECORDS)
    packed = bytes(data[: source.encoded.read_into(at, memoryview(data))])
    header = gzip_header(packed) if kind == "gzip" else None
    begins: int | None = header.length if header and header.state == "sound" else None
    if begins is None:
        begins = deflate_begins(packed[:LOOK], CONTAINERS[kind], first=True, to_the_end=len(packed) <= LOOK)
    unzip, feed, left = zlib.decompressobj(-15), packed[begins or 0 :], _ENOUGH
    try:
        while feed and left > 0 and not unzip.eof:
            left -= len(unzip.decompress(feed, _RECORDS))
            feed = unzip.unconsumed_tail
    except zlib.error:
        return True  # the next one is found from here
    rest = unzip.unused_data[CONTAINERS[kind].trailer_size :].lstrip(b"\0")[: len(GZIP_MAGIC)]
    return not unzip.eof or rest == GZIP_MAGIC[: len(rest)]


def _holds_records(source: Source, at: int, kind: Literal["gzip", "zlib"] = "gzip") -> bool:
    """Whether records are found in what is unpacked from packed byte `at` on."""
    unpacker = Decoder(_From(source.encoded, at), CONTAINERS[kind], [])
    with closing(Spool(unpacker.chunks(), source.name)) as data:
        return Resync(data, WorkBudget()).record_within(_RECORDS) or looks_like_ofrecord(
            data, plausible_ofrecord, _RECORDS
        )
