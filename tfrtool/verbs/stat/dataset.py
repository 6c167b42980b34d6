"""Files taken together: what `stat` adds up, as one mergeable value, and advice on them with the figures it rests on.

TensorFlow's guide to the performance of input pipelines asks for files of 100 MB or more (10 MB at the least), and for
more files than there are readers; 100 to 200 MB is what follows for large data sets. OneFlow's reader ends the program
at a part file without a record.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tfrtool.errors import WriteError, as_error
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.stat.sizes import Bin, Sizes, Spread, histogram

if TYPE_CHECKING:
    from tfrtool.verbs.stat.duplicates import Digests, Repeats
    from tfrtool.verbs.stat.job import StatReport

_MB = 10**6
GOOD = 150 * _MB
"""A good size for a shard, in bytes: the middle of 100 to 200 MB."""
_SMALL, _LARGE = 50 * _MB, 400 * _MB
"""Beyond these a shard is far from 100 to 200 MB: less than half, more than twice."""
_UNEVEN = 2
"""How many times the middle one of the shards makes one much larger than the others."""
_NOTICEABLE = 0.05
"""The part of a file that framing takes before it is worth a word."""
_IDLE, _WORTH_A_LOOK = 1.05, _MB
"""A compression that saves less than 5 % does nothing, if there is at least a megabyte of it."""


class Advice(NamedTuple):
    """`kind` is a short id for scripts, `message` one sentence for people."""

    kind: str
    message: str


@dataclass
class DataSet:
    """The records of some files, and how they are spread over them. `DataSet()` is the identity of `merge`, which is
    associative.

    `payloads` are the sizes of payloads, `framing` the bytes around them. `files` are the sizes of the record files in
    bytes as they lie on disk (of what came through a pipe, as they came), `records` how many records each has.
    `packed` and `unpacked` are bytes of compressed files alone. `largest` is the first of the largest files: its size,
    its path and its records; `hollow` the first without a record. Foreign files and those that cannot be read are left
    out. `undigested` is why payloads of different files could not be held against one another, though those of each
    were.
    """

    payloads: Sizes = field(default_factory=Sizes)
    framing: int = 0
    damaged: int = 0
    files: Sizes = field(default_factory=Sizes)
    records: Sizes = field(default_factory=Sizes)
    packed: int = 0
    unpacked: int = 0
    formats: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    compressions: Counter[str] = field(default_factory=Counter)
    largest: tuple[int, str, int] | None = None
    hollow: tuple[int, str] | None = None
    digests: Digests | None = None
    undigested: WriteError | None = None
    paths: list[str] = field(default_factory=list)

    def add(self, report: StatReport) -> None:
        """Take in one file. Its digests belong to the data set from then on."""
        if report.has_figures:
            self.payloads.update(report.payloads)
            self._add_the_rest(report)

    @classmethod
    def of(cls, report: StatReport) -> DataSet:
        """One file alone, whose sizes are not copied: to be looked at, and not to be added to."""
        data = cls()
        if report.has_figures:
            data.payloads = report.payloads
            data._add_the_rest(report)
        return data

    def _add_the_rest(self, report: StatReport) -> None:
        size = report.bytes or 0 if report.size is None else report.size
        self.framing += report.overhead_bytes
        self.damaged += report.damaged_bytes
        self.files.add([size])
        self.records.add([report.records])
        if report.compression not in (None, "none"):
            self.packed += size
            self.unpacked += report.bytes or 0
        self.formats.update([report.format] if report.format else [])
        self.kinds.update([report.kind] if report.kind else [])
        self.compressions.update([report.compression] if report.compression else [])
        self.largest = _larger(self.largest, (size, report.path, report.records))
        if not report.records:
            self.hollow = _first(self.hollow, (1, report.path))
        if report.digests is not None:
            self._take(report.digests)
            self.paths.append(report.path)

    def _take(self, digests: Digests) -> None:
        if self.digests is None and self.undigested is None:
            self.digests = digests
            return
        try:
            if self.digests is not None:
                self.digests.update(digests, len(self.paths))
        except WriteError as error:
            self.undigested = error
            if self.digests is not None:
                self.digests.close()
            self.digests = None
        finally:
            digests.close()

    def update(self, other: DataSet) -> None:
        """Take in all that is in another, which does not change."""
        self.payloads.update(other.payloads)
        self.framing += other.framing
        self.damaged += other.damaged
        self.files.update(other.files)
        self.records.update(other.records)
        self.packed += other.packed
        self.unpacked += other.unpacked
        self.formats += other.formats
        self.kinds += other.kinds
        self.compressions += other.compressions
        self.largest = _larger(self.largest, other.largest)
        self.hollow = _first(self.hollow, other.hollow)
        if other.digests is not None:
            from tfrtool.verbs.stat.duplicates import Digests

            self.digests = self.digests or Digests()
            self.digests.update(other.digests, len(self.paths))
            self.paths += other.paths

    def merge(self, other: DataSet) -> DataSet:
        """Both together; neither operand changes."""
        both = DataSet()
        both.update(self)
        both.update(other)
        return both

    @property
    def sizes(self) -> Spread:
        """The sizes of payloads in brief."""
        return self.payloads.spread()

    @property
    def histogram(self) -> list[Bin]:
        """The sizes of payloads in bins."""
        return histogram(self.payloads)

    @property
    def overhead(self) -> float | None:
        """The part of the sound frames that is framing, from 0 to 1; None where there are none."""
        whole = self.payloads.total + self.framing
        return self.framing / whole if whole else None

    @property
    def ratio(self) -> float | None:
        """How many bytes one byte of the compressed files unpacks to; None where there are no such files."""
        return self.unpacked / self.packed if self.packed else None

    @property
    def evenness(self) -> float | None:
        """How many times the middle one of several files the largest is; None for fewer than two, or empty ones."""
        spread = self.files.spread()
        if self.files.count < 2 or not spread.p50 or spread.max is None:
            return None
        return spread.max / spread.p50

    @property
    def advice(self) -> list[Advice]:
        """What could be better about the files."""
        return dataset_advice(self)

    def repeats(self) -> Repeats | None:
        """Payloads that occur more than once in all files together; None where that was not looked at."""
        return self.digests.repeats() if self.digests else None


Largest = tuple[int, str, int] | None


def _larger(one: Largest, other: Largest) -> Largest:
    if one is None or other is None:
        return one or other
    return other if other[0] > one[0] else one


def _first(one: tuple[int, str] | None, other: tuple[int, str] | None) -> tuple[int, str] | None:
    """The first path, and how many there are."""
    if one is None or other is None:
        return one or other
    return one[0] + other[0], one[1]


def dataset_advice(data: DataSet) -> list[Advice]:
    """What could be better about these files; empty where nothing comes to mind."""
    found = [_small(data), _large(data), _uneven(data), _empty(data), _framing(data), _compression(data)]
    return [Advice(*one) for one in found if one]


Found = tuple[str, str] | None


def _small(data: DataSet) -> Found:
    count, total = data.files.count, data.files.total
    if count < 2 or not data.payloads.count or total >= _SMALL * count:
        return None
    wanted = max(1, min(round(total / GOOD), data.payloads.count))
    into = f"about {wanted:,} would do" if wanted > 1 else "all of it fits into one"
    mean = megabytes(total // count)
    return "small-shards", f"these {count:,} files have {mean} on average: shards of 100 to 200 MB read faster, {into}"


def _large(data: DataSet) -> Found:
    if data.largest is None or data.largest[0] <= _LARGE:
        return None
    size, path, records = data.largest
    parts = min(round(size / GOOD), records)
    if parts < 2:  # nobody can divide a record
        return None
    return (
        "large-shards",
        f"'{path}' has {megabytes(size)}: about {parts:,} shards of 100 to 200 MB can be shuffled and read in parallel",
    )


def _uneven(data: DataSet) -> Found:
    times = data.evenness
    if times is None or times <= _UNEVEN or data.largest is None:
        return None
    size, path, records = data.largest
    if not records:
        return None
    other = "the other" if data.files.count == 2 else f"the middle one of these {data.files.count:,} files"
    return (
        "uneven-shards",
        f"'{path}' has {megabytes(size)}, {times:,.1f} times what {other} has: whoever reads it finishes last",
    )


def _empty(data: DataSet) -> Found:
    if data.hollow is None or not data.formats["ofrecord"]:
        return None
    count, path = data.hollow
    which = f"'{path}' holds no record" if count == 1 else f"{count:,} parts hold no record, '{path}' the first"
    return "empty-part", f"{which}: OneFlow ends with an error at such a part; number the others anew without it"


def _framing(data: DataSet) -> Found:
    part, n = data.overhead, data.payloads.count
    # The writer of events and of OFRecords has no choice; in a handful of records nothing is to be gained.
    if part is None or part < _NOTICEABLE or data.kinds["event"] or n < 1000:
        return None
    mean = data.payloads.total / n
    return (
        "framing",
        f"framing is {100 * part:.1f} % of the bytes, since a payload has {megabytes(round(mean))} on average: "
        "several to a record (lists of values) would take less room and read faster",
    )


def _compression(data: DataSet) -> Found:
    ratio = data.ratio
    if ratio is None or ratio >= _IDLE or data.packed < _WORTH_A_LOOK:
        return None
    saved = max(0.0, 100 * (1 - data.packed / data.unpacked)) if data.unpacked else 0.0
    return (
        "compression",
        f"compression saves {saved:.1f} %: without it a reader is spared the unpacking, and can go to any record",
    )


def megabytes(size: int) -> str:
    """A size in the units in which shards are spoken of: `150 MB`, `9.2 MB`, `45 kB`."""
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}" if size < 10 * unit else f"{size / unit:,.0f} {name}"
    return f"{size} byte{'' if size == 1 else 's'}"


def stat_all(
    *paths: PathLike,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
    duplicates: bool = False,
) -> DataSet:
    """How some files are made, taken together; foreign ones are left out.

    With `duplicates`, `repeats` counts payloads that occur more than once, in one file or in several. Raises
    `OpenError`, `ReadError` or `UnsupportedError` where a file cannot be read, `WriteError` where the digests of
    payloads find no room, ValueError or TypeError for arguments that are none.
    """
    from tfrtool.verbs.options import path_name, refuse_options
    from tfrtool.verbs.stat.job import StatOptions, StatReport, stat_file

    refuse_options(format=format, compression=compression, duplicates=duplicates)
    options, total = StatOptions(format=format, compression=compression, duplicates=duplicates), DataSet()
    for path in [path_name("each of the paths", path) for path in paths]:
        for item in stat_file(path, options):
            if isinstance(item, StatReport):
                if item.error:
                    raise as_error(*item.error, item.suggestion)
                total.add(item)
        if total.undigested:
            raise total.undigested
    return total
