"""Lists of inputs, one a line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from tfrtool.sources.reasons import reason

MAX_LINE = 64 << 10
"""Bytes of a line that can still be a name."""


class ListRefused(Exception):
    """A list cannot be read on; half a sentence."""


def lines_of(path: str, stdin: BinaryIO | None) -> Iterator[str]:
    """The names in a list: lines that are not blank and do not begin with `#`, without their line ends.

    `-` is standard input (`stdin`, or descriptor 0). Bytes that are not UTF-8 are kept, as the system's names are.
    Raises `ListRefused` on what is no text.
    """
    try:
        if path == "-":
            yield from _names(stdin if stdin is not None else open(0, "rb", closefd=False))  # noqa: SIM115
        else:
            with open(path, "rb") as file:
                yield from _names(file)
    except OSError as error:
        raise ListRefused(f"cannot be read: {reason(error)}") from error


def _names(file: BinaryIO) -> Iterator[str]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in line:
            raise ListRefused(f"is not a list of names: line {number} holds a NUL byte")
        if len(line) > MAX_LINE:
            raise ListRefused(f"is not a list of names: line {number} is longer than {MAX_LINE} bytes")
        name = line.rstrip(b"\r\n")
        if name.strip() and not name.lstrip().startswith(b"#"):
            yield os.fsdecode(name)
