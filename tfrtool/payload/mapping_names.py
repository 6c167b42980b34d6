"""Which features come along, and under which names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfrtool.payload.values import text_of

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
    """Names in the output for names in the input; each is worked out once. `met` has what was asked for and met."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._select = [(name, _pattern(name)) for name in rules.select]
        self._drop = [(name, _pattern(name)) for name in rules.drop]
        self._known: dict[bytes, bytes | None] = {}
        self.met = Met()

    def target(self, name: bytes) -> bytes | None:
        """The name in the output, or None for a feature that is left out."""
        if not self._rules.renames:
            return name
        if name not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[name] = self._worked_out(name)
        return self._known[name]

    def _worked_out(self, name: bytes) -> bytes | None:
        rules, text = self._rules, text_of(name)
        selected = [given for given, pattern in self._select if pattern.fullmatch(text)]
        dropped = [given for given, pattern in self._drop if pattern.fullmatch(text)]
        self.met.names.update(selected, dropped)
        if (self._select and not selected) or dropped:
            return None
        if name in rules.rename:
            self.met.names.add(text)
            return rules.rename[name]
        self.met.prefix = self.met.prefix or name.startswith(rules.strip_prefix)
        return name.removeprefix(rules.strip_prefix)


def _pattern(name: str) -> re.Pattern[str]:
    """A pattern for a name, of which `*` stands for any text."""
    return re.compile("(?s:.*)".join(map(re.escape, name.split("*"))))
