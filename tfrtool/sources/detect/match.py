"""The result of format detection, and how it shows bytes of a file."""

from __future__ import annotations

from dataclasses import dataclass

from tfrtool.suggestion import Suggestion


@dataclass(frozen=True, slots=True)
class FormatMatch:
    """The format of a file that is not a record file.

    `diagnosis` is an id from the interface, `message` says what was found, `hint` and `suggestion` what to do next,
    with FILE in place of the name. `refusal`: it is the error response of a server, saved in place of the data.
    """

    diagnosis: str
    message: str
    hint: str
    suggestion: Suggestion | None = None
    refusal: bool = False


def shown(data: bytes | str, limit: int = 60) -> str:
    """Show bytes of a file as a short quoted text, safe to print: other characters are escaped."""
    text = data.decode("utf-8", "backslashreplace") if isinstance(data, bytes) else data
    text = "".join(c if c.isprintable() and c != "\\" else _escaped(c) for c in text[: limit + 1])
    return f"'{text}'" if len(text) <= limit else f"'{text[:limit]}…'"


def _escaped(char: str) -> str:
    return "\\" if char == "\\" else char.encode("unicode_escape").decode("ascii")
