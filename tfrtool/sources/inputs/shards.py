"""The names of shard sets: `train-00003-of-00064.gz` and its like."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

MAX_SHARDS = 100_000
"""Names that are ever listed, over all sets together: a name may claim to be one of a billion."""

_MEMBER = re.compile(r"(?P<stem>.*)-(?P<index>[0-9]+)-of-(?P<total>[0-9]+)(?P<suffix>(?:\.[^/]*)?)", re.DOTALL)
_SPEC = re.compile(r"(?P<name>.*[^/@])@(?P<total>[0-9]+|\*)(?P<suffix>(?:\.[^/@]*)?)", re.DOTALL)
_DIGITS = re.compile(r"([0-9]+)")


@dataclass(frozen=True, slots=True)
class Member:
    """The parts of a member's file name; `total` as it is written, zeros and all."""

    stem: str
    index: str
    total: str
    suffix: str

    @classmethod
    def parse(cls, name: str) -> Member | None:
        """The parts of a file name without its directory, or None when it names no member of a set."""
        found = _MEMBER.fullmatch(name)
        return cls(found["stem"], found["index"], found["total"], found["suffix"]) if found else None


@dataclass(frozen=True, slots=True)
class SetSpec:
    """What `NAME@64`, `NAME@*` and `NAME@64.gz` ask for; `total` is None for `*`."""

    name: str
    total: int | None
    suffix: str

    @classmethod
    def parse(cls, text: str) -> SetSpec | None:
        """The parts of an input, or None when it is not of that form."""
        found = _SPEC.fullmatch(text)
        if not found:
            return None
        # More than nine digits count as a billion, which is refused all the same: int() is not linear.
        digits = found["total"].lstrip("0")[:10] or "0"
        return cls(found["name"], None if found["total"] == "*" else int(digits), found["suffix"])

    def pattern(self) -> str:
        """The names that are looked for, in TensorFlow's spelling."""
        of = "*" if self.total is None else f"{self.total:05d}"
        return f"{self.name}-?????-of-{of}{self.suffix}"


@dataclass(frozen=True, slots=True)
class MissingShard:
    """A member that a set should have and does not.

    `name` is what the file would be called. `count` is above 1 where a set claims more members than are ever listed;
    then `name` is the pattern of them all.
    """

    name: str
    count: int = 1


def missing_members(
    names: Iterable[tuple[str, str]], accepts: Callable[[str], bool], budget: int = MAX_SHARDS
) -> Iterator[MissingShard]:
    """The members missing from the sets that `names` (directory with its slash, file name) belong to.

    A set is a directory, a stem, a total and a suffix. Only members that were asked for count, which `accepts` tells by
    the file name. A set numbered from 1, whose last member bears the total and which has no member 0, is taken as that.
    At most `budget` absent members are looked at over all sets; those of a set beyond that are told as one.
    """
    sets: dict[tuple[str, str, str, str], list[str]] = {}
    for directory, name in names:
        member = Member.parse(name)
        if member is not None:
            sets.setdefault((directory, member.stem, member.total, member.suffix), []).append(member.index)
    for (directory, stem, total_text, suffix), indexes in sets.items():
        total = int(total_text)
        have = {int(i) for i in indexes}
        width = min(map(len, indexes))
        first = 1 if total in have and 0 not in have else 0
        last = first + total - 1

        def called(index: int, stem: str = stem, width: int = width, end: str = f"-of-{total_text}{suffix}") -> str:
            return f"{stem}-{index:0{width}d}{end}"

        absent = total - sum(first <= i <= last for i in have)
        if absent > budget:
            if accepts(called(first)) and accepts(called(last)):
                yield MissingShard(f"{directory}{stem}-{'?' * width}-of-{total_text}{suffix}", absent)
            continue
        budget -= absent
        for index in range(first, last + 1):
            if index not in have and accepts(called(index)):
                yield MissingShard(directory + called(index))


def mixed_sets(names: Iterable[tuple[str, str]]) -> Iterator[list[str]]:
    """The patterns of the sets among `names` (directory with its slash, file name) that differ in their total alone.

    That is what writing a set again with another number of shards leaves behind: most records stand in each of them.
    """
    totals: dict[tuple[str, str, str], dict[str, str]] = {}
    for directory, name in names:
        member = Member.parse(name)
        if member is not None:
            pattern = f"{directory}{member.stem}-{'?' * len(member.index)}-of-{member.total}{member.suffix}"
            totals.setdefault((directory, member.stem, member.suffix), {}).setdefault(member.total, pattern)
    return (list(patterns.values()) for patterns in totals.values() if len(patterns) > 1)


def natural_key(name: str) -> tuple[tuple[tuple[int, int, str], ...], str]:
    """A key that sorts names as people do, 2 before 10, directory by directory; equal only for equal names."""
    parts: list[tuple[int, int, str]] = []
    for component in name.split("/"):
        for number, piece in enumerate(_DIGITS.split(component)):
            if number % 2:  # digits: by their value, which without zeros in front is their length, then their text
                digits = piece.lstrip("0")
                parts.append((1, len(digits), digits))
            elif piece:
                parts.append((2, 0, piece))
        parts.append((0, 0, ""))
    return tuple(parts), name
