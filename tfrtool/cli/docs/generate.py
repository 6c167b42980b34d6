"""Generate `man/` and `completions/` from the commands: `python -m tfrtool.cli.docs.generate` in the source tree.

The files depend only on this package, so they are the same on every machine and with every version of Click. Manual
pages are man(7) source, and use only macros that all viewers support.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from inspect import cleandoc
from itertools import pairwise
from pathlib import Path

import click

from tfrtool.cli.app import COMMANDS, EXIT_CODES, app
from tfrtool.cli.commands.completion import SCRIPTS, script
from tfrtool.cli.docs import manual
from tfrtool.cli.docs.manual import JSON, NOTES


def escaped(text: str) -> str:
    """Return a line that roff prints literally, without macros, escapes or soft hyphens."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith((".", "'")) else text


def bold(text: str) -> str:
    """Return `text` in bold."""
    return f"\\fB{escaped(text)}\\fP"


def slanted(text: str) -> str:
    """Return `text` as a placeholder."""
    return f"\\fI{escaped(text)}\\fP"


def section(title: str) -> list[str]:
    """Return the lines that begin a section."""
    return [f".SH {title}"]


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs of a help text; one that begins with Click's `\\b` keeps its lines."""
    lines: list[str] = []
    for block in text.strip().split("\n\n"):
        first, *rest = block.strip("\n").split("\n")
        if first.strip() == "\b":
            lines += [".PP", ".nf", *map(escaped, rest), ".fi"]
        else:
            lines += [".PP", escaped(" ".join(line.strip() for line in (first, *rest)))]
    return lines


def entries(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return a list of terms, which are roff already, and their explanations, which are plain text."""
    return [line for term, said in pairs for line in (".TP", term, escaped(said))]


def example(said: str, command: str) -> list[str]:
    """Return a sentence and a command line."""
    return [".PP", escaped(said), ".PP", ".RS 4", ".EX", *map(escaped, command.split("\n")), ".EE", ".RE"]


_PLACES = {
    "bash": "bash/tfrtool",
    "zsh": "zsh/_tfrtool",
    "fish": "fish/tfrtool.fish",
}
"""Paths of the scripts in `completions/`, under the names that the shells look for."""


def generated() -> dict[str, str]:
    """Return the text of each generated file, by its path in the source tree."""
    pages = {f"man/tfrtool-{name}.1": command_page(name) for name in COMMANDS}
    scripts = {f"completions/{_PLACES[shell]}": script(shell) for shell in SCRIPTS}
    return {"man/tfrtool.1": main_page(), **pages, **scripts}


def main_page() -> str:
    """Return the page tfrtool(1)."""
    context = click.Context(app, info_name="tfrtool")
    commands = [(name, app.get_command(context, name)) for name in COMMANDS]
    lines = [
        *_head("tfrtool", manual.SUMMARY),
        *section("SYNOPSIS"),
        f"{bold('tfrtool')} {slanted('COMMAND')} [{slanted('OPTIONS')}] {slanted('INPUT')}...",
        *section("DESCRIPTION"),
        *paragraphs(manual.DESCRIPTION),
        *section("COMMANDS"),
        *entries((f"{bold(f'tfrtool-{name}')}(1)", _short(command)) for name, command in commands if command),
        *section("INPUTS"),
        *paragraphs(manual.INPUTS),
        *section("FAULTS"),
        *entries((bold(fault), said) for fault, said in manual.FAULTS.items()),
        *_exit_status(),
        *section("JSON LINES"),
        *paragraphs(JSON),
        *section("ENVIRONMENT"),
        *entries((bold(name), said) for name, said in manual.ENVIRONMENT.items()),
        *section("FILES"),
        *paragraphs(manual.FILES),
        *section("EXAMPLES"),
        *(line for name in COMMANDS for said, shown in manual.EXAMPLES[name][:1] for line in example(said, shown)),
        *section("LIMITS"),
        *paragraphs(manual.LIMITS),
        *_see_also(COMMANDS),
    ]
    return _page(lines)


def command_page(name: str) -> str:
    """Return the page of one command."""
    command = app.get_command(click.Context(app, info_name="tfrtool"), name)
    assert command is not None
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    usage = " ".join(slanted(argument.make_metavar(click.Context(command))) for argument in arguments)
    lines = [
        *_head(f"tfrtool-{name}", _short(command).rstrip(".")),
        *section("SYNOPSIS"),
        f"{bold(f'tfrtool {name}')} [{slanted('OPTIONS')}] {usage}",
        *section("DESCRIPTION"),
        *paragraphs(cleandoc(command.help or "")),
        *section("OPTIONS"),
        *entries((_term(option), _said(option)) for option in options),
        *entries([(f"{bold('-h')}, {bold('--help')}", "Show a short help and end.")]),
        *_exit_status(),
        *_notes(name),
        *section("EXAMPLES"),
        *(line for said, shown in manual.EXAMPLES[name] for line in example(said, shown)),
        *_see_also(other for other in COMMANDS if other != name),
    ]
    return _page(lines)


def _head(name: str, summary: str) -> list[str]:
    said = summary[:1].lower() + summary[1:] if summary[1:2].islower() else summary
    return [
        '.\\" Generated from the commands by tfrtool.cli.docs.generate; do not edit.',
        f'.TH {escaped(name.upper())} 1 "{manual.DATE}" "tfrtool" "User Commands"',
        *section("NAME"),
        f"{escaped(name)} \\- {escaped(said)}",
    ]


def _short(command: click.Command) -> str:
    """Return the first sentence of the help of a command."""
    return command.get_short_help_str(200)


def _exit_status() -> list[str]:
    return [*section("EXIT STATUS"), *paragraphs(EXIT_CODES.replace("Exit codes:\n", ""))]


def _notes(name: str) -> Iterable[str]:
    if name in NOTES:
        yield from section("NOTES")
    for note in NOTES.get(name, ()):
        yield from paragraphs(note) if isinstance(note, str) else entries((bold(t), s) for t, s in note.items())


def _see_also(names: Iterable[str]) -> list[str]:
    pages = ["tfrtool", *(f"tfrtool-{name}" for name in names)]
    return [*section("SEE ALSO"), ",\n".join(f"{bold(page)}(1)" for page in pages)]


def _term(option: click.Option) -> str:
    spellings = ", ".join(map(bold, (*option.opts, *option.secondary_opts)))
    if option.is_flag or option.count:
        return spellings
    if isinstance(option.type, click.Choice):
        return f"{spellings} {'|'.join(bold(str(choice)) for choice in option.type.choices)}"
    return f"{spellings} {slanted(option.metavar or option.type.name.upper())}"


def _said(option: click.Option) -> str:
    said = option.help or ""
    return f"{said} The default is {option.default}." if option.show_default and option.default is not None else said


def _page(lines: list[str]) -> str:
    # A section begins a paragraph by itself.
    wanted = (line for before, line in pairwise(["", *lines]) if line != ".PP" or not before.startswith(".SH "))
    return "\n".join(wanted) + "\n"


def main() -> int:
    """Write all files below the current directory, which must be the source tree."""
    root = Path()
    if not (root / "pyproject.toml").is_file():
        print("tfrtool.cli.docs.generate: run this in the source tree", file=sys.stderr)
        return 2
    for path, text in generated().items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
