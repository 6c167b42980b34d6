"""The options that all jobs share, and checks of the arguments of library calls.

Only the public functions check: the options of commands were checked by Click.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tfrtool.types import CompressionChoice, FormatChoice, Progress

_CHOICES: dict[str, tuple[str, ...]] = {
    "format": ("auto", "tfrecord", "ofrecord"),
    "compression": ("auto", "none", "gzip", "zlib"),
    "keep": ("all", "before", "after"),
}


def refuse_options(**given: Any) -> None:
    """Raise ValueError or TypeError for the first invalid option.

    `format`, `compression` and `keep` are one of a few strings, all others are True or False.
    """
    for option, value in given.items():
        allowed = _CHOICES.get(option)
        if allowed is None:
            if not isinstance(value, bool):
                raise TypeError(f"{option} is True or False, not {_shown(value)}")
        elif not isinstance(value, str) or value not in allowed:
            error = ValueError if isinstance(value, str) else TypeError
            raise error(f"{option} is {', '.join(allowed[:-1])} or {allowed[-1]}, not {_shown(value)}")


def path_name(option: str, value: Any) -> str:
    """Return a path as a string. Raises TypeError, which names the option, for anything else."""
    if not isinstance(value, str | bytes | os.PathLike):
        raise TypeError(f"{option} is a path (str, bytes or os.PathLike), not {_shown(value)}")
    return os.fsdecode(value)


def path_names(option: str, value: Any) -> list[str]:
    """Return one path, or several, as strings. Raises TypeError, which names the option, for anything else."""
    if isinstance(value, str | bytes | os.PathLike):
        return [path_name(option, value)]
    if not isinstance(value, Iterable):
        raise TypeError(f"{option} is a path (str, bytes or os.PathLike) or several, not {_shown(value)}")
    return [path_name(f"each of the {option}", one) for one in value]


def path_or_none(option: str, value: Any) -> str | None:
    """Return an optional path as a string, or None. Raises ValueError for an empty name, TypeError as `path_name`."""
    if value is None:
        return None
    name = path_name(option, value)
    if not name:
        raise ValueError(f"{option} is an empty file name: leave it out, or pass None")
    return name


def whole_number(option: str, value: Any, least: int, most: int | None = None) -> int:
    """Return a whole number within these bounds, both included. Raises TypeError or ValueError for anything else."""
    bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{option} is a whole number {bounds}, not {_shown(value)}")
    number = int(value)
    if number < least or (most is not None and number > most):
        raise ValueError(f"{option} is a whole number {bounds}, not {number}")
    return number


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"a {type(value).__name__}"


@dataclass(frozen=True)
class Options:
    """The options of reading an input.

    `format` and `compression` are detected from the content unless named. `quick` checks length checksums and structure
    only, `payload` also parses every payload. `index` is an index that `verify` compares with the file. `progress` is
    called with the number of bytes on disk read since the last call.
    """

    format: FormatChoice = "auto"
    compression: CompressionChoice = "auto"
    quick: bool = False
    payload: bool = False
    index: str | None = None
    progress: Progress | None = None


class InputProgress:
    """Turns positions in an input into steps for a callback that takes the number of bytes since its last call.

    Positions that are not beyond the last one are no progress. Each of several `passes` over an input counts for its
    part of the bytes.
    """

    def __init__(self, advance: Progress | None, passes: int = 1) -> None:
        self._advance = advance
        self._passes = passes
        self._reported = 0

    def at(self, position: int) -> None:
        """Report that the input was read up to `position`, in bytes."""
        position //= self._passes
        if self._advance is not None and position > self._reported:
            self._advance(position - self._reported)
            self._reported = position
