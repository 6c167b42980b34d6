"""What a data set holds, whatever its kind: one value for a file, and for many."""

from __future__ import annotations

from dataclasses import dataclass, field

from tfrtool.payload.schema.event_table import EventTable
from tfrtool.payload.schema.shards import Shards
from tfrtool.payload.schema.table import Table
from tfrtool.payload.schema.values import Place
from tfrtool.payload.schema.wire_table import WireTable
from tfrtool.report import Kind


@dataclass(slots=True)
class File:
    """What an emitter needs to know of one file: its name, its sound records, and the bytes of their payloads."""

    path: str
    records: int
    bytes: int
    compression: str | None


@dataclass(slots=True)
class Schema:
    """The schema of some files. `Schema()` is the identity of `merge`, which is associative; files merge in order.

    `examples` has Examples and SequenceExamples. `misfits` counts the records whose payloads do not parse, `large`
    those that are too large to be held; neither is described. `limited` says that only the first records of some file
    were read.
    """

    examples: Table = field(default_factory=Table)
    ofrecords: Table = field(default_factory=Table)
    events: EventTable = field(default_factory=EventTable)
    unknown: WireTable = field(default_factory=WireTable)
    misfits: int = 0
    first_misfit: Place | None = None
    large: int = 0
    limited: bool = False
    shards: Shards = field(default_factory=Shards)
    files: list[File] = field(default_factory=list)

    def merge(self, other: Schema) -> None:
        """Add what comes later to this one; `other` stays as it is."""
        self.examples.merge(other.examples)
        self.ofrecords.merge(other.ofrecords)
        self.events.merge(other.events)
        self.unknown.merge(other.unknown)
        self.misfits += other.misfits
        self.first_misfit = self.first_misfit or other.first_misfit
        self.large += other.large
        self.limited |= other.limited
        self.shards.merge(other.shards)
        self.files += other.files

    def cut(self) -> None:
        """Hold everything to its bounds."""
        for part in (self.examples, self.ofrecords, self.events, self.unknown):
            part.cut()

    @property
    def records(self) -> int:
        """The records that are described."""
        return sum(self.kinds.values())

    @property
    def kinds(self) -> dict[Kind, int]:
        """How many records of each kind are described, those of most records first; none without a record."""
        examples: Kind = "sequence_example" if self.examples.sequences else "example"
        counts: dict[Kind, int] = {
            examples: self.examples.records,
            "ofrecord": self.ofrecords.records,
            "event": self.events.records,
            "unknown": self.unknown.records,
        }
        return dict(sorted(((kind, count) for kind, count in counts.items() if count), key=lambda item: -item[1]))

    @property
    def kind(self) -> Kind | None:
        """The kind of most records, None where there are none."""
        return next(iter(self.kinds), None)

    @property
    def table(self) -> Table:
        """The features of most records: those of Examples, or of OFRecords."""
        return max(self.examples, self.ofrecords, key=lambda table: table.records)
