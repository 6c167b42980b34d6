"""Exceptions: a job that could not be done.

Damage in data is never an exception inside the engine: it is a value (`tfrtool.framing.damage.Damage`). The classes
here mean that a job could not be done at all. Each carries a `kind`, a short id for scripts, beside its message.

    TfrtoolError
    ├── OpenError          the input cannot be opened: missing, a directory, no permission
    ├── ReadError          reading failed midway: an I/O error of the system
    ├── WriteError         the output cannot be written: exists already, no space, no permission
    ├── UnsupportedError   this installation cannot do it: a URL scheme, a missing extra
    ├── RefusedError       the data is intact, but the output cannot hold it
    └── DamageError        raised by `tfrtool.records` alone, at the first damage
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.suggestion import Suggestion


class TfrtoolError(Exception):
    """Base class: `str(error)` is one sentence for people, `kind` one word for scripts.

    `facts` is the sentence without what to do next; `suggestion` is that, as far as this library can do it.
    """

    kind = "internal"

    def __init__(self, facts: str = "", suggestion: Suggestion | None = None) -> None:
        super().__init__(facts)
        self.facts = facts
        self.suggestion = suggestion

    def __str__(self) -> str:
        if self.suggestion is None or self.suggestion.verb:
            return self.facts
        return f"{self.facts}; {self.suggestion}"


def as_error(kind: str, facts: str, suggestion: Suggestion | None = None) -> TfrtoolError:
    """Return the error of a report with status `error` as an exception of its kind, else of the base class."""
    found = next((made for made in TfrtoolError.__subclasses__() if made.kind == kind), TfrtoolError)
    error = found(facts, suggestion)
    error.kind = kind
    return error


class OpenError(TfrtoolError):
    """The input cannot be opened."""

    kind = "open"


class ReadError(TfrtoolError):
    """The system failed to read what was opened."""

    kind = "read"


class WriteError(TfrtoolError):
    """The output cannot be written; an existing file of that name is unchanged."""

    kind = "write"


class UnsupportedError(TfrtoolError):
    """This installation cannot do what was asked; the message says what it lacks."""

    kind = "unsupported"


class RefusedError(TfrtoolError):
    """The data is intact, but the output cannot hold it, or only with a loss that was not asked for."""

    kind = "refused"


class OptionError(ValueError):
    """Invalid or conflicting arguments: `words` as those of a `Suggestion`, with `given` for each %s."""

    def __init__(self, words: str, *given: object) -> None:
        super().__init__(words, *given)
        self.words = words
        self.given = given

    def __str__(self) -> str:
        from tfrtool.suggestion import Suggestion

        return str(Suggestion(words=self.words)) % self.given


class DamageError(TfrtoolError):
    """The data is damaged, and the caller asked to stop there.

    `path` names the file; `damage` is the first damaged range, or None where the whole file is of another format.
    """

    kind = "damage"

    def __init__(self, message: str, path: str, damage: Damage | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.damage = damage
