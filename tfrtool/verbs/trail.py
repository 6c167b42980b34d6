"""What repair leaves behind besides its outputs: the dropped bytes, and the list of what became of every range."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

from tfrtool.errors import WriteError
from tfrtool.framing.window import Readable
from tfrtool.report import RepairReport
from tfrtool.sources.sink import atomic_output
from tfrtool.verbs.salvage import Outcome, Range, copied


class Trail:
    """Both side files of one run, each published whole or not at all at the end of the `with` block; each may be left
    out.

    The list is JSON Lines. For each input its `range` objects stand in order, without gap or overlap, from 0 to the
    end of the decoded stream: `path`, `begin`, `end`, `action`, and for damage `fault`, `record`, `records`,
    `message`, and for bytes that were dropped `quarantine`, their offset in the file of dropped bytes. An `error`
    object takes back what stands above it for that input: its output was not written after all.
    """

    def __init__(
        self,
        quarantine: str | None = None,
        report: str | None = None,
        *,
        force: bool = False,
        inputs: tuple[str, ...] = (),
    ) -> None:
        self.quarantine_name = quarantine
        self.report_name = report
        self._force = force
        self._inputs = inputs
        self._stack = ExitStack()
        self._quarantine: BinaryIO | None = None
        self._report: BinaryIO | None = None
        self._set_aside = 0
        self._path = ""
        self._kept: Range | None = None
        self._kept_records = 0

    def __enter__(self) -> Self:
        if self.report_name is not None:
            self._report = self._open(self.report_name)
        if self.quarantine_name is not None:  # opened last, so published first: the list tells offsets in it
            self._quarantine = self._open(self.quarantine_name)
        return self

    def _open(self, name: str) -> BinaryIO:
        return self._stack.enter_context(atomic_output(name, force=self._force, same_as=self._inputs))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def publish(self) -> None:
        """Give both files their names before the block ends. Raises `WriteError`; at least the list is missing then."""
        self._stack.close()

    def begin(self, path: str) -> None:
        """The ranges that follow are those of this input."""
        self.end()
        self._path = path

    def kept(self, begin: int, end: int, records: int, action: str = "kept") -> None:
        """Sound frames, written as they are (or `dropped`, where they were not asked for)."""
        if action != "kept":
            self.end()
            self._line(begin, end, action, records=records)
            return
        if self._kept and self._kept[1] == begin:
            self._kept = (self._kept[0], end)
            self._kept_records += records
        else:
            self.end()
            self._kept, self._kept_records = (begin, end), records

    def damage(self, outcome: Outcome, data: Readable) -> None:
        """A damaged range, and the bytes of it that were not written."""
        self.end()
        damage = outcome.damage
        told: dict[str, Any] = {
            "fault": damage.fault,
            "record": damage.record,
            "records": outcome.records,
            "message": "; ".join(filter(None, (damage.message, outcome.evidence))),
        }
        if damage.rescue:
            told["how"] = damage.rescue.how
        if outcome.dropped:
            told["dropped"] = [list(span) for span in outcome.dropped]
            if self._quarantine is not None:
                told["quarantine"] = self._set_aside
        self._line(damage.begin, damage.end, outcome.action, **told)
        self.set_aside(data, outcome.dropped)

    def set_aside(self, data: Readable, dropped: tuple[Range, ...]) -> None:
        """Put dropped bytes into the quarantine."""
        if self._quarantine is not None and dropped:
            for view in copied(data, dropped):
                self._quarantine.write(view)
                self._set_aside += len(view)

    def whole(self, path: str, report: RepairReport) -> None:
        """An input from which nothing is taken."""
        self.begin(path)
        self._line(0, report.bytes or 0, "dropped", diagnosis=report.diagnosis, message=report.message)

    def failed(self, path: str, message: str) -> None:
        """An input whose output could not be written."""
        self._kept = None
        self._path = path
        with suppress(WriteError):  # which may be the very failure that is told here
            self._row("error", message=message)

    def end(self) -> None:
        """Write the stretch of kept frames that is held back to be one line."""
        if self._kept:
            self._line(*self._kept, "kept", records=self._kept_records)
            self._kept = None

    def _line(self, begin: int, end: int, action: str, **told: Any) -> None:
        self._row("range", begin=begin, end=end, action=action, **told)

    def _row(self, kind: str, **told: Any) -> None:
        if self._report is not None:
            import json

            row = {"type": kind, "v": 1, "path": _text(self._path), **told}
            self._report.write(json.dumps(row, separators=(",", ":")).encode() + b"\n")


def _text(path: str) -> str | dict[str, str]:
    """A path as JSON has it: its bytes where they are not UTF-8."""
    try:
        path.encode()
        return path
    except UnicodeEncodeError:
        from base64 import b64encode
        from os import fsencode

        return {"bytes": b64encode(fsencode(path)).decode()}
