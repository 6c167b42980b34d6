"""Text in quotes, as conditions and options hold names: a quote that belongs to the text is doubled, 'it''s'."""

from __future__ import annotations

import re

QUOTED = re.compile(r"'(?:[^']|'')*+'|\"(?:[^\"]|\"\")*+\"")


def unquoted(text: str) -> str:
    """What stands in the quotes that `QUOTED` matched."""
    return text[1:-1].replace(text[0] * 2, text[0])


def unquoted_if_quoted(text: str) -> str:
    """A text, or what stands in the quotes that are around all of it."""
    return unquoted(text) if QUOTED.fullmatch(text) else text


def parted(text: str, by: str) -> list[str]:
    """The parts of a text between separators, those in quotes without them; a separator in quotes belongs to its part.

    A quote that is not the first character of its part, or has no other at the end of it, is one as any character.
    """
    parts, at = [], 0
    while at <= len(text):
        found = QUOTED.match(text, at)
        if found and text[found.end() : found.end() + 1] in ("", by):
            parts.append(unquoted(found[0]))
            at = found.end() + 1
        else:
            end = text.find(by, at)
            end = len(text) if end < 0 else end
            parts.append(text[at:end])
            at = end + 1
    return parts
