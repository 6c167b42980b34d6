"""Describe what a data set holds, whatever its kind: one value for a file, and for many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tfrtool.payload.schema.shards import ShardGroups
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import RecordPlace
from tfrtool.types import Format, Kind

if TYPE_CHECKING:
    from tfrtool.payload.schema.events import EventTable
    from tfrtool.payload.schema.unknown import WireTable


@dataclass
class File:
    """What an emitter needs to know of one file: its name, its sound records, their kind and framing, the bytes of
    payloads. `whole`: there were no records beyond those that were read.
    """

    path: str
    records: int
    bytes: int
    compression: str | None
    kind: Kind | None = None
    format: Format | None = None
    whole: bool = True


@dataclass
class Schema:
    """The schema of some files. `Schema()` is the identity of `merge`, which is associative; files merge in order.

    `examples` has Examples and SequenceExamples. `blank` counts the records of files that have nothing but empty ones:
    those are records without features of whatever kind the other files hold. `misfits` counts the records whose
    payloads do not parse, `large` those that are too large to be held; neither is described. `damaged` counts the
    damaged ranges that were passed over, `unread` the files that were not read at all, `missing` the members of shard
    sets that were asked for and are not there, as far as somebody looked. `limited` says that only the first records of
    some file were read; `shards` has the files that were read whole.
    """

    examples: Table = field(default_factory=Table)
    ofrecords: Table = field(default_factory=Table)
    events: EventTable | None = None
    unknown: WireTable | None = None
    blank: int = 0
    misfits: int = 0
    first_misfit: RecordPlace | None = None
    large: int = 0
    limited: bool = False
    damaged: int = 0
    unread: int = 0
    missing: int = 0
    shards: ShardGroups = field(default_factory=ShardGroups)
    files: list[File] = field(default_factory=list)

    def merge(self, other: Schema) -> None:
        """Add what comes later to this one; `other` stays as it is."""
        self.examples.merge(other.examples)
        self.ofrecords.merge(other.ofrecords)
        if other.events:
            self.with_events().merge(other.events)
        if other.unknown:
            self.with_unknown().merge(other.unknown)
        self.blank += other.blank
        self.misfits += other.misfits
        self.first_misfit = self.first_misfit or other.first_misfit
        self.large += other.large
        self.limited |= other.limited
        self.damaged += other.damaged
        self.unread += other.unread
        self.missing += other.missing
        self.shards.merge(other.shards)
        self.files += other.files

    def add_blank(self, records: int, first: RecordPlace) -> None:
        """Add a file of empty records, `first` the first of them. They stand in the tables of both kinds, in order."""
        self.blank += records
        for table in (self.examples, self.ofrecords):
            table.merge(Table(records, first))

    def cut(self) -> None:
        """Hold everything to its bounds."""
        for part in self._parts:
            if part is not None:
                part.cut()

    def with_events(self) -> EventTable:
        """The table of the events, which is begun if there were none: most data sets need no reader of events."""
        if self.events is None:
            from tfrtool.payload.schema.events import EventTable

            self.events = EventTable()
        return self.events

    def with_unknown(self) -> WireTable:
        """Return the same for records of no known kind."""
        if self.unknown is None:
            from tfrtool.payload.schema.unknown import WireTable

            self.unknown = WireTable()
        return self.unknown

    @property
    def incomplete(self) -> bool:
        """Return whether there were more features, tags or fields than can be described."""
        return any(part is not None and part.more for part in self._parts)

    @property
    def uncompared(self) -> tuple[int, str]:
        """How many files are unlike others and were not compared with them, and the path of the first of these."""
        found = self.shards.uncompared
        firsts = {alike.first for alike in found}
        return sum(alike.files for alike in found), next((file.path for file in self.files if file.path in firsts), "")

    @property
    def _parts(self) -> tuple[Table | EventTable | WireTable | None, ...]:
        return self.examples, self.ofrecords, self.events, self.unknown

    @property
    def sampled(self) -> int:
        """Of how many files only the first records were read."""
        return sum(not file.whole for file in self.files)

    @property
    def records(self) -> int:
        """Return the records that are described."""
        return sum(self.kinds.values())

    @property
    def kinds(self) -> dict[Kind, int]:
        """Return how many records of each kind are described, those of most records first; none without a record."""
        named: Kind = "sequence_example" if self.examples.sequences else "example"
        examples, ofrecords = self.examples.records - self.blank, self.ofrecords.records - self.blank
        counts: dict[Kind, int] = {
            named: examples and self.examples.records,
            "ofrecord": ofrecords and ofrecords + self.blank * (not examples),
            "event": self.events.records if self.events else 0,
            "unknown": (self.unknown.records if self.unknown else 0) + self.blank * (not examples and not ofrecords),
        }
        return dict(sorted(((kind, count) for kind, count in counts.items() if count), key=lambda item: -item[1]))

    @property
    def kinds_of_files(self) -> dict[Kind, int]:
        """The same with Examples beside SequenceExamples, which one table describes, told apart by their files."""
        kinds = dict(self.kinds)
        both = kinds.get("sequence_example", 0)
        if plain := min(both, sum(file.records for file in self.files if file.kind == "example")):
            kinds |= {"example": plain, "sequence_example": both - plain}
        return dict(sorted(kinds.items(), key=lambda item: -item[1]))

    @property
    def kind(self) -> Kind | None:
        """Return the kind of most records, None where there are none."""
        return next(iter(self.kinds), None)

    def kind_of(self, table: Table) -> Kind | None:
        """The kind of the records of one of the two tables of features; None where it has none but empty ones."""
        mine = ("ofrecord",) if table is self.ofrecords else ("example", "sequence_example")
        return next((kind for kind in self.kinds if kind in mine), None)

    @property
    def table(self) -> Table:
        """Return the features of most records: those of Examples, or of OFRecords."""
        kinds = self.kinds
        of_examples = kinds.get("example", 0) + kinds.get("sequence_example", 0)
        return self.ofrecords if kinds.get("ofrecord", 0) > of_examples else self.examples

    @property
    def tables(self) -> list[Table]:
        """`table`, and the other one where that has records of a kind of its own, too."""
        table = self.table
        other = self.examples if table is self.ofrecords else self.ofrecords
        return [table, other] if self.kind_of(other) else [table]
