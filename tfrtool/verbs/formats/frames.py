"""Write TFRecord and OFRecord frames to one open output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from struct import pack
from typing import BinaryIO

from tfrtool.framing.crc import crc32c, rotated
from tfrtool.framing.encode import header
from tfrtool.types import Kind
from tfrtool.verbs.formats.base import Layout, Pieces
from tfrtool.verbs.records import packer

_HELD = 1 << 18
"""Bytes that are collected before a write: about a batch of small records."""
_KNOWN_MOST = 1 << 12


class FrameWriter:
    """Write TFRecord or OFRecord frames, compressed or not. gzip output has one member, since TensorFlow up to 2.4
    reads no more."""

    def __init__(
        self,
        out: BinaryIO,
        layout: Layout,
        framed: Callable[[Pieces], list[bytes | memoryview]],
        framed_all: Callable[[list[bytes]], Iterable[bytes]],
    ) -> None:
        """Set up the writer. `framed` returns the parts of one frame, `framed_all` those of many."""
        self._write = out.write
        self._framed = framed
        self._framed_all = framed_all
        self._parts: list[bytes | memoryview] = []
        self._held = 0
        self._deflate = packer(layout.compression, layout.level)

    def write(self, pieces: Pieces, kind: Kind) -> int:
        parts = self._framed(pieces)
        size = sum(map(len, parts))
        self._parts += parts
        self._held += size
        if self._held >= _HELD:
            self.release_views()
        return size

    def write_all(self, payloads: list[bytes]) -> int:
        """Append records given as whole payloads; return their size with framing, in bytes."""
        self.release_views()
        data = b"".join(self._framed_all(payloads))
        self._put(data)
        return len(data)

    def raw(self, data: bytes | memoryview) -> None:
        """Append whole frames unchanged."""
        self.release_views()
        self._put(data)

    def _put(self, data: bytes | memoryview) -> None:
        self._write(data if self._deflate is None else self._deflate.compress(data))

    def release_views(self) -> None:
        if self._parts:
            data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts.clear()
            self._held = 0
            self._put(data)

    def finish(self) -> None:
        self.release_views()
        if self._deflate is not None:
            self._write(self._deflate.flush())


def tfrecord_writer(out: BinaryIO, layout: Layout) -> FrameWriter:
    """Return a writer of TFRecord frames."""
    known: dict[int, bytes] = {}

    def framed(pieces: Pieces) -> list[bytes | memoryview]:
        length = crc = 0
        for piece in pieces:
            length += len(piece)
            crc = crc32c(piece, crc)
        return [known.get(length) or head(length), *pieces, pack("<I", rotated(crc))]

    def head(length: int) -> bytes:
        if len(known) >= _KNOWN_MOST:
            known.clear()
        known[length] = header(length)
        return known[length]

    def framed_all(payloads: list[bytes]) -> Iterator[bytes]:
        for payload in payloads:
            length = len(payload)
            yield known.get(length) or head(length)
            yield payload
            yield pack("<I", rotated(crc32c(payload)))

    return FrameWriter(out, layout, framed, framed_all)


def ofrecord_writer(out: BinaryIO, layout: Layout) -> FrameWriter:
    """Return a writer of OFRecord frames."""

    def framed(pieces: Pieces) -> list[bytes | memoryview]:
        return [pack("<q", sum(map(len, pieces))), *pieces]

    def framed_all(payloads: list[bytes]) -> Iterator[bytes]:
        return chain.from_iterable(zip(map(partial(pack, "<q"), map(len, payloads)), payloads, strict=True))

    return FrameWriter(out, layout, framed, framed_all)
