"""Choosing records by the values of their features: `label == 3`, `image/format != 'png'`.

A condition is a name, one of == != < <= > >=, and a number or a quoted text; nothing is evaluated. A record fulfils it
if the feature has values and any of them compares so; `!=` asks that of every value. Bytes compare with texts as UTF-8
does, and a number and a text never compare.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tfrtool.payload.features import FeatureView, read_features
from tfrtool.payload.wire import Buffer
from tfrtool.report import Kind

_CONDITION = re.compile(r"\s*(?P<name>.+?)\s*(?P<how>==|!=|<=|>=|<|>)\s*(?P<value>.+?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[+-]?(?:[0-9]+|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|inf|nan)")
_HOW: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; `value` is a number, or the bytes of a text."""

    name: bytes
    how: str
    value: int | float | bytes

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Read a condition; raises ValueError, in words, where it is none."""
        found = _CONDITION.fullmatch(text)
        if found is None:
            raise ValueError(f"{text!r} is no condition: write a name, one of == != < <= > >=, and a number or 'text'")
        return cls(found["name"].encode("utf-8", "surrogateescape"), found["how"], _value(found["value"]))

    def holds(self, feature: FeatureView) -> bool:
        """Whether a feature of that name fulfils it."""
        compare, wanted = _HOW[self.how], self.value
        every = self.how == "!="
        found = False
        for value in feature.read():
            found = True
            mine = bytes(value) if isinstance(value, bytes | memoryview) else value
            if isinstance(mine, bytes) != isinstance(wanted, bytes):
                return every
            if compare(mine, wanted) != every:
                return not every
        return every and found


def fulfils(payload: Buffer, kind: Kind, conditions: Iterable[Condition]) -> bool:
    """Whether a record fulfils all conditions. Raises WireError where it is not sound.

    Of a name that stands twice the last counts, as for every reader.
    """
    features = {feature.name: feature for feature in read_features(payload, kind).features}
    return all(c.name in features and c.holds(features[c.name]) for c in conditions)


def _value(text: str) -> int | float | bytes:
    if len(text) > 1 and text[0] in "'\"" and text[-1] == text[0]:
        return text[1:-1].encode("utf-8", "surrogateescape")
    if _NUMBER.fullmatch(text) and len(text) < 400:
        return int(text) if text.lstrip("+-").isdigit() else float(text)
    raise ValueError(f"{text!r} is no number; a text stands in quotes")
