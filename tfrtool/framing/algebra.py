"""Running CRC-32C backwards, to find where a payload begins, or where bytes were put into it.

Each step of the CRC is invertible: from the state behind a byte and the byte itself follows the state before it. So one
pass from the end of a payload gives, for every offset, the state from which the bytes up to the end would lead to the
stored checksum. A payload begins where that is the initial state. It goes on behind inserted bytes where that is the
state its first part leads to. Chance agreement: once in 2**32 offsets.

The loops run at about 4 MB/s in Python, so their callers bound what they hand in.
"""

from __future__ import annotations

from array import array

from tfrtool.framing.crc import Bytes

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
