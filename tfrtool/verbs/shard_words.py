"""How shards differ from most others, in sentences: what is so in the shard, and what in the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from tfrtool.payload.schema.feature import Key
from tfrtool.payload.schema.schema import Schema
from tfrtool.payload.schema.shards import Difference
from tfrtool.payload.values import plural, text_of

NAMES = 8
"""Features named in one clause of a sentence, and the clauses of a sentence, beyond which they are counted."""

Clause = tuple[str, str, str, str]
"""What stands before the names, the verb of one name, that of several, and what is said of them."""


def shards_that_differ(schema: Schema) -> Iterator[list[Difference]]:
    """The differences of each kind of shard that differs; none of a sample, which says nothing of whole shards."""
    for _, found in groupby(() if schema.limited else schema.shards.differences(), key=lambda one: one.path):
        yield list(found)


def differs(found: Sequence[Difference], schema: Schema) -> str:
    """How a shard differs, not yet safe: a sentence with a clause for the features of which the same is so.

    `found` are some of its differences, at least one. Where the shard is no rarer than the others, none of the two is
    the odd one.
    """
    first = found[0]
    others = f", and {first.files - 1:,} more like it," if first.files > 1 else ""
    shard = f"shard {first.path}{others} differs" if first.most else "shards differ"
    clauses: dict[Clause, list[str]] = {}
    for one in found:
        clauses.setdefault(_clause(one, schema), []).append(named(one.key))
    said = [
        f"{before}{_listed(names)} {verb if len(names) == 1 else verbs} {rest}"
        for (before, verb, verbs, rest), names in list(clauses.items())[:NAMES]
    ]
    if more := sum(map(len, list(clauses.values())[NAMES:])):
        said.append(f"and so {'does' if more == 1 else 'do'} {plural(more, 'more feature')}")
    return f"the {shard}: {'; '.join(said)}"


def _clause(found: Difference, schema: Schema) -> Clause:
    here, rule = ("it", "most shards") if found.most else (found.path, found.rule)
    at = "" if found.record is None else f", first in record {found.record}"
    if found.what == "missing":
        none = "in no record of" if found.record is None else "missing in records of"
        return "", "is", "are", f"in every record of {rule}, and {none} {here}{at}"
    if found.what == "extra":
        none = "in no record of" if _nowhere_else(found, schema) else "missing in records of"
        return "", "is", "are", f"in every record of {here}, and {none} {rule}"
    at = at and at + ","
    if found.what == "kind":
        kind, usual = found.here or "never set", found.elsewhere or "never set"
        return "", "is", "are", f"{kind} in {here}{at} and {usual} in {rule}"
    lists = "steps" if found.key[0] else "lists"
    values = f"{found.here} value{'' if found.here == '1' else 's'}"
    return f"{lists} of ", "have", "have", f"{values} in {here}{at} and {found.elsewhere} in {rule}"


def _nowhere_else(found: Difference, schema: Schema) -> bool:
    """Whether no record has the feature but those of shards that have it in all of theirs."""
    tables = schema.examples, schema.ofrecords
    present = sum(table.features[found.key].present for table in tables if found.key in table.features)
    return present == found.holders and not any(table.more for table in tables)


def _listed(names: Sequence[str]) -> str:
    """Names with an `and` before the last; of very many the first few."""
    shown = [*names[:NAMES], f"{len(names) - NAMES:,} more"] if len(names) > NAMES else names
    return f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) > 1 else shown[0]


def named(key: Key) -> str:
    """A feature, or a feature list, in a sentence; not yet safe."""
    what = "feature list" if key[0] else "feature"
    return (
        f"the {what} without a name" if not key[1] else f"the {what} {text_of(key[1])}" if key[0] else text_of(key[1])
    )
