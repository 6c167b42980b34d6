"""Undoing a text conversion on the fly."""

from __future__ import annotations

import codecs
from collections.abc import Iterator

from tfrtool.framing.window import Readable
from tfrtool.sources.stream import Spool

_STEP = 1 << 20


def unmangled(data: Readable, diagnosis: str) -> Readable:
    """The stream as it was before the conversion that `diagnosis` names; it ends where that cannot be undone."""
    undo = _line_feeds if diagnosis == "crlf" else _single_bytes
    return Spool(undo(_chunks(data)), diagnosis)


def _chunks(data: Readable) -> Iterator[bytes]:
    view, at = memoryview(bytearray(_STEP)), 0
    while got := data.read_into(at, view):
        at += got
        yield bytes(view[:got])
        data.forget(at)


def _line_feeds(chunks: Iterator[bytes]) -> Iterator[bytes]:
    held = b""
    for chunk in chunks:
        chunk = held + chunk
        held = b"\r" if chunk.endswith(b"\r") else b""
        yield chunk[: len(chunk) - len(held)].replace(b"\r\n", b"\n")
    yield held


def _single_bytes(chunks: Iterator[bytes]) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    for chunk in chunks:
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError as error:
            yield _encoded(error.object[: error.start].decode("utf-8"))
            return
        yield _encoded(text)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return b"".join(_byte(char) for char in text)


def _byte(char: str) -> bytes:
    if ord(char) < 256:
        return char.encode("latin-1")
    try:
        return char.encode("cp1252")
    except UnicodeEncodeError:
        return b"?"  # a byte that cannot be had back; the record around it fails its checksum
