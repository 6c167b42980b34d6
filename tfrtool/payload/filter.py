"""Choose records by the values of their features: `label == 3`, `image/format != 'png'`.

A condition is a name, one of == != < <= > >=, and a number or a quoted text; nothing is evaluated. A name may be quoted
too, so that it may hold an operator. A quote that belongs to quoted text is doubled: 'it''s'.

A record fulfils a condition if it has the feature, with values, and any of them compares so; `!=` asks that of every
value. Bytes compare with texts as UTF-8 does, and a number and a text never compare. Integers compare with the number
as it is written, to the last digit; a double and a float32 compare with it rounded to their own precision, so that
`0.1` finds what is shown as 0.1.
"""

from __future__ import annotations

import math
import operator
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from tfrtool.payload.features.read import read_features
from tfrtool.payload.features.view import FeatureView
from tfrtool.payload.wire.reader import Buffer
from tfrtool.types import Kind

QUOTED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"")


def unquoted(text: str) -> str:
    """Return what stands in the quotes that `QUOTED` matched."""
    return text[1:-1].replace(text[0] * 2, text[0])


def unquoted_if_quoted(text: str) -> str:
    """Return a text, or what stands in the quotes that are around all of it."""
    return unquoted(text) if QUOTED.fullmatch(text) else text


def split_outside_quotes(text: str, by: str) -> list[str]:
    """The parts of a text between separators, those in quotes without them; a separator in quotes belongs to its part.

    A quote that is not the first character of its part, or has no other at the end of it, is one as any character.
    """
    parts, at = [], 0
    while at <= len(text):
        found = QUOTED.match(text, at)
        if found and text[found.end() : found.end() + 1] in ("", by):
            parts.append(unquoted(found[0]))
            at = found.end() + 1
        else:
            end = text.find(by, at)
            end = len(text) if end < 0 else end
            parts.append(text[at:end])
            at = end + 1
    return parts


_OPERATOR = re.compile(r"==|!=|<=|>=|<|>")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WORD = re.compile(r"[+-]?(?:nan|inf(?:inity)?)", re.IGNORECASE)
_FLOAT = struct.Struct("<f")
_DIGITS, _LEAST = 24, -149
"""Binary digits of a float32, and the exponent of 2 that gives the least of them."""
Value = int | float | Decimal | bytes
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; `value` is a number, exactly, or the bytes of a text; `double` and `narrow` are the same rounded,
    for comparing with doubles and float32."""

    name: bytes
    how: str
    value: Value
    double: Value = field(init=False, repr=False, compare=False)
    narrow: Value = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "double", _to_double(self.value))
        object.__setattr__(self, "narrow", _to_float32(self.value, self.double))

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; raises ValueError, in words, where it is none."""
        name, how, value = _split_condition(text)
        if not name or not how or not value:
            raise ValueError(
                f"{text!r} is no condition: write a name, one of == != < <= > >=, and a number or 'text'; "
                "all of several conditions must hold"
            )
        wanted = _value(value)
        if wanted != wanted and how not in ("==", "!="):
            raise ValueError(f"{text!r}: no number is less or more than nan: write == nan or != nan")
        return cls(name.encode("utf-8", "surrogateescape"), how, wanted)

    def holds(self, feature: FeatureView) -> bool:
        """Return whether a feature of that name fulfils it."""
        compare = _COMPARE[self.how]
        wanted = {"float": self.narrow, "double": self.double}.get(feature.kind or "", self.value)
        every = self.how == "!="
        is_nan = wanted != wanted
        found = False
        for value in feature.read():
            found = True
            mine = bytes(value) if isinstance(value, bytes | memoryview) else value
            if isinstance(mine, bytes) != isinstance(wanted, bytes):
                return every
            fits = compare(mine != mine, True) if is_nan else compare(mine, wanted)
            if fits != every:
                return not every
        return every and found


