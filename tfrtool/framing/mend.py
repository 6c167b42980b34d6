"""Undoing flipped bits in a header.

A length and its CRC-32C are 96 bits with Hamming distance 8 (all 147,536 patterns of one to three flipped bits have
syndromes of their own; computed exhaustively), so up to three flips can be found from the syndrome alone. Masking is
not linear, so a flip in the stored checksum is undone before unmasking, one bit at a time. What comes out is a
proposal: the caller accepts it only where the payload's own checksum agrees.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from struct import Struct, pack

from tfrtool.framing.crc import MASK_DELTA, Bytes, crc32c, unmasked

_HEADER = Struct("<QI")
_FLIPPABLE = 64


@cache
def _syndromes() -> tuple[tuple[int, ...], dict[int, int]]:
    """The syndrome of each single flip in a length, and a map from syndrome to flipped bits for one and two flips."""
    zero = crc32c(bytes(8))
    singles = tuple(crc32c(pack("<Q", 1 << bit)) ^ zero for bit in range(_FLIPPABLE))
    few = {singles[i] ^ singles[j]: 1 << i | 1 << j for i in range(_FLIPPABLE) for j in range(i)}
    few.update((syndrome, 1 << bit) for bit, syndrome in enumerate(singles))
    return singles, few


def mends(header: Bytes) -> Iterator[int]:
    """The lengths that a damaged 12-byte header may have held, those of flips in the length alone first; each once.

    Up to three flips in the length, or two in the length and one in the stored checksum. The length as it stands is not
    among them. Work: about a hundred look-ups.
    """
    length, stored = _HEADER.unpack_from(header)
    bare = crc32c(header[:8])
    singles, few = _syndromes()
    syndrome = bare ^ unmasked(stored)
    seen = {0}
    flips = few.get(syndrome, 0)
    if flips:
        seen.add(flips)
        yield length ^ flips
    for flips in [*_three(syndrome, singles, few), *_stored_too(bare, stored, few)]:
        if flips not in seen:
            seen.add(flips)
            yield length ^ flips


def _three(syndrome: int, singles: tuple[int, ...], few: dict[int, int]) -> list[int]:
    pairs = [few.get(syndrome ^ single, 0) for single in singles]
    return [pair | 1 << bit for bit, pair in enumerate(pairs) if pair and pair.bit_count() == 2 and not pair >> bit & 1]


def _stored_too(bare: int, stored: int, few: dict[int, int]) -> list[int]:
    # The mask is undone in place: these lines run for every header that is beyond mending.
    found = []
    for bit in range(32):
        turned = ((stored ^ 1 << bit) - MASK_DELTA) & 0xFFFFFFFF
        flips = few.get(bare ^ (turned << 15 & 0xFFFFFFFF | turned >> 17))
        if flips:
            found.append(flips)
    return found


def one_bit_apart(want: int, got: int) -> bool:
    """Whether two stored checksums differ in exactly one bit."""
    return (want ^ got).bit_count() == 1
