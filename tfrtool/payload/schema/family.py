"""Which lists the features of a kind of record can have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tfrtool.payload.wire.example import ListKind

MessageLayout = Literal["example", "ofrecord"]
"""How features are laid out: as Examples and SequenceExamples have them, or as OFRecords do."""

LISTS: dict[MessageLayout, dict[int, ListKind]] = {
    "example": {1: "bytes", 2: "float", 3: "int64"},
    "ofrecord": {1: "bytes", 2: "float", 3: "double", 4: "int32", 5: "int64"},
}
WIDTHS = {"float": 4, "double": 8}
"""Bytes of a number, of the kinds whose numbers are all of one size."""
