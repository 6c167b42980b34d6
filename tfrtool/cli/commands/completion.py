"""Define `tfrtool completion`, and answer the scripts that it prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from tfrtool.cli.help import documented

if TYPE_CHECKING:
    from click.shell_completion import ShellComplete

VARIABLE = "_TFRTOOL_COMPLETE"
"""Set by the scripts to request completions; Click prescribes the name."""

SCRIPTS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SCRIPTS))
@documented
def completion(shell: str) -> int:
    """Print the completion script for SHELL: commands, options, choices and files.

    \b
    bash:  eval "$(tfrtool completion bash)"             in ~/.bashrc
    zsh:   eval "$(tfrtool completion zsh)"              in ~/.zshrc, after compinit
    fish:  tfrtool completion fish > ~/.config/fish/completions/tfrtool.fish
    """
    sys.stdout.write(script(shell))
    return 0


def script(shell: str) -> str:
    """Return the script for one of `SCRIPTS`."""
    from tfrtool.cli.app import app

    class_ = _class(shell)
    maker = class_(app, {}, "tfrtool", VARIABLE)
    # Not `source()`, which requires a recent bash on this machine.
    return (maker.source_template % maker.source_vars()).strip() + "\n"


def complete(instruction: str) -> int:
    """Answer a script; `instruction` is the value of `VARIABLE`."""
    from click.shell_completion import shell_complete

    from tfrtool.cli.app import app

    return shell_complete(app, {}, "tfrtool", VARIABLE, instruction)


def _class(shell: str) -> type[ShellComplete]:
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    assert found is not None, f"Click knows {shell}"
    return found
