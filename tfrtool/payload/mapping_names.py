"""Which features come along, and under which names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from tfrtool.payload.values import text_of

if TYPE_CHECKING:
    from tfrtool.payload.mapping_rules import Rules

_MOST = 1 << 16


class Names:
    """Names in the output for names in the input; each is worked out once."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._select = _pattern(rules.select)
        self._drop = _pattern(rules.drop)
        self._known: dict[bytes, bytes | None] = {}

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
        if (self._select and not self._select.fullmatch(text)) or (self._drop and self._drop.fullmatch(text)):
            return None
        if name in rules.rename:
            return rules.rename[name]
        return name.removeprefix(rules.strip_prefix)


def _pattern(names: Iterable[str]) -> re.Pattern[str] | None:
    """One pattern for names, of which `*` stands for any text."""
    parts = ["(?s:.*)".join(map(re.escape, name.split("*"))) for name in names]
    return re.compile("|".join(parts)) if parts else None
