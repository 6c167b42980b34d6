"""What repair leaves behind besides its outputs: the dropped bytes, and the list of what became of every range."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any, BinaryIO, Self, cast

from tfrtool.errors import WriteError
from tfrtool.framing.damage import Damage
from tfrtool.framing.stream import Readable
from tfrtool.report import Outcome, RepairReport
from tfrtool.sources.sinks.atomic import PendingOutput, open_output, sync_directory
from tfrtool.sources.spool import read_all
from tfrtool.suggestion import USE_FORCE, Suggestion
from tfrtool.types import Range
from tfrtool.verbs.formats.json_text import json_text
from tfrtool.verbs.repair.decide import copied


class SideFiles:
    """Both side files of one run, each published whole or not at all at the end of the `with` block; each may be left
    out.

    The list is JSON Lines. For each input its `range` objects stand in order, without gap or overlap, from 0 to the
    end of the decoded stream: `path`, `begin`, `end`, `action`, `records`, which counts the records that were written
    from it, `left_out`, which counts sound ones that were not asked for, and for damage `fault`, `record`, `message`.
    Bytes that were dropped are listed in `dropped`, and `quarantine` is their offset in the file of dropped bytes. A
    `break` object tells of a break of the gzip or zlib stream, `at` the byte before which it lies. An `output` object
    behind them names the file that holds the records, and its `bytes` before they are compressed. An `error` object
    stands for an input that cannot be opened, or takes back what stands above it: its output was not written after all.

    Outputs are not published without what tells of them: where there are side files, the outputs wait until those have
    their names. What a crash leaves between is a list that names an output which is not there. Pipes and devices get no
    name, and take what is written at once.

    Where a side file cannot be written both are given up, and no output is published: those that wait are discarded,
    whatever writes to the list from then on raises `WriteError`, and `failure` says why.
    """

    def __init__(
        self,
        quarantine: str | None = None,
        report: str | None = None,
        *,
        force: bool = False,
        inputs: tuple[str, ...] = (),
    ) -> None:
        self._names = (quarantine, report)
        self._force = force
        self._inputs = inputs
        self._sinks: dict[str, PendingOutput] = {}  # in the order in which they are published
        self._quarantine: BinaryIO | None = None
        self._report: BinaryIO | None = None
        self._published: list[str] = []
        self._waiting: list[tuple[str, PendingOutput]] = []
        self._unpublished: dict[str, WriteError] = {}
        self._finished = self._done = False
        self._set_aside = 0
        self._path = ""
        self._kept: Range | None = None
        self._kept_records = 0
        self._failure: WriteError | None = None

    @property
    def quarantine_name(self) -> str | None:
        """The file of dropped bytes, if there is to be one."""
        return None if self._failure else self._names[0]

    @property
    def report_name(self) -> str | None:
        """The list, if there is to be one."""
        return None if self._failure else self._names[1]

    @property
    def failure(self) -> WriteError | None:
        """Why there are no side files and no outputs, where the former could not be written."""
        if self._failure is None:
            return None
        names = [f"'{name}'" for name in self._sinks if name not in self._published]
        whole = f"neither {names[0]} nor {names[1]} was" if len(names) > 1 else f"{names[0]} was not"
        error = WriteError(f"{self._failure.facts}; {whole} written whole, so no output was published")
        if self._published:  # what has its name already is in the way of the next run
            error.suggestion = Suggestion(settings=USE_FORCE.settings, aim="write all of it again")
        error.__cause__ = self._failure.__cause__
        return error

    def __enter__(self) -> Self:
        try:
            for name in filter(None, self._names):  # the list tells offsets in the other, and comes after it
                self._sinks[name] = open_output(name, force=self._force, same_as=self._inputs)
        except BaseException:
            self._discard()
            raise
        outs = [self._sinks[name].out if name else None for name in self._names]
        self._quarantine, self._report = outs
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and not self._done:
                unpublished = self.publish()
                for failure in (*unpublished.values(), self.failure):
                    if failure is not None:
                        raise failure
        finally:
            self._discard()

    def _discard(self) -> None:
        for sink in (*self._sinks.values(), *(sink for _, sink in self._waiting)):
            sink.discard()

    def take(self, path: str, sink: PendingOutput) -> None:
        """Publish the settled output of an input, at once or behind the side files. Raises `WriteError`."""
        if not self._sinks:
            try:
                sink.publish()
            finally:
                sink.discard()
            return
        self._waiting.append((path, sink))

    def finish(self) -> None:
        """All inputs are done: bring the side files to the disk, which can take its time."""
        if self._finished:
            return
        with suppress(WriteError):  # which `failure` tells
            self.end()
        self._finished, self._quarantine, self._report = True, None, None
        with self._may_fail():
            for sink in () if self._failure else self._sinks.values():
                sink.finish()

    def publish(self) -> dict[str, WriteError]:
        """Give the side files their names, and then the outputs that wait for that.

        The result tells, by input, of outputs that did not get theirs, which is none of them where a side file did not;
        `failure` tells of that. A second call gives the same and does nothing.
        """
        if not self._done:
            self.finish()
            self._done = True
            with self._may_fail():
                for name, sink in () if self._failure else self._sinks.items():
                    sink.publish()
                    self._published.append(name)
            directories = set()
            for path, sink in self._waiting:
                try:
                    if self.failure:
                        raise self.failure
                    directories.add(sink.name())
                except WriteError as error:
                    self._unpublished[path] = error
                    self._take_back(path, error)
                finally:
                    sink.discard()
            for directory in filter(None, directories):
                sync_directory(directory)
        return self._unpublished

    def _take_back(self, path: str, error: WriteError) -> None:
        """Add to the published list that there is no such output."""
        name = self.report_name
        if name is not None and os.path.isfile(name):
            with suppress(OSError), open(name, "ab", buffering=0) as file:
                self._path, self._report = path, cast(BinaryIO, file)
                self._row("error", message=error.facts)
            self._report = None

    @contextmanager
    def _may_fail(self) -> Iterator[None]:
        """A failure inside gives both files up, once and for all."""
        try:
            yield
        except BrokenPipeError:
            self._give_up(WriteError("the reader of a side file went away"))
        except WriteError as error:
            self._give_up(error)

    def _give_up(self, error: WriteError) -> None:
        self._failure = error
        self._report = self._quarantine = None
        for sink in self._sinks.values():
            sink.discard()

    def begin(self, path: str) -> None:
        """The ranges that follow are those of this input."""
        self.end()
        self._path = path

    def frames(self, begin: int, end: int, records: int, action: str = "kept") -> None:
        """Sound frames, written as they are (or `dropped`, where they were not asked for)."""
        if action != "kept":
            self.end()
            told = self._where(((begin, end),), self._set_aside)
            self._line(begin, end, action, records=0, left_out=records, **told)
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
        told |= self._where(outcome.dropped, self._set_aside)
        self._line(damage.begin, damage.end, outcome.action, **told)
        self.set_aside(data, outcome.dropped)

    def broken(self, damage: Damage) -> None:
        """A break of the codec: nobody knows what it held, so it takes no range."""
        self._row("break", at=damage.begin, message=damage.message)

    def set_aside(self, data: Readable, dropped: tuple[Range, ...]) -> None:
        """Put dropped bytes into the quarantine."""
        if self._quarantine is not None:
            for view in copied(data, dropped):
                self._set_aside += self._write(self._quarantine, view)

    def whole(self, data: Readable, report: RepairReport) -> int:
        """An input from which nothing is taken; the result is its size in bytes, as far as that is known."""
        size, begin = report.bytes or 0, self._set_aside
        if self._quarantine is not None or (self._report is not None and data.size is None):
            size = 0
            for view in read_all(data):
                size += len(view)
                if self._quarantine is not None:
                    self._set_aside += self._write(self._quarantine, view)
        told = self._where(((0, size),) if size else (), begin)
        self._line(0, size, "dropped", records=0, diagnosis=report.diagnosis, message=report.message, **told)
        return size

    def written(self, name: str, report: RepairReport) -> None:
        """The output that holds what was kept of an input. A full disk is to be found out now, not at the end."""
        self.end()
        self._row("output", output=name, records=report.written, bytes=report.output_bytes)
        for file in filter(None, (self._quarantine, self._report)):
            self._write(file, b"", flush=True)

    def failed(self, path: str, message: str) -> None:
        """An input that cannot be opened, or whose output could not be written."""
        self._kept = None
        self._path = path
        with suppress(WriteError):  # which `failure` tells
            self._row("error", message=message)

    def end(self) -> None:
        """Write the stretch of kept frames that is held back to be one line."""
        if self._kept:
            self._line(*self._kept, "kept", records=self._kept_records)
            self._kept = None

    def _where(self, dropped: tuple[Range, ...], at: int) -> dict[str, Any]:
        """How a line tells which bytes were dropped, and that they begin at `at` in the file of dropped bytes."""
        if not dropped:
            return {}
        told: dict[str, Any] = {"dropped": [list(span) for span in dropped]}
        return told if self._quarantine is None else {**told, "quarantine": at}

    def _line(self, begin: int, end: int, action: str, **told: Any) -> None:
        self._row("range", begin=begin, end=end, action=action, **told)

    def _row(self, kind: str, **told: Any) -> None:
        if self._report is not None:
            import json

            texts = {name: json_text(value) for name, value in told.items() if isinstance(value, str)}
            row = {"type": kind, "v": 1, "path": json_text(self._path), **told, **texts}
            self._write(self._report, json.dumps(row, separators=(",", ":")).encode() + b"\n")

    def _write(self, file: BinaryIO, data: bytes | memoryview, *, flush: bool = False) -> int:
        with self._may_fail():
            file.write(data)
            if flush:
                file.flush()
        if self.failure:
            raise self.failure
        return len(data)
