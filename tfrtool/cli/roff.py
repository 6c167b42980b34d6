"""Text as man(7) source: escaped, and laid out in the few macros that every reader of manual pages knows."""

from __future__ import annotations

from collections.abc import Iterable


def escaped(text: str) -> str:
    """One line of text that roff prints as it stands: nothing in it is a macro, an escape or a soft hyphen."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("…", "...").replace("'", "\\(aq").replace("`", "\\(ga")
    return "\\&" + text if text.startswith((".", "'")) else text


def bold(text: str) -> str:
    """`text` in bold."""
    return f"\\fB{escaped(text)}\\fP"


def slanted(text: str) -> str:
    """`text` as what a user puts in its place."""
    return f"\\fI{escaped(text)}\\fP"


def section(title: str) -> list[str]:
    """The lines that begin a section."""
    return [f".SH {title}"]


def paragraphs(text: str) -> list[str]:
    """Paragraphs of a help text, which empty lines part; one that begins with Click's mark is kept line by line."""
    lines: list[str] = []
    for block in text.strip().split("\n\n"):
        first, *rest = block.strip("\n").split("\n")
        if first.strip() == "\b":
            lines += [".PP", ".nf", *map(escaped, rest), ".fi"]
        else:
            lines += [".PP", escaped(" ".join(line.strip() for line in (first, *rest)))]
    return lines


def entries(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A list of terms, which are roff already, and their explanations, which are plain text."""
    return [line for term, said in pairs for line in (".TP", term, escaped(said))]


def example(said: str, command: str) -> list[str]:
    """A sentence and the command line that it speaks of."""
    return [".PP", escaped(said), ".PP", ".RS 4", ".EX", *map(escaped, command.split("\n")), ".EE", ".RE"]
