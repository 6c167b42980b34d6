"""Text in JSON, which has no place for bytes that are not UTF-8."""

from __future__ import annotations

import os


def json_text(value: str | bytes) -> str | dict[str, str]:
    """A text as JSON has it: a string where it is UTF-8, else its bytes in base64 (a path's are those on disk)."""
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
