"""Write what became of every range of an input: the list as JSON Lines, and the dropped bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfrtool.framing.damage import Damage
from tfrtool.framing.stream import ByteStream
from tfrtool.report import Outcome, RepairReport
from tfrtool.sources.spool import read_all
from tfrtool.types import Range
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.repair.decide import copied

Write = Callable[[bytes | memoryview], object]


class Quarantine:
    """The file of dropped bytes, one dropped range after another in the order of the inputs."""

    def __init__(self, write: Write | None) -> None:
        self._write = write
        self.size = 0
        """Bytes so far: the offset of the next range."""

    @property
    def is_wanted(self) -> bool:
        """Whether there is such a file."""
        return self._write is not None

    def add(self, data: bytes | memoryview) -> None:
        """Append dropped bytes."""
        if self._write is not None:
            self._write(data)
            self.size += len(data)

    def copy(self, stream: ByteStream, ranges: tuple[Range, ...]) -> None:
        """Append ranges of a stream."""
        if self._write is not None:
            for view in copied(stream, ranges):
                self.add(view)


class RangeList:
    """The list of all ranges of all inputs, as JSON Lines; it fills the quarantine too, whose offsets it holds.

    For each input its `range` objects stand in order, without gap or overlap, from 0 to the end of the decoded stream:
    `path`, `begin`, `end`, `action`, `records` (how many were written from it), `left_out` (how many intact ones were
    not asked for), and for damage `fault`, `record`, `message`. Dropped bytes are listed in `dropped`, and `quarantine`
    is their offset in the quarantine. A `break` object reports a break of the gzip or zlib stream, `at` the byte before
    which it lies. An `output` object after them names the file that holds the records, and its `bytes` before
    compression. An `error` object stands for an input that cannot be opened, or replaces what stands above it: its
    output was not written after all.
    """

    def __init__(self, write: Write | None, quarantine: Quarantine) -> None:
        self.quarantine = quarantine
        self._write = write
        self._path = ""
        self._kept: Range | None = None
        self._kept_records = 0

    def begin(self, path: str) -> None:
        """Begin with the ranges of an input."""
        self.end()
        self._path = path

    def end(self) -> None:
        """Write the stretch of kept frames that is held back to be one line."""
        if self._kept:
            self._range(*self._kept, "kept", records=self._kept_records)
            self._kept = None

    def kept(self, begin: int, end: int, records: int) -> None:
        """Add intact frames that were written as they are."""
        if self._kept and self._kept[1] == begin:
            self._kept = (self._kept[0], end)
            self._kept_records += records
        else:
            self.end()
            self._kept, self._kept_records = (begin, end), records

    def left_out(self, begin: int, end: int, records: int, data: ByteStream) -> None:
        """Add intact frames that were not asked for."""
        self.end()
        self._range(begin, end, "dropped", records=0, left_out=records, **self._dropped(((begin, end),)))
        self.quarantine.copy(data, ((begin, end),))

    def damage(self, outcome: Outcome, data: ByteStream) -> None:
        """Add a damaged range, and the bytes of it that were not written."""
        self.end()
        damage = outcome.damage
        fields: dict[str, Any] = {
            "fault": damage.fault,
            "record": damage.record,
            "records": outcome.records,
            "message": "; ".join(filter(None, (damage.message, outcome.evidence))),
        }
        if damage.recovery:
            fields["how"] = damage.recovery.method
        self._range(damage.begin, damage.end, outcome.action, **fields, **self._dropped(outcome.dropped))
        self.quarantine.copy(data, outcome.dropped)

    def codec_break(self, damage: Damage) -> None:
        """Add a break of the codec: how much was lost is unknown, so it has no range."""
        self._object("break", at=damage.begin, message=damage.message)

    def dropped_input(self, data: ByteStream, report: RepairReport) -> int:
        """Add an input of which nothing is written. Return its size in bytes, as far as that is known."""
        size, begin = report.bytes or 0, self.quarantine.size
        if self.quarantine.is_wanted or (self._write is not None and data.size is None):
            size = 0
            for view in read_all(data):
                size += len(view)
                self.quarantine.add(view)
        why = {"diagnosis": report.diagnosis, "message": report.message}
        self._range(0, size, "dropped", records=0, **why, **self._dropped(((0, size),) if size else (), begin))
        return size

    def output(self, name: str, report: RepairReport) -> None:
        """Add the output of the input."""
        self.end()
        self._object("output", output=name, records=report.written, bytes=report.output_bytes)

    def error(self, path: str, message: str) -> None:
        """Add an input that cannot be opened, or whose output could not be written."""
        self._kept = None
        self._path = path
        self._object("error", message=message)

    def _dropped(self, ranges: tuple[Range, ...], at: int | None = None) -> dict[str, Any]:
        """Return the fields that list dropped bytes, which begin at `at` in the quarantine or are the next there."""
        if not ranges:
            return {}
        fields: dict[str, Any] = {"dropped": [list(span) for span in ranges]}
        if self.quarantine.is_wanted:
            fields["quarantine"] = self.quarantine.size if at is None else at
        return fields

    def _range(self, begin: int, end: int, action: str, **fields: Any) -> None:
        self._object("range", begin=begin, end=end, action=action, **fields)

    def _object(self, kind: str, **fields: Any) -> None:
        if self._write is not None:
            import json

            texts = {name: json_text(value) for name, value in fields.items() if isinstance(value, str)}
            row = {"type": kind, "v": 1, "path": json_text(self._path), **fields, **texts}
            self._write(json.dumps(row, separators=(",", ":")).encode() + b"\n")
