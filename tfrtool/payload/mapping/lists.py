"""Write the list of one feature for the target: choose its kind, and convert its content to the last bit.

Python's own floats cannot carry every float32: widening quietens a signalling NaN. So NaNs are converted as bits.
Fields and lists are written in parts, the large ones as views of what was read.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from tfrtool.payload.mapping.record import Item, values_of
from tfrtool.payload.mapping.rules import KINDS, TITLES, Losses, Refused, Rules, Side, Types
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import Buffer, signed32, signed64, varint, varints
from tfrtool.report import LossKind

_INT32 = rb"[\x80-\xff]{0,3}[\x00-\x7f]|[\x80-\xff]{4}[\x00-\x07]|[\x80-\xff]{4}[\xf8-\xff]\xff{4}\x01"
_INT32S = re.compile(rb"(?:" + _INT32 + rb")*+", re.DOTALL)
"""Varints that mean the same as int32 and as int64: below 2^31, or negative and extended to 64 bits."""

_QUIET_BITS = (1 << 29) - 1  # the bits of a double's fraction that a float lacks
_CHUNK = 1 << 13


class Inexact(ValueError):
    """A double that no float equals: the `index` in its list, and the value."""

    def __init__(self, index: int, value: float) -> None:
        super().__init__(f"value {index} of it, {value!r}, is no float")
        self.index = index
        self.value = value


class OutOfRange(ValueError):
    """An int64 that is no int32: the `index` in its list, and the value."""

    def __init__(self, index: int, value: int) -> None:
        super().__init__(f"value {index} of it, {value}, is no int32")
        self.index = index
        self.value = value


def fit_int32(packed: Buffer) -> bool:
    """Return whether sound packed varints are written in a form that means the same as int32 and as int64."""
    return _INT32S.fullmatch(packed) is not None


def packed_ints(values: Iterable[int]) -> bytes:
    """Signed numbers as packed varints, negative ones extended to 64 bits, as protobuf writes int32 and int64."""
    return b"".join(map(varint, values))


def checked_int32(values: Iterable[int]) -> Iterator[int]:
    """Yield the values, as long as they fit; raises OutOfRange."""
    for index, value in enumerate(values):
        if not -(2**31) <= value < 2**31:
            raise OutOfRange(index, value)
        yield value


def all_int32(packed: Buffer) -> bool:
    """Return whether every int64 among sound packed varints is in the range of int32."""
    return fit_int32(packed) or all(-(2**31) <= signed64(v) < 2**31 for v in varints(packed, 0, len(packed)))


def narrowed(raw: Buffer, exact: bool) -> tuple[bytes, int]:
    """Little-endian doubles as floats, and how many of them changed.

    Raises Inexact for a finite number beyond the range of float, and, with `exact`, for whatever would change.
    """
    parts, changed = [], 0
    for at in range(0, len(raw), 8 * _CHUNK):
        part, count = _narrowed(bytes(raw[at : at + 8 * _CHUNK]), at // 8, exact)
        parts.append(part)
        changed += count
    return b"".join(parts), changed


def _narrowed(raw: bytes, first: int, exact: bool) -> tuple[bytes, int]:
    count = len(raw) // 8
    values = struct.unpack(f"<{count}d", raw)
    try:
        floats = bytearray(struct.pack(f"<{count}f", *values))
    except OverflowError:
        index = next(i for i, value in enumerate(values) if _overflows(value))
        raise Inexact(first + index, values[index]) from None
    back = struct.pack(f"<{count}d", *struct.unpack(f"<{count}f", floats))
    if back == raw and not any(value != value for value in values):
        return bytes(floats), 0
    changed = 0
    for index, value in enumerate(values):
        at = 8 * index
        if value != value:
            bits = int.from_bytes(raw[at : at + 8], "little")
            fits = not bits & _QUIET_BITS
            # A payload in the lower bits alone would vanish, and leave an infinity.
            fraction = (bits >> 29 & 0x7FFFFF) or 0x400000
            floats[4 * index : 4 * index + 4] = (bits >> 63 << 31 | 0x7F800000 | fraction).to_bytes(4, "little")
        else:
            fits = raw[at : at + 8] == back[at : at + 8]
        if not fits:
            if exact:
                raise Inexact(first + index, value)
            changed += 1
    return bytes(floats), changed


def _overflows(value: float) -> bool:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return True
    return False


def widened(raw: Buffer) -> bytes:
    """Little-endian floats as doubles, which hold every one of them; the inverse of `narrowed` where that was exact."""
    return b"".join(_widened(bytes(raw[at : at + 4 * _CHUNK])) for at in range(0, len(raw), 4 * _CHUNK))


def _widened(raw: bytes) -> bytes:
    count = len(raw) // 4
    values = struct.unpack(f"<{count}f", raw)
    doubles = bytearray(struct.pack(f"<{count}d", *values))
    for index, value in enumerate(values):
        if value != value:
            bits = int.from_bytes(raw[4 * index : 4 * index + 4], "little")
            wide = bits >> 31 << 63 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29
            doubles[8 * index : 8 * index + 8] = wide.to_bytes(8, "little")
    return bytes(doubles)


Pieces = list[bytes | memoryview]
"""A payload in parts, to be written one after another."""


def size_of(pieces: Pieces) -> int:
    """Return the bytes of all pieces."""
    return sum(map(len, pieces))


def sized(number: int, pieces: Pieces) -> Pieces:
    """Return a LEN field that holds the pieces."""
    return [bytes((number << 3 | 2,)) + varint(size_of(pieces)), *pieces]


def packed(data: bytes) -> Pieces:
    """Return the content of a list of numbers: one packed run, or nothing, as protobuf writes it."""
    return sized(1, [data]) if data else []


def int64_as_int32(pieces: Iterator[memoryview]) -> bytes:
    """Runs of packed int64 as one of int32; raises OutOfRange."""
    data = b"".join(pieces)
    if fit_int32(data):
        return data
    return packed_ints(checked_int32(map(signed64, varints(data, 0, len(data)))))


def as_doubles(name: bytes, values: list[memoryview]) -> bytes:
    """Return what `--double bytes` made of a list of doubles, back again."""
    if len(values) != 1 or len(values[0]) % 8:
        raise Refused(name, "not one value of a multiple of 8 bytes, as doubles are stored", "leave its kind at bytes")
    return bytes(values[0])


_ANEW = LossKind("numbers-anew", "numbers spelled otherwise than protobuf spells them, and written as it does", False)
_AS_BYTES = LossKind("double-as-bytes", "double stored as bytes", lost=False)
_AS_FLOAT = LossKind("double-as-float", "double stored as float, exactly", lost=False)
_ROUNDED = LossKind("double-rounded", "double rounded to float")
AS_INT64 = LossKind("int32-as-int64", "int32 stored as int64", lost=False)


class ListMapper:
    """Writes lists as `target` holds them under the rules; `losses` gathers what changes."""

    def __init__(self, target: Side, rules: Rules, losses: Losses, met: set[bytes]) -> None:
        """`met` learns the names that `rules` give a kind and a feature has."""
        self._target = target
        self._rules = rules
        self._losses = losses
        self._seen = met
        self._types = Types(rules)
        self.numbers = KINDS[target]
        """The field of each kind of list."""

    def content(self, view: memoryview, item: Item, name: bytes, record: int) -> tuple[ListKind, Pieces]:
        """The kind in the output of a feature that has one, and the content of its list there; `name` is its new name.

        Raises Refused for values that the kind cannot hold.
        """
        try:
            return self._content(view, item, name, record)
        except OutOfRange as error:
            raise Refused(item.name, str(error), "leave its kind at int64") from None
        except Inexact as error:
            bytes_hint = "{double=bytes} keeps all as they are"
            if self._rules.double != "round":
                bytes_hint = "{double=round} rounds numbers in the range of float, " + bytes_hint
            raise Refused(item.name, str(error), bytes_hint) from None

    def _content(self, view: memoryview, item: Item, name: bytes, record: int) -> tuple[ListKind, Pieces]:
        assert item.kind is not None
        wanted = self.wanted(item, name)
        pieces = partial(values_of, view, item.lists, item.kind)
        if wanted == item.kind:
            return wanted, self._as_it_is(view, item, pieces)
        change = (item.kind, wanted)
        if change == ("int32", "int64"):
            self._losses.add(item.name, AS_INT64, record)
            return wanted, self._reencoded(view, item, self._int32s(view, item, pieces), record)
        if change == ("int64", "int32"):
            return wanted, self._reencoded(view, item, packed(int64_as_int32(pieces())), record)
        if change == ("float", "double"):
            return wanted, packed(widened(b"".join(pieces())))
        if change == ("double", "float"):
            return wanted, self._rounded(item.name, b"".join(pieces()), record)
        if change == ("double", "bytes"):
            self._losses.add(item.name, _AS_BYTES, record)
            return wanted, sized(1, [b"".join(pieces())])
        if change == ("bytes", "double"):
            return wanted, packed(as_doubles(item.name, list(pieces())))
        raise Refused(item.name, f"{item.kind} values cannot become {wanted}", "give {types} another kind, or none")

    def wanted(self, item: Item, name: bytes) -> ListKind:
        """The kind in the output of a feature that has one. Raises Refused where the rules name none that it could."""
        rules, kind = self._rules, item.kind
        self.note_seen(item, name)
        asked = self._types.asked(item.name, name)
        wanted = rules.kinds.get(item.name) if asked is None else rules.types[asked]
        if wanted is not None:
            if wanted not in self.numbers:
                raise Refused(item.name, f"an {TITLES[self._target]} has no {wanted}", "give {types} another kind")
            return wanted
        if kind == "int64" and self._target == "ofrecord":
            return rules.integers
        if kind == "int32" and self._target == "example":
            return "int64"
        if kind == "double" and self._target == "example":
            if rules.double == "refuse":
                raise Refused(
                    item.name,
                    "doubles, which an Example does not have",
                    "{double=exact} takes those that are floats, {double=round} rounds them, {double=bytes} keeps them",
                )
            return "bytes" if rules.double == "bytes" else "float"
        assert kind is not None
        return kind

    def note_seen(self, item: Item, name: bytes) -> None:
        """Note that there is a feature of this name, under which its kind may have been asked for."""
        if self._rules.types:
            self._seen.update({name, item.name} & self._rules.types.keys())

    def _as_it_is(self, view: memoryview, item: Item, pieces: Callable[[], Iterator[memoryview]]) -> Pieces:
        if len(item.lists) == 1 and not (item.within or item.split):
            return [view[begin:end] for begin, end in item.lists]
        if item.kind == "bytes":
            return [part for piece in pieces() for part in sized(1, [piece])]
        return packed(b"".join(pieces()))

    def _int32s(self, view: memoryview, item: Item, pieces: Callable[[], Iterator[memoryview]]) -> Pieces:
        """Return the list as it is where its numbers mean the same as int64, else read as int32 and written anew."""
        data = b"".join(pieces())
        if fit_int32(data):
            return self._as_it_is(view, item, pieces)
        return packed(packed_ints(map(signed32, varints(data, 0, len(data)))))

    def _reencoded(self, view: memoryview, item: Item, pieces: Pieces, record: int) -> Pieces:
        """Return the pieces; report it where they are not the list as it was, and nothing else reports that."""
        if len(item.lists) == 1 and not item.split:
            begin, end = item.lists[0]
            if b"".join(pieces) != view[begin:end]:
                self._losses.add(item.name, _ANEW, record)
        return pieces

    def _rounded(self, name: bytes, raw: bytes, record: int) -> Pieces:
        floats, changed = narrowed(raw, self._rules.double != "round")
        self._losses.add(name, _ROUNDED if changed else _AS_FLOAT, record)
        return packed(floats)
