"""Read a serialized tensorflow.TensorProto in place and strictly: bytes that only look like one are none.

Types and their numbers: tensorflow/core/framework/types.proto. Which field holds the values of which type:
tensor.proto. The number that a tensor of one element holds is read too, as TensorFlow 2 logs scalars, and PyTorch on
demand.
"""

from __future__ import annotations

import math
from itertools import islice
from struct import calcsize, unpack, unpack_from
from typing import NamedTuple

from tfrtool.payload.wire.reader import LEN, VARINT, Buffer, WireError, fields, read_varint, signed64

DTYPES: dict[int, tuple[str, int, int]] = {
    1: ("float32", 4, 5),
    2: ("float64", 8, 6),
    3: ("int32", 4, 7),
    4: ("uint8", 1, 7),
    5: ("int16", 2, 7),
    6: ("int8", 1, 7),
    7: ("string", 0, 8),
    8: ("complex64", 8, 9),
    9: ("int64", 8, 10),
    10: ("bool", 1, 11),
    11: ("qint8", 1, 7),
    12: ("quint8", 1, 7),
    13: ("qint32", 4, 7),
    14: ("bfloat16", 2, 13),
    15: ("qint16", 2, 7),
    16: ("quint16", 2, 7),
    17: ("uint16", 2, 7),
    18: ("complex128", 16, 12),
    19: ("float16", 2, 13),
    22: ("uint32", 4, 16),
    23: ("uint64", 8, 17),
    24: ("float8_e5m2", 1, 18),
    25: ("float8_e4m3fn", 1, 18),
}
"""Number -> name, bytes of an element (0: it varies), and the field that holds its values if `tensor_content` does
not.
"""

_CONTENT = 4
_MAX_RANK = 254  # TensorFlow's own limit; it also keeps the product of hostile sizes small
_MAX_FIELDS = 1 << 16  # a tensor of more strings than this is believed by its first ones


class Tensor(NamedTuple):
    """Type, shape, and where the values are: in field `field`, or in the bytes `[begin, end)` if `field` is 4."""

    dtype: str
    width: int
    shape: tuple[int, ...]
    field: int
    begin: int
    end: int

    def __str__(self) -> str:
        return f"{self.dtype} [{', '.join(map(str, self.shape))}]"


def read_tensor(view: Buffer, begin: int = 0, end: int | None = None, *, bare: bool = False) -> Tensor | None:
    """The tensor in `[begin, end)`, or None if that is not one to the last byte: type, shape and size must agree.

    `bare`: it may be without a shape, which stands for a single number. PyTorch writes such tensors into event files;
    but of bytes that may be anything, those are a tensor by chance too often.
    """
    try:
        return _read(view, begin, len(view) if end is None else end, () if bare else None)
    except WireError:
        return None


def _read(view: Buffer, begin: int, end: int, shape: tuple[int, ...] | None) -> Tensor | None:
    dtype = 0
    where = None
    for number, wire, first, last in islice(fields(view, begin, end), _MAX_FIELDS):
        if number == 1 and wire == VARINT:
            dtype = read_varint(view, first, last)[0]
        elif number == 2 and wire == LEN:
            shape = _shape(view, first, last)
        elif number > 3 and dtype in DTYPES and number in (_CONTENT, DTYPES[dtype][2]) and where in (None, number):
            where, at, stop = number, first, last
        elif number != 3 or wire != VARINT:
            return None
    if dtype not in DTYPES or shape is None:
        return None
    name, width, values = DTYPES[dtype]
    elements = math.prod(shape)
    if where is None:
        return Tensor(name, width, shape, values, begin, begin) if elements == 0 else None
    if where == _CONTENT:
        return Tensor(name, width, shape, where, at, stop) if stop - at == elements * width else None
    return Tensor(name, width, shape, where, begin, end) if elements else None


def _shape(view: Buffer, begin: int, end: int) -> tuple[int, ...]:
    """Return the sizes of the dimensions; raises WireError where one is unknown or negative."""
    sizes: list[int] = []
    for number, wire, first, last in fields(view, begin, end):
        if number != 2 or wire != LEN:
            raise WireError(first, "not a shape of known rank")
        size = 0
        for inner, kind, at, stop in fields(view, first, last):
            if inner == 1 and kind == VARINT:
                size = signed64(read_varint(view, at, stop)[0])
            elif inner != 2 or kind != LEN:
                raise WireError(at, "not a dimension")
        if size < 0 or len(sizes) == _MAX_RANK:
            raise WireError(first, "a dimension of unknown size, or one too many")
        sizes.append(size)
    return tuple(sizes)


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
_NUMBER_CONTENT = 4


class Number(NamedTuple):
    """A number, the code of its type, and where its bytes begin; None where it is written as a varint."""

    value: float
    code: str
    at: int | None


def number_at(view: Buffer, at: int, code: str) -> float:
    """Return the number of that code in the bytes from `at` on; an integer stays one."""
    if code == BFLOAT16:
        return float(unpack("<f", b"\0\0" + bytes(view[at : at + 2]))[0])
    value: float = unpack_from(f"<{code}", view, at)[0]
    return int(value) if code == "?" else value


def number_of(view: Buffer, begin: int, end: int) -> Number | None:
    """Return the number of the tensor in `[begin, end)`, or None where that is none of one element, or of no such type.

    Raises WireError where it is no sound wire format.
    """
    tensor = read_tensor(view, begin, end, bare=True)
    if tensor is None or tensor.dtype not in _CODES or math.prod(tensor.shape) != 1:
        return None
    code = _CODES[tensor.dtype]
    if tensor.field == _NUMBER_CONTENT:
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
    """Return a number that stands as an integer in a list: halves by their bits, all others by their value."""
    if code in ("e", BFLOAT16):
        return number_at((bits & 0xFFFF).to_bytes(2, "little"), 0, code)
    return bits if code in ("I", "Q") else signed64(bits)
