"""The three standard streams: made safe before anything is opened or written.

Standard output is replaced by one of our own. Python's, when `PYTHONUNBUFFERED` is set, writes what fits on a full disk
and drops the rest in silence. Ours raises `OutputError`, and no other failure does, so that a reader that went away is
never confused with a broken socket.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

from tfrtool.cli.text import printable, safe


class OutputError(Exception):
    """Standard output could not be written; `cause` is what the system said."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class StandardOutput(io.FileIO):
    """File descriptor 1, whose failures are told apart from all others."""

    def write(self, data: object, /) -> int:
        try:
            while (count := super().write(data)) is None:  # type: ignore[arg-type]
                from select import select

                select([], [self], [])  # another program that has this output open made it non-blocking
        except OSError as error:
            raise OutputError(error) from None
        return count


def prepare() -> None:
    """Fill closed standard descriptors, and put our own writer in the place of `sys.stdout`.

    A closed descriptor would be given to the next file that is opened, and what is printed would go into that file. In
    its place stands the null device, opened so that reading from a closed input, or writing to a closed output, fails.
    """
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDWR)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), errors="backslashreplace", write_through=True)
    raw = StandardOutput(1, "wb", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=sys.stdout.encoding if sys.stdout else "utf-8",
        errors="backslashreplace",
        newline="\n",
        line_buffering=raw.isatty(),
    )


def abandon_output() -> None:
    """Drop what standard output still holds, so that the interpreter does not fail on it once more at its end."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    with contextlib.suppress(OutputError):
        sys.stdout.flush()


def say(message: str, path: str | None = None, advice: str | None = None) -> None:
    """One message on standard error, in one line whatever it holds, after what standard output holds.

    `path` names the input that it is about, and stands before it unless the message names it itself, in quotes. What to
    do next is the `advice`.
    """
    about = "" if path is None or f"'{path}'" in message else f"{safe(path)}: "
    _write(f"tfrtool: {about}{printable('; '.join(filter(None, (message, advice))))}")


def say_lines(text: str) -> None:
    """A text of several lines on standard error, each made printable, after what standard output holds."""
    _write("\n".join(map(printable, text.rstrip("\n").split("\n"))))


def _write(text: str) -> None:
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # that nobody can read a message changes nothing about the job
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
