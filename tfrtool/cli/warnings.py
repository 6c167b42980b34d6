"""Write warnings about missing and skipped inputs to standard error; runs of missing shards are one line each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe

RUNS = 20
"""Runs of missing shards that are listed; the rest are counted."""


def warn_missing(names: Sequence[str]) -> None:
    """Warn about missing shards."""
    for line in missing_lines(names):
        say(line)


def warn_mixed(mixed: Sequence[Sequence[str]]) -> None:
    """Warn about shard sets, given by their patterns, that differ only in their number of shards."""
    for patterns in mixed[:RUNS]:
        sets = " and ".join(f"'{pattern}'" for pattern in patterns[:2])
        more = f" and {len(patterns) - 2:,} more" if len(patterns) > 2 else ""
        say(f"{sets}{more} are all read and may hold the same records: they differ only in their number of shards")
    if len(mixed) > RUNS:
        say(f"and {len(mixed) - RUNS:,} more such sets")


def missing_lines(names: Sequence[str]) -> Iterator[str]:
    """Yield a line for each run of neighbours, safe for a terminal; `names` are in natural order."""
    runs = _runs(names)
    for first, last, count in runs[:RUNS]:
        if count == 1:
            yield f"{safe(first)}: missing from its shard set"
        else:
            yield f"{safe(first)} to {safe(last)}: {count:,} shards missing from the set"
    rest = sum(count for _, _, count in runs[RUNS:])
    if rest:
        yield f"and {plural(rest, 'more missing shard')}; --json lists all"


def missing_rows(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the first shard of each run and a message, for lines of fields."""
    runs = _runs(names)
    for first, last, count in runs[:RUNS]:
        if count == 1:
            yield first, "missing from the shard set"
        else:
            yield first, f"{count:,} shards missing from the set: this one to {safe(last)}"
    rest = sum(count for _, _, count in runs[RUNS:])
    if rest:
        yield runs[RUNS][0], f"missing too, with {plural(rest - 1, 'more shard')}; --json lists all"


def _runs(names: Sequence[str]) -> list[tuple[str, str, int]]:
    """Return the first, the last and the number of the shards of each run of consecutive shards in one set."""
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
