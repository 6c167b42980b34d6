"""Which features come along, and under which names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.payload.values import text_of
from tfrtool.payload.wire import LONG_NAME

if TYPE_CHECKING:
    from tfrtool.payload.mapping_rules import Rules

_MOST = 1 << 16


class Met:
    """What was asked for and met in a record: names and patterns to choose and rename by, names of which the kind is
    given, and whether the prefix that is stripped was."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.types: set[bytes] = set()
        self.prefix = False

    def merge(self, other: Met) -> None:
        """Take in what was met elsewhere."""
        self.names |= other.names
        self.types |= other.types
        self.prefix = self.prefix or other.prefix


class Names:
    """Names in the output for names in the input. `met` has what was asked for and met.

    `renamed`, where it is given, learns the names in the input of features that were met and have another one in the
    output, by that.
    """

    def __init__(self, rules: Rules, renamed: dict[bytes, bytes] | None = None) -> None:
        self._rules = rules
        self._select = tuple(map(Pattern, rules.select))
        self._drop = tuple(map(Pattern, rules.drop))
        self._known: dict[bytes, bytes | None] = {}
        self._renamed = renamed
        self.met = Met()

    def target(self, name: bytes) -> bytes | None:
        """The name in the output, or None for a feature that is left out."""
        if not self._rules.renames:
            return name
        if name in self._known:
            return self._known[name]
        new = self._worked_out(name)
        if len(name) <= LONG_NAME:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[name] = new
        if self._renamed is not None and new is not None and new != name:
            self._renamed[new] = name
        return new

    def _worked_out(self, name: bytes) -> bytes | None:
        rules, text = self._rules, text_of(name)
        selected = [pattern.text for pattern in self._select if pattern.fits(text)]
        dropped = [pattern.text for pattern in self._drop if pattern.fits(text)]
        self.met.names.update(selected, dropped)
        if (self._select and not selected) or dropped:
            return None
        if name in rules.rename:
            self.met.names.add(text)
            return rules.rename[name]
        self.met.prefix = self.met.prefix or name.startswith(rules.strip_prefix)
        return name.removeprefix(rules.strip_prefix)


class Types:
    """Which features have their kind asked for by `Rules.types`, and under which name."""

    def __init__(self, rules: Rules) -> None:
        self._types = rules.types
        self._given = frozenset(rules.rename.values())

    def asked(self, name: bytes, new: bytes | None) -> bytes | None:
        """The name in the output, or else in the input, unless that becomes the name of another feature."""
        if new in self._types:
            return new
        return name if name in self._types and name not in self._given else None


class Pattern:
    """A pattern for names, of which `*` stands for any text.

    Looks for each part behind the one before, which takes time in proportion to the name, however many `*` there are; a
    regular expression would try all ways to share the name out.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._start, *self._parts = text.split("*")
        self._end = self._parts.pop() if self._parts else None

    def fits(self, name: str) -> bool:
        """Whether it stands for this name."""
        if self._end is None:
            return name == self._start
        at, stop = len(self._start), len(name) - len(self._end)
        if at > stop or not name.startswith(self._start) or not name.endswith(self._end):
            return False
        for part in self._parts:
            found = name.find(part, at, stop)
            if found < 0:
                return False
            at = found + len(part)
        return True
