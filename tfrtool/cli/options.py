"""The options that all reading commands share: named, explained and checked here alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, NamedTuple

import click

from tfrtool.errors import UnsupportedError


class Common(NamedTuple):
    """What any reading command was asked; the fields are the options of the same names."""

    inputs: tuple[str, ...]
    format: Literal["auto", "tfrecord", "ofrecord"]
    compression: Literal["auto", "none", "gzip", "zlib"]
    jobs: int
    cluster: str | None
    json: bool
    color: str
    progress: bool
    quiet: bool
    verbose: int


def shared() -> list[click.Parameter]:
    """The inputs and the options of every reading command, in the order in which the help shows them."""
    return [
        click.Argument(["inputs"], metavar="INPUT...", nargs=-1, required=True),
        click.Option(
            ["-F", "--format"],
            type=click.Choice(["auto", "tfrecord", "ofrecord"]),
            default="auto",
            show_default=True,
            help="How records are framed; auto looks at the bytes, never at the name.",
        ),
        click.Option(
            ["-z", "--compression"],
            type=click.Choice(["auto", "none", "gzip", "zlib"]),
            default="auto",
            show_default=True,
            help="How the inputs are compressed; auto looks at the bytes.",
        ),
        click.Option(
            ["-j", "--jobs"],
            type=click.IntRange(min=1),
            default=1,
            show_default=True,
            metavar="N",
            help="How many inputs to read at once; this version reads them one after another, whatever N.",
        ),
        click.Option(["--cluster"], metavar="ADDRESS", help="Spread the work over a cluster; not available yet."),
        click.Option(["--json"], is_flag=True, help="Write JSON Lines: one object a line, and nothing else."),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            default="auto",
            show_default=True,
            help="Colour the output; auto obeys NO_COLOR and FORCE_COLOR, and else colours on a terminal.",
        ),
        click.Option(
            ["--progress/--no-progress"],
            default=True,
            help="Show progress on standard error, where that is a terminal.",
        ),
        click.Option(["-q", "--quiet"], is_flag=True, help="Print only errors; the exit code tells the rest."),
        click.Option(["-v", "--verbose"], count=True, help="Say what each input is taken for; -vv adds tracebacks."),
    ]


def reading_command(name: str) -> Callable[[Callable[..., int]], click.Command]:
    """Make a function the command `name`: called with a `Common` and its own options, it gives the exit code.

    The function's docstring is the help, in which its own options stand before the shared ones.
    """

    def decorate(function: Callable[..., int]) -> click.Command:
        @wraps(function)
        def invoke(**values: Any) -> int:
            common = Common(**{name: values.pop(name) for name in Common._fields})
            state = click.get_current_context().obj
            if state is not None:
                state.verbose = common.verbose
            if common.cluster is not None:
                raise UnsupportedError("--cluster is not available yet: leave it out, and this machine does the work")
            return function(common, **values)

        command = click.command(name)(invoke)
        command.params.extend(shared())
        return command

    return decorate
