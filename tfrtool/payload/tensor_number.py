"""The number that a tensor of one element holds, as scalars are logged by TensorFlow 2, and by PyTorch on demand."""

from __future__ import annotations

import math
from struct import calcsize, unpack, unpack_from
from typing import NamedTuple

from tfrtool.payload.tensors import read_tensor
from tfrtool.payload.wire import LEN, VARINT, Buffer, fields, read_varint, signed64

BFLOAT16 = "bfloat16"
"""What stands in the place of a `struct` code for a float32 without its lower half, of which `struct` knows nothing."""
_CODES = {
    "float32": "f",
    "float64": "d",
    "float16": "e",
    "bfloat16": BFLOAT16,
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "bool": "?",
}
WIDTHS = {code: 2 if code == BFLOAT16 else calcsize(f"<{code}") for code in _CODES.values()}
"""Bytes of a number of each code."""
_CONTENT = 4


class Number(NamedTuple):
    """A number, the code of its type, and where its bytes begin; None where it is written as a varint."""

    value: float
    code: str
    at: int | None


def number_at(view: Buffer, at: int, code: str) -> float:
    """The number of that code in the bytes from `at` on; an integer stays one."""
    if code == BFLOAT16:
        return float(unpack("<f", b"\0\0" + bytes(view[at : at + 2]))[0])
    value: float = unpack_from(f"<{code}", view, at)[0]
    return int(value) if code == "?" else value


def number_of(view: Buffer, begin: int, end: int) -> Number | None:
    """The number of the tensor in `[begin, end)`, or None where that is none of one element, or of no such type.

    Raises WireError where it is no sound wire format.
    """
    tensor = read_tensor(view, begin, end, bare=True)
    if tensor is None or tensor.dtype not in _CODES or math.prod(tensor.shape) != 1:
        return None
    code = _CODES[tensor.dtype]
    if tensor.field == _CONTENT:
        return Number(number_at(view, tensor.begin, code), code, tensor.begin)
    found: Number | None = None
    for field, wire, first, last in fields(view, begin, end):
        if field != tensor.field or first == last:
            continue
        if found is not None:
            return None
        if code in ("f", "d"):
            if wire == VARINT or last - first != WIDTHS[code]:
                return None
            found = Number(number_at(view, first, code), code, first)
        elif wire in (VARINT, LEN):
            bits, after = read_varint(view, first, last)
            if after != last:
                return None
            found = Number(_from_bits(bits, code), code, None)
        else:
            return None
    return found


def _from_bits(bits: int, code: str) -> float:
    """A number that stands as an integer in a list: halves by their bits, all others by their value."""
    if code in ("e", BFLOAT16):
        return number_at((bits & 0xFFFF).to_bytes(2, "little"), 0, code)
    return bits if code in ("I", "Q") else signed64(bits)
