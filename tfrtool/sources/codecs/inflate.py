"""Decompress one deflate stream (RFC 1951), to the last recoverable byte."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tfrtool.framing.stream import ByteStream

PIECE = 128 << 10
"""Compressed bytes read at once."""
_FIRST_PIECE = 4 << 10
"""Fewer at first, since a file may hold thousands of short streams."""
STEP = 1 << 20
"""Unpacked bytes given at once at most, so that a bomb streams in bounded memory."""


class Deflate:
    """The deflate data that begins at packed byte `begin` of `raw`.

    Iterate over `chunks`; afterwards `ended` says how it went, and `at` is the packed byte behind the stream, or the
    first one that cannot be unpacked. What comes out does not depend on how the bytes come in.
    """

    def __init__(self, raw: ByteStream, begin: int, piece: memoryview | None = None, quick: Any = None) -> None:
        """`piece` is a buffer to be used, for callers with many streams.

        `quick` is a faster module with zlib's `decompressobj` (isal), for a `raw` that can be read again from `begin`.
        It serves sound streams. At the first oddity the stream is unpacked again by zlib, whose state can be copied and
        so gives every byte before a break; what was given already is not given twice.
        """
        self._raw = raw
        self._begin = begin
        self._piece = memoryview(bytearray(PIECE)) if piece is None else piece
        self._quick = quick
        self.at = begin
        self.ended: Literal["whole", "torn", "broken"] = "torn"
        self.why = ""

    def chunks(self) -> Iterator[bytes]:
        """Yield the decompressed bytes. Never empty, at most `STEP` bytes each."""
        given = 0
        if self._quick is not None:
            try:
                for chunk in self._unpack(self._quick.decompressobj(-15), exact=False):
                    given += len(chunk)
                    yield chunk
            except self._quick.error:
                pass
            if self.ended == "whole":
                return
            self.at = self._begin
        for chunk in self._unpack(zlib.decompressobj(-15), exact=True):
            fresh = chunk[given:]
            given = max(0, given - len(chunk))
            if fresh:
                yield fresh

    def _unpack(self, unzip: Any, *, exact: bool) -> Iterator[bytes]:
        size = _FIRST_PIECE
        while count := self._raw.read_into(self.at, self._piece[:size]):
            size = min(2 * size, len(self._piece))
            feed = self._piece[:count]
            while True:
                before = unzip.copy() if exact else None
                try:
                    out = unzip.decompress(feed, STEP)
                except zlib.error as error:
                    self.ended, self.why = "broken", _words(error)
                    yield from self._up_to_the_break(before, feed)
                    return
                # At the end zlib may show the rest in both places, so only the one that counts is asked.
                used = len(feed) - len(unzip.unused_data if unzip.eof else unzip.unconsumed_tail)
                self.at += used
                feed = feed[used:]
                if out:
                    yield out
                if unzip.eof:
                    self.ended = "whole"
                    return
                if len(out) < STEP:
                    break
            if feed:  # it neither takes nor gives any more; zlib itself never does that
                return

    def _up_to_the_break(self, unzip: Any, feed: memoryview) -> Iterator[bytes]:
        """What `feed` still holds for `unzip` before the byte that fails; leaves `at` on that byte.

        By halving: a failing call of zlib returns nothing, but a copy made before it can be asked for less. The whole
        of it is no more than `STEP` bytes, since the call that failed was not allowed more.
        """
        good, bad = 0, len(feed)
        while bad - good > 1:
            middle = (good + bad) // 2
            trial = unzip.copy()
            try:
                out = trial.decompress(feed[good:middle], STEP + 1)
            except zlib.error:
                bad = middle
            else:
                unzip, good = trial, middle
                if out:
                    yield out
        self.at += good
        last = bytearray()
        rest = bytes(feed[good:bad])
        try:  # the failing byte may begin with sound codes: take what they stand for one byte at a time
            while out := unzip.decompress(rest, 1):
                last += out
                rest = unzip.unconsumed_tail
        except zlib.error:
            pass
        if last:
            yield bytes(last)


def _words(error: zlib.error) -> str:
    """Return the text of a zlib error without its number."""
    return str(error).rpartition(": ")[2]
