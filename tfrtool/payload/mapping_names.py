"""Which features come along, and under which names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tfrtool.payload.values import text_of

if TYPE_CHECKING:
    from tfrtool.payload.mapping_rules import Rules

_MOST = 1 << 16


class Names:
    """Names in the output for names in the input; each is worked out once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._select = [(name, _pattern(name)) for name in rules.select]
        self._drop = [(name, _pattern(name)) for name in rules.drop]
        self._known: dict[bytes, bytes | None] = {}
        self.met: set[str] = set()
        """The names and patterns that a feature was met for."""

    @staticmethod
    def named(rules: Rules) -> list[str]:
        """All names and patterns that features are asked for by."""
        return [*rules.select, *rules.drop, *map(text_of, rules.rename)]

    def target(self, name: bytes) -> bytes | None:
        """The name in the output, or None for a feature that is left out."""
        if not self._rules.renames:
            return name
        if name not in self._known:
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[name] = self._worked_out(name)
        return self._known[name]

    @property
    def renamed(self) -> dict[str, str]:
        """The names in the input of those features that were met and have another one in the output, by that."""
        return {text_of(new): text_of(old) for old, new in self._known.items() if new not in (None, old)}

    def _worked_out(self, name: bytes) -> bytes | None:
        rules, text = self._rules, text_of(name)
        selected = [given for given, pattern in self._select if pattern.fullmatch(text)]
        dropped = [given for given, pattern in self._drop if pattern.fullmatch(text)]
        self.met.update(selected, dropped)
        if (self._select and not selected) or dropped:
            return None
        if name in rules.rename:
            self.met.add(text)
            return rules.rename[name]
        return name.removeprefix(rules.strip_prefix)


def _pattern(name: str) -> re.Pattern[str]:
    """A pattern for a name, of which `*` stands for any text."""
    return re.compile("(?s:.*)".join(map(re.escape, name.split("*"))))
