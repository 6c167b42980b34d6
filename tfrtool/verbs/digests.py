"""Which payloads occur more than once, by digest, in bounded memory.

Up to `IN_MEMORY` digests are held (10 MB); more go, sorted, to temporary files without a name, 28 bytes for each
record. Two different payloads of one digest of 128 bits are not to be met: one chance in 10^20 among a billion records.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from heapq import merge
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from tfrtool.errors import ReadError, WriteError
from tfrtool.sources.reasons import reason

IN_MEMORY = 1 << 17
"""Digests that are held before they go to the disk."""
_DIGEST, _FILE, _RECORD = 16, 4, 8
_ENTRY = _DIGEST + _FILE + _RECORD
_FAN = 64
"""Sorted runs of one level that are merged into one of the next."""
Buffer = bytes | memoryview
_BLOCK = 512 * _ENTRY
"""Bytes of a run that are read at once: 64 runs a level take 1 MB."""


class Place(NamedTuple):
    """A record: the number of its file among those that were taken in, and its own number there, both from 0."""

    file: int
    record: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many records hold the payload of an earlier one; the first of them and that earlier one, if there are any."""

    count: int
    first: tuple[Place, Place] | None


class Digests:
    """The digests of payloads, each with its place. `Digests()` is the identity of `merge`, which is associative.

    Its files are gone when it is closed, or no longer used.
    """

    def __init__(self, *, held: int = IN_MEMORY) -> None:
        self._most = held
        self._held: list[bytes] = []
        self._levels: list[_Level] = []

    def add(self, payloads: Iterable[Buffer], first: int) -> None:
        """Take in payloads of file 0, of which `first` is the number of the first record."""
        digests = (blake2b(payload, digest_size=_DIGEST).digest() for payload in payloads)
        self._add(digests, first)

    def add_in_pieces(self, pieces: Iterable[Buffer], number: int) -> None:
        """Take in one payload that comes in pieces: record `number` of file 0."""
        digest = blake2b(digest_size=_DIGEST)
        for piece in pieces:
            digest.update(piece)
        self._add([digest.digest()], number)

    def _add(self, digests: Iterable[bytes], first: int) -> None:
        self._held += [digest + n.to_bytes(_FILE + _RECORD) for n, digest in enumerate(digests, first)]
        self._make_room()

    def update(self, other: Digests, files: int = 0) -> None:
        """Take in all that another holds, which does not change; its file 0 becomes the file of number `files`."""
        shift = files << 8 * _RECORD
        for entry in other._entries():
            if shift:
                place = int.from_bytes(entry[_DIGEST:]) + shift
                entry = entry[:_DIGEST] + place.to_bytes(_FILE + _RECORD)
            self._held.append(entry)
            if len(self._held) >= self._most:
                self._make_room()

    def merge(self, other: Digests) -> Digests:
        """Both together; neither operand changes."""
        both = Digests(held=self._most)
        both.update(self)
        both.update(other)
        return both

    def repeats(self) -> Repeats:
        """What occurs more than once."""
        count = 0
        digest = place = b""
        first: tuple[bytes, bytes] | None = None
        for entry in self._entries():
            if not entry.startswith(digest) or not digest:
                digest, place = entry[:_DIGEST], entry[_DIGEST:]
                continue
            count += 1
            if first is None or entry[_DIGEST:] < first[0]:
                first = entry[_DIGEST:], place
        return Repeats(count, (_place(first[0]), _place(first[1])) if first else None)

    def close(self) -> None:
        """Let go of everything."""
        self._held.clear()
        for level in self._levels:
            level.close()
        self._levels.clear()

    def _entries(self) -> Iterator[bytes]:
        """All entries in order: equal digests stand together, in the order of their places."""
        self._held.sort()
        runs = (run for level in self._levels for run in level.runs())
        return merge(self._held, *runs) if self._levels else iter(self._held)

    def _make_room(self) -> None:
        if len(self._held) < self._most:
            return
        self._held.sort()
        run: Iterable[bytes] = self._held
        for number in range(len(self._levels) + 1):
            if number == len(self._levels):
                self._levels.append(_Level())
            level = self._levels[number]
            level.append(run)
            if len(level) < _FAN:
                break
            run = merge(*level.runs())
        self._held.clear()
        for level in self._levels[:number]:
            level.clear()


class _Level:
    """Sorted runs of entries, one after another in a temporary file."""

    def __init__(self) -> None:
        try:
            self._file: IO[bytes] = TemporaryFile(buffering=1 << 16)  # noqa: SIM115
        except OSError as error:
            raise _no_room(error) from error
        self._bounds = [0]

    def __len__(self) -> int:
        return len(self._bounds) - 1

    def append(self, run: Iterable[bytes]) -> None:
        """Write one more run."""
        try:
            self._file.writelines(run)
            self._file.flush()
            self._bounds.append(self._file.tell())
        except OSError as error:
            raise _no_room(error) from error

    def runs(self) -> list[Iterator[bytes]]:
        return [self._run(*bounds) for bounds in zip(self._bounds, self._bounds[1:], strict=False)]

    def _run(self, at: int, end: int) -> Iterator[bytes]:
        while at < end:
            try:
                block = os.pread(self._file.fileno(), min(_BLOCK, end - at), at)
            except OSError as error:
                raise ReadError(f"cannot read digests back from a temporary file: {reason(error)}") from error
            if len(block) % _ENTRY or not block:
                raise ReadError("cannot read digests back: the temporary file is shorter than what was written")
            yield from (block[i : i + _ENTRY] for i in range(0, len(block), _ENTRY))
            at += len(block)

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._bounds = [0]

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()


def _no_room(error: OSError) -> WriteError:
    return WriteError(f"cannot keep digests in a temporary file: {reason(error)}; TMPDIR names another place")


def _place(place: bytes) -> Place:
    return Place(int.from_bytes(place[:_FILE]), int.from_bytes(place[_FILE:]))
