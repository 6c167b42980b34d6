"""Add up the files of a data set as one mergeable value, and give advice on them with figures.

TensorFlow's guide to the performance of input pipelines recommends files of 100 MB or more (at least 10 MB), and more
files than readers; for large data sets that gives 100 to 200 MB. OneFlow's reader ends the program at a part file
without records.
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
"""The recommended size of a shard, in bytes: the middle of 100 to 200 MB."""
_SMALL, _LARGE = 50 * _MB, 400 * _MB
"""Sizes that are far from 100 to 200 MB: less than half, more than twice."""
_UNEVEN = 2
"""A shard larger than this multiple of the median is reported as uneven."""
_NOTICEABLE = 0.05
"""The fraction of a file that framing takes before advice is given."""
_IDLE, _WORTH_A_LOOK = 1.05, _MB
"""Compression that saves less than 5 % of at least a megabyte is reported as useless."""


class Advice(NamedTuple):
    """Advice on a data set: `kind` is a short id for scripts, `message` one sentence."""

    kind: str
    message: str


@dataclass
class DataSet:
    """The records of several files and how they are distributed. `DataSet()` is the identity of `merge`, which is
    associative.

    `payloads` are the sizes of payloads, `framing` the bytes around them. `files` are the sizes of the record files on
    disk in bytes (for a pipe, as received), `records` the number of records of each.
    `packed` and `unpacked` are bytes of compressed files only. `largest` is the first of the largest files: its size,
    its path and its records; `hollow` counts the files without records and names the first. Foreign and unreadable
    files are left out. `undigested` is the error that prevented comparing payloads across files.
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
        """Add one file. The data set takes ownership of its digests."""
        if report.has_figures:
            self.payloads.update(report.payloads)
            self._add_the_rest(report)

    @classmethod
    def of(cls, report: StatReport) -> DataSet:
        """Return a read-only data set of one file, which shares its sizes."""
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
        """Add all of another data set, which does not change."""
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
        """Return both together; neither operand changes."""
        both = DataSet()
        both.update(self)
        both.update(other)
        return both

    @property
    def sizes(self) -> Spread:
        """Summary of the payload sizes."""
        return self.payloads.spread()

    @property
    def histogram(self) -> list[Bin]:
        """Histogram of the payload sizes."""
        return histogram(self.payloads)

    @property
    def overhead(self) -> float | None:
        """Framing as a fraction (0 to 1) of the intact frames; None if there are none."""
        whole = self.payloads.total + self.framing
        return self.framing / whole if whole else None

    @property
    def ratio(self) -> float | None:
        """Decompressed bytes per byte of the compressed files; None if there are none."""
        return self.unpacked / self.packed if self.packed else None

    @property
    def evenness(self) -> float | None:
        """Size of the largest file divided by the median; None for fewer than two files, or if the median is 0."""
        spread = self.files.spread()
        if self.files.count < 2 or not spread.p50 or spread.max is None:
            return None
        return spread.max / spread.p50

    @property
    def advice(self) -> list[Advice]:
        """Advice on the layout of the files."""
        return dataset_advice(self)

    def repeats(self) -> Repeats | None:
        """Return payloads that occur more than once across all files; None if digests were not collected."""
        return self.digests.repeats() if self.digests else None


Largest = tuple[int, str, int] | None


def _larger(one: Largest, other: Largest) -> Largest:
    if one is None or other is None:
        return one or other
    return other if other[0] > one[0] else one


def _first(one: tuple[int, str] | None, other: tuple[int, str] | None) -> tuple[int, str] | None:
    """Return the total count and the first path."""
    if one is None or other is None:
        return one or other
    return one[0] + other[0], one[1]


def dataset_advice(data: DataSet) -> list[Advice]:
    """Return advice on the layout of these files; empty if there is none."""
    found = [_small(data), _large(data), _uneven(data), _empty(data), _framing(data), _compression(data)]
    return [Advice(*one) for one in found if one]


Found = tuple[str, str] | None


def _small(data: DataSet) -> Found:
    count, total = data.files.count, data.files.total
    if count < 2 or not data.payloads.count or total >= _SMALL * count:
        return None
    wanted = max(1, min(round(total / GOOD), data.payloads.count))
    into = f"about {wanted:,} shards" if wanted > 1 else "one file"
    mean = megabytes(total // count)
    return "small-shards", f"the {count:,} files average {mean}; shards of 100 to 200 MB read faster ({into})"


def _large(data: DataSet) -> Found:
    if data.largest is None or data.largest[0] <= _LARGE:
        return None
    size, path, records = data.largest
    parts = min(round(size / GOOD), records)
    if parts < 2:  # a record cannot be split
        return None
    return (
        "large-shards",
        f"'{path}' is {megabytes(size)}; about {parts:,} shards of 100 to 200 MB can be shuffled and read in parallel",
    )


def _uneven(data: DataSet) -> Found:
    times = data.evenness
    if times is None or times <= _UNEVEN or data.largest is None:
        return None
    size, path, records = data.largest
    if not records:
        return None
    other = "the size of the other file" if data.files.count == 2 else f"the median of these {data.files.count:,} files"
    return (
        "uneven-shards",
        f"'{path}' is {megabytes(size)}, {times:,.1f}x {other}; readers of this shard finish last",
    )


def _empty(data: DataSet) -> Found:
    if data.hollow is None or not data.formats["ofrecord"]:
        return None
    count, path = data.hollow
    which = f"'{path}' has no records" if count == 1 else f"{count:,} parts have no records, '{path}' is the first"
    return "empty-part", f"{which}; OneFlow cannot read an empty part: remove it and renumber the others"


def _framing(data: DataSet) -> Found:
    part, n = data.overhead, data.payloads.count
    # The writer of events has no choice, and in a few records nothing can be gained.
    if part is None or part < _NOTICEABLE or data.kinds["event"] or n < 1000:
        return None
    mean = data.payloads.total / n
    return (
        "framing",
        f"framing takes {100 * part:.1f} % of the bytes (payloads average {megabytes(round(mean))}); "
        "packing several values into one record would be smaller and faster to read",
    )


def _compression(data: DataSet) -> Found:
    ratio = data.ratio
    if ratio is None or ratio >= _IDLE or data.packed < _WORTH_A_LOOK:
        return None
    saved = max(0.0, 100 * (1 - data.packed / data.unpacked)) if data.unpacked else 0.0
    return (
        "compression",
        f"compression saves {saved:.1f} %; uncompressed files are faster to read and allow random access",
    )


def megabytes(size: int) -> str:
    """Return a size in decimal units: `150 MB`, `9.2 MB`, `45 kB`."""
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
    """Return record sizes, framing overhead and shard layout of several files together; foreign files are left out.

    With `duplicates`, `repeats` counts payloads that occur more than once, in one file or across files. Raises
    `OpenError`, `ReadError` or `UnsupportedError` if a file cannot be read, `WriteError` if the temporary file of
    `duplicates` cannot be written, ValueError or TypeError for invalid arguments.
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
