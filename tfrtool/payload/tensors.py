"""A serialized tensorflow.TensorProto, read in place and strictly: bytes that only look like one are none.

Types and their numbers: tensorflow/core/framework/types.proto. Which field holds the values of which type:
tensor.proto.
"""

from __future__ import annotations

import math
from itertools import islice
from typing import NamedTuple

from tfrtool.payload.wire import LEN, VARINT, Buffer, WireError, fields, read_varint, signed64

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
    """The sizes of the dimensions; raises WireError where one is unknown or negative."""
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
