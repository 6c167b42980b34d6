"""The plainest command lines, done without Click: importing it takes as long as counting the records of a large file.

Where inputs alone follow the name of a command, there are no options to be parsed, and all stand at the defaults that
`Common` and the commands have. Every other command line, right or wrong, is left to Click.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module

from tfrtool.cli.common import Common

COMMANDS = ("count", "head", "stat", "schema", "verify")
"""Command NAME is the function `NAME` of `tfrtool.cli.commands.NAME_run`, which does not know Click."""


def plain(arguments: Sequence[str]) -> Callable[[], int] | None:
    """What to do, where that can be told without Click; the result of doing it is the exit code.

    One option is understood, since it is given nearly always: `head -n N`, in this order.
    """
    if not arguments or arguments[0] not in COMMANDS:
        return None
    name, *inputs = arguments
    own: dict[str, int] = {}
    if name == "head" and inputs[:1] == ["-n"]:
        number, inputs = inputs[1:2], inputs[2:]
        if not (number and number[0].isascii() and number[0].isdecimal() and len(number[0]) < 10):
            return None
        own["number"] = int(number[0])
    if not inputs or any(text.startswith("-") and text != "-" for text in inputs):
        return None
    run: Callable[..., int] = getattr(import_module(f"tfrtool.cli.commands.{name}_run"), name)
    return partial(run, Common(tuple(inputs)), **own)
