"""A record as lines of text: a line a feature, and every line safe for a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tfrtool.cli.text import safe, safe_name
from tfrtool.payload.features import FeatureListView, FeatureView
from tfrtool.payload.preview import preview, preview_list, value_text
from tfrtool.verbs.head import Record

UNKNOWN_BYTES = 64
"""Bytes shown of a payload of no known kind."""


class Line(NamedTuple):
    """One feature: its name (empty where the line is about the record itself), kind, number of values, and values."""

    name: str
    kind: str
    number: str
    values: str


def near(record: Record) -> str:
    """What a record of no known kind comes near to, and where it departs from it."""
    from tfrtool.payload.strict import nearly

    return nearly(record.payload) if record.payload is not None and record.kind == "unknown" else ""


def lines(record: Record, width: int, values: int | None) -> Iterator[Line]:
    """The lines of a record; values are previewed in `width` columns, or the first `values` shown (-1: all)."""
    found = record.features()
    if found is None:
        shown = "too large to be held"
        if record.payload is not None:
            shown = "  ".join(filter(None, (dump(record.payload), near(record))))
        yield Line("", "unknown", "", shown)
    elif not (found.features or found.feature_lists):
        yield Line("", record.kind or "", "0", "no features")
    else:
        for view in found.features:
            yield Line(
                safe_name(view.name), view.kind or "", str(view.count), _noted(view, _values(view, width, values))
            )
        for steps in found.feature_lists:
            kind = "list of " + "/".join(kind or "nothing" for kind in steps.kinds)
            yield Line(safe_name(steps.name), kind, str(steps.count), _noted(steps, _steps(steps, width, values)))


def _noted(view: FeatureView | FeatureListView, shown: str) -> str:
    shown = safe(f"{shown} ({view.note})" if view.note else shown)
    return shown if sys.stdout.encoding.lower().startswith("utf") else shown.replace("…", "...")


def _values(view: FeatureView, width: int, values: int | None) -> str:
    if values is None or view.count == 0:
        return preview(view, width)
    shown = [value_text(value, view.kind, sys.maxsize) for value in view.values(_limit(values))]
    return shown[0] if view.count == 1 and shown else _listed(shown, view.count)


def _steps(view: FeatureListView, width: int, values: int | None) -> str:
    if values is None:
        return preview_list(view, width)
    shown = [
        _listed([value_text(value, step.kind, sys.maxsize) for value in step.values(_limit(values))], step.count)
        for step in view.steps(_limit(values))
    ]
    return _listed(shown, view.count)


def _limit(values: int) -> int | None:
    return None if values < 0 else values


def _listed(shown: Sequence[str], count: int) -> str:
    more = [f"… {count - len(shown)} more"] if count > len(shown) else []
    return f"[{', '.join([*shown, *more])}]"


def dump(payload: bytes | memoryview) -> str:
    """The first bytes of a payload in hexadecimal and as ASCII, and how many follow."""
    head = bytes(payload[:UNKNOWN_BYTES])
    more = f" and {len(payload) - len(head)} more bytes" if len(payload) > len(head) else ""
    return f"{head.hex(' ')} |{''.join(chr(b) if 32 <= b < 127 else '.' for b in head)}|{more}"
