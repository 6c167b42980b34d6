"""Find names in options that no record has. They are reported, because the outputs do not show the mistake."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tfrtool.errors import RefusedError
from tfrtool.payload.filter import Where
from tfrtool.payload.mapping.rules import NamesSeen, Rules
from tfrtool.payload.text import text_of
from tfrtool.report import Loss, LossKind

_MISSING = LossKind("condition-unmet", "named in a condition, and in no record", lost=False)
_LIST = LossKind(
    "condition-on-list",
    "named in a condition, and a feature list: conditions look at features of the context alone",
    lost=False,
)
_AS_TEXT = LossKind("compared-with-text", "compared with a text, and it holds numbers", lost=False)
_AS_NUMBER = LossKind(
    "compared-with-number", "compared with a number, and it holds texts, which stand in quotes", lost=False
)
_NAME = LossKind("name-unmet", "named, and in no record", lost=False)
_TYPE = LossKind("type-unmet", "given a kind, and in no record", lost=False)
_PREFIX = LossKind("prefix-unmet", "a prefix to strip, which no name has", lost=False)


def unused_names(rules: Rules, seen: Iterable[NamesSeen], where: Where | None, written: int) -> Iterator[Loss]:
    """Yield the names in options that no record has, as changes without effect.

    `rules` are those that were asked for, and `written` counts records: where there are none, only conditions had
    anything to look at. Raises RefusedError if none of the features that are selected was met.
    """
    if where is not None and where.seen:
        for name in dict.fromkeys(condition.name for condition in where.conditions):
            if name not in where.present:
                yield _loss(name, _LIST if name in where.lists else _MISSING)
        for condition in dict.fromkeys(where.conditions):
            if condition.name in where.present and condition not in where.compared:
                yield _loss(condition.name, _AS_TEXT if isinstance(condition.value, bytes) else _AS_NUMBER)
    if not written:
        return
    found = NamesSeen()
    for one in seen:
        found.merge(one)
    if rules.select and found.names.isdisjoint(rules.select):
        raise RefusedError(f"no record has a feature that is selected: {', '.join(rules.select)}")
    for text in dict.fromkeys([*rules.select, *rules.drop, *map(text_of, rules.rename)]):
        if text not in found.names:
            yield _loss(text.encode("utf-8", "surrogateescape"), _NAME)
    for name in rules.types:
        if name not in found.types:
            yield _loss(name, _TYPE)
    if rules.strip_prefix and not found.prefix:
        yield _loss(rules.strip_prefix, _PREFIX)


def no_match_error(unused_names: list[Loss]) -> RefusedError:
    """Return the error for OFRecord parts that would be empty because no record matches the conditions."""
    names = ", ".join(
        f"'{text_of(loss.feature)}'" for loss in unused_names if loss.feature and loss.kind in (_MISSING, _LIST)
    )
    nor = f", and none has a feature {names}" if names else ""
    for loss in unused_names:
        if loss.feature is not None and loss.kind in (_AS_TEXT, _AS_NUMBER):
            nor += f"; feature '{text_of(loss.feature)}' is {loss.what}"
    return RefusedError(f"no record fulfils the conditions{nor}; OneFlow stops at a part without records")


def _loss(name: bytes, kind: LossKind) -> Loss:
    return Loss(name, kind, (), 0, 0, 0)
