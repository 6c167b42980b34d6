"""Which payloads occur more than once, by digest, in bounded memory.

Up to `IN_MEMORY` digests are held (10 MB); more go, sorted, to temporary files without a name, 28 bytes for each
record. Two different payloads of one digest of 128 bits are not to be met: one chance in 10^20 among a billion records.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from tempfile import TemporaryFile
from typing import IO, NamedTuple

from tfrtool.errors import ReadError, WriteError
from tfrtool.sources.os_text import reason

IN_MEMORY = 1 << 17
"""Digests that are held before they go to the disk."""
_DIGEST, _FILE, _RECORD = 16, 4, 8
_PLACE = _FILE + _RECORD
_ENTRY = _DIGEST + _PLACE
_FAN = 64
"""Sorted runs of one level that are merged into one of the next."""
_BLOCK = 1 << 10
"""Entries of a run that are read at once: 64 runs of a level take 5 MB."""

Buffer = bytes | memoryview


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
        self._found: Repeats | None = None

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
        self._found = None
        self._held += [digest + n.to_bytes(_PLACE) for n, digest in enumerate(digests, first)]
        self._make_room()

    def update(self, other: Digests, files: int = 0) -> None:
        """Take in all that another holds, which does not change; its file 0 becomes the file of number `files`."""
        shift, self._found = files << 8 * _RECORD, None
        for block in other._blocks():
            if shift:
                block = [one[:_DIGEST] + (int.from_bytes(one[_DIGEST:]) + shift).to_bytes(_PLACE) for one in block]
            self._held += block
            self._make_room()

    def merge(self, other: Digests) -> Digests:
        """Both together; neither operand changes."""
        both = Digests(held=self._most)
        both.update(self)
        both.update(other)
        return both

    def repeats(self) -> Repeats:
        """What occurs more than once. All files are read for that, once until more digests are taken in."""
        if self._found is None:
            self._found = self._repeats()
        return self._found

    def _repeats(self) -> Repeats:
        count = 0
        last = b""  # the first entry of the digest that was met last
        first: tuple[bytes, bytes] | None = None
        for block in self._blocks():
            digests = [entry[:_DIGEST] for entry in block]
            if len(set(digests)) == len(digests) and not (last and digests[0] == last[:_DIGEST]):
                last = block[-1]
                continue
            for digest, entry in zip(digests, block, strict=True):
                if not last or digest != last[:_DIGEST]:
                    last = entry
                    continue
                count += 1
                if first is None or entry[_DIGEST:] < first[0]:
                    first = entry[_DIGEST:], last[_DIGEST:]
        return Repeats(count, (_place(first[0]), _place(first[1])) if first else None)

    def close(self) -> None:
        """Let go of everything."""
        self._found = None
        self._held.clear()
        for level in self._levels:
            level.close()
        self._levels.clear()

    def _blocks(self) -> Iterator[list[bytes]]:
        """All entries in order: equal digests stand together, in the order of their places."""
        return _merged([_in_blocks(self._held), *(run for level in self._levels for run in level.runs())])

    def _make_room(self) -> None:
        if len(self._held) < self._most:
            return
        run: Iterator[list[bytes]] = _in_blocks(self._held)
        for number in range(len(self._levels) + 1):
            if number == len(self._levels):
                self._levels.append(_Level())
            level = self._levels[number]
            level.append(run)
            if len(level) < _FAN:
                break
            run = _merged(level.runs())
        self._held.clear()
        for level in self._levels[:number]:
            level.clear()


def _in_blocks(entries: list[bytes]) -> Iterator[list[bytes]]:
    """Entries in order, which are sorted where they are."""
    entries.sort()
    return (entries[at : at + _BLOCK] for at in range(0, len(entries), _BLOCK))


def _merged(runs: Iterable[Iterator[list[bytes]]]) -> Iterator[list[bytes]]:
    """One run of several: what lies below the least of the last entries of their blocks is sorted together."""
    heads = [(block, run) for run in runs if (block := next(run, None))]
    while heads:
        limit = min(block[-1] for block, _ in heads)
        taken: list[bytes] = []
        left = []
        for block, run in heads:
            cut = bisect_right(block, limit)
            taken += block[:cut]
            rest = block[cut:] or next(run, [])
            if rest:
                left.append((rest, run))
        taken.sort()
        yield taken
        heads = left


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

    def append(self, run: Iterator[list[bytes]]) -> None:
        """Write one more run."""
        try:
            for block in run:
                self._file.write(b"".join(block))
            self._file.flush()
            self._bounds.append(self._file.tell())
        except OSError as error:
            raise _no_room(error) from error

    def runs(self) -> list[Iterator[list[bytes]]]:
        """Each run, from its beginning."""
        return [self._run(*bounds) for bounds in zip(self._bounds, self._bounds[1:], strict=False)]

    def _run(self, at: int, end: int) -> Iterator[list[bytes]]:
        while at < end:
            try:
                data = os.pread(self._file.fileno(), min(_BLOCK * _ENTRY, end - at), at)
            except OSError as error:
                raise ReadError(f"cannot read digests back from a temporary file: {reason(error)}") from error
            if len(data) % _ENTRY or not data:
                raise ReadError("cannot read digests back: the temporary file is shorter than what was written")
            yield [data[i : i + _ENTRY] for i in range(0, len(data), _ENTRY)]
            at += len(data)

    def clear(self) -> None:
        self._file.seek(0)
        self._file.truncate()
        self._bounds = [0]

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.close()


def _no_room(error: OSError) -> WriteError:
    return WriteError(f"cannot keep digests in a temporary file: {reason(error)}; TMPDIR names another place")


def _place(place: bytes) -> Place:
    return Place(int.from_bytes(place[:_FILE]), int.from_bytes(place[_FILE:]))
