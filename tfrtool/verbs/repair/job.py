"""Recover the intact records of one input, and report what became of every byte.

The input is read twice. The first pass finds out what it is, so that nothing is written where no record is
recoverable, and an intact file is copied as it is. The second pass writes, and its output is verified before it is
renamed into place.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import fields
from typing import Literal

from tfrtool.errors import ReadError, TfrtoolError, WriteError
from tfrtool.framing.damage import Damage
from tfrtool.framing.walk import walk
from tfrtool.report import FileReport, Outcome, RepairReport
from tfrtool.sources.os_text import input_called
from tfrtool.sources.sinks.same_file import FileIds
from tfrtool.sources.source import Source, open_source
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, refuse_rewritten, unwrapped
from tfrtool.verbs.reading.reopen import ReplayStream
from tfrtool.verbs.repair.accounting import RepairAccounting
from tfrtool.verbs.repair.decide import RecoveryPolicy
from tfrtool.verbs.repair.options import RepairOptions
from tfrtool.verbs.repair.output import RepairOutput
from tfrtool.verbs.repair.range_list import RangeList
from tfrtool.verbs.repair.side_files import SideFiles

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def repair_file(
    name: str, output: str, options: RepairOptions, side_files: SideFiles | None = None
) -> Iterator[Outcome | RepairReport]:
    """Write the recoverable records of one input to `output`; yield what became of each damaged range, then the report.

    `side_files` takes the dropped bytes and the list of all ranges. An input that cannot be read, and an output that
    cannot be written, is a report with status `error`; nothing then stands under the output's name that did not before.
    Raises `BrokenPipeError` where standard output is a broken pipe. Once `side_files` has failed, no input is read any
    more, since its output would not be published.
    """
    side_files = side_files or SideFiles()
    try:
        if side_files.failure:
            raise side_files.failure
        yield from _attempt(name, output, options, side_files)
    except TfrtoolError as error:
        side_files.failed(name, error.facts)
        yield failed(name, error)
    except MemoryError:
        side_files.failed(name, "out of memory")
        yield RepairReport(name, status="error", error=("memory", "out of memory"))


def failed(name: str, error: TfrtoolError) -> RepairReport:
    """Return the report of an input that could not be repaired."""
    told = (error.kind, error.facts)
    return RepairReport(name, status="error", hint=_advice(error), error=told, suggestion=error.suggestion)


def _advice(error: TfrtoolError) -> str | None:
    """Return what helps after a system error."""
    code = error.__cause__.errno if isinstance(error.__cause__, OSError) else None
    if isinstance(error, ReadError):
        if code == errno.EIO:
            return "copy it with a tool that skips unreadable sectors, such as ddrescue, and repair the copy"
        return "set TMPDIR to a directory that has room for the input" if code in _FULL else None
    if isinstance(error, WriteError) and code in _FULL:
        return "free some space or write elsewhere; the input is unchanged, and no output was left behind"
    return None


def repair(
    path: PathLike,
    output: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
    keep: Literal["all", "before", "after"] = "all",
    fix_bits: bool = False,
    keep_unverified: bool = False,
    force: bool = False,
    dry_run: bool = False,
    quarantine: PathLike | None = None,
    report: PathLike | None = None,
) -> RepairReport:
    """Write every intact record of a file, and every record that a checksum still proves, to a new file `output`.

    The input is never written to. The output is verified before it is renamed into place, and appears whole or not at
    all; an existing file is refused unless `force`. An intact file is copied byte for byte. Where no record is
    recoverable there is no output: the report's `output` is None, its `message` says what the input is.

    - `compression` is that of the output, `auto` for the detected compression of the input.
    - `keep` writes only the records before the first damage, or only those after it.
    - `fix_bits` also writes payloads of up to 64 KiB in which flipping one bit gives their checksum.
    - `keep_unverified` also writes payloads that parse but that no checksum proves: the checksum is missing or zero, or
      no payload of the file matches its own (at least 8 of them). Four bytes that are missing anywhere in a payload and
      its checksum look like a missing checksum, so such a payload may never have been written.
    - `dry_run` reports the same and writes nothing.
    - `quarantine` is a new file for the dropped bytes, `report` a new file of JSON Lines that says what became of every
      byte range, from 0 to the end of the decoded stream.

    The result counts records (`kept`, `restored`, `corrected`, `unverified`; `records` is their sum) and bytes
    (`dropped_bytes`, of the decoded stream), says whether anything is `lost`, and lists in `outcomes` what became of
    each damaged range; for files with millions of them use `tfrtool.verbs.repair.job.repair_file`, which yields them.
    Damage is never raised. Where a side file cannot be written there is no output either. Raises `OpenError`,
    `ReadError`, `WriteError` or `UnsupportedError`, all of them `TfrtoolError`, for what could not be done, and then
    there is no output, or the old one; ValueError or TypeError for invalid arguments.
    """
    from tfrtool.verbs.options import path_name, path_or_none, refuse_options

    switches = {"fix_bits": fix_bits, "keep_unverified": keep_unverified, "force": force, "dry_run": dry_run}
    refuse_options(format=format, compression=compression, keep=keep, **switches)
    name, out = path_name("path", path), path_name("output", output)
    sides = [path_or_none("quarantine", quarantine), path_or_none("report", report)]
    for option, side in zip(("quarantine", "report"), sides, strict=True):
        _refuse_input(option, side, name)
    written = [os.path.realpath(each) for each in (out, *sides) if each is not None]
    if len(set(written)) < len(written):
        raise ValueError("the output, the quarantine and the report must be different files")
    options = RepairOptions(
        format=format,
        output_compression=compression,
        keep=keep,
        fix_bits=fix_bits,
        keep_unverified=keep_unverified,
        force=force,
        dry_run=dry_run,
    )
    outcomes: list[Outcome] = []
    names = (None, None) if dry_run else sides
    with SideFiles(*names, force=force, inputs=(name,)) as side_files:
        for item in _attempt(name, out, options, side_files):
            if isinstance(item, RepairReport):
                side_files.raise_unpublished()
                item.outcomes = outcomes
                return item
            outcomes.append(item)
    raise AssertionError("a repair ends with a report")


def _refuse_input(option: str, side: str | None, name: str) -> None:
    """Raise `WriteError` where a side file is the input, under any name."""
    with suppress(OSError, ValueError):
        if side is not None and (found := FileIds([name]).name_of(os.stat(side))) is not None:
            raise WriteError(f"the {option} '{side}' is {input_called(found)}; an input is never written to")


def _attempt(name: str, output: str, options: RepairOptions, side_files: SideFiles) -> Iterator[Outcome | RepairReport]:
    with closing(RepairOutput(name, output, options)) as out, open_source(name, reopenable=True) as source:
        unwrapped(source, "auto")
        yield from _repair(source, out, options, side_files)


def _repair(
    source: Source, out: RepairOutput, options: RepairOptions, side_files: SideFiles
) -> Iterator[Outcome | RepairReport]:
    seen = _seen(source, options)
    report = RepairReport(**{one.name: getattr(seen, one.name) for one in fields(FileReport)})
    report.sound, report.records = seen.records, 0
    report.quarantine, report.report = side_files.quarantine_name, side_files.report_name
    ranges = side_files.ranges
    ranges.begin(source.name)
    if report.suggestion and report.suggestion.verb == "repair":
        report.suggestion = None
    with ExitStack() as stack:
        again = stack.enter_context(source.reopen())
        if report.converted and report.diagnosis:
            again.undo_text(report.diagnosis)
        data = stack.enter_context(ReplayStream(again))
        out.begin(again, report)
        if report.status == "foreign":
            report.lost = True
            report.bytes = report.dropped_bytes = ranges.dropped_input(again.data, report)
            if report.bytes:
                whole = Damage(0, report.bytes, "stray", detail=report.message or "")
                yield Outcome(whole, "dropped", 0, ((0, report.bytes),))
        elif report.status == "clean":
            report.kept = report.sound
            ranges.kept(0, report.bytes or 0, report.sound)
            out.copy()
        else:
            yield from _mended(again, data, out, options, ranges, report)
            report.lost = report.lost or not report.written
        refuse_rewritten(again)
        ranges.end()
        report.records = report.written
        if report.corrected or report.unverified:
            report.hint = seen.hint if seen.records or seen.restorable else None  # to fetch it again
        elif report.converted and not report.lost:
            report.hint = None  # the same
        out.publish(side_files)
    yield report


def _seen(source: Source, options: RepairOptions) -> FileReport:
    """Read the input a first time; return its report."""
    with ReplayStream(source) as data:
        source.data = data
        reader = FileReader(source, Options(format=options.format, progress=options.progress), passes=2)
        for event in reader.events():
            data.release(event.end)
        return reader.report()


def _mended(
    source: Source,
    data: ReplayStream,
    out: RepairOutput,
    options: RepairOptions,
    ranges: RangeList,
    report: RepairReport,
) -> Iterator[Outcome]:
    policy = RecoveryPolicy(
        data,
        report.kind,
        fix_bits=options.fix_bits,
        keep_unverified=options.keep_unverified,
        unchecked=report.unchecked,
    )
    keep = options.keep
    if report.converted and keep == "after" and not _is_damaged(source):
        keep = "all"  # as for an intact file
    accounting = RepairAccounting(data, out, policy, ranges, report, keep)
    source.data = data
    reader = FileReader(source, Options(format=options.format, progress=options.progress), passes=2)
    for event in reader.events(payloads=True):
        yield from accounting.take(event)
    if report.converted:
        report.bytes, report.damaged_bytes = reader.tally.bytes, reader.tally.damaged_bytes


def _is_damaged(source: Source) -> bool:
    with source.reopen() as again:
        return any(isinstance(event, Damage) for event in walk(again.data)) or bool(again.faults)
