"""Write a feature in one line: its first values, how many more there are, and their range.

The time is bounded, whatever the size of the feature.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfrtool.payload.text import Value, shortest_float32

if TYPE_CHECKING:
    from tfrtool.payload.features.view import FeatureListView, FeatureView

_RANGED = 4096  # longer lists are not read to the end for their range


def preview(feature: FeatureView, width: int = 60) -> str:
    """Return the values of a feature in about `width` characters, at least one of them.

    A single value stands plain, several as `[0.12, 3.4, … 781 more]`, followed by the least and the greatest if not
    all are shown and there are at most 4096; `[]` is an empty list, `unset` a feature of no kind.
    """
    if feature.kind is None:
        return "unset"
    if feature.count == 0:
        return "[]"
    if feature.count == 1:
        return value_text(feature.values(1)[0], feature.kind, width)
    each = width * 2 // 3  # of one value, to leave room for how many more there are
    texts = [value_text(value, feature.kind, each) for value in feature.values(max(width // 3, 1))]
    if feature.kind == "bytes" or feature.count > _RANGED or _room(texts, feature.count, width) == feature.count:
        return _join(texts, feature.count, width)
    tail = _range(feature.values(), feature.kind)
    return _join(texts, feature.count, width - len(tail)) + tail


def preview_list(view: FeatureListView, width: int = 60) -> str:
    """Return the steps of a feature list in about `width` characters: `[[1, 2], [3], … 18 more]`."""
    if view.count == 0:
        return "[]"
    texts = []
    for step in view.steps(max(width // 3, 1)):
        text = preview(step, max(width // 2, 1))
        texts.append(f"[{text}]" if step.count == 1 else text)
    return _join(texts, view.count, width)


def value_text(value: Value, kind: str | None, width: int = 60) -> str:
    """Return one value: a number as it reads back, the shortest for a float32; bytes as `describe_value` puts them."""
    if isinstance(value, float):
        return repr(shortest_float32(value)) if kind == "float" else repr(value)
    if isinstance(value, int):
        return str(value)
    from tfrtool.payload.content.detect import describe_value

    return describe_value(value, width)


def _room(texts: Sequence[str], count: int, width: int) -> int:
    """Return how many of the texts have room in a list of `count`, at least one."""
    used = len(texts[0])
    for shown, text in enumerate(texts[1:], 1):
        left = count - shown - 1
        used += 2 + len(text)
        if used + (len(f", … {left} more") if left else 0) > width - 2:
            return shown
    return len(texts)


def _join(texts: Sequence[str], count: int, width: int) -> str:
    """As many texts as have room, and the number of those that have none."""
    shown = _room(texts, count, width)
    between = "; " if any(", " in text and not text.endswith(("]", '"')) for text in texts[:shown]) else ", "
    more = f"{between}… {count - shown} more" if count > shown else ""
    return f"[{between.join(texts[:shown])}{more}]"


def _range(values: list[Value], kind: str) -> str:
    """Return the least and the greatest number, NaN aside; how many are NaN."""
    numbers = [value for value in values if isinstance(value, int | float)]
    sound = [number for number in numbers if not math.isnan(number)]
    parts = [f"{value_text(min(sound), kind)} to {value_text(max(sound), kind)}"] if sound else []
    if len(sound) < len(numbers):
        parts.append(f"{len(numbers) - len(sound)} NaN")
    return f" ({', '.join(parts)})"
