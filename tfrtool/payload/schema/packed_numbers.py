"""Find the least, the greatest and the different ones of many packed numbers, most of it in C.

Bytes become machine words at once. The bytes of a varint, read as one little-endian word, order as its value does among
varints of the same length. So only the extremes are decoded, and the different ones where they are few.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from math import inf, isfinite

from tfrtool.payload.schema.values import DISTINCT, Numbers
from tfrtool.payload.wire.reader import Buffer, signed32, signed64

CONTINUED = bytes(range(0x80, 0x100))
_CHUNK = 1 << 18
_SWAP = sys.byteorder == "big"
_TOKENS = re.compile(rb"[\x80-\xff]*[\x00-\x7f]").findall
_WORDS = {2: ("H", 0), 3: ("I", 1), 4: ("I", 0), 5: ("Q", 3), 6: ("Q", 2), 7: ("Q", 1), 8: ("Q", 0)}
"""Length of a varint -> the type of a word that holds it, and the bytes to fill it up."""


class Broken(ValueError):
    """A run of varints that is not one: a number that is cut off, or too long. Which, the careful reader tells."""


def decode(token: bytes) -> int:
    """Return the unsigned value of one varint, cut to 64 bits."""
    value = 0
    for byte in reversed(token):
        value = value << 7 | byte & 0x7F
    return value & 0xFFFFFFFFFFFFFFFF


def scalars(values: Sequence[bytes], size: int, into: Numbers, narrow: bool) -> bool:
    """Add varints of `size` bytes each. False, and nothing is added, where one of them is a list of several.

    `narrow` is for int32. `into.distinct` is added to unless it is None already.
    """
    joined = b"".join(values)
    if not joined[size - 1 :: size].isascii():
        raise Broken
    if size > 1 and len(joined.translate(None, CONTINUED)) != len(values):
        return False
    if size > 10:
        raise Broken
    if size == 1:
        _add(into, len(values), joined, narrow)
    elif size in _WORDS:
        code, fill = _WORDS[size]
        words = array(code, bytes(fill).join(values) + bytes(fill) if fill else joined)
        if _SWAP:
            words.byteswap()
        _add(into, len(values), words, narrow, size)
    else:
        _tokens(values, into, narrow)
    return True


def _add(into: Numbers, count: int, words: Sequence[int], narrow: bool, size: int = 1) -> None:
    """Add words that are varints of one length below 9 bytes, so that none is negative."""
    low, high = min(words), max(words)
    if size > 1:
        low, high = (decode(word.to_bytes(size, "little")) for word in (low, high))
    if narrow and high > 0x7FFFFFFF:
        _tokens([word.to_bytes(size, "little") for word in words], into, narrow)
        return
    into.values += count
    into.least, into.greatest = min(into.least, low), max(into.greatest, high)
    if into.distinct is not None:
        different = set(words)
        if len(different) > DISTINCT:
            into.distinct = None
        else:
            many = different if size == 1 else {decode(word.to_bytes(size, "little")) for word in different}
            into.distinct |= many
            if len(into.distinct) > DISTINCT:
                into.distinct = None


def _tokens(tokens: Sequence[bytes], into: Numbers, narrow: bool) -> None:
    """Add varints of any length up to 10 bytes."""
    different = set(tokens)
    into.values += len(tokens)
    signed = signed32 if narrow else signed64
    if narrow or len(different) <= DISTINCT:
        found = [signed(decode(token)) for token in different]
    else:
        found = [signed(decode(token)) for token in _extremes(different)]
    into.least, into.greatest = min(into.least, *found), max(into.greatest, *found)
    if into.distinct is not None:
        for token in different:
            into.distinct.add(signed(decode(token)))
            if len(into.distinct) > DISTINCT:
                into.distinct = None
                break


def _extremes(different: set[bytes]) -> Iterator[bytes]:
    """Some varints among which the least and the greatest of all are, with their sign.

    Among those of one length and one last byte, which in ten bytes has the sign, the bytes in reverse order as the
    digits of the number do. More than 64 bits are cut, so that a last byte can be any.
    """
    for size in {len(token) for token in different}:
        turned = [token[::-1] for token in different if len(token) == size]
        low, high = min(turned), max(turned)
        groups = {low[0]: (low, high)}
        if size == 10 and low[0] != high[0]:
            by_last: dict[int, list[bytes]] = {}
            for token in turned:
                by_last.setdefault(token[0], []).append(token)
            groups = {last: (min(alike), max(alike)) for last, alike in by_last.items()}
        for low, high in groups.values():
            yield low[::-1]
            yield high[::-1]


def integers(runs: Iterable[Buffer], into: Numbers, narrow: bool) -> None:
    """Add all varints of runs of packed ones, however long, a piece at a time."""
    for piece in _joined(runs):
        if not piece:
            continue
        if piece.isascii():
            _add(into, len(piece), piece, narrow)
            continue
        tokens = _TOKENS(piece)
        if sum(map(len, tokens)) != len(piece) or max(map(len, tokens)) > 10:
            raise Broken
        _tokens(tokens, into, narrow)


def _joined(runs: Iterable[Buffer]) -> Iterator[bytes]:
    """Runs put together into pieces of a good size, or cut into such, always between two varints."""
    held: list[Buffer] = []
    size = 0
    for run in runs:
        at = 0
        while len(run) - at > _CHUNK:
            stop = at + _CHUNK
            while stop < len(run) and run[stop - 1] >= 0x80:
                stop += 1
            yield bytes(run[at:stop])
            at = stop
        held.append(run[at:])
        size += len(run) - at
        if size > _CHUNK or len(held) > _CHUNK >> 4:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def floats(runs: Iterable[Buffer], code: str, into: Numbers) -> None:
    """Add all numbers of runs of packed floats (`f`) or doubles (`d`)."""
    for piece in _floats(runs):
        numbers: array[float] = array(code, piece)
        if _SWAP:
            numbers.byteswap()
        if not numbers:
            continue
        into.values += len(numbers)
        sound: Sequence[float] = numbers
        if not isfinite(sum(numbers)):
            sound = list(filter(isfinite, numbers))
            infinite = numbers.count(inf) + numbers.count(-inf)
            into.infinite += infinite
            into.nan += len(numbers) - len(sound) - infinite
        into.least = min(into.least, min(sound, default=inf))
        into.greatest = max(into.greatest, max(sound, default=-inf))


def _floats(runs: Iterable[Buffer]) -> Iterator[bytes]:
    """Runs put together into pieces of a good size, or cut into such."""
    if isinstance(runs, list) and sum(map(len, runs)) <= _CHUNK:
        yield b"".join(runs)
        return
    held: list[Buffer] = []
    size = 0
    for run in runs:
        if len(run) > _CHUNK:
            yield from (bytes(run[at : at + _CHUNK]) for at in range(0, len(run), _CHUNK))
            continue
        held.append(run)
        size += len(run)
        if size > _CHUNK or len(held) > _CHUNK >> 4:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)
