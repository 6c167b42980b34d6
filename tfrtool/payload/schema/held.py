"""What one bytes value holds, whatever its size: `content_of` of its beginning, made fast for what is met most."""

from __future__ import annotations

import codecs

from tfrtool.payload.content import Content, content_of, packed
from tfrtool.payload.media import media_and_form_of
from tfrtool.payload.schema.content import HEAD, SPECIAL, is_text
from tfrtool.payload.wire import Buffer

_LONGEST = 1 << 12  # a longer text is told to be JSON by its ends
_MESSAGE = frozenset(b"\x08\x09\x0a\x10\x12\x1a\x22\x2a\x32")
"""Tags with which a tensor, an Example or an Event begins."""
_IN_JSON = frozenset((b'"', b"{", b"[", b"}", b"]", b"-", b"t", b"f", b"n", *(b"%d" % i for i in range(10))))


def held(value: Buffer) -> tuple[str, str, str]:
    """What a value holds: kind, detail, and the form of an image."""
    return (value and media_and_form_of(value)) or (*_other(value), "")


def _other(value: Buffer) -> Content:
    """What is no image and no sound. Of a value of more than `HEAD` bytes those tell whether it is text."""
    if not value:
        return Content("empty")
    head = bytes(value[:HEAD])
    if is_text(head):
        try:
            codecs.utf_8_decode(head, "strict", len(value) <= HEAD)
        except UnicodeDecodeError:
            pass
        else:
            if SPECIAL.match(head) is None:
                return Content("utf-8")
            if len(value) <= _LONGEST:
                return content_of(value)
            return Content("json") if _ends_as_json(value) else packed(value) or Content("utf-8")
    return packed(value) or (content_of(value) if head[0] in _MESSAGE else Content("raw"))


def _ends_as_json(value: Buffer) -> bool:
    """An object or an array, by its ends: what comes first in it, and its last byte."""
    begin = bytes(value[:64])
    return (begin[:1] + bytes(value[-1:])) in (b"{}", b"[]") and begin[1:].lstrip()[:1] in _IN_JSON
