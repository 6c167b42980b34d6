"""What counts as text: one rule for whatever shows a value, and for what describes many of them at a time."""

from __future__ import annotations

import codecs

from tfrtool.payload.wire import Buffer

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
