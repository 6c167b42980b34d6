"""Where in a line of JSON a feature stands; looked for only once it is known to be wrong."""

from __future__ import annotations

from typing import Any


def column_of(line: str, feature: str | None) -> int:
    """The column, counted from 1, of the last key of that name in an object that parses; 1 if there is none.

    The parts of a SequenceExample are looked into.
    """
    if feature is None:
        return 1
    import json

    return _search(line, _skip(line, 0), feature, json.JSONDecoder(parse_constant=str), 2)[0] or 1


def _search(line: str, at: int, feature: str, decoder: Any, depth: int) -> tuple[int, int]:
    """The column, 0 for none, and the offset behind the object that begins at `at`."""
    found = 0
    at = _skip(line, at + 1)
    while line[at] == '"':
        key, behind = decoder.raw_decode(line, at)
        if key == feature:
            found = at + 1
        at = _skip(line, _skip(line, behind) + 1)  # behind the colon
        if depth > 1 and key in ("context", "feature_lists") and line[at] == "{":
            inner, at = _search(line, at, feature, decoder, depth - 1)
            found = inner or found
        else:
            at = decoder.raw_decode(line, at)[1]
        at = _skip(line, at)
        if line[at] != ",":
            break
        at = _skip(line, at + 1)
    return found, at + 1


def _skip(line: str, at: int) -> int:
    while at < len(line) and line[at] in " \t\r\n":
        at += 1
    return at
