"""Phrase suggestions and errors of the library as command lines and messages."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from tfrtool.cli.streams import say_lines
from tfrtool.errors import OptionError, TfrtoolError
from tfrtool.sources.os_text import reason, shell_word
from tfrtool.suggestion import WRITING, expand_arguments

if TYPE_CHECKING:
    from tfrtool.report import FileReport
    from tfrtool.suggestion import Suggestion


_NAMES = {"types": "type", "source": "from", "n": "number"}
"""Options whose names differ from those of the library's arguments."""


def advice(report: FileReport) -> str | None:
    """Return the next step for an input in one line, or None."""
    return _joined(report.hint, _by_this_command(report.suggestion) if report.error else report.suggestion) or None


def error_text(error: TfrtoolError) -> str:
    """Return the message of an error and the next step, in one line."""
    return _joined(error.facts, _by_this_command(error.suggestion))


def _joined(words: str | None, suggestion: Suggestion | None) -> str:
    return "; ".join(filter(None, (words, None if suggestion is None else suggestion_words(suggestion))))


def suggestion_words(suggestion: Suggestion) -> str:
    """Return a suggestion as text: `to undo it, run: tfrtool repair FILE -o OUT`, or `use --force to replace it`."""
    if suggestion.words:
        return expand_arguments(suggestion.words, _argument)
    if suggestion.verb:
        return (f"to {suggestion.aim}, " if suggestion.aim else "") + f"run: {command(suggestion)}"
    aim = f" to {suggestion.aim}" if suggestion.aim else ""
    if any(value == "auto" for _, value in suggestion.settings):
        return f"omit {' and '.join(_option(name) for name, _ in suggestion.settings)}{aim}"
    return f"use {' '.join(_options(suggestion))}{aim}"


def command(suggestion: Suggestion) -> str:
    """Return the command line of a suggestion, which can be pasted into a shell."""
    words = ["tfrtool", suggestion.verb, *_options(suggestion), shell_word(suggestion.path)]
    if suggestion.verb in WRITING:
        words = ["tfrtool", suggestion.verb, shell_word(suggestion.path), "-o", "OUT", *_options(suggestion)]
    run = " ".join(words)
    if suggestion.path == "-":
        return f"{suggestion.first or '…'} | {run}"
    return f"{suggestion.first} && {run}" if suggestion.first else run


def _by_this_command(suggestion: Suggestion | None) -> Suggestion | None:
    """Return the suggestion with the command that runs, if it is about piping in what cannot be opened."""
    if suggestion is not None and suggestion.verb and suggestion.path == "-":
        return replace(suggestion, verb=_called())
    return suggestion


def _called() -> str:
    """Return the name of the command that runs."""
    import click

    context = click.get_current_context(silent=True)
    return (context and context.info_name) or "verify"


def _options(suggestion: Suggestion) -> list[str]:
    return [
        _option(name) if value is True else f"{_option(name)} {shell_word(str(value))}"
        for name, value in suggestion.settings
    ]


def option_text(error: ValueError) -> str:
    """Return the message for invalid options."""
    return expand_arguments(error.words, _argument) % error.given if isinstance(error, OptionError) else str(error)


def _argument(name: str, value: str) -> str:
    return f"{_option(name)} {value}" if value else _option(name)


def _option(name: str) -> str:
    return f"--{_NAMES.get(name, name).replace('_', '-')}"


_NO_ROOM = "failed to map segment"
"""Message of the C library if there is no memory to load an extension module."""


def failure(error: BaseException) -> tuple[str, str]:
    """Return the kind and the message of an exception that ended a job."""
    if isinstance(error, TfrtoolError):
        return error.kind, error_text(error)
    if isinstance(error, MemoryError) or (isinstance(error, ImportError) and _NO_ROOM in str(error)):
        return "memory", "out of memory"
    if isinstance(error, OSError):
        if isinstance(error, FileNotFoundError) and error.filename is None and not _is_somewhere():
            return "system", "the current directory was removed: change to another one"
        subject = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return "system", subject + reason(error)
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return "internal", f"{what}; this is a bug in tfrtool; run with -vv for a traceback"


def _is_somewhere() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def say_traceback(error: BaseException) -> None:
    """Write the traceback to standard error, for `-vv`."""
    from traceback import format_exception

    say_lines("".join(format_exception(error)))
