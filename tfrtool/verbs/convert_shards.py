"""Where one output ends and the next begins, and what they are called."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from tfrtool.errors import RefusedError, WriteError
from tfrtool.report import Compression
from tfrtool.verbs.convert_named import named_after
from tfrtool.verbs.formats_base import ROWS, SUFFIXES, Target

PART = "part-"
PART_DIGITS = 5
"""Parts of an OFRecord data set are `part-00000` and so on, as the makers of ImageNet and others name theirs."""
MOST_SHARDS = 100_000
"""As many members as a shard set may have where one is read."""
_ROWS_END = re.compile(r"\.(?:jsonl|ndjson|parquet|pq)(?:\.gz|\.zlib|\.zz)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shards:
    """How the output is cut. At most one is set: so many shards, records in each, or bytes in each (not compressed).

    `each`: an output for each input, in a directory.
    """

    count: int | None = None
    records: int | None = None
    size: int | None = None
    each: bool = False

    @property
    def cut(self) -> bool:
        """Whether all inputs are cut into shards together."""
        return self.count is not None or self.records is not None or self.size is not None


class Cuts:
    """Says how many of the coming records still belong into the open shard: shards are contiguous, and never empty."""

    def __init__(self, shards: Shards, total: int | None = None) -> None:
        """`total` is the number of records where `shards.count` is set. Raises RefusedError for too few of them."""
        self._size = shards.size
        self._sizes: list[int] | None = None
        self._each = shards.records
        if shards.count is not None:
            assert total is not None
            if total < shards.count:
                records = "1 record" if total == 1 else f"{total:,} records"
                raise RefusedError(
                    f"{records} cannot fill {shards.count:,} shards, and a shard is never empty: ask for fewer"
                )
            low, more = divmod(total, shards.count)
            self._sizes = [low + (number < more) for number in range(shards.count)]
        self.total = 0
        """Records that went into shards."""
        self._number = -1
        self._left = 0
        self._bytes = 0
        self._fresh = False

    @property
    def by_size(self) -> bool:
        """Whether the sizes of records decide where they go."""
        return self._size is not None

    @property
    def left(self) -> int:
        """How many records the open shard still takes, their sizes apart."""
        return self._left

    @property
    def full(self) -> bool:
        """Whether the next record opens a shard."""
        if self._number < 0:
            return True
        return self._left <= 0

    def open(self) -> None:
        """A shard was opened."""
        self._number += 1
        self._bytes, self._fresh = 0, True
        if self._sizes is not None:
            self._left = self._sizes[self._number] if self._number < len(self._sizes) else 1 << 62
        else:
            self._left = self._each if self._each is not None else 1 << 62

    def close(self) -> None:
        """Nothing more goes into the open shard."""
        self._left = 0

    def fits(self, size: int) -> bool:
        """Whether a record of that size, its framing included, still goes into the open shard."""
        return self._size is None or self._fresh or self._bytes + size <= self._size

    def took(self, records: int, size: int) -> None:
        """So many records of so many bytes went into the open shard."""
        self.total += records
        self._left -= records
        self._bytes += size
        self._fresh = self._fresh and not records

    def room(self, ends: Sequence[int], begin: int, at: int) -> int:
        """How many of the frames that end at `ends[at:]` go into the open shard; `begin` is where frame `at` begins."""
        count = min(len(ends) - at, self._left)
        if self._size is not None:
            count = bisect_right(ends, begin + self._size - self._bytes, at, at + count) - at
            if not count and self._fresh:
                count = 1
        return count


class Names:
    """The names of the outputs, which may depend on how many there are."""

    def __init__(
        self, output: str, target: Target, shards: Shards, same_format: bool, packing: Compression, untold: bool = False
    ) -> None:
        """`untold`: outputs are packed as inputs are whose names do not tell it."""
        self.output = output
        self.target = target
        self.shards = shards
        self.in_directory = shards.each or (target == "ofrecord" and shards.cut)
        self._same = same_format
        self._packing = packing
        self._untold = untold

    def refuse_unfit(self, inputs: Sequence[str]) -> list[str]:
        """The names that are known before anything is written. Raises WriteError where they cannot be names."""
        if not self.in_directory and (self.output.endswith("/") or os.path.isdir(self.output)):
            raise WriteError(
                f"'{self.output}' is a directory: name the shards too, as in -o {self.output.rstrip('/')}/NAME"
            )
        if self.shards.each and self.target != "ofrecord":
            names = self.of(len(inputs), inputs)
            if "-" in inputs:
                raise WriteError(f"standard input has no name for its output in '{self.output}': name a file with -o")
            taken: dict[str, str] = {}
            for name, source in zip(names, inputs, strict=True):
                if taken.setdefault(name, source) != source:
                    both = f"'{taken[name]}' and '{source}' would both be written as '{name}'"
                    raise WriteError(f"nothing was read, since {both}: convert them into directories of their own")
            return names
        if self.shards.cut or self.in_directory:
            if self.shards.count is not None:
                return self.of(self.shards.count, ())
            return self.of(1, ()) if self.target == "ofrecord" else []
        return self.of(1, ())

    @property
    def path(self) -> str:
        """A path like those of the outputs, to make hidden files beside."""
        return os.path.join(self.output, PART) if self.in_directory else self.output

    def of(self, count: int, inputs: Sequence[str]) -> list[str]:
        """The names of `count` outputs; `inputs` has the input of each, where each has its own."""
        if self.in_directory and self.target == "ofrecord":
            return [os.path.join(self.output, f"{PART}{number:0{PART_DIGITS}d}") for number in range(count)]
        if self.shards.each:
            return [os.path.join(self.output, self._after(name)) for name in inputs]
        if self.shards.cut:
            end = ""
            if self.target in ROWS and (found := _ROWS_END.search(self.output)):
                end = found[0]
            stem = self.output.removesuffix(end)
            return [f"{stem}-{number:05d}-of-{count:05d}{end}" for number in range(count)]
        return [self.output]

    def _after(self, name: str) -> str:
        suffix = SUFFIXES[self.target]
        return named_after(name, self.target, suffix, self._packing, same=self._same, untold=self._untold)

    def refuse_leftovers(self, names: Sequence[str]) -> None:
        """Raise WriteError where parts of an older, larger set would be read as part of this one."""
        if not (self.in_directory and self.target == "ofrecord"):
            return
        written = set(map(os.path.basename, names))
        try:
            there = os.listdir(self.output)
        except OSError:
            return
        others = sorted(name for name in there if re.fullmatch(PART + "[0-9]+", name) and name not in written)
        if others:
            raise WriteError(
                f"'{os.path.join(self.output, others[0])}' is no part of this set, and would be read with it: "
                "remove what is left of the older one, or choose another directory"
            )

    def other_sets(self, names: Sequence[str]) -> list[str]:
        """Members of sets of the same name and of another number that lie beside these, which are of one set."""
        if not self.shards.cut or self.in_directory or not names:
            return []
        directory, base = os.path.split(names[0])
        before, _, behind = base.rpartition(f"-of-{len(names):05d}")
        other = re.compile(f"{re.escape(before[: -len('-00000')])}-[0-9]{{5}}-of-[0-9]{{5}}{re.escape(behind)}")
        written = set(map(os.path.basename, names))
        try:
            there = os.listdir(directory or ".")
        except OSError:
            return []
        return sorted(os.path.join(directory, name) for name in there if other.fullmatch(name) and name not in written)


def oneflow_arguments(names: Sequence[str]) -> dict[str, object] | None:
    """How OneFlow's `OFRecordReader` is told of these parts, or None where their names do not follow its rule."""
    parts = [re.fullmatch(r"(.*?)([0-9]+)", os.path.basename(name)) for name in names]
    if not all(parts):
        return None
    prefixes = {part[1] for part in parts if part}
    digits = {len(part[2]) for part in parts if part}
    numbers = [int(part[2]) for part in parts if part]
    if len(prefixes) != 1 or len(digits) != 1 or numbers != list(range(len(numbers))):
        return None
    return {
        "data_part_num": len(names),
        "part_name_prefix": prefixes.pop(),
        "part_name_suffix_length": digits.pop(),
    }
