"""What could not be done.

Damage in data is never an exception inside the engine: it is a value (`tfrtool.framing.damage.Damage`). The classes
here say that a job could not be done at all, and each carries a `kind`, a short id for scripts, beside its sentence.

    TfrtoolError
    ├── OpenError          the input cannot be opened: missing, a directory, no permission
    ├── ReadError          reading failed midway: an I/O error of the system
    ├── WriteError         the output cannot be written: exists already, no space, no permission
    ├── UnsupportedError   asked for what this installation cannot do: a URL scheme, a missing extra
    ├── RefusedError       the data is sound, and does not fit into what the job was allowed to write
    └── DamageError        raised by `tfrtool.records` alone, for callers who want the first damage to stop them
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.suggestion import Suggestion


class TfrtoolError(Exception):
    """The root: `str(error)` is one sentence for people, `kind` one word for scripts.

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
    """What a report of status `error` says, as the exception of that kind; one of a rarer kind is of the root."""
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
    """The output cannot be written; whatever stood under its name still stands there."""

    kind = "write"


class UnsupportedError(TfrtoolError):
    """This installation cannot do what was asked; the sentence says what would make it able to."""

    kind = "unsupported"


class RefusedError(TfrtoolError):
    """The data is sound, but holds what the output cannot hold, or only with a loss that nobody asked for."""

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
    """The data is damaged, and the caller asked to be stopped by that.

    `path` names the file; `damage` is the first damaged range, or None where the whole file is of another format.
    """

    kind = "damage"

    def __init__(self, message: str, path: str, damage: Damage | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.damage = damage
