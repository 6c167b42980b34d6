"""Files that stand in a directory of records and hold none: told by well-known names, and never against their bytes."""

from __future__ import annotations

import os
import zlib
from typing import Literal

from tfrtool.sources.codecs.container import GZIP_MAGIC

ROWS = (".jsonl", ".ndjson", ".parquet", ".pq")
"""What `convert` reads too."""

FOREIGN_SUFFIXES = (
    *(".csv", ".tsv", ".log", ".md", ".rst", ".html", ".htm", ".xml", ".yaml", ".yml", ".toml", ".ini", ".cfg"),
    *(".py", ".pyc", ".ipynb", ".sh", ".proto", ".pdf", ".md5", ".sha256"),
    *(".arrow", ".avro", ".npy", ".npz", ".pkl", ".pickle", ".h5", ".hdf5", ".pt", ".pth", ".pb", ".onnx", ".sqlite"),
    *(".jpg", ".jpeg", ".png", ".gif", ".webp", ".bmp", ".svg", ".tif", ".tiff", ".mp3", ".mp4", ".wav"),
    *(".tar", ".tgz", ".zip", ".7z", ".rar", ".bz2", ".xz", ".zst"),
)
"""The ends of names of other kinds of files, in small letters; each with `.gz` behind it too."""

_BEGINNINGS = (
    *(b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*", b"ID3", b"\xff\xfb", b"%PDF"),
    *(b"SQLite format 3", b"7z\xbc\xaf", b"Rar!", b"ARROW1"),
)
"""How files of these kinds begin that `sniff` does not know, being none that people take for record files."""

_LOOK = 512
"""Bytes that hold a gzip header of any usual size, and the 12 bytes of a record's header behind it."""
_FARTHER = 64 << 10
"""Bytes in which a header is looked for where neither the name nor the beginning settle it."""

Verdict = Literal["records", "other", "unknown"]


def verdict(name: str, path: str, *, rows: bool = False) -> Verdict:
    """Whether the file at `path`, called `name`, is taken for one of records, or is of another kind by the end of its
    name.

    It is one of records, whatever its name, where the checksum of a record's length holds at its beginning or, where
    nothing else says what it is, farther on: then its beginning is damaged. It is `unknown` where its bytes tell
    neither that nor anything else. All of this looks into gzip, too. `rows`: files of rows are wanted, too. A file that
    cannot be read is what its name says.
    """
    small = name.lower().removesuffix(".gz")
    if not small.endswith(FOREIGN_SUFFIXES) and (rows or not small.endswith(ROWS)):
        return "records"
    from tfrtool.framing.crc import header_is_sound

    try:
        with open(path, "rb") as file:
            head = _unpacked(file.read(_LOOK), _LOOK)
            if header_is_sound(head):
                return "records"
            if b"\0" not in head or head.startswith(_BEGINNINGS):  # every header has zeros, and text has none
                return "other"
            file.seek(0)
            head = _unpacked(file.read(_FARTHER), _FARTHER)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return "other"
    from tfrtool.sources.detect.signatures import WEAK_SIGNATURES, sniff_magic

    found = sniff_magic(head, size)
    told = "" if found is None else found.diagnosis
    if told and told not in WEAK_SIGNATURES:
        return "other"
    if _holds_a_header(head):
        return "records"
    return "other" if told and told != "zeros" else "unknown"


def _unpacked(head: bytes, most: int) -> bytes:
    """The bytes that these ones of a file begin with, of what they are packed from by gzip; none where that breaks."""
    if not head.startswith(GZIP_MAGIC):
        return head
    try:
        return zlib.decompressobj(31).decompress(head, most)
    except zlib.error:
        return b""


def _holds_a_header(head: bytes) -> bool:
    from tfrtool.framing.kernel import select as kernel

    buffer, at = bytearray(head), 0
    while at + 12 <= len(buffer):
        found, at = kernel.scan(buffer, at, len(buffer))
        if found:
            return True
    return False
