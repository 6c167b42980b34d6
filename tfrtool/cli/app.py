"""List the commands. The module of a command is imported only when the command is used."""

from __future__ import annotations

from importlib import import_module

import click

from tfrtool import __version__
from tfrtool.cli.help import documented

COMMANDS = {
    "count": "Count records.",
    "head": "Show the first records.",
    "verify": "Check every checksum and report all damage.",
    "stat": "Show record sizes, overhead and shards.",
    "schema": "Show features, kinds and conflicts.",
    "repair": "Recover intact records from damaged files.",
    "convert": "Convert, reshard or filter records.",
    "completion": "Print a shell completion script.",
}
"""The help of each, short enough for a narrow window. Command NAME is `tfrtool.cli.commands.NAME.NAME`."""

EXIT_CODES = """\b
Exit codes:
  0    every input was read and no problem was found
  1    problems found: damage, a foreign file, a missing shard
  2    invalid command line
  3    I/O or configuration error
  129  terminal closed (SIGHUP)
  130  interrupted (SIGINT)
  141  broken pipe (SIGPIPE)
  143  terminated (SIGTERM)
"""


class LazyGroup(click.Group):
    """A group that imports a command only to run it or to show its help."""

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
