"""Framing a payload."""

from __future__ import annotations

from struct import pack

from tfrtool.framing.crc import Bytes, masked_crc


def header(length: int) -> bytes:
    """The 12 bytes before a payload of `length` bytes (less than 2**64)."""
    raw = pack("<Q", length)
    return raw + pack("<I", masked_crc(raw))


def footer(payload: Bytes) -> bytes:
    """The 4 bytes behind `payload`."""
    return pack("<I", masked_crc(payload))


def frame(payload: Bytes) -> bytes:
    """One TFRecord: header, payload and footer."""
    return b"".join((header(len(payload)), payload, footer(payload)))


def ofrecord_frame(payload: Bytes) -> bytes:
    """One OFRecord: length and payload. OneFlow's reader refuses an empty payload."""
    return b"".join((pack("<q", len(payload)), payload))
