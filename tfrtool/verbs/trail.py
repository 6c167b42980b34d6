"""What repair leaves behind besides its outputs: the dropped bytes, and the list of what became of every range."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

from tfrtool.errors import WriteError
from tfrtool.framing.damage import Damage
from tfrtool.framing.window import Readable
from tfrtool.report import FORCE, Outcome, Range, Remedy, RepairReport
from tfrtool.sources.sink import atomic_output
from tfrtool.sources.stream import whole
from tfrtool.verbs.salvage import copied


class Trail:
    """Both side files of one run, each published whole or not at all at the end of the `with` block; each may be left
    out.

    The list is JSON Lines. For each input its `range` objects stand in order, without gap or overlap, from 0 to the
    end of the decoded stream: `path`, `begin`, `end`, `action`, and for damage `fault`, `record`, `records`,
    `message`, and for bytes that were dropped `quarantine`, their offset in the file of dropped bytes. A `break` object
    tells of a break of the gzip or zlib stream, `at` the byte before which it lies. An `error` object takes back what
    stands above it for that input: its output was not written after all.

    A side file that cannot be written stops no repair: both are given up, and `publish` says so.
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
        self._stack = ExitStack()
        self._quarantine: BinaryIO | None = None
        self._report: BinaryIO | None = None
        self._set_aside = 0
        self._path = ""
        self._kept: Range | None = None
        self._kept_records = 0
        self._failure: WriteError | None = None
        self._published: list[str] = []

    @property
    def quarantine_name(self) -> str | None:
        """The file of dropped bytes, if there is to be one."""
        return None if self._failure else self._names[0]

    @property
    def report_name(self) -> str | None:
        """The list, if there is to be one."""
        return None if self._failure else self._names[1]

    def __enter__(self) -> Self:
        quarantine, report = self._names
        with ExitStack() as stack:
            if report is not None:
                self._report = self._open(stack, report)
            if quarantine is not None:  # opened last, so published first: the list tells offsets in it
                self._quarantine = self._open(stack, quarantine)
            self._stack = stack.pop_all()
        return self

    def _open(self, stack: ExitStack, name: str) -> BinaryIO:
        def closed(kind: type[BaseException] | None, *_: object) -> None:
            if kind is None:
                self._published.append(name)

        stack.push(closed)
        return stack.enter_context(atomic_output(name, force=self._force, same_as=self._inputs))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def publish(self) -> None:
        """Give both files their names before the block ends.

        Raises `WriteError` for what could not be written; at least the list is missing then.
        """
        if self._failure is None:
            with self._may_fail():
                for file in filter(None, (self._report, self._quarantine)):
                    file.flush()  # so that a full disk is met before either has its name
                self._stack.close()
        if self._failure is not None:
            missing = " nor ".join(f"'{name}'" for name in self._names if name and name not in self._published)
            raise WriteError(
                f"{self._failure.facts}; there is no {missing} now; the outputs are not concerned",
                Remedy(settings=FORCE.settings, aim="write all of it again"),
            ) from self._failure

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
        with suppress(WriteError):
            self._stack.__exit__(type(error), error, error.__traceback__)

    def begin(self, path: str) -> None:
        """The ranges that follow are those of this input."""
        self.end()
        self._path = path

    def frames(self, begin: int, end: int, records: int, action: str = "kept") -> None:
        """Sound frames, written as they are (or `dropped`, where they were not asked for)."""
        if action != "kept":
            self.end()
            told = {} if self._quarantine is None else {"quarantine": self._set_aside}
            self._line(begin, end, action, records=records, **told)
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
        size = report.bytes or 0
        if self._quarantine is not None or (self._report is not None and data.size is None):
            size, begin = 0, self._set_aside
            for view in whole(data):
                size += len(view)
                if self._quarantine is not None:
                    self._set_aside += self._write(self._quarantine, view)
            told: dict[str, Any] = {} if self._quarantine is None else {"quarantine": begin}
        else:
            told = {}
        self._line(0, size, "dropped", diagnosis=report.diagnosis, message=report.message, **told)
        return size

    def failed(self, path: str, message: str) -> None:
        """An input whose output could not be written."""
        self._kept = None
        self._path = path
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
            self._write(self._report, json.dumps(row, separators=(",", ":")).encode() + b"\n")

    def _write(self, file: BinaryIO, data: bytes | memoryview) -> int:
        with self._may_fail():
            file.write(data)
        return len(data)


def _text(path: str) -> str | dict[str, str]:
    """A path as JSON has it: its bytes where they are not UTF-8."""
    try:
        path.encode()
        return path
    except UnicodeEncodeError:
        from base64 import b64encode
        from os import fsencode

        return {"bytes": b64encode(fsencode(path)).decode()}
