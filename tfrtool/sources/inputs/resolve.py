"""Expand input arguments, and lists of them, to names that can be opened."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from tfrtool.sources.inputs.listing import MAGIC, Lister, has_magic, kind_of, matcher
from tfrtool.sources.os_text import reason
from tfrtool.sources.remote import is_url

if TYPE_CHECKING:
    from tfrtool.sources.inputs.shards import MissingShard, SetSpec


# What only expansions need is imported where it is used: the name of a file stands for itself.

__all__ = ["MissingShard", "Resolution", "Unmatched", "is_url", "resolve"]

MAX_DEPTH = 8
"""Lists within lists."""


class Unmatched(NamedTuple):
    """An input, or a part of one, that led to nothing; `message` says what was looked for."""

    input: str
    message: str


class Resolution:
    """What inputs stand for: `entries` in their order, each a name for `open_source` or a job that failed.

    `missing` are members that a set should have: findings.
    """

    def __init__(self) -> None:
        self.entries: list[str | Unmatched] = []
        self.missing: list[MissingShard] = []
        self.lists: list[str] = []
        """The files of lists that were read, which are no inputs and must not be written to either."""
        self.passed_over = 0
        """Files below directories that were not taken for record files, by their names."""
        self.repeated: list[str] = []
        """Files that were named again, by themselves, after they had been taken."""
        self.mixed: list[list[str]] = []
        """The patterns of shard sets that one input stands for and that differ in their number of shards alone."""

    @property
    def names(self) -> list[str]:
        """Entries that can be opened."""
        return [entry for entry in self.entries if isinstance(entry, str)]

    @property
    def unmatched(self) -> list[Unmatched]:
        """Entries that led to nothing."""
        return [entry for entry in self.entries if isinstance(entry, Unmatched)]


def resolve(inputs: Sequence[str], *, stdin: BinaryIO | None = None, rows: bool = False) -> Resolution:
    """Expand inputs: arguments in their order, each expansion in natural order, no name twice.

    A name is the same as another when both lead to one entry of one directory (`a`, `./a`, `link-to-here/a`); two links
    to one file are two names. Only members that the input itself asks for can be missing: of a pattern like
    `x-0000[0-3]-of-00010`, the first four. With `NAME@*` every total that is found is a set of its own. `stdin` is
    where `@-` is read from, standard input by default. `rows`: a directory stands for the files of rows below it, too.
    """
    resolver = _Resolver(stdin, rows)
    for text in inputs:
        resolver.add(text)
    return resolver.result


class _Resolver:
    def __init__(self, stdin: BinaryIO | None, rows: bool) -> None:
        self.result = Resolution()
        self._rows = rows
        self._stdin = stdin
        self._stdin_is_taken = False
        self._seen: set[tuple[str, str]] = set()
        self._missing: set[tuple[str, str]] = set()
        self._real: dict[str, str] = {}
        self._lists: list[tuple[int, int] | str] = []
        self._lists_read: set[tuple[int, int] | str] = set()

    def add(self, text: str) -> None:
        """Resolve one input; the order of the questions is the interface's."""
        kind = kind_of(text) if text else "nothing"
        if kind == "directory":
            self._directory(text)
        elif kind != "nothing":
            if self._entry(text) in self._seen and text not in self.result.repeated:
                self.result.repeated.append(text)
            self._take(text)
        elif text == "-":
            if self._take_stdin(text):
                self.result.entries.append(text)
        elif text.startswith("@") and len(text) > 1:
            self._list(text)
        elif is_url(text):
            self._take_once((text, ""), text)
        elif spec := _set_spec(text):
            self._set(text, spec)
        elif has_magic(text):
            self._pattern(text)
        else:
            self._refuse(text, _why_not(text))

    def _refuse(self, text: str, message: str) -> None:
        self.result.entries.append(Unmatched(text, message))

    def _take_stdin(self, text: str) -> bool:
        if self._stdin_is_taken:
            self._refuse(text, "standard input is named twice, and can be read only once")
            return False
        self._stdin_is_taken = True
        return True

    def _entry(self, path: str) -> tuple[str, str]:
        """The real directory and the name in it, which are the same for every spelling."""
        directory, base = os.path.split(path)
        if directory not in self._real:
            self._real[directory] = os.path.realpath(directory)
        return self._real[directory], base

    def _take(self, path: str) -> None:
        # A file may be called "-", or stand in a directory called "s3:"; it is told from standard input and from a URL.
        self._take_once(self._entry(path), f"./{path}" if path == "-" or is_url(path) else path)

    def _take_once(self, key: tuple[str, str], name: str) -> None:
        if key not in self._seen:
            self._seen.add(key)
            self.result.entries.append(name)

    def _take_all(self, names: Iterable[str], asked: Callable[[str], bool]) -> None:
        """Take an expansion, and note what is missing from the sets in it; `asked` tests file names."""
        from tfrtool.sources.inputs.shards import MAX_SHARDS, missing_members, mixed_sets, natural_key

        ordered = sorted(set(names), key=natural_key)
        for name in ordered:
            self._take(name)
        split = [(f"{d}/" if d and d != "/" else d, b) for d, b in map(os.path.split, ordered)]
        self.result.mixed += (patterns for patterns in mixed_sets(split) if patterns not in self.result.mixed)
        for missing in missing_members(split, asked, max(0, MAX_SHARDS - len(self.result.missing))):
            entry = self._entry(missing.name)
            if entry not in self._missing:
                self._missing.add(entry)
                self.result.missing.append(missing)

    def _directory(self, text: str) -> None:
        lister = Lister(rows=self._rows)
        found = list(lister.files_below(text))
        self._take_all(found, lambda name: True)
        self._tell(text, lister)
        if not found and not lister.problems:
            others = f"; {lister.passed_over} other files were passed over" if lister.passed_over else ""
            self._refuse(text, f"the directory holds no record files{others}")

    def _pattern(self, text: str) -> None:
        lister = Lister(rows=self._rows)
        matched = list(lister.matches(text))
        kinds = [(path, kind_of(path)) for path in matched]
        files = [path for path, kind in kinds if kind in ("file", "broken")]
        below = [path for directory, kind in kinds if kind == "directory" for path in lister.files_below(directory)]
        last = text.rstrip("/").rpartition("/")[2]
        in_pattern = set(files)
        self._take_all(files, matcher(last) if last != "**" else lambda name: True)
        self._take_all([path for path in below if path not in in_pattern], lambda name: True)
        self._tell(text, lister)
        if not files and not below and not lister.problems:
            what = "a directory without record files, or no file" if matched else "no file"
            self._refuse(text, f"{what} matches the pattern (looked in '{_looked_in(text)}')")

    def _set(self, text: str, spec: SetSpec) -> None:
        from glob import escape

        from tfrtool.sources.inputs.shards import MAX_SHARDS, Member

        if spec.total is not None and not 0 < spec.total <= MAX_SHARDS:
            why = "has no members" if spec.total == 0 else f"would have more than the {MAX_SHARDS} members allowed"
            self._refuse(text, f"no such file, and a shard set of that size {why}")
            return
        lister = Lister(rows=self._rows)
        found: list[str] = []
        others: set[str] = set()
        for name in dict.fromkeys((escape(spec.name), spec.name)):  # as it is written first, then as a pattern
            for path in lister.matches(f"{name}-*-of-*"):
                member = Member.parse(os.path.basename(path))
                if member is None or (spec.total is not None and int(member.total) != spec.total):
                    continue
                if member.suffix != spec.suffix:
                    others.add(member.suffix)
                elif kind_of(path) in ("file", "broken"):
                    found.append(path)
            if found:
                break
        self._take_all(found, lambda name: True)
        self._tell(text, lister)
        if not found and not lister.problems:
            at = "*" if spec.total is None else spec.total
            instead = "".join(f"; there are members of '{spec.name}@{at}{o}'" for o in sorted(others)[:3])
            self._refuse(text, f"no such file, and no member of the shard set '{spec.pattern()}' is there{instead}")

    def _list(self, text: str) -> None:

        path = text[1:]
        if path == "-" and not self._take_stdin(text):
            return
        try:
            identity = "-" if path == "-" else _identity(path)
        except (OSError, ValueError) as error:
            self._refuse(text, f"the list '{path}' cannot be read: {reason(error)}")
            return
        if identity in self._lists:
            self._refuse(text, f"the list '{path}' names itself")
            return
        if len(self._lists) == MAX_DEPTH:
            self._refuse(text, f"more than {MAX_DEPTH} lists name one another")
            return
        if identity in self._lists_read:  # no name is taken twice, so there is nothing new in it
            return
        self._lists_read.add(identity)
        self.result.lists += [] if path == "-" else [path]
        self._lists.append(identity)
        try:
            is_empty = True
            for line in lines_of(path, self._stdin):
                is_empty = False
                self.add(line)
            if is_empty:
                self._refuse(text, f"the list '{path}' names no inputs")
        except ListRefused as refused:
            self._refuse(text, f"the list '{path}' {refused}")
        finally:
            self._lists.pop()

    def _tell(self, text: str, lister: Lister) -> None:
        self.result.passed_over += lister.passed_over
        for directory, why in lister.problems:
            self._refuse(text, f"the directory '{directory}' cannot be listed: {why}")


