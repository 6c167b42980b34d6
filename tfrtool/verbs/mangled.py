"""Record files that went through a text conversion: told by undoing it and finding records."""

from __future__ import annotations

from dataclasses import dataclass

from tfrtool.framing.walk import Batch, walk
from tfrtool.framing.window import Held
from tfrtool.verbs.unmangle import byte, encoded

_REPLACEMENT = "\ufffd".encode()


@dataclass(frozen=True, slots=True)
class Mangled:
    """Which conversion a file went through."""

    diagnosis: str
    message: str
    hint: str


_AGAIN = (
    "fetch the file again as binary: no text mode, no re-encoding, no line-end conversion (git: mark *.tfrecord -text)"
)


def mangled(head: bytes) -> Mangled | None:
    """The conversion that the first bytes of a decoded stream went through, or None.

    Proved where undoing it makes sound records appear that were not there. Where bytes were replaced by U+FFFD the
    conversion cannot be undone, and the only evidence is that binary data is valid UTF-8.
    """
    before = _records(head)
    newlines = head.count(b"\n")
    if newlines and head.count(b"\r\n") == newlines and _records(head.replace(b"\r\n", b"\n")) > before:
        return Mangled("crlf", "every line feed became CR LF: the file was written or copied in text mode", _AGAIN)
    text = _utf8(head)
    if text is None:
        return None
    lost = head.count(_REPLACEMENT)
    if lost >= 4 and not text.isprintable() and any(ord(c) < 9 for c in text):
        message = f"binary data was read as text: {lost:,} bytes of the first {len(head):,} became U+FFFD and are lost"
        return Mangled("utf8-mangled", message, _AGAIN)
    if not text.isascii():
        raw = _single_bytes(text)
        if raw is not None and _records(raw) > before:
            return Mangled(
                "utf8-mangled", "every byte from 128 on was written as two: Latin-1 encoded as UTF-8", _AGAIN
            )
    return None


def _records(data: bytes) -> int:
    return sum(item.count for item in walk(Held(data)) if isinstance(item, Batch))


def _utf8(head: bytes) -> str | None:
    for cut in range(4):
        try:
            return head[: len(head) - cut].decode("utf-8")
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:
                return None
    return None


def _single_bytes(text: str) -> bytes | None:
    try:
        return encoded(text, byte)
    except UnicodeEncodeError:
        return None
