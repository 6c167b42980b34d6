"""Encode text for JSON, including bytes that are not UTF-8."""

from __future__ import annotations

import os


def json_text(value: str | bytes) -> str | dict[str, str]:
    """Return a string if the text is UTF-8, otherwise its bytes in base64 (of a path, the bytes on disk)."""
    try:
        if isinstance(value, bytes):
            return value.decode()
        value.encode()
        return value
    except UnicodeError:
        from tfrtool.payload.text import json_bytes

        return json_bytes(value if isinstance(value, bytes) else _bytes_of(value))


def _bytes_of(value: str) -> bytes:
    try:
        return os.fsencode(value)
    except UnicodeError:
        return value.encode("utf-8", "surrogatepass")
