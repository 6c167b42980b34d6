"""Publish the side files of repair together with its outputs: the list of ranges and the quarantine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self

from tfrtool.errors import WriteError
from tfrtool.sources.sinks.atomic import PendingOutput, open_output, sync_directory
from tfrtool.suggestion import USE_FORCE, Suggestion
from tfrtool.verbs.repair.range_list import Quarantine, RangeList, Write


class SideFiles:
    """Both side files of one run, published whole or not at all at the end of the `with` block; each may be left out.

    No output is published without what describes it: where there are side files, the outputs wait until those have
    their names. A crash in between can leave a list that names an output which does not exist. Pipes and devices get no
    name, and take what is written at once.

    Where a side file cannot be written both are given up, and no output is published: those that wait are discarded,
    nothing more is written to the list, and `failure` says why.
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
        self._published: list[str] = []
        self._waiting: list[tuple[str, PendingOutput]] = []
        self._unpublished: dict[str, WriteError] = {}
        self._finished = self._done = False
        self._failure: WriteError | None = None
        self.ranges = RangeList(None, Quarantine(None))
        """The writer of both files, between `__enter__` and `finish`."""

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
        unwritten = f"neither {names[0]} nor {names[1]} was" if len(names) > 1 else f"{names[0]} was not"
        error = WriteError(f"{self._failure.facts}; {unwritten} written whole, so no output was published")
        if self._published:  # what has its name already is in the way of the next run
            error.suggestion = Suggestion(settings=USE_FORCE.settings, aim="write all of it again")
        error.__cause__ = self._failure.__cause__
        return error

    def __enter__(self) -> Self:
        try:
            for name in filter(None, self._names):  # the list holds offsets in the quarantine, and comes after it
                self._sinks[name] = open_output(name, force=self._force, same_as=self._inputs)
        except BaseException:
            self._discard()
            raise
        quarantine, report = map(self._writer, self._names)
        self.ranges = RangeList(report, Quarantine(quarantine))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None and not self._done:
                self.raise_unpublished()
        finally:
            self._discard()

    def _discard(self) -> None:
        for sink in (*self._sinks.values(), *(sink for _, sink in self._waiting)):
            sink.discard()

    def _writer(self, name: str | None) -> Write | None:
        """Return what writes to a side file, as long as nothing has failed; it raises `WriteError` if that fails."""
        if name is None:
            return None
        out = self._sinks[name].out

        def write(data: bytes | memoryview) -> None:
            if self._failure or self._finished:
                return
            with self._may_fail():
                out.write(data)
            if self.failure:
                raise self.failure

        return write

    def flush(self) -> None:
        """Write out what is buffered, so that a full disk is found now and not at the end. Raises `WriteError`."""
        with self._may_fail():
            for sink in () if self._failure or self._finished else self._sinks.values():
                sink.out.flush()
        if self.failure:
            raise self.failure

    def failed(self, path: str, message: str) -> None:
        """List an input that cannot be opened, or whose output could not be written."""
        with suppress(WriteError):  # `failure` reports it
            self.ranges.error(path, message)

    def publish_output(self, path: str, sink: PendingOutput) -> None:
        """Publish the finished output of an input, at once or after the side files. Raises `WriteError`."""
        if not self._sinks:
            try:
                sink.publish()
            finally:
                sink.discard()
            return
        self._waiting.append((path, sink))

    def finish(self) -> None:
        """Flush the side files to disk once all inputs are done, which can take its time."""
        if self._finished:
            return
        with suppress(WriteError):  # `failure` reports it
            self.ranges.end()
        self._finished = True
        with self._may_fail():
            for sink in () if self._failure else self._sinks.values():
                sink.finish()

    def publish(self) -> dict[str, WriteError]:
        """Give the side files their names, and then the outputs that wait for that.

        Return by input why its output got no name; that is every output where a side file got none, which `failure`
        reports too. A second call returns the same and does nothing.
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
                    self._append_error(path, error)
                finally:
                    sink.discard()
            for directory in filter(None, directories):
                sync_directory(directory)
        return self._unpublished

    def raise_unpublished(self) -> None:
        """Publish all; raise the first `WriteError` of an output, or that of the side files."""
        for failure in (*self.publish().values(), self.failure):
            if failure is not None:
                raise failure

    def _append_error(self, path: str, error: WriteError) -> None:
        """Add to the published list that an output does not exist."""
        name = self.report_name
        if name is not None and os.path.isfile(name):
            with suppress(OSError), open(name, "ab", buffering=0) as file:
                RangeList(file.write, Quarantine(None)).error(path, error.facts)

    @contextmanager
    def _may_fail(self) -> Iterator[None]:
        """Give both files up, once and for all, if something inside fails."""
        try:
            yield
        except BrokenPipeError:
            self._give_up(WriteError("cannot write a side file: broken pipe"))
        except WriteError as error:
            self._give_up(error)

    def _give_up(self, error: WriteError) -> None:
        self._failure = error
        for sink in self._sinks.values():
            sink.discard()
