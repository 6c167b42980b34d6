"""A large record of the same features as all before it, each with one value: added in place, with no table made for it.

A table of one record and its merge take 22 us, as long as reading 200 KB; this takes a third of that.
"""

from __future__ import annotations

from tfrtool.payload.schema.columns import CODES, CONTINUED, floats, scalars
from tfrtool.payload.schema.fast_walk import PACKED, HeaderCache, entries
from tfrtool.payload.schema.feature import Feature, Key, ListSummary
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Blobs, ContentCount, Numbers, RecordPlace
from tfrtool.payload.wire.reader import WireError

_VARINT = 10  # bytes of the longest one
_MOST_FEATURES = 64  # so few that no bound of a table is near


def add_in_place(total: Table, view: memoryview, begin: int, end: int, place: RecordPlace, known: HeaderCache) -> bool:
    """Add the record `view[begin:end]` to the table. False, and nothing is added, unless it is as this module says."""
    features = total.features
    if not 0 < len(features) <= _MOST_FEATURES:
        return False
    try:
        found = entries(view, begin, end, known)
    except (IndexError, WireError):
        return False
    if len(found) != len(features):
        return False
    values: dict[Key, tuple[Feature, ListSummary, int, int]] = {}
    for at, header in found:
        feature = features.get(header.column.key)
        if feature is None:
            return False
        lists = feature.kinds.get(header.column.kind)
        if lists is None:
            return False
        a, b = at + header.head, at + header.total
        if header.count == PACKED and isinstance(lists.values, Numbers):
            run = bytes(view[a : min(b, a + _VARINT)])
            if b - a > _VARINT or run[-1] >= 0x80 or len(run.translate(None, CONTINUED)) > 1:
                return False
        elif header.count != 1:
            return False
        values[header.column.key] = feature, lists, a, b
    if len(values) < len(found):
        return False
    for feature, lists, a, b in values.values():
        feature.present += 1
        lists.records += 1
        if lists.shortest > 1:
            lists.shortest, lists.short_at = 1, place
        if lists.longest < 1:
            lists.longest, lists.long_at = 1, place
        if isinstance(lists.values, Blobs):
            _add_blob(lists.values, view[a:b], place)
        elif isinstance(lists.values, Numbers):
            if lists.kind in CODES:
                floats([view[a:b]], CODES[lists.kind], lists.values)
            else:
                scalars([bytes(view[a:b])], b - a, lists.values, lists.kind == "int32")
    total.records += 1
    return True


def _add_blob(blobs: Blobs, value: memoryview, place: RecordPlace) -> None:
    from tfrtool.payload.content.detect import identify_content

    size = len(value)
    blobs.values += 1
    blobs.bytes += size
    if size < blobs.shortest:
        blobs.shortest = size
    if size > blobs.longest:
        blobs.longest = size
    kind, detail, form = identify_content(value)
    held = blobs.contents.get(kind)
    if held is None:
        held = blobs.contents[kind] = ContentCount(0, place)
    held.count(detail, form)
    held.cut()
