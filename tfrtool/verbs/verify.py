"""Check every byte of a file: structure, both checksums of each record, and on request the payloads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tfrtool.framing.walk import Batch
from tfrtool.report import FileReport
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file
from tfrtool.verbs.reading.kind_vote import VOTERS

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.suggestion import Suggestion
    from tfrtool.verbs.index import IndexCheck, IndexFault


def verify_file(name: str, options: Options) -> Iterator[Damage | IndexFault | FileReport]:
    """Yield the damage of one input as it is found, then its report; an input that cannot be read is a report too.

    With an index in the options, its faults are yielded as well, the first `index.SHOWN` of them. With `quick` the
    payloads of records that have no line in it are checked, since a damaged record has none.
    """
    yield from read_file(name, options, _verify if options.index is None else _verify_with_index)


def _verify_with_index(read: FileReader) -> Iterator[Damage | IndexFault | FileReport]:
    from tfrtool.verbs.index import IndexCheck, refuse_index

    assert read.options.index is not None
    if not read.foreign:
        refuse_index(read)
    hidden = partial(_hidden_damage, read) if _headers_only(read, indexed=True) else None
    with closing(IndexCheck(read.options.index, hidden)) as check:
        yield from _verify(read, check)


def _hidden_damage(read: FileReader, offset: int, size: int, number: int) -> Damage | None:
    """Check the payload of a record that was counted as intact by its header alone."""
    from tfrtool.verbs.index import payload_damage

    damage = payload_damage(read, offset, size, number)
    if damage:
        read.reclassify_as_damaged(damage)
    return damage


def _headers_only(read: FileReader, indexed: bool) -> bool:
    """Whether payloads are skipped. Not in a pipe with an index, where none can be checked later."""
    return read.options.quick and (read.source.seekable or not indexed)


def _verify(read: FileReader, check: IndexCheck | None = None) -> Iterator[Damage | IndexFault | FileReport]:
    options = read.options
    headers = _headers_only(read, indexed=check is not None)
    lengths = headers and check is not None
    too_large = 0
    ahead = VOTERS if options.payload else 0
    how = {"payloads": options.payload, "headers_only": headers, "lengths": lengths, "whole": True}
    for event in read.events(ahead=ahead, **how):
        if not isinstance(event, Batch):
            yield event
            continue
        if check is not None:
            yield from check.batch(event)
        if options.payload:
            too_large += event.view is None
            for damage in _misfits(read, event):
                read.reclassify_as_damaged(damage)
                yield damage
    report = read.report()
    if options.payload and report.kind == "unknown" and report.status == "clean" and not report.hint:
        report.hint = f"no payload was parsed, since {read.kind_detector.why_unknown()}"
    elif too_large and report.status == "clean" and not report.hint:
        report.hint = f"not parsed, too large to be held in memory: {too_large:,} of the records"
    if check is not None and report.status in ("clean", "damaged"):
        yield from check.end()
        report.index_faults = check.faults
        if check.faults and not (report.hint or report.suggestion):
            report.suggestion = _write_index(report.path, options.index if check.replaceable else None)
    yield report


def _write_index(path: str, index: str | None) -> Suggestion:
    """Suggest writing the index anew, or a new file where `index` is None: what stands there may be anything."""
    from tfrtool.suggestion import Suggestion

    if index is None:
        return Suggestion("stat", path, (("index", "NEW.idx"),), "write an index of it")
    return Suggestion("stat", path, (("index", index), ("force", True)))


def _misfits(read: FileReader, batch: Batch) -> Iterator[Damage]:
    """Yield as damage the records of a batch whose payloads do not parse as the kind of the file."""
    kind = read.kind
    if kind is None or kind == "unknown" or batch.view is None:
        return
    from tfrtool.framing.damage import Damage
    from tfrtool.payload.kinds import fits

    before, after = read.framing
    for i, (begin, end) in enumerate(zip(batch.begins, batch.ends, strict=True)):
        misfit = fits(batch.view[begin:end], kind)
        if misfit is not None:
            at = batch.base + begin
            yield Damage(
                at - before,
                batch.base + end + after,
                "payload",
                batch.first + i,
                detail=f"the payload is no {kind}: {misfit}",
            )


def verify(
    path: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
    quick: bool = False,
    payload: bool = False,
    index: PathLike | None = None,
) -> FileReport:
    """Check one file and return its report, with all damage in `damage`; for millions of faults use `walk`.

    `quick` checks the structure and the length checksums only, `payload` also parses every payload. `index` is an index
    that is compared with the file: `index_faults` counts the lines that differ. Never raises for damage; a file that
    cannot be read has status `error`. Raises ValueError or TypeError for invalid arguments.
    """
    from tfrtool.framing.damage import Damage
    from tfrtool.verbs.options import path_name, path_or_none, refuse_options

    refuse_options(format=format, compression=compression, quick=quick, payload=payload)
    if quick and payload:
        raise ValueError("quick skips payloads, and payload parses them: choose one")
    name, where = path_name("path", path), path_or_none("index", index)
    options = Options(format=format, compression=compression, quick=quick, payload=payload, index=where)
    damage: list[Damage] = []
    for item in verify_file(name, options):
        if isinstance(item, FileReport):
            return replace(item, damage=damage)
        if isinstance(item, Damage):
            damage.append(item)
    raise AssertionError("verify_file ends with a report")
