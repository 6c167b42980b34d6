"""Running CRC-32C backwards, to find where a payload begins, or where bytes were put into it.

Each step of the CRC is invertible: from the state behind a byte and the byte itself follows the state before it. So one
pass from the end of a payload gives, for every offset, the state from which the bytes up to the end would lead to the
stored checksum. A payload begins where that is the initial state. It goes on behind inserted bytes where that is the
state its first part leads to. Chance agreement: once in 2**32 offsets.

The loops run at about 4 MB/s in Python, so their callers bound what they hand in.
"""

from __future__ import annotations

from array import array
from functools import cache

from tfrtool.framing.crc import MASK_DELTA, Bytes, crc32c, rotated

_LOW = 0xFFFFFFFF


def _step_tables() -> tuple[list[int], list[int]]:
    table = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        table.append(crc)
    # The top byte of each entry occurs once, so it names the entry: what the inverse step looks up.
    inverse = [0] * 256
    for byte, crc in enumerate(table):
        inverse[crc >> 24] = crc << 8 & _LOW | byte
    return table, inverse


_TABLE, _INVERSE = _step_tables()
_LOW_BYTE = bytes((value + MASK_DELTA) & 0xFF for value in range(256))
"""The low byte of a masked CRC, by the eight bits of the bare one that the mask rotates there."""


def backwards(data: Bytes, crc: int) -> array[int]:
    """`states[i]` is the state from which `data[i:]` leads to the bare CRC `crc`; one more entry than bytes."""
    state = crc ^ _LOW
    states = array("I", bytes(4 * (len(data) + 1)))
    states[len(data)] = state
    inverse = _INVERSE
    for i in range(len(data) - 1, -1, -1):
        # inverse[top] holds (table << 8 | index): xor of the state and the first, and of the byte and the second.
        state = (state << 8 & _LOW) ^ inverse[state >> 24] ^ data[i]
        states[i] = state
    return states


@cache
def _back_over(power: int) -> tuple[int, ...]:
    """The linear map that takes a state back over `2 ** power` zeros, as the images of its 32 bits."""
    if power:
        half = _back_over(power - 1)
        return tuple(_mapped(half, _mapped(half, 1 << bit)) for bit in range(32))
    return tuple((1 << bit) << 8 & _LOW ^ _INVERSE[(1 << bit) >> 24] for bit in range(32))


def _mapped(columns: tuple[int, ...], state: int) -> int:
    image = 0
    while state:
        low = state & -state
        image ^= columns[low.bit_length() - 1]
        state ^= low
    return image


def back_over_zeros(state: int, count: int) -> int:
    """The state from which `count` zeros lead to `state`; linear, so it serves for differences of states."""
    power = 0
    while count:
        if count & 1:
            state = _mapped(_back_over(power), state)
        count >>= 1
        power += 1
    return state


def starts(data: Bytes, crc: int) -> list[int]:
    """Every `i` for which `crc` is the bare CRC of `data[i:]`."""
    states = backwards(data, crc)
    found: list[int] = []
    i = -1
    while True:
        try:
            i = states.index(_LOW, i + 1)
        except ValueError:
            return found
        found.append(i)


def first_end(data: Bytes, begin: int) -> int | None:
    """The first `i` for which the masked CRC of `data[begin:i]` stands at `data[i:i + 4]`; None for none."""
    table, low = _TABLE, _LOW_BYTE
    state = _LOW
    for i in range(begin, len(data) - 3):
        if low[(state ^ _LOW) >> 15 & 0xFF] == data[i] and rotated(state ^ _LOW) == int.from_bytes(
            data[i : i + 4], "little"
        ):
            return i
        state = table[(state ^ data[i]) & 0xFF] ^ state >> 8
    return None


def splits(data: Bytes, length: int, crc: int) -> list[int]:
    """Every `i` for which `data[:i]` and the last `length - i` bytes together have the bare CRC `crc`.

    `data` is a payload of `length` bytes into which `len(data) - length` bytes were put in one place. Where those
    repeat what stands beside them, several places give the same payload.
    """
    extra = len(data) - length
    after = backwards(data, crc)
    table = _TABLE
    state = _LOW
    found: list[int] = []
    for i in range(length):
        if state == after[i + extra]:
            found.append(i)
        state = table[(state ^ data[i]) & 0xFF] ^ state >> 8
    if state == after[length + extra]:
        found.append(length)
    return found


def flipped_bit(data: Bytes, crc: int) -> int | None:
    """The one bit of `data` that has to be turned over for its bare CRC to be `crc`, as `8 * byte + bit`; None for
    none.

    A single flip has a syndrome of its own in payloads of up to 256 MiB. Damage of any other kind looks like one by
    chance with a probability of the number of bits over 2**32.
    """
    syndrome = crc32c(data) ^ crc
    last = {_TABLE[1 << bit]: bit for bit in range(8)}
    for at in range(len(data) - 1, -1, -1):
        if syndrome in last:
            return 8 * at + last[syndrome]
        syndrome = (syndrome << 8 & _LOW) ^ _INVERSE[syndrome >> 24]
    return None
