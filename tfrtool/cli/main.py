"""Run the program, and end it with one of the documented exit codes whatever happens.

Click's own `main` is not used: it exits with 1, which here means a finding in the data, when the user interrupts it and
on a broken pipe.
"""

from __future__ import annotations

import errno
import gc
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

EXIT_INTERRUPTED = 128 + signal.SIGINT
EXIT_BROKEN_PIPE = 128 + 13  # SIGPIPE, which not every system has


class State:
    """What a command passes to the program around it."""

    verbose = 0


class Terminated(BaseException):
    """SIGTERM or SIGHUP arrived; not an `Exception`, so that only clean-up code catches it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def main() -> int:
    """Run `tfrtool` on `sys.argv`, and return the exit code."""
    gc.disable()  # imported objects stay; the loop over inputs enables collection
    state = State()
    try:
        _handle_signals()
        from tfrtool.cli import streams

        streams.prepare()
        code = _run(state)
        sys.stdout.flush()
        return code
    except BaseException as error:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_DFL)  # a second one ends the program wherever it is
        try:
            return _end(error, state)
        except Exception as more:  # no memory or no file descriptor is left
            return _last_words(more)
    finally:
        gc.freeze()  # else the interpreter would search all imports for garbage three times at exit


def _handle_signals() -> None:
    signal.signal(signal.SIGTERM, _terminate)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGHUP, _terminate)


def _terminate(number: int, frame: object) -> None:
    if number == signal.SIGHUP:  # the system and the shell may both send it: the second must not disturb clean-up
        signal.signal(number, signal.SIG_IGN)
    raise Terminated(number)


def _run(state: State) -> int:
    asked = os.environ.get("_TFRTOOL_COMPLETE")  # see `tfrtool.cli.commands.completion`
    if asked:
        from tfrtool.cli.commands.completion import complete

        return complete(asked)
    import click

    from tfrtool.cli.app import app

    try:
        with app.make_context("tfrtool", sys.argv[1:], obj=state, terminal_width=_help_width()) as context:
            code: int = app.invoke(context)
            return code
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.ClickException as error:
        from io import StringIO

        from tfrtool.cli.streams import say_lines
        from tfrtool.report import EXIT_FAILED

        page = StringIO()
        error.show(page)
        say_lines(page.getvalue().replace("\n\t", "\n  "))  # Click's indent of choices
        return error.exit_code if isinstance(error, click.UsageError) else EXIT_FAILED


def _help_width() -> int:
    """Return the width of a help page, by Click's rule; Click would import shutil, bz2 and lzma for it."""
    columns = os.environ.get("COLUMNS", "")
    try:
        width = int(columns) if columns.isdecimal() else os.get_terminal_size(1).columns
    except OSError:
        width = 80
    return max(min(width, 80) - 2, 50)


def _last_words(error: Exception) -> int:
    """Report an error without importing anything."""
    what = "out of memory" if isinstance(error, MemoryError) else f"{type(error).__name__}; details are not available"
    with suppress(OSError):
        os.write(2, f"tfrtool: {what}\n".encode())
    return 3


def _end(error: BaseException, state: State) -> int:
    """Report what ended the program, if necessary, and return the exit code."""
    from tfrtool.cli.streams import OutputError, abandon_output, say
    from tfrtool.cli.suggestions import failure, say_traceback
    from tfrtool.report import EXIT_FAILED
    from tfrtool.sources.os_text import reason

    code, message = EXIT_FAILED, ""
    if isinstance(error, OutputError):
        abandon_output()
        if error.cause.errno == errno.EPIPE:
            return EXIT_BROKEN_PIPE
        message = f"cannot write standard output: {reason(error.cause)}"
    elif isinstance(error, KeyboardInterrupt):
        code = EXIT_INTERRUPTED
    elif isinstance(error, Terminated):
        code = 128 + error.number
    else:
        message = failure(error)[1]
    try:
        sys.stdout.flush()
    except OutputError:  # the first error counts
        abandon_output()
    if state.verbose > 1:
        say_traceback(error)
    if message:
        say(message)
    return code


_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def defer_signals() -> Iterator[None]:
    """Defer SIGINT, SIGTERM and SIGHUP to the end of the block."""
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)

    heeded = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]  # as SIGHUP under nohup is
    before = [(number, signal.signal(number, note)) for number in heeded]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
    if came:
        os.kill(os.getpid(), came[0])