class Where:
    """Conditions that records must fulfil together; an object of one conversion, which learns what came of them.

    `names` are those in the conditions, `present` those of them that any record had, `lists` those that were only
    found as feature lists, at which no condition looks, and `compared` the conditions whose feature was of a kind
    that compares with their value, a number or a text. `seen` and `matched` count records, some of them twice where
    they are read twice.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.conditions = conditions
        self.names = frozenset(condition.name for condition in conditions)
        self.seen = self.matched = 0
        self.present: set[bytes] = set()
        self.lists: set[bytes] = set()
        self.compared: set[Condition] = set()

    def fulfils(self, payload: Buffer, kind: Kind) -> bool:
        """Return whether a record fulfils all conditions. Raises WireError where it is not sound.

        Of a name that stands twice the last counts, as for every reader.
        """
        found = read_features(payload, kind)
        features = {feature.name: feature for feature in found.features}
        self.lists.update(one.name for one in found.feature_lists if one.name in self.names)
        for condition in self.conditions:
            feature = features.get(condition.name)
            if feature is not None:
                self.present.add(condition.name)
                if feature.kind is None or (feature.kind == "bytes") == isinstance(condition.value, bytes):
                    self.compared.add(condition)
        fits = all(c.name in features and c.holds(features[c.name]) for c in self.conditions)
        self.seen += 1
        self.matched += fits
        return fits


def _split_condition(text: str) -> tuple[str, str, str]:
    """Name, operator and value; empty where they are missing."""
    text = text.strip()
    name = QUOTED.match(text)
    found = _OPERATOR.match(text[name.end() :].lstrip()) if name else None
    if name and found:
        return unquoted(name[0]), found[0], found.string[found.end() :].strip()
    found = _OPERATOR.search(text)
    if not found:
        return text, "", ""
    return text[: found.start()].rstrip(), found[0], text[found.end() :].lstrip()


def _value(text: str) -> Value:
    if QUOTED.fullmatch(text):
        return unquoted(text).encode("utf-8", "surrogateescape")
    if QUOTED.match(text):
        raise ValueError(
            f"{text} is more than one text: give conditions that must all hold one by one, and double a quote that "
            "belongs to a text, or put the text in the other sort"
        )
    if text[0] in "'\"":
        raise ValueError(f"{text} has no quote at its end")
    if _WORD.fullmatch(text):
        return float(text)
    if _NUMBER.fullmatch(text) and len(text) < 400:
        if text.lstrip("+-").isdigit():
            return int(text)
        if math.isinf(float(text)):
            raise ValueError(f"{text} is beyond the largest double; infinity is written inf")
        return _exact(text)
    several = "; give several conditions one by one" if " and " in text else ""
    raise ValueError(f"{text!r} is no number; a text stands in quotes{several}")


def _exact(text: str) -> Value:
    """Return a finite number with a point or an exponent, to its last digit: an integer where it is one."""
    try:
        number = Decimal(text)
    except InvalidOperation:  # an exponent of very many digits, and so 0 to every reader
        return float(text)
    if not number:  # whose exponent may be any
        return 0
    return int(number) if number.adjusted() >= 0 and number == number.to_integral_value() else number


def _to_double(value: Value) -> Value:
    """Return the double nearest to a number; the number itself where it is beyond them all."""
    if isinstance(value, bytes):
        return value
    try:
        return float(value)
    except OverflowError:
        return value


def _to_float32(value: Value, double: Value) -> Value:
    """The float32 nearest to a number, of which `double` is the nearest double; the number itself where it is beyond
    them all.

    The number is rounded once. Its double, rounded again, goes the wrong way where that lies between two float32.
    """
    if isinstance(value, bytes) or isinstance(double, bytes):
        return value
    try:
        exponent = math.frexp(double)[1]
        if isinstance(value, float) or not double or exponent < _LEAST:
            narrow: float = _FLOAT.unpack(_FLOAT.pack(double))[0]
            return narrow
        from fractions import Fraction

        unit = Fraction(2) ** max(exponent - _DIGITS, _LEAST)
        narrow = float(round(Fraction(value) / unit) * unit)  # which is exact, and half to even as IEEE 754 has it
        _FLOAT.pack(narrow)
    except OverflowError:
        return value
    return narrow
