"""Undoing a text conversion on the fly."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator

from tfrtool.framing.window import Readable
from tfrtool.sources.stream import Spool, whole


def unmangled(data: Readable, diagnosis: str) -> Readable:
    """The stream as it was before the conversion that `diagnosis` names; it ends where that cannot be undone."""
    undo = _line_feeds if diagnosis == "crlf" else _single_bytes
    return Spool(undo(map(bytes, whole(data))), diagnosis)


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
            yield encoded(error.object[: error.start].decode("utf-8"), _byte_or_else)
            return
        yield encoded(text, _byte_or_else)


def encoded(text: str, each: Callable[[str], bytes]) -> bytes:
    """The bytes that became `text`, `each` of them told apart where Latin-1 alone does not tell them."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return b"".join(map(each, text))


def byte(char: str) -> bytes:
    """The byte that became `char`, read as Latin-1 or as Windows has it; raises `UnicodeEncodeError` for none."""
    return char.encode("latin-1" if ord(char) < 256 else "cp1252")


def _byte_or_else(char: str) -> bytes:
    try:
        return byte(char)
    except UnicodeEncodeError:
        return b"?"  # a byte that cannot be had back; the record around it fails its checksum
