"""repair: save what can be saved of one input, and say what became of every byte.

The input is walked twice. The first pass tells what it is, so that nothing is written where nothing can be saved, and a
sound file is copied as it is. The second writes, and its output is verified before it takes its name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Literal

from tfrtool.errors import TfrtoolError
from tfrtool.framing.damage import Damage
from tfrtool.report import FileReport, RepairReport
from tfrtool.sources import Source, open_source
from tfrtool.verbs.mending import Mending
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import Reading
from tfrtool.verbs.salvage import Outcome
from tfrtool.verbs.trail import Trail
from tfrtool.verbs.unmangle import unmangled
from tfrtool.verbs.writer import FrameFile


@dataclass(frozen=True, slots=True)
class RepairOptions(Options):
    """What `repair` may be told.

    `output_compression` is that of the output, `auto` for the input's. `keep` says which records are written: `all`,
    those `before` the first damage, or those `after` it. `fix_bits` turns over single bits of payloads,
    `keep_unverified` writes complete payloads that nothing proves. `force` replaces an existing output. `dry_run`
    writes nothing.
    """

    output_compression: Literal["auto", "none", "gzip", "zlib"] = "auto"
    keep: Literal["all", "before", "after"] = "all"
    fix_bits: bool = False
    keep_unverified: bool = False
    force: bool = False
    dry_run: bool = False


def repair_file(
    name: str, output: str, options: RepairOptions, trail: Trail | None = None
) -> Iterator[Outcome | RepairReport]:
    """Write what can be saved of one input to `output`, yielding what became of each damaged range, then the report.

    `trail` takes the bytes that are dropped and the list of all ranges. An input that cannot be read, and an output
    that cannot be written, is a report with status `error`; nothing then stands under the output's name that did not
    before. A reader of standard output who went away is `BrokenPipeError`.
    """
    trail = trail or Trail()
    try:
        _rehearse(name, output, options)
        with open_source(name, twice=True) as source:
            yield from _repair(source, output, options, trail)
    except TfrtoolError as error:
        trail.failed(name, str(error))
        yield RepairReport(name, status="error", error=(error.kind, str(error)))
    except MemoryError:
        trail.failed(name, "out of memory")
        yield RepairReport(name, status="error", error=("memory", "out of memory"))


def _rehearse(name: str, output: str, options: RepairOptions) -> None:
    """Refuse what cannot be written before hours are spent on reading: open the output once, and leave no trace."""
    if options.dry_run:
        return
    try:
        mode = os.stat(output).st_mode
    except (OSError, ValueError):
        mode = stat.S_IFREG
    if not (stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)):  # whose reader would take the trial for the whole
        FrameFile(output, force=options.force, same_as=(name,)).discard()


def _repair(source: Source, output: str, options: RepairOptions, trail: Trail) -> Iterator[Outcome | RepairReport]:
    seen = _seen(source, options)
    report = RepairReport(**{field.name: getattr(seen, field.name) for field in fields(FileReport)})
    report.sound, report.records = seen.records, 0
    report.quarantine, report.report = trail.quarantine_name, trail.report_name
    if report.status == "damaged" and not report.diagnosis:
        report.hint = None  # it is to repair the file
    if report.status == "foreign":
        report.lost = True
        trail.whole(source.name, report)
        yield report
        return
    with source.again() as again, Mending(again, output, options, report, trail) as mending:
        if report.status == "clean":
            mending.copy(_half(options.progress))
        elif report.diagnosis in ("crlf", "utf8-mangled"):
            yield from _unmangled(again, mending, report, options)
        else:
            yield from _salvaged(again, mending, options)
        mending.finish()
    yield report


def _seen(source: Source, options: RepairOptions) -> FileReport:
    """What the first pass finds."""
    reading = Reading(source, Options(format=options.format, progress=_half(options.progress)))
    for _ in reading.events():
        pass
    return reading.report()


def _half(progress: Callable[[int], None] | None) -> Callable[[int], None] | None:
    """Progress for one of two passes: half of the bytes, so that both come to all of them."""
    if progress is None:
        return None
    odd = 0

    def advance(read: int) -> None:
        nonlocal odd
        half, odd = divmod(read + odd, 2)
        progress(half)

    return advance


def _salvaged(source: Source, mending: Mending, options: RepairOptions) -> Iterator[Outcome]:
    reading = Reading(source, Options(format=options.format, progress=_half(options.progress)))
    for event in reading.events(payloads=True):
        if isinstance(event, Damage):
            yield mending.damage(event)
        else:
            mending.frames(event)


def _unmangled(source: Source, mending: Mending, report: RepairReport, options: RepairOptions) -> Iterator[Outcome]:
    """Undo a text conversion; the records that then hold their checksums are restored."""
    whole = Damage(0, report.bytes or 0, "stray", message=report.message or "")
    undone = unmangled(source.data, report.diagnosis or "")
    yield mending.undone(whole, undone, _half(options.progress))
