"""Prepare the three standard streams, and write messages to standard error.

Standard output is replaced by a stream of our own. Python's silently drops data on a full disk when `PYTHONUNBUFFERED`
is set. Ours raises `OutputError`, and nothing else does, so that a broken pipe at standard output is never confused
with one elsewhere.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys

from tfrtool.cli.text import printable, safe


class OutputError(Exception):
    """Standard output could not be written; `cause` is the error of the system."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class StandardOutput(io.FileIO):
    """File descriptor 1; failures to write raise `OutputError`."""

    def write(self, data: object, /) -> int:
        try:
            while (count := super().write(data)) is None:  # type: ignore[arg-type]
                from select import select

                select([], [self], [])  # another program that shares this output made it non-blocking
        except OSError as error:
            raise OutputError(error) from None
        return count


def prepare() -> None:
    """Fill closed standard descriptors, and replace `sys.stdout`.

    The system would give a closed descriptor to the next file that is opened, and output would go to that file. It is
    filled with the null device, opened so that reading a closed input, or writing to a closed output, fails.
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
    """Drop buffered output, so that the interpreter does not fail on it again at exit."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)
    with contextlib.suppress(OutputError):
        sys.stdout.flush()


def say(message: str, path: str | None = None, advice: str | None = None) -> None:
    """Write a message as one line to standard error, after flushing standard output.

    `path` is the input it is about, which precedes the message unless the message quotes it. `advice` is the next step.
    """
    about = "" if path is None or f"'{path}'" in message else f"{safe(path)}: "
    _write(f"tfrtool: {about}{printable('; '.join(filter(None, (message, advice))))}")


def say_lines(text: str) -> None:
    """Write lines to standard error, made printable, after flushing standard output."""
    _write("\n".join(map(printable, text.rstrip("\n").split("\n"))))


def _write(text: str) -> None:
    sys.stdout.flush()
    with contextlib.suppress(OSError):  # a message that cannot be written does not stop the job
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
