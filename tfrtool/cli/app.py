"""The table of commands. A command's module is imported when it is named; the list of them does without."""

from __future__ import annotations

from importlib import import_module

import click

from tfrtool import __version__
from tfrtool.cli.help import documented

COMMANDS = {
    "count": "Count records, by their headers alone.",
    "head": "Show what is in the first records.",
    "verify": "Check every byte, and find all damage.",
    "stat": "Say how files are made: sizes, shards.",
    "schema": "List features: kinds, values, conflicts.",
    "repair": "Save what can be saved of damaged files.",
    "convert": "Write records in other formats or shards.",
    "completion": "Print a completion script for a shell.",
}
"""What each does, short enough for a narrow window. Command NAME is `tfrtool.cli.commands.NAME.NAME`."""

EXIT_CODES = """\b
Exit codes:
  0    every input was read and nothing is wrong
  1    a finding: damage, a foreign file, a missing shard
  2    wrong usage
  3    the job could not be done
  129  the terminal was closed
  130  interrupted
  141  the reader of the output went away
  143  terminated
"""


class LazyGroup(click.Group):
    """A group that knows the names of its commands, and imports one to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f"tfrtool.cli.commands.{cmd_name}"), cmd_name)
        return command


@click.command(cls=LazyGroup, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tfrtool", message="%(prog)s %(version)s")
@documented
def app() -> None:
    """Inspect, verify, repair and convert TFRecord and OFRecord files."""
