"""What numbers look like: a guess for people, so it lives apart from what was counted."""

from __future__ import annotations

import re

from tfrtool.payload.schema.values import Numbers

_REPEATS = 2
"""How often each different value of a label stands at least, on average."""
_MANY = 200
"""Values from which on numbers alone may tell a label, whatever it is called; each of them stands `_OFTEN` times."""
_OFTEN = 10
_WORD = re.compile("[A-Z]?[a-z]+|[A-Z]+")
_LABELS = {"label", "labels", "class", "classes", "category", "categories", "target", "targets", "id", "ids"}
_AMOUNTS = (
    "count counts num number n nr total len length size height width depth area age qty quantity amount step steps"
    " frame frames index idx offset position pos rank score year month day hour minute second time duration"
)
_COUNTED = set(_AMOUNTS.split())


def looks_like_label(numbers: Numbers) -> bool:
    """Few different integers, from 0 or 1 (or -1, for none) on, each of them repeated: a label, or a count."""
    return (
        bool(numbers.distinct)
        and -1 <= numbers.least <= 1
        and len(numbers.distinct or ()) > 1
        and numbers.greatest < 4 * len(numbers.distinct or ()) + 16
        and numbers.values >= _REPEATS * len(numbers.distinct or ())
    )


def is_label(name: bytes, numbers: Numbers) -> bool:
    """Integers that look like a label, and are called so; or of which many fill a range from 0 (or -1) without a gap,
    and that are not called as what is counted or measured is.
    """
    if not looks_like_label(numbers):
        return False
    words = {word.lower() for word in _WORD.findall(name.decode("utf-8", "replace"))}
    if words & _LABELS:
        return not words & _COUNTED
    different = len(numbers.distinct or ())
    often = numbers.values >= max(_MANY, _OFTEN * different)
    return often and numbers.least <= 0 and gapless(numbers) and not words & _COUNTED


def gapless(numbers: Numbers) -> bool:
    """Whether every integer between the least and the greatest was seen."""
    return numbers.distinct is not None and len(numbers.distinct) == numbers.greatest - numbers.least + 1
