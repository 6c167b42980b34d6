"""Single values of a row as JSON text: the shortest decimal of a float, and bytes that are text or base64."""

from __future__ import annotations

import math
import re
from array import array
from base64 import b64encode

_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_HEAD = 256
_ESCAPED = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
"""Characters that JSON allows in a string, at which some readers of lines end a line, or which command a terminal."""
_HAS_ESCAPED = re.compile(f"[{_ESCAPED}]")
_LEAST_NORMAL = 2.0**-126
_FEW = 4


def is_text(value: bytes) -> bool:
    """Is a value UTF-8 without control characters other than tab and line ends?"""
    if _CONTROL.search(value, 0, _HEAD) or _CONTROL.search(value):
        return False
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def string(text: str) -> str:
    """A JSON string on one line, in UTF-8, that can be printed."""
    from json.encoder import encode_basestring

    quoted: str = encode_basestring(text)
    if _HAS_ESCAPED.search(quoted):
        return _HAS_ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", quoted)
    return quoted


def base64_string(value: bytes) -> str:
    """A JSON string of base64."""
    return f'"{b64encode(value).decode()}"'


def doubles(values: array[float]) -> list[str]:
    """Doubles as JSON numbers that read back as the same; NaN and infinities as strings."""
    return [repr(value) if math.isfinite(value) else _named(value) for value in values]


def floats(values: array[float]) -> list[str]:
    """The same for float32 values: of the decimals that read back as the same float32, the shortest."""
    if not all(map(math.isfinite, values)):
        return [_one(value) if math.isfinite(value) else _named(value) for value in values]
    if len(values) <= _FEW:
        return [_one(value) for value in values]
    if min(map(abs, values)) < _LEAST_NORMAL and any(0 < abs(value) < _LEAST_NORMAL for value in values):
        return [_one(value) for value in values]
    return _many(values)


def _many(values: array[float]) -> list[str]:
    """All in one go, with more digits for those that need them. None of them is below the normal numbers, but 0."""
    texts = [""] * len(values)
    left = list(range(len(values)))
    numbers = list(values)
    for digits in (6, 7, 8, 9):
        tried = ((f"%.{digits}g," * len(left)) % tuple(numbers))[:-1].split(",")
        read = array("f", map(float, tried))
        missed = []
        for at, text, got, number in zip(left, tried, read, numbers, strict=True):
            if got == number:
                texts[at] = text if "." in text or "e" in text else text + ".0"
            else:
                missed.append(at)
        if not missed:
            break
        left, numbers = missed, [values[at] for at in missed]
    return texts


def are_spelled_by(decimals: list[float], values: array[float]) -> bool:
    """Is each decimal what its float32 value shows as, in nine digits or fewer? NaN and infinities are."""
    if len(values) == 1:
        decimal, value = decimals[0], values[0]
        if decimal == value or any(float(f"{value:.{digits}g}") == decimal for digits in (8, 9, 7)):
            return True
    left = [(d, v) for d, v in zip(decimals, values, strict=True) if d != v and d == d]
    for digits in (8, 9, 7, 6):
        if not left:
            return True
        shown = ((f"%.{digits}g," * len(left)) % tuple(v for _, v in left))[:-1].split(",")
        left = [pair for pair, text in zip(left, shown, strict=True) if float(text) != pair[0]]
    return not left or all(abs(v) < _LEAST_NORMAL and float(_one(v)) == d for d, v in left)


def _one(value: float) -> str:
    for digits in range(6 if abs(value) >= _LEAST_NORMAL else 1, 10):
        text = f"{value:.{digits}g}"
        if array("f", (float(text),))[0] == value:
            break
    return text if "." in text or "e" in text else text + ".0"


def _named(value: float) -> str:
    return '"NaN"' if value != value else '"Infinity"' if value > 0 else '"-Infinity"'
