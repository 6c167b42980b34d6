"""What numbers look like: a guess for people, so it lives apart from what was counted."""

from __future__ import annotations

from tfrtool.payload.schema.values import Numbers

_REPEATS = 2
"""How often each different value of a label stands at least, on average."""


def looks_like_label(numbers: Numbers) -> bool:
    """Few different integers, from 0 or 1 (or -1, for none) on, each of them repeated."""
    return (
        bool(numbers.distinct)
        and -1 <= numbers.least <= 1
        and len(numbers.distinct or ()) > 1
        and numbers.greatest < 4 * len(numbers.distinct or ()) + 16
        and numbers.values >= _REPEATS * len(numbers.distinct or ())
    )
