"""The table of commands. A command's module is imported when it is named, or when the list of commands is shown."""

from __future__ import annotations

from importlib import import_module

import click

from tfrtool import __version__
from tfrtool.cli.help import documented

COMMANDS = ("count", "head", "verify", "stat", "schema", "repair", "convert", "completion")
"""A command NAME is the object `NAME` of the module `tfrtool.cli.NAME`."""

EXIT_CODES = """\b
Exit codes:
  0    every input was read and nothing is wrong
  1    a finding in the data: damage, a foreign file, a missing shard
  2    wrong usage
  3    the job could not be done
  130  interrupted   143  terminated   129  the terminal was closed
  141  the reader of the output went away
"""


class LazyGroup(click.Group):
    """A group that knows the names of its commands, and imports one to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"tfrtool.cli.{cmd_name}"), cmd_name)
        return command


@click.command(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tfrtool", message="%(prog)s %(version)s")
@documented
def app() -> None:
    """Inspect, verify, repair and convert TFRecord and OFRecord files."""
