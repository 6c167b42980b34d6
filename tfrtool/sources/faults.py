"""A break of the gzip or zlib stream, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodecFault:
    """What is wrong with the packed stream, at a byte of what it unpacks to and at a packed byte.

    The bytes of the decoded stream before `offset_decoded` were unpacked before the fault was met.
    """

    offset_decoded: int
    offset_encoded: int
    message: str
