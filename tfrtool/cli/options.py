"""The options that all reading commands share: named, explained and checked here alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tfrtool.cli.common import Common
from tfrtool.cli.help import documented
from tfrtool.errors import UnsupportedError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["Common", "check_page", "file_option", "files", "page_options", "reading_command", "shared"]

_DEFAULT = Common(())

_INPUTS_COMPRESSION = "How the inputs are compressed; auto looks at the bytes."


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Leaves a word to the shell, which completes the names of files: `shell_complete` of what names one."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def file_option(*names: str, **how: Any) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """A `click.option` that names a file, or a directory: the shell completes it, and an empty name is wrong usage."""
    return click.option(*names, shell_complete=files, callback=_named, **how)


def _named(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value == "":
        raise click.UsageError(f"{parameter.opts[0]} names a file, and the name is empty")
    return value


def page_options(force: str = "Replace a page that exists.") -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options of a command that writes what it found as a page too; they come as `html` and `force`.

    `force` is the help of `--force`, where that is about more than the page.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        said = "Write what was found into FILE too, as one page for a browser."
        function = click.option("--force", is_flag=True, help=force)(function)
        return file_option("--html", metavar="FILE", help=said)(function)

    return decorate


def check_page(common: Common, html: str | None, force: bool, replaces: bool = False) -> None:
    """Refuse page options that contradict others; `replaces`: there is something else that `--force` is about."""
    if force and html is None and not replaces:
        raise click.UsageError("--force replaces a page: say --html FILE")
    if html == "-" and not common.quiet:
        raise click.UsageError("--html - writes to standard output, which has the report: add -q, or name a file")


def shared(compression: str) -> list[click.Parameter]:
    """The inputs and the options of every reading command, in the order in which the help shows them.

    `compression` is the help of `--compression`.
    """
    return [
        click.Argument(["inputs"], shell_complete=files, metavar="INPUT...", nargs=-1, required=True),
        click.Option(
            ["-F", "--format"],
            type=click.Choice(["auto", "tfrecord", "ofrecord"]),
            default=_DEFAULT.format,
            show_default=True,
            help="How records are framed; auto looks at the bytes, never at the name.",
        ),
        click.Option(
            ["-z", "--compression"],
            type=click.Choice(["auto", "none", "gzip", "zlib"]),
            default=_DEFAULT.compression,
            show_default=True,
            help=compression,
        ),
        click.Option(
            ["-j", "--jobs"],
            type=click.IntRange(min=1),
            default=_DEFAULT.jobs,
            show_default=True,
            metavar="N",
            help="How many inputs to read at once; this version reads them one after another, whatever N.",
        ),
        click.Option(["--cluster"], metavar="ADDRESS", help="Spread the work over a cluster; not available yet."),
        click.Option(["--json"], is_flag=True, help="Write JSON Lines: one object a line, and nothing else."),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default=_DEFAULT.color,
            show_default=True,
            help="Colour the output; auto obeys NO_COLOR and FORCE_COLOR, and else colours on a terminal.",
        ),
        click.Option(
            ["--progress/--no-progress"],
            default=_DEFAULT.progress,
            help="Show progress on standard error, where that is a terminal.",
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print only errors; the exit code tells the rest."),
        click.Option(["-v", "--verbose"], count=True, help="Say what each input is taken for; -vv adds tracebacks."),
    ]


def reading_command(
    name: str, *, compression: str = _INPUTS_COMPRESSION
) -> Callable[[Callable[..., int]], click.Command]:
    """Make a function the command `name`: called with a `Common` and its own options, it gives the exit code.

    The function's docstring is the help, in which its own options stand before the shared ones. `compression` is the
    help of `--compression`, where that speaks of something else than the inputs.
    """

    def decorate(function: Callable[..., int]) -> click.Command:
        @wraps(documented(function))
        def invoke(**values: Any) -> int:
            common = Common(**{name: values.pop(name) for name in Common._fields})
            state = click.get_current_context().obj
            if state is not None:
                state.verbose = common.verbose
            if common.cluster is not None:
                raise UnsupportedError("--cluster is not available yet: leave it out, and this machine does the work")
            return function(common, **values)

        command = click.command(name)(invoke)
        command.params.extend(shared(compression))
        return command

    return decorate
