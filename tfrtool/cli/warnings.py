"""The shards that are not there, for people: runs of them told as one.

What the commands that show records do with damage: standard error tells of it, and how much more there is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tfrtool.cli.streams import say
from tfrtool.cli.text import plural, safe
from tfrtool.report import FileReport

if TYPE_CHECKING:
    from tfrtool.cli.printers.base import Event
    from tfrtool.framing.damage import Damage


DAMAGE_LINES = 20
"""Damaged ranges told of for one input."""


class DamageWarnings:
    """Keeps the first damage of an input until its report comes, and then tells of both."""

    verify = "tfrtool verify"
    """The command that lists all of it."""

    def __init__(self) -> None:
        self._damage: list[Damage] = []
        self._more = 0

    def show(self, name: str, event: Event) -> None:
        if isinstance(event, FileReport):
            self._tell(event)
            self._damage.clear()
            self._more = 0
        elif len(self._damage) < DAMAGE_LINES:
            self._damage.append(event)  # type: ignore[arg-type]
        else:
            self._more += 1

    def _tell(self, report: FileReport) -> None:
        if report.status == "foreign":
            from tfrtool.cli.suggestions import advice

            say(report.message or "", report.path, advice(report))
            return
        for damage in self._damage:
            say(f"bytes {damage.begin}-{damage.end}: {damage.fault}: {damage.message}", report.path)
        if self._more:
            from tfrtool.sources.os_text import shell_word

            found = plural(self._more, "more damaged range")
            say(found, report.path, f"run: {self.verify} {shell_word(report.path)}")


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
