"""Find payloads that occur more than once, by digest, in bounded memory.

The digests go into a temporary SQLite database, which moves to the disk beyond `CACHE_KIB` of memory (about 40 bytes a
record). Two different payloads with the same digest of 128 bits are not expected: one chance in 10^20 among a billion
records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from tfrtool.errors import WriteError

if TYPE_CHECKING:
    from sqlite3 import Connection

CACHE_KIB = 10_000
"""Memory that the database may take before it writes to its temporary file."""
_DIGEST, _FILE, _RECORD = 16, 4, 8  # bytes of an entry
_PLACE = _FILE + _RECORD

Buffer = bytes | memoryview


class Place(NamedTuple):
    """A record: the number of its file in the data set, and its own number in that file, both from 0."""

    file: int
    record: int


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many records hold the payload of an earlier record; the first of them with that earlier one, if any."""

    count: int
    first: tuple[Place, Place] | None


class Digests:
    """The digests of payloads, each with its place. `Digests()` is the identity of `merge`, which is associative.

    Every method raises `WriteError` where the temporary file cannot be written.
    """

    def __init__(self) -> None:
        from sqlite3 import connect

        self._database: Connection = connect("", isolation_level=None)  # without a name: gone when it is closed
        self._database.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute("CREATE TABLE entries (entry BLOB)")  # the digest, then the place
        self._database.execute("BEGIN")
        self._found: Repeats | None = None

    def add(self, payloads: Iterable[Buffer], first: int) -> None:
        """Add payloads of file 0; `first` is the number of the first record."""
        digests = (blake2b(payload, digest_size=_DIGEST).digest() for payload in payloads)
        self._insert(digest + number.to_bytes(_PLACE) for number, digest in enumerate(digests, first))

    def add_in_pieces(self, pieces: Iterable[Buffer], number: int) -> None:
        """Add one payload that comes in pieces: record `number` of file 0."""
        digest = blake2b(digest_size=_DIGEST)
        for piece in pieces:
            digest.update(piece)
        self._insert([digest.digest() + number.to_bytes(_PLACE)])

    def _insert(self, entries: Iterable[bytes]) -> None:
        self._found = None
        with _writing():
            self._database.executemany("INSERT INTO entries VALUES (?)", zip(entries, strict=True))

    def update(self, other: Digests, files: int = 0) -> None:
        """Add all digests of another, which does not change; its file 0 becomes the file of number `files`."""
        shift = files << 8 * _RECORD
        rows = (entry for (entry,) in other._database.execute("SELECT entry FROM entries"))
        if shift:
            rows = (one[:_DIGEST] + (int.from_bytes(one[_DIGEST:]) + shift).to_bytes(_PLACE) for one in rows)
        self._insert(rows)

    def merge(self, other: Digests) -> Digests:
        """Return both together; neither operand changes."""
        both = Digests()
        both.update(self)
        both.update(other)
        return both

    def repeats(self) -> Repeats:
        """Return which payloads occur more than once; sorts all digests, once until more are added."""
        if self._found is None:
            with _writing():
                self._found = self._repeats()
        return self._found

    def _repeats(self) -> Repeats:
        count, last = 0, b""
        first: tuple[bytes, bytes] | None = None  # the places of a repeat and of the payload that it repeats
        for (entry,) in self._database.execute("SELECT entry FROM entries ORDER BY entry"):
            if entry[:_DIGEST] != last[:_DIGEST]:
                last = entry
                continue
            count += 1
            if first is None or entry[_DIGEST:] < first[0]:
                first = entry[_DIGEST:], last[_DIGEST:]
        return Repeats(count, (_place(first[0]), _place(first[1])) if first else None)

    def close(self) -> None:
        """Drop the database."""
        self._database.close()


@contextmanager
def _writing() -> Iterator[None]:
    from sqlite3 import Error

    try:
        yield
    except Error as error:
        raise WriteError(
            f"cannot keep digests in a temporary file: {error}; set TMPDIR to another directory"
        ) from error


def _place(place: bytes) -> Place:
    return Place(int.from_bytes(place[:_FILE]), int.from_bytes(place[_FILE:]))
