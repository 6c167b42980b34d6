"""Detect what a bytes value holds by its first bytes, and describe it in a few words."""

from __future__ import annotations

import codecs
import re
import zlib
from typing import NamedTuple

from tfrtool.payload.content.media import identify_media
from tfrtool.payload.content.tensors import read_tensor
from tfrtool.payload.kinds import kind_of
from tfrtool.payload.text import is_text, size_text, text_of
from tfrtool.payload.wire.reader import Buffer

_HEAD = 4096  # bytes of a value that are looked at for the header of a container
_JSON = 1 << 12  # a longer text is told to be JSON by its ends
_RECORD = 1 << 20  # a longer value is not walked to learn that it is a record
_DETAIL = 64  # characters of a detail, of which a header may hold thousands
_HEX = 16  # bytes of a short value that are shown in full
_NUMPY = rb"(?s)'descr': *'([^']{1,32})'.*'shape': *\(([\d, ]*)\)"
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
_ENOUGH = 1 << 12  # bytes unpacked that nobody meets by chance
_MAGIC = (
    (b"\x1f\x8b\x08", "gzip"),
    (b"PK\3\4", "zip"),
    (b"PK\5\6", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"%PDF-", "pdf"),
)
_NPZ = re.compile(rb"(?s)PK\x03\x04.{26}[^\x00-\x1f]{1,200}?\.npy")
"""A zip whose first member is an array; numpy writes one so."""
_MAGIC_FIRST = frozenset(b"\x1fP\x28\xfdB%\x93x")
_MESSAGE = frozenset(b"\x08\x09\x0a\x10\x12\x1a\x22\x2a\x32")
"""Tags with which a tensor, an Example or an Event begins."""
_MORE = frozenset(b"{[x%")
"""With what text begins that may be more than text: JSON, a zlib stream, or PDF."""
_IN_JSON = frozenset((b'"', b"{", b"[", b"}", b"]", b"-", b"t", b"f", b"n", *(b"%d" % i for i in range(10))))


class DetectedContent(NamedTuple):
    """`kind` is one word such as `jpeg`, `utf-8` or `raw`; `detail` says more where a header does: `640x480`.

    A detail has at most 64 characters; one that was longer ends in `…`.
    """

    kind: str
    detail: str = ""


def content_of(value: Buffer) -> DetectedContent:
    """Return what a value holds. Looks at its beginning, whatever its size, and copies no more than that.

    Kinds: `jpeg png gif webp bmp tiff avif heic jpeg2000 wav flac ogg mp3 mp4 · gzip zlib zstd xz bzip2 zip pdf numpy ·
    tensor · example sequence_example event ofrecord · json utf-8 · empty · raw`.
    """
    return DetectedContent(*identify_content(value)[:2])


def identify_content(value: Buffer) -> tuple[str, str, str]:
    """The same, and the form of an image: `rgb`, `grey`, `16-bit rgba`; "" where it is of no known one, or no image."""
    return (value and identify_media(value)) or (*_other(value), "")


def _other(value: Buffer) -> DetectedContent:
    """Return what a value holds that is neither image nor sound."""
    if not value:
        return DetectedContent("empty")
    if is_text(value):
        return DetectedContent("utf-8") if value[0] not in _MORE else packed(value) or _json_or_text(value)
    return packed(value) or (_message(value) if value[0] in _MESSAGE else None) or DetectedContent("raw")


def packed(value: Buffer) -> DetectedContent | None:
    """Return a container by its magic bytes; if those are two bytes only, as zlib has, by what inflates from it."""
    if value[0] not in _MAGIC_FIRST:
        return None
    head = bytes(value[:_HEAD])
    for magic, kind in _MAGIC:
        if head.startswith(magic):
            return DetectedContent(kind, "npz" if kind == "zip" and _NPZ.match(head) else "")
    if head.startswith(b"\x93NUMPY"):
        found = re.search(_NUMPY, head[8:])
        return DetectedContent(
            "numpy", _cut(f"{found[1].decode('latin-1')} ({found[2].decode().strip()})") if found else ""
        )
    if head[:2] in _ZLIB and _inflates(head, len(value) <= _HEAD):
        return DetectedContent("zlib")
    return None


def _inflates(head: bytes, whole: bool) -> bool:
    """Does zlib take it? What is whole must end with its checksum; of more than the head enough must come.

    Bytes begin like zlib by chance, one in 20,000, and unpack to a few more often than not.
    """
    stream = zlib.decompressobj()
    try:
        enough = len(stream.decompress(head, _ENOUGH)) == _ENOUGH
        return enough or stream.eof or (not whole and stream.unconsumed_tail == b"")
    except zlib.error:
        return False


def _json_or_text(value: Buffer) -> DetectedContent:
    """JSON is an object or an array; a text too long to parse is judged by its ends: its first bytes, its last one."""
    if len(value) > _JSON:
        begin = bytes(value[:64])
        is_json = (begin[:1] + bytes(value[-1:])) in (b"{}", b"[]") and begin[1:].lstrip()[:1] in _IN_JSON
        return DetectedContent("json" if is_json else "utf-8")
    import json

    try:
        json.loads(bytes(value))
    except (ValueError, RecursionError):
        return DetectedContent("utf-8")
    return DetectedContent("json")


def _message(value: Buffer) -> DetectedContent | None:
    if tensor := read_tensor(value):
        return DetectedContent("tensor", _cut(str(tensor)))
    if len(value) <= _RECORD:
        kind = kind_of(value)
        if kind is not None and kind != "unknown":
            return DetectedContent(kind)
    return None


def _cut(detail: str) -> str:
    return detail if len(detail) <= _DETAIL else f"{detail[: _DETAIL - 1]}…"


def describe_value(value: Buffer, width: int = 60) -> str:
    """A bytes value in at most about `width` characters: short text in quotes, short binary in hex, else what it holds.

    `"cat"` · `text "hello wor…" 1.2 KiB` · `0x00ff10 (3 bytes)` · `jpeg 640x480, 48.0 KiB` · `0x00ff10a4… 2.0 KiB`.
    Control characters of a text are not escaped: the printer makes it safe for the terminal.
    """
    content, size = content_of(value), size_text(len(value))
    if content.kind == "empty":
        return '""'
    if content.kind in ("utf-8", "json"):
        return _quoted(value, "text" if content.kind == "utf-8" else "json", size, width)
    if content.kind == "raw":
        if len(value) <= _HEX:
            return f"0x{value.hex()} ({size})"
        return f"0x{value[:8].hex()}… {size}"
    detail = content.detail if len(content.detail) <= width else f"{content.detail[:width]}…"
    return f"{content.kind} {detail}, {size}" if detail else f"{content.kind}, {size}"


def _quoted(value: Buffer, what: str, size: str, width: int) -> str:
    """Return the text in full if it has room, else its beginning."""
    if len(value) <= 4 * width:
        text = text_of(value)
        if len(text) + 2 <= width:
            return f'"{text}"'
    room = max(width - len(what) - len(size) - 5, 8)
    start = codecs.utf_8_decode(bytes(value[: 4 * room]), "backslashreplace", False)[0]
    return f'{what} "{start[:room]}…" {size}'
