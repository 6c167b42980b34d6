"""Write single values as text and as JSON, and decide what counts as text.

There is one rule for whatever shows a value, and for what describes many of them at a time.
"""

from __future__ import annotations

import codecs
import math
import struct

from tfrtool.payload.wire.reader import Buffer

HEAD = 128
"""Bytes of a longer value that tell whether it is text; so many random ones never are."""
_CONTROL = bytes([*range(9), *range(14, 27), *range(28, 32), 127])


def has_no_control(data: bytes) -> bool:
    """Is it without the control characters that text does not use? Deleting them is five times faster than a search."""
    return len(data.translate(None, _CONTROL)) == len(data)


def is_text(value: Buffer, whole: bool = True) -> bool:
    """UTF-8 without the control characters that text does not use; of a longer value the first `HEAD` bytes decide.

    Not `whole`: a last character that is cut off is none the worse for that.
    """
    head = bytes(value[:HEAD])
    return has_no_control(head) and is_utf8(head, whole and len(value) <= HEAD)


def is_utf8(head: Buffer, whole: bool) -> bool:
    """Is it UTF-8? Not `whole`: a last character that is cut off is none the worse for that."""
    try:
        codecs.utf_8_decode(head, "strict", whole)
    except UnicodeDecodeError:
        return False
    return True


Value = Buffer | int | float
_LEAST_NORMAL = 2.0**-126
JsonValue = str | int | float | dict[str, str | int]


def text_of(data: Buffer) -> str:
    """Bytes as text without surrogates: UTF-8, and \\xNN for each byte that is not. Control characters stay."""
    return str(data, "utf-8", "backslashreplace")


def shortest_float32(value: float) -> float:
    """Return the float with the shortest decimal that reads back as the same float32: 0.1 for 0.10000000149011612.

    `repr` of the result is that decimal. NaN and infinities come back as they are.
    """
    if not math.isfinite(value):
        return value
    fewest = 6 if abs(value) >= _LEAST_NORMAL else 1  # below, float32 has fewer digits than six
    for digits in range(fewest, 9):
        short = float(f"{value:.{digits}g}")
        if struct.unpack("<f", struct.pack("<f", short))[0] == value:
            return short
    return float(f"{value:.9g}")


def json_value(value: Value, kind: str | None, cut: int | None = None) -> JsonValue:
    """Return one value as JSON holds it; see `FeatureView.json_values`."""
    if isinstance(value, float):
        if math.isfinite(value):
            return shortest_float32(value) if kind == "float" else value
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, int):
        return value
    if cut is not None and len(value) > cut:
        return {**json_bytes(value[:cut]), "size": len(value)}
    try:
        return str(value, "utf-8")
    except UnicodeDecodeError:
        return {**json_bytes(value)}


def plural(count: int, noun: str) -> str:
    """`1 record`, `2 records`, `1,000 records`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def size_text(size: int) -> str:
    """Return a number of bytes for people: `17 bytes`, `48.0 KiB`, `2.0 GiB`."""
    if size < 1024:
        return plural(size, "byte")
    scaled = size / 1024
    for unit in ("KiB", "MiB", "GiB"):
        if scaled < 1023.95 or unit == "GiB":
            break
        scaled /= 1024
    return f"{scaled:.1f} {unit}"


def sizes_text(low: int, high: int) -> str:
    """Two sizes and what lies between: `1 to 3 bytes`, `900 bytes to 1.2 KiB`, `17 bytes` where they are the same."""
    first, last = size_text(low), size_text(high)
    if first == last:
        return last
    number, unit = first.split(" ")
    return f"{number if last.endswith(unit) or unit == 'byte' and last.endswith('bytes') else first} to {last}"


def json_bytes(value: Buffer) -> dict[str, str]:
    """Bytes as JSON holds them where it has no text for them: `{"bytes": "<base64>"}`."""
    from base64 import b64encode

    return {"bytes": b64encode(value).decode()}
