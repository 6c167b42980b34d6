"""Split records into shards, and name the outputs.

A name that suggests another format or compression than the output has is refused, because it misleads readers.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from tfrtool.errors import OptionError, RefusedError, WriteError
from tfrtool.sources.sinks.output_set import is_direct
from tfrtool.types import Compression
from tfrtool.verbs.formats.base import ROWS, SUFFIXES, Target

COMPRESSIONS = {".gz": "gzip", ".zlib": "zlib", ".zz": "zlib"}
"""Compression by suffix of the output name."""
_ENDS = {"none": "", "gzip": ".gz", "zlib": ".zlib"}
"""Suffix by compression."""
FORMATS = {
    ".tfrecord": "tfrecord",
    ".tfrecords": "tfrecord",
    ".ofrecord": "ofrecord",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
"""Format by suffix of the output name, without a compression suffix."""
_OTHER_COMPRESSIONS = {".7z", ".br", ".bz2", ".lz4", ".lzma", ".sz", ".tar", ".tgz", ".xz", ".z", ".zip", ".zst"}
_LIKELY = {".json": "jsonl", ".of": "ofrecord", ".of_record": "ofrecord", ".tfr": "tfrecord"}
_OTHER_FORMATS = {".arrow", ".avro", ".csv", ".feather", ".h5", ".hdf5", ".npy", ".npz", ".orc", ".tsv", ".txt", ".xml"}


def format_by_name(output: str) -> Target | None:
    """Return the format that the suffix of a name implies (case-insensitive), or None."""
    return cast("Target | None", FORMATS.get(os.path.splitext(_split_compression(output)[0])[1]))


def compression_by_name(output: str) -> Compression | None:
    """Return the compression that the suffix of a name implies, or None."""
    return cast("Compression | None", COMPRESSIONS.get(_split_compression(output)[1]))


def refuse_name(output: str, to: Target | None, compress: str) -> None:
    """Raise ValueError for the name of an output that promises what is not written.

    `to` and `compress` are the options. With `to` any name is allowed, except one with the suffix of another
    compression.
    """
    if not output or output.endswith("/") or os.path.isdir(output) or is_direct(output):
        return
    stem, ending = _split_compression(output)
    end = os.path.splitext(stem)[1]
    if not ending and end in _OTHER_COMPRESSIONS:
        raise ValueError(f"'{output}' ends in {end}, and no output is packed so: leave that off, or end it in .gz")
    if ending and (to or format_by_name(output)) == "parquet" and compress in ("auto", "none"):
        raise ValueError(f"'{output}': a Parquet file packs its columns itself: leave {ending} off its name")
    if ending and compress not in ("auto", COMPRESSIONS[ending]):
        better = f"end it in {_ENDS[compress]}" if _ENDS[compress] else "leave that off"
        words = f"'%s' ends in {ending}, which {{compress={compress}}} contradicts: {better}, or leave {{compress}} out"
        raise OptionError(words, output)
    if to is None and (end in _LIKELY or end in _OTHER_FORMATS):
        say = f"{{to={_LIKELY[end]}}}" if end in _LIKELY else "{to}"
        raise OptionError(
            f"'%s': %s tells no format that is written: say {say}, or end the name in .tfrecord, .ofrecord, "
            ".jsonl or .parquet",
            output,
            end,
        )


def named_after(
    source: str, target: Target, suffix: str, compression: str, *, same: bool, compression_hidden: bool = False
) -> str:
    """Return the name of an output that is named after an input. `suffix` is the usual suffix of its format.

    A name of the `same` format stays, but for the end that tells the packing. Names that do not end in a format, as
    those of shards, are looked for as they are, and get no such end, nor do outputs where the names of inputs that are
    packed alike leave it `compression_hidden`.
    """
    base = os.path.basename(source)
    told, ending = format_by_name(base), _split_compression(base)[1]
    stem = base.removesuffix(base[-len(ending) :]) if ending else base
    if same and told in (None, target):
        stays = COMPRESSIONS[ending] == compression if ending else compression_hidden or told is None
        return base if stays else stem + _ENDS[compression]
    return (os.path.splitext(stem)[0] if told else stem) + suffix + _ENDS[compression]


def compression_note(compression: str, target: Target | None, *, asked: bool) -> str:
    """Return the note that output names do not show the compression. `asked`: an option set the compression."""
    told = f"readers have to be told, as TensorFlow by compression_type='{compression.upper()}'"
    told = told if target == "tfrecord" else "readers have to be told"
    why = "and not all names say so" if asked else "as the first input is"
    return f"the output is packed with {compression}, {why}: {told}"


def _split_compression(output: str) -> tuple[str, str]:
    """Split a name into the part before its compression suffix and the suffix, both in lower case."""
    stem, end = os.path.splitext(output.lower())
    return (stem, end) if end in COMPRESSIONS else (output.lower(), "")


PART = "part-"
PART_DIGITS = 5
"""Parts of an OFRecord data set are `part-00000` and so on, as the makers of ImageNet and others name theirs."""
MOST_SHARDS = 100_000
"""Shard limit, equal to the limit for reading a shard set."""
_ROWS_END = re.compile(r"\.(?:jsonl|ndjson|parquet|pq)(?:\.gz|\.zlib|\.zz)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shards:
    """How to split the output: by shard count, records per shard or uncompressed bytes per shard. At most one is set.

    `each`: one output per input, in a directory.
    """

    count: int | None = None
    records: int | None = None
    size: int | None = None
    each: bool = False

    @property
    def cut(self) -> bool:
        """Whether the records of all inputs are split into shards together."""
        return self.count is not None or self.records is not None or self.size is not None


class ShardSplitter:
    """Decides which shard a record goes to. Shards are contiguous and never empty."""

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
        """Records written to shards."""
        self._number = -1
        self._left = 0
        self._bytes = 0
        self._is_empty = False

    @property
    def by_size(self) -> bool:
        """Whether shards are limited by size."""
        return self._size is not None

    @property
    def left(self) -> int:
        """How many more records the open shard takes, regardless of size."""
        return self._left

    @property
    def full(self) -> bool:
        """Whether the next record opens a shard."""
        if self._number < 0:
            return True
        return self._left <= 0

    def open(self) -> None:
        """Start the next shard."""
        self._number += 1
        self._bytes, self._is_empty = 0, True
        if self._sizes is not None:
            self._left = self._sizes[self._number] if self._number < len(self._sizes) else 1 << 62
        else:
            self._left = self._each if self._each is not None else 1 << 62

    def close(self) -> None:
        """End the open shard."""
        self._left = 0

    def fits(self, size: int) -> bool:
        """Whether the open shard has room for a record of `size` bytes, framing included."""
        return self._size is None or self._is_empty or self._bytes + size <= self._size

    def add(self, records: int, size: int) -> None:
        """Count records of `size` bytes in all as written to the open shard."""
        self.total += records
        self._left -= records
        self._bytes += size
        self._is_empty = self._is_empty and not records

    def room(self, ends: Sequence[int], begin: int, at: int) -> int:
        """Return how many of the frames that end at `ends[at:]` fit the open shard. Frame `at` starts at `begin`."""
        count = min(len(ends) - at, self._left)
        if self._size is not None:
            count = bisect_right(ends, begin + self._size - self._bytes, at, at + count) - at
            if not count and self._is_empty:
                count = 1
        return count


class OutputNames:
    """Names the outputs. Names of shards depend on the number of shards."""

    def __init__(
        self,
        output: str,
        target: Target,
        shards: Shards,
        same_format: bool,
        compression: Compression,
        compression_hidden: bool = False,
    ) -> None:
        """`compression_hidden`: outputs are packed as inputs are whose names do not tell it."""
        self.output = output
        self.target = target
        self.shards = shards
        self.in_directory = shards.each or (target == "ofrecord" and shards.cut)
        self._same = same_format
        self._compression = compression
        self._compression_hidden = compression_hidden

    def refuse_unfit(self, inputs: Sequence[str]) -> list[str]:
        """Return the names known before writing. Raises WriteError for names that cannot be used."""
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
        """A path in the directory of the outputs, for temporary files."""
        return os.path.join(self.output, PART) if self.in_directory else self.output

    def of(self, count: int, inputs: Sequence[str]) -> list[str]:
        """Return the names of `count` outputs. `inputs` has the input of each if there is one output per input."""
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
        return named_after(
            name, self.target, suffix, self._compression, same=self._same, compression_hidden=self._compression_hidden
        )

    def refuse_leftovers(self, names: Sequence[str]) -> None:
        """Raise WriteError if parts of an older, larger set would be read with this set."""
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
        """Return existing shards of sets with the same name and another shard count."""
        if not self.shards.cut or self.in_directory or not names:
            return []
        directory, base = os.path.split(names[0])
        before, _, stop = base.rpartition(f"-of-{len(names):05d}")
        other = re.compile(f"{re.escape(before[: -len('-00000')])}-[0-9]{{5}}-of-[0-9]{{5}}{re.escape(stop)}")
        written = set(map(os.path.basename, names))
        try:
            there = os.listdir(directory or ".")
        except OSError:
            return []
        return sorted(os.path.join(directory, name) for name in there if other.fullmatch(name) and name not in written)


def oneflow_arguments(names: Sequence[str]) -> dict[str, object] | None:
    """Return the arguments of OneFlow's `OFRecordReader` for these parts, or None if their names do not fit it."""
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
