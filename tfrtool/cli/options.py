"""Define the options that all reading commands share: their names, help and checks."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tfrtool.cli.help import documented
from tfrtool.errors import UnsupportedError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from tfrtool.types import CompressionChoice, FormatChoice


class Common(NamedTuple):
    """The inputs and the shared options, by the names of their fields, with their defaults."""

    inputs: tuple[str, ...]
    format: FormatChoice = "auto"
    compression: CompressionChoice = "auto"
    json: bool = False
    color: str = "auto"
    progress: bool = True
    quiet: bool = False
    verbose: int = 0


_DEFAULT = Common(())


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete a file name; this is the `shell_complete` of parameters that take one."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def file_option(*names: str, **how: Any) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a `click.option` that takes a file or a directory; an empty name is a usage error."""
    return click.option(*names, shell_complete=files, callback=_named, **how)


def _named(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value == "":
        raise click.UsageError(f"{parameter.opts[0]} needs the name of a file, and it is empty")
    return value


def page_options(force: str = "Replace an existing page.") -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Return a decorator that adds the options `html` and `force`, for commands that can write a page.

    `force` is the help of `--force`.
    """

    def decorate(function: Callable[..., int]) -> Callable[..., int]:
        text = "Also write the results to FILE, as a web page."
        function = click.option("--force", is_flag=True, help=force)(function)
        return file_option("--html", metavar="FILE", help=text)(function)

    return decorate


def check_page(common: Common, html: str | None, force: bool, replaces: bool = False) -> None:
    """Raise `UsageError` for conflicting page options; `replaces`: `--force` is about other files too."""
    if force and html is None and not replaces:
        raise click.UsageError("--force replaces a page: add --html FILE")
    if html == "-" and not common.quiet:
        raise click.UsageError("--html - and the report would both go to standard output: add -q, or name a file")


def shared(compression: str) -> list[click.Parameter]:
    """Return the inputs and options of every reading command, in the order of the help.

    `compression` is the help of `--compression`. The hidden options are reserved: scripts may give `--jobs` already.
    """
    return [
        click.Argument(["inputs"], shell_complete=files, metavar="INPUT...", nargs=-1, required=True),
        click.Option(
            ["-F", "--format"],
            type=click.Choice(["auto", "tfrecord", "ofrecord"]),
            default=_DEFAULT.format,
            show_default=True,
            help="Record format of the inputs; auto detects it from the content, never from the name.",
        ),
        click.Option(
            ["-z", "--compression"],
            type=click.Choice(["auto", "none", "gzip", "zlib"]),
            default=_DEFAULT.compression,
            show_default=True,
            help=compression,
        ),
        click.Option(["-j", "--jobs"], type=click.IntRange(min=1), default=1, hidden=True, expose_value=False),
        click.Option(["--cluster"], hidden=True, expose_value=False, callback=_refuse_cluster),
        click.Option(["--json"], is_flag=True, help="Write JSON Lines: one object per line, and nothing else."),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default=_DEFAULT.color,
            show_default=True,
            help="Color the output; auto follows NO_COLOR and FORCE_COLOR, and otherwise colors on a terminal.",
        ),
        click.Option(
            ["--progress/--no-progress"],
            default=_DEFAULT.progress,
            help="Show progress on standard error if it is a terminal.",
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print only errors; the exit code gives the result."),
        click.Option(
            ["-v", "--verbose"], count=True, help="Show the detected format of each input; -vv adds tracebacks."
        ),
    ]


def _refuse_cluster(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise UnsupportedError("--cluster is not available yet: omit it to run on this machine")


def reading_command(
    name: str, *, compression: str = "Compression of the inputs; auto detects it from the content."
) -> Callable[[Callable[..., int]], click.Command]:
    """Turn a function into the command `name`.

    The function is called with a `Common` and its own options, and returns the exit code. Its docstring is the help,
    where its own options come before the shared ones. `compression` is the help of `--compression`.
    """

    def decorate(function: Callable[..., int]) -> click.Command:
        @wraps(documented(function))
        def invoke(**values: Any) -> int:
            common = Common(**{name: values.pop(name) for name in Common._fields})
            state = click.get_current_context().obj
            if state is not None:
                state.verbose = common.verbose
            return function(common, **values)

        command = click.command(name)(invoke)
        command.params.extend(shared(compression))
        return command

    return decorate