def _identity(path: str) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino


def _looked_in(pattern: str) -> str:
    """The directory above the first wildcard."""
    return os.path.dirname(pattern[: min(pattern.find(c) for c in MAGIC if c in pattern)]) or "."


def _set_spec(text: str) -> SetSpec | None:
    if "@" not in text:
        return None
    from tfrtool.sources.inputs.shards import SetSpec

    return SetSpec.parse(text)


def _why_not(text: str) -> str:
    """Why a plain name leads to nothing."""
    if not text:
        return "the name is empty"
    try:
        os.lstat(text)
    except (OSError, ValueError) as error:
        return reason(error)
    return "no such file or directory"


MAX_LINE = 64 << 10
"""Bytes of a line that can still be a name."""


class ListRefused(Exception):
    """A list cannot be read on; half a sentence."""


def lines_of(path: str, stdin: BinaryIO | None) -> Iterator[str]:
    """The names in a list: lines that are not blank and do not begin with `#`, without their line ends.

    `-` is standard input (`stdin`, or descriptor 0). Bytes that are not UTF-8 are kept, as the system's names are.
    Raises `ListRefused` on what is no text.
    """
    try:
        if path == "-":
            yield from _names(stdin if stdin is not None else open(0, "rb", closefd=False))  # noqa: SIM115
        else:
            with open(path, "rb") as file:
                yield from _names(file)
    except OSError as error:
        raise ListRefused(f"cannot be read: {reason(error)}") from error


def _names(file: BinaryIO) -> Iterator[str]:
    number = 0
    while line := file.readline(MAX_LINE + 1):
        number += 1
        if number == 1:
            line = line.removeprefix(b"\xef\xbb\xbf")
        if b"\0" in line:
            raise ListRefused(f"is not a list of names: line {number} holds a NUL byte")
        if len(line) > MAX_LINE:
            raise ListRefused(f"is not a list of names: line {number} is longer than {MAX_LINE} bytes")
        name = line.rstrip(b"\r\n")
        if name.strip() and not name.lstrip().startswith(b"#"):
            yield os.fsdecode(name)
