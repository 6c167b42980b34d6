"""The next step after a finding, as a value; the library and the command line each phrase it in their own terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

WRITING = frozenset({"convert", "repair"})
"""Jobs that need an output."""


@dataclass(frozen=True)
class Suggestion:
    """A job of this library that helps, as a value; each caller phrases it in its own terms.

    `verb` is the name of the function (`repair`, `convert`, ...), empty for the one that was called; `path` is its
    input, and `settings` its arguments by name. `first` is a shell command to be run before; with the path `-` it is
    piped into the job. `aim` says what all of it is good for, as it stands behind "to". Where there are several ways,
    `words` tells of them instead of all that: `{unknown=drop} leaves them out, {unknown=keep} copies them`, in which
    braces hold arguments of the function that was called.
    """

    verb: str = ""
    path: str = ""
    settings: tuple[tuple[str, str | bool], ...] = ()
    aim: str = ""
    first: str = ""
    words: str = ""

    def __str__(self) -> str:
        """Return the suggestion as callers of the library read it."""
        if self.words:
            return expand_arguments(self.words, lambda name, value: f"{name}={value!r}" if value else f"`{name}`")
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings)
        if not self.verb:
            return f"say {settings}" + (f" to {self.aim}" if self.aim else "")
        output = "'OUT'" if self.verb in WRITING else ""
        call = f"tfrtool.{self.verb}({', '.join(filter(None, (repr(self.path), output, settings)))})"
        return (f"to {self.aim}: " if self.aim else "") + (f"`{self.first}`, then " if self.first else "") + call


def expand_arguments(words: str, argument: Callable[[str, str], str]) -> str:
    """Replace each argument in braces by what `argument` makes of its name and its value, which may be empty."""
    return "".join(
        part if not number % 2 else argument(*part.partition("=")[::2]) for number, part in enumerate(_parts(words))
    )


def _parts(words: str) -> list[str]:
    """Split into text and arguments by turns."""
    return words.replace("}", "{").split("{")


USE_FORCE = Suggestion(settings=(("force", True),), aim="replace it")
"""For a file that exists under the name of an output."""
