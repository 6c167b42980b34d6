"""What a file that is not a record file is, told from its first bytes.

Everything here is a guess from magic numbers, and a record file may begin with any of them: a first record of 376 bytes
begins like zlib, one of 35,615 bytes like gzip. So callers ask first whether the length checksum at offset 0 holds
(`tfrtool.framing.crc.header_is_sound`), and come here only when it does not.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Literal

from tfrtool.sources.codecs.container import GZIP_MAGIC, gzip_header, gzip_header_is_usual, zlib_header
from tfrtool.sources.detect.match import FormatMatch, shown
from tfrtool.suggestion import Suggestion

__all__ = ["WEAK_SIGNATURES", "FormatMatch", "compression_of", "may_be_ofrecord", "sniff_magic"]

_CONVINCING = 64
"""Unpacked bytes after which a zlib header is believed; text or numbers that look like one break before."""

_PIECE = 1 << 20
"""Unpacked bytes that are held at once."""

_OFRECORD = re.compile(rb"\0{4}\n[\x01-\xff]{1,5}?[\n\x12]", re.DOTALL)
"""In an OFRecord file, the upper half of a length, tag and size of an entry, and the tag of its name or its list."""

WEAK_SIGNATURES = frozenset({"html", "xml", "json", "text", "pickle", "zeros", "empty"})
"""Signatures that a damaged record file can carry by chance, or for a line of a log before it: they speak only where no
record is found.
"""

_USUAL_ZLIB = (b"\x78\x01", b"\x78\x9c", b"\x78\xda")
"""The zlib headers that writers make and that are no text, as `x^` is."""

RIEGELI_MAGIC = bytes.fromhex("83af70d10d884a3f") + bytes(8) + bytes.fromhex("4000000000000000")
"""The beginning of the first block of a Riegeli file (google/riegeli, `riegeli_records_file_format.md`)."""
ARRAY_RECORD_POSTSCRIPT = bytes.fromhex("10dec0ebfe84cec3c971")
"""Field 2 of ArrayRecord's postscript, its magic number 0x71930e704fdae05e as protobuf writes it.

