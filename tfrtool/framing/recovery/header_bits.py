"""Undoing flipped bits in a header.

A length and its CRC-32C are 96 bits with Hamming distance 8 (all 147,536 patterns of one to three flipped bits have
syndromes of their own; computed exhaustively), so up to three flips can be found from the syndrome alone. Masking is
not linear, so a flip in the stored checksum is undone before unmasking, one bit at a time. What comes out is a
proposal: the caller accepts it only where the payload's own checksum agrees. CRC-32 over as many bits has the same
distance.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from struct import pack

from tfrtool.framing.crc import MASK_DELTA, masked_crc
from tfrtool.framing.layout import TFRECORD, Layout

_FLIPPABLE = 64
_FEW = 3
_BITS = tuple(1 << bit for bit in range(32))
_UNMASK = (1 << 32) - MASK_DELTA


@cache
def _syndromes(crc: Callable[..., int]) -> tuple[tuple[int, ...], dict[int, int]]:
    """The syndrome of each single flip in a length, and a map from syndrome to flipped bits for one and two flips."""
    zero = crc(bytes(8))
    singles = tuple(crc(pack("<Q", 1 << bit)) ^ zero for bit in range(_FLIPPABLE))
    few = {singles[i] ^ singles[j]: 1 << i | 1 << j for i in range(_FLIPPABLE) for j in range(i)}
    few.update((syndrome, 1 << bit) for bit, syndrome in enumerate(singles))
    return singles, few


@lru_cache(maxsize=16)
def candidate_lengths(header: bytes, layout: Layout = TFRECORD) -> tuple[int, ...]:
    """The lengths that a damaged 12-byte header may have held, those of flips in the length alone first; each once.

    Up to three flips in the length, or two in the length and one in the stored checksum. The length as it stands is not
    among them. Work: about a hundred look-ups.
    """
    stored: int = layout.header.unpack_from(header)[1]
    bare = layout.crc(header[:8])
    singles, few = _syndromes(layout.crc)
    syndrome = bare ^ layout.bare(stored)
    # One or two flips of the length have a syndrome of their own; that others come to the same is one in a million.
    if syndrome in few:
        found = [few[syndrome]]
    else:
        stored_too = _stored_too(bare, stored, few) if layout is TFRECORD else _stored_by(layout, bare, stored, few)
        found = [*_three(syndrome, singles, few), *stored_too]
    if not found:
        return ()
    raw = int.from_bytes(header[:8], "little")
    return tuple(layout.length(pack("<QI", raw ^ flips, 0)) for flips in dict.fromkeys(found) if flips)


def _three(syndrome: int, singles: tuple[int, ...], few: dict[int, int]) -> list[int]:
    # Looked up without calls: nearly always there is nothing.
    pairs = [few[syndrome ^ single] | 1 << bit for bit, single in enumerate(singles) if syndrome ^ single in few]
    return [flips for flips in pairs if flips.bit_count() == 3]


def _stored_too(bare: int, stored: int, few: dict[int, int]) -> list[int]:
    # The mask is undone in place: these lines run for every header that is beyond mending.
    found = []
    for bit in _BITS:
        turned = (stored ^ bit) + _UNMASK & 0xFFFFFFFF
        syndrome = bare ^ (turned << 15 & 0xFFFFFFFF | turned >> 17)
        if syndrome in few:
            found.append(few[syndrome])
    return found


def _stored_by(layout: Layout, bare: int, stored: int, few: dict[int, int]) -> list[int]:
    return [few[bare ^ layout.bare(stored ^ bit)] for bit in _BITS if bare ^ layout.bare(stored ^ bit) in few]


def one_bit_apart(want: int, got: int) -> bool:
    """Whether two stored checksums differ in exactly one bit."""
    return (want ^ got).bit_count() == 1


def few_bits_apart(header: bytes) -> bool:
    """Whether a header's length is that of its stored checksum, of which at most three bits are flipped."""
    stored: int = TFRECORD.header.unpack_from(header)[1]
    return (masked_crc(header[:8]) ^ stored).bit_count() <= _FEW


def may_be_left(whole: bytes, left: bytes) -> bool:
    """Whether `left` is what remains of the checksum `whole` once bytes in a row are missing from it.

    Nothing left is of any; a byte left is of one in 128, two of one in 22,000.
    """
    missing = len(whole) - len(left)
    return any(whole[:i] + whole[i + missing :] == left for i in range(len(left) + 1))
