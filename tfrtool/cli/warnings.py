"""Write warnings about missing and skipped inputs to standard error; runs of missing shards are one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe

RUNS = 20
"""Runs of missing shards that are named; the rest is counted."""


def warn_missing(names: Sequence[str]) -> None:
    """Tell standard error of the shards that are not there."""
    for line in missing_lines(names):
        say(line)


def warn_mixed(mixed: Sequence[Sequence[str]]) -> None:
    """Tell standard error of sets that differ in their total alone, given by their patterns."""
    for patterns in mixed[:RUNS]:
        sets = " and ".join(f"'{pattern}'" for pattern in patterns[:2])
        more = f" and {len(patterns) - 2:,} more" if len(patterns) > 2 else ""
        say(f"{sets}{more} are all read, and may hold the same records: they differ in the number of shards alone")
    if len(mixed) > RUNS:
        say(f"and {len(mixed) - RUNS:,} more such sets")


def missing_lines(names: Sequence[str]) -> Iterator[str]:
    """A line for each run of neighbours, its names safe for a terminal; `names` are in their natural order."""
    runs = _runs(names)
    for first, last, count in runs[:RUNS]:
        if count == 1:
            yield f"{safe(first)}: missing from its shard set"
        else:
            yield f"{safe(first)} to {safe(last)}: {count:,} shards missing from their set"
    rest = sum(count for _, _, count in runs[RUNS:])
    if rest:
        yield f"and {plural(rest, 'more missing shard')}; --json names all"


def missing_rows(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The same for lines of fields: the first member of each run, and what there is to say of it."""
    runs = _runs(names)
    for first, last, count in runs[:RUNS]:
        if count == 1:
            yield first, "this member of the shard set is not there"
        else:
            yield first, f"{count:,} members of the shard set are not there: this one to {safe(last)}"
    rest = sum(count for _, _, count in runs[RUNS:])
    if rest:
        yield runs[RUNS][0], f"this and {plural(rest - 1, 'more member')} are not there either; --json names all"


def _runs(names: Sequence[str]) -> list[tuple[str, str, int]]:
    """The first, the last and the number of each run of members that follow one another in one set."""
    from tfrtool.sources.inputs.shards import Member

    runs: list[tuple[str, str, int]] = []
    expected = None
    for name in names:
        member = Member.parse(name)
        here = (member.stem, member.total, member.suffix, int(member.index)) if member and member.index else None
        if here and here == expected:
            first, _, count = runs[-1]
            runs[-1] = first, name, count + 1
        else:
            runs.append((name, name, 1))
        expected = (*here[:3], here[3] + 1) if here else None
    return runs
