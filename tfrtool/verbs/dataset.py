"""Files taken together: what `stat` adds up, as one mergeable value."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Literal

from tfrtool.errors import WriteError, as_error
from tfrtool.fields import Fields, made
from tfrtool.verbs.histogram import Bin, histogram
from tfrtool.verbs.sizes import Sizes, Spread

if TYPE_CHECKING:
    from tfrtool.verbs.advice import Advice
    from tfrtool.verbs.digests import Digests, Repeats
    from tfrtool.verbs.stat import StatReport


class DataSet(Fields):
    """The records of some files, and how they are spread over them. `DataSet()` is the identity of `merge`, which is
    associative.

    `payloads` are the sizes of payloads, `framing` the bytes around them. `files` are the sizes of the record files in
    bytes as they lie on disk (of what came through a pipe, as they came), `records` how many records each has.
    `packed` and `unpacked` are bytes of compressed files alone. `largest` is the first of the largest files: its size,
    its path and its records; `hollow` the first without a record. Foreign files and those that cannot be read are left
    out. `undigested` is why payloads of different files could not be held against one another, though those of each
    were.
    """

    payloads: Sizes = made(default_factory=Sizes)
    framing: int = 0
    damaged: int = 0
    files: Sizes = made(default_factory=Sizes)
    records: Sizes = made(default_factory=Sizes)
    packed: int = 0
    unpacked: int = 0
    formats: Counter[str] = made(default_factory=Counter)
    kinds: Counter[str] = made(default_factory=Counter)
    compressions: Counter[str] = made(default_factory=Counter)
    largest: tuple[int, str, int] | None = None
    hollow: tuple[int, str] | None = None
    digests: Digests | None = None
    undigested: WriteError | None = None
    paths: list[str] = made(default_factory=list)

    def add(self, report: StatReport) -> None:
        """Take in one file. Its digests belong to the data set from then on."""
        if _is_told(report):
            self.payloads.update(report.payloads)
            self._add_the_rest(report)

    @classmethod
    def of(cls, report: StatReport) -> DataSet:
        """One file alone, whose sizes are not copied: to be looked at, and not to be added to."""
        data = cls()
        if _is_told(report):
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
            from tfrtool.verbs.digests import Digests

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
        from tfrtool.verbs.advice import advice

        return advice(self)

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


def _is_told(report: StatReport) -> bool:
    """Whether there are figures of a file: also where no more than something beside it could not be written."""
    return report.status in ("clean", "damaged") or report.unindexed or report.undigested


def stat_all(
    *paths: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    format: Literal["auto", "tfrecord", "ofrecord"] = "auto",
    compression: Literal["auto", "none", "gzip", "zlib"] = "auto",
    duplicates: bool = False,
) -> DataSet:
    """How some files are made, taken together; foreign ones are left out.

    With `duplicates`, `repeats` counts payloads that occur more than once, in one file or in several. Raises
    `OpenError`, `ReadError` or `UnsupportedError` where a file cannot be read, `WriteError` where the digests of
    payloads find no room, ValueError or TypeError for arguments that are none.
    """
    from tfrtool.verbs.asked import path_name, refuse_options
    from tfrtool.verbs.stat import StatOptions, StatReport, stat_file

    refuse_options(format=format, compression=compression, duplicates=duplicates)
    options, total = StatOptions(format=format, compression=compression, duplicates=duplicates), DataSet()
    for path in [path_name("each of the paths", path) for path in paths]:
        for item in stat_file(path, options):
            if isinstance(item, StatReport):
                if item.error:
                    raise as_error(*item.error, item.remedy)
                total.add(item)
        if total.undigested:
            raise total.undigested
    return total
