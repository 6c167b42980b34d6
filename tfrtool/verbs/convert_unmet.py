"""What was asked for by name and never met: hardly what was meant, and told, since the outputs look the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfrtool.errors import RefusedError
from tfrtool.payload.mapping_names import Met
from tfrtool.payload.mapping_rules import Rules
from tfrtool.payload.values import text_of
from tfrtool.payload.where import Where
from tfrtool.report import Loss

_NOWHERE = "named in a condition, and in no record"
_LIST = "named in a condition, and a feature list: conditions look at features of the context alone"
_COMPARED = "compared with "


def unmet(rules: Rules, met: Iterable[Met], where: Where | None, written: int) -> Iterator[Loss]:
    """The names of options that no record had, as changes that change nothing.

    `rules` are those that were asked for, and `written` counts records: where there are none, only conditions had
    anything to look at. Raises RefusedError if none of the features that are selected was met.
    """
    if where is not None and where.seen:
        for name in dict.fromkeys(condition.name for condition in where.conditions):
            if name not in where.met:
                yield _told(name, _LIST if name in where.lists else _NOWHERE)
        for condition in dict.fromkeys(where.conditions):
            if condition.name in where.met and condition not in where.compared:
                texts = isinstance(condition.value, bytes)
                what = (
                    "a text, and it holds numbers" if texts else "a number, and it holds texts, which stand in quotes"
                )
                yield _told(condition.name, _COMPARED + what)
    if not written:
        return
    found = Met()
    for one in met:
        found.merge(one)
    if rules.select and found.names.isdisjoint(rules.select):
        raise RefusedError(f"no record has a feature that is selected: {', '.join(rules.select)}")
    for text in dict.fromkeys([*rules.select, *rules.drop, *map(text_of, rules.rename)]):
        if text not in found.names:
            yield _told(text.encode("utf-8", "surrogateescape"), "named, and in no record")
    for name in rules.types:
        if name not in found.types:
            yield _told(name, "given a kind, and in no record")
    if rules.strip_prefix and not found.prefix:
        yield _told(rules.strip_prefix, "a prefix to strip, which no name has")


def no_part(unmet: list[Loss]) -> RefusedError:
    """What stops parts for OneFlow of no record, since none fulfils the conditions."""
    names = ", ".join(f"'{text_of(loss.feature)}'" for loss in unmet if loss.feature and loss.what in (_NOWHERE, _LIST))
    nor = f", and none has a feature {names}" if names else ""
    for loss in unmet:
        if loss.feature is not None and loss.what.startswith(_COMPARED):
            nor += f"; feature '{text_of(loss.feature)}' is {loss.what}"
    return RefusedError(f"no record fulfils the conditions{nor}; OneFlow stops at a part without records")


def _told(name: bytes, what: str) -> Loss:
    return Loss(name, what, False, 0, 0, 0)