The postscript stands, not compressed, at the beginning of the last 64 KiB (google/array_record,
`array_record_writer.cc`).
"""
TAIL_SIZE = 64 << 10
"""How far before the end of a file the bytes are wanted that tell ArrayRecord from Riegeli."""


@dataclass(frozen=True, slots=True)
class _Magic:
    at: int
    bytes: bytes
    diagnosis: str
    what: str
    hint: str
    suggestion: Suggestion | None = None


_UNPACK = "unpack it first"


def _piped(command: str) -> Suggestion:
    """What a command makes of the file, to be verified."""
    return Suggestion("verify", "-", first=command)


def _extracted(command: str) -> Suggestion:
    """The files of an archive that a command puts into a directory, to be verified."""
    return Suggestion("verify", "DIR", first=command)


_UNDO = {
    "gzip": "gzip -dc FILE",
    "zlib": "python3 -c 'import sys, zlib; sys.stdout.buffer.write(zlib.decompress(sys.stdin.buffer.read()))' < FILE",
}
"""How one layer of compression is undone; no common tool knows zlib."""

_GZIP, _ZSTD, _XZ, _BZIP2 = (_piped(f"{tool} -dc FILE") for tool in ("gzip", "zstd", "xz", "bzip2"))
_SNAPPY, _LZ4 = _piped("snzip -dc FILE"), _piped("lz4 -dc FILE")
_ROWS = Suggestion("convert", "FILE", (("to", "tfrecord"),), "make records of its rows")

_MAGICS = (
    _Magic(0, GZIP_MAGIC, "gzip", "gzip data", _UNPACK, _GZIP),
    _Magic(0, b"\x28\xb5\x2f\xfd", "zstd", "Zstandard-compressed data", _UNPACK, _ZSTD),
    _Magic(0, b"\xfd7zXZ\x00", "xz", "xz-compressed data", _UNPACK, _XZ),
    _Magic(0, b"\xff\x06\x00\x00sNaPpY", "snappy", "snappy-compressed data (framed)", _UNPACK, _SNAPPY),
    _Magic(0, b"\x04\x22\x4d\x18", "lz4", "lz4-compressed data", _UNPACK, _LZ4),
    _Magic(0, b"\x02\x21\x4c\x18", "lz4", "lz4-compressed data (legacy frame)", _UNPACK, _LZ4),
    _Magic(0, b"PAR1", "parquet", "an Apache Parquet file", "pyarrow and DuckDB read it", _ROWS),
    _Magic(0, b"PARE", "parquet", "an encrypted Apache Parquet file", "read it with pyarrow and its keys"),
    _Magic(0, b"Obj\x01", "avro", "an Apache Avro file", "read it with fastavro, or `avro-tools tojson FILE`"),
    _Magic(0, b"\x89HDF\r\n\x1a\n", "hdf5", "an HDF5 file", "read it with h5py: `h5dump -H FILE` lists what it holds"),
    _Magic(0, b"\x93NUMPY", "numpy", "a NumPy array file (.npy)", "read it with `numpy.load(FILE)`"),
    _Magic(0, b"\x0a\x23\xd7\xce", "mxnet-recordio", "MXNet RecordIO", "read it with MXNet or dmlc-core (`recordio`)"),
    _Magic(16, b"\xde\xc0\xef\xbe", "lmdb", "an LMDB database", "read it with the lmdb package: `mdb_stat -e DIR`"),
)

_PICKLES = (b"(dp", b"(lp", b"}q\x00", b"]q\x00", b"(dq\x00", b"(lq\x00", b"ccopy_reg\n")
"""How pickles of protocols 0 and 1 begin."""


def sniff_magic(
    head: bytes, size: int | None, *, tail: bytes = b"", outer: Literal["none", "gzip", "zlib"] = "none"
) -> FormatMatch | None:
    """Name the format that `head`, the first bytes of a decoded stream (up to 64 KiB), belongs to; None when unknown.

    Never trust the answer where the TFRecord length checksum at offset 0 holds: this does not look at it, the caller
    does. `size` counts the bytes of the whole decoded stream, None when unknown. `tail` holds bytes of the last 64 KiB,
    which alone tell ArrayRecord from Riegeli. `outer` is the compression that has been undone already.
    """
    if not head:
        return FormatMatch("empty", "the file is empty", "it holds no records; if it should, copy or write it again")
    for test in (_magic, _bzip2, _zip, _tar, _riegeli, _pickle):
        found = test(head, tail)
        if found is not None:
            return _compressed(found, outer, head) if found.diagnosis == "gzip" else found
    if not head.strip(b"\0"):
        return _zeros(head, size)
    if outer != "none" and compression_of(head, is_record_header=False) == "zlib":
        return _twice("zlib", outer)
    from tfrtool.sources.detect.text import sniff_text  # late: its patterns take a while to compile

    return sniff_text(head)


def compression_of(head: bytes, *, is_record_header: bool) -> Literal["none", "gzip", "zlib"]:
    """Which compression the first bytes of a file show; names are never looked at.

    `is_record_header`: whether a TFRecord length checksum holds at offset 0, which settles that nothing is compressed.
    A gzip header must be plausible, or its data unpack; of zlib, whose header is two bytes, the data must unpack. What
    may as well be the length and the tags of an OFRecord is gzip only if all that is there unpacks.
    """
    if is_record_header or len(head) < 2:
        return "none"
    if head.startswith(GZIP_MAGIC[: len(head)]):
        header = gzip_header(head)
        if may_be_ofrecord(head):
            return "gzip" if header.state == "sound" and _all_unpacks(head[header.length :]) else "none"
        if header.state == "cut" or (
            header.state == "sound" and (gzip_header_is_usual(head) or _unpacks(head[header.length :], None))
        ):
            return "gzip"
    elif zlib_header(head).state == "sound" and _unpacks(head[2:], head[:2]):
        return "zlib"
    return "none"


def may_be_ofrecord(head: bytes) -> bool:
    """Whether a length below 2 GiB and the tags of a map entry and of its name stand there, as in an OFRecord file.

    A gzip header of such bytes would tell no time and a way of packing that no writer has.
    """
    return 0 < int.from_bytes(head[:4], "little") < 1 << 31 and _OFRECORD.match(head, 4) is not None


def _all_unpacks(data: bytes) -> bool:
    """Whether bytes that may end within it are one deflate stream, and what is there of its checksum is right."""
    unzip, crc = zlib.decompressobj(-15), 0
    try:
        while data and not unzip.eof:
            crc = zlib.crc32(unzip.decompress(data, _PIECE), crc)
            data = unzip.unconsumed_tail
    except zlib.error:
        return False
    rest = unzip.unused_data[:4]
    return not unzip.eof or rest == crc.to_bytes(4, "little")[: len(rest)]


def _unpacks(data: bytes, zlib_head: bytes | None) -> bool:
    unzip = zlib.decompressobj(-15)
    try:
        out = unzip.decompress(data, _CONVINCING)
    except zlib.error:
        return False
    if len(out) == _CONVINCING or zlib_head is None:
        return True
    if unzip.eof:
        checksum = zlib.adler32(out).to_bytes(4, "big")
        rest = unzip.unused_data[:4]
        return rest == checksum[: len(rest)] and (bool(out) or len(rest) == 4)
    return zlib_head in _USUAL_ZLIB  # cut short before much could come out


def _compressed(found: FormatMatch, outer: str, head: bytes) -> FormatMatch:
    if outer == "none" and compression_of(head, is_record_header=False) == "none":
        broken = "begins like gzip data, but its header is none that gzip takes, or its data breaks at once"
        return FormatMatch("gzip", f"the file {broken}", "copy or fetch the file again")
    if outer == "none":
        as_gzip = Suggestion(settings=(("compression", "gzip"),), aim="have it unpacked")
        return FormatMatch("gzip", found.message, "it was to be read as it is", as_gzip)
    return _twice("gzip", outer)


def _twice(inner: str, outer: str) -> FormatMatch:
    what = f"{inner} data inside {outer} data: it was compressed twice"
    return FormatMatch("gzip", what, "undo the outer layer first", _piped(_UNDO[outer]))


def _magic(head: bytes, _tail: bytes) -> FormatMatch | None:
    for m in _MAGICS:
        if head.startswith(m.bytes, m.at):
            return FormatMatch(m.diagnosis, m.what, m.hint, m.suggestion)
    if len(head) >= 8 and head[0] & 0xF0 == 0x50 and head[1:4] == b"\x2a\x4d\x18":
        return FormatMatch("zstd", "a skippable frame of Zstandard or lz4", _UNPACK, _ZSTD)
    return None


def _bzip2(head: bytes, _tail: bytes) -> FormatMatch | None:
    if head[:3] == b"BZh" and head[4:10] in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90"):
        return FormatMatch("bzip2", "bzip2-compressed data", _UNPACK, _BZIP2)
    return None


def _zip(head: bytes, _tail: bytes) -> FormatMatch | None:
    if head[:4] == b"PK\x05\x06":
        return FormatMatch("zip", "an empty zip archive", "it holds no files; copy or make it again")
    if head[:4] != b"PK\x03\x04" or len(head) < 30:
        return None
    name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    what = f"a zip archive; its first member is {shown(name)}"
    if name.endswith(b".npy"):
        return FormatMatch("zip", f"{what} (a NumPy .npz file)", "read it with `numpy.load(FILE)`")
    if name.endswith(b"/data.pkl"):
        return FormatMatch("zip", f"{what} (a PyTorch file)", "read it with `torch.load(FILE, weights_only=True)`")
    return FormatMatch("zip", what, _UNPACK, _extracted("unzip FILE -d DIR"))


def _tar(head: bytes, _tail: bytes) -> FormatMatch | None:
    block = head[:512]
    if len(block) < 512 or not block[0]:
        return None
    if block[257:262] != b"ustar":  # the tar of before 1988 has no magic, but a checksum with its own field as spaces
        stored = block[148:156].strip(b"\0 ")
        total = sum(block) - sum(block[148:156]) + 8 * ord(" ")
        if not stored or not set(stored) <= set(b"01234567") or int(stored, 8) != total:
            return None
    name = block[:100].split(b"\0", 1)[0]
    what = f"a tar archive; its first member is {shown(name)}"
    return FormatMatch("tar", what, _UNPACK, _extracted("mkdir DIR && tar -xf FILE -C DIR"))


def _riegeli(head: bytes, tail: bytes) -> FormatMatch | None:
    if not head.startswith(RIEGELI_MAGIC):
        return None
    array_hint = "read it with the array-record package (`array_record.python.array_record_module.ArrayRecordReader`)"
    if ARRAY_RECORD_POSTSCRIPT in tail:
        return FormatMatch("array-record", "an ArrayRecord file", array_hint)
    hint = f"ArrayRecord files begin alike: {array_hint}; if that refuses, read it with riegeli"
    return FormatMatch("riegeli", "a Riegeli file, perhaps an ArrayRecord one", hint)


def _pickle(head: bytes, _tail: bytes) -> FormatMatch | None:
    hint = "it holds Python objects: unpickling runs code, so load it only if you trust where it comes from"
    if head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05"):
        follows = head[2:3]
        # Protocol 4 and 5 open with a frame; before that, the object itself begins.
        if follows == b"\x95" or (head[1] < 4 and follows in (b"}", b"]", b"(", b"c", b")", b"X", b"J", b"K", b"\x8a")):
            return FormatMatch("pickle", f"a Python pickle (protocol {head[1]})", hint)
    if head.startswith(_PICKLES):
        return FormatMatch("pickle", "a Python pickle (protocol 0 or 1)", hint)
    return None


def _zeros(head: bytes, size: int | None) -> FormatMatch:
    whole = size is not None and size <= len(head)
    what = f"all {size} bytes are zero" if whole else f"the first {len(head)} bytes are all zero"
    if size == 1:
        what = "its one byte is zero"
    hint = "space was reserved but never written, or lost after a crash: copy the file again from where it is whole"
    return FormatMatch("zeros", what, hint)
