"""What could not be done, in one sentence for people and one word for scripts."""

from __future__ import annotations

import os

from tfrtool.cli.remedies import error_words
from tfrtool.cli.streams import say_lines
from tfrtool.errors import TfrtoolError
from tfrtool.sources.reasons import reason

_NO_ROOM = "failed to map segment"
"""What the C library says where there is no memory to load an extension module into."""


def failure(error: BaseException) -> tuple[str, str]:
    """The kind and the sentence of an exception that ended a job, whoever raised it."""
    if isinstance(error, TfrtoolError):
        return error.kind, error_words(error)
    if isinstance(error, MemoryError) or (isinstance(error, ImportError) and _NO_ROOM in str(error)):
        return "memory", "out of memory"
    if isinstance(error, OSError):
        if isinstance(error, FileNotFoundError) and error.filename is None and not _is_somewhere():
            return "system", "the current directory was removed: go to another one"
        subject = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return "system", subject + reason(error)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return "internal", f"{what}; this is a fault of tfrtool; run with -vv for the traceback"


def _is_somewhere() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def say_traceback(error: BaseException) -> None:
    """The traceback, for `-vv`."""
    from traceback import format_exception

    say_lines("".join(format_exception(error)))
