"""verify: is every byte sound."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from tfrtool.framing.walk import Batch
from tfrtool.report import FileReport
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, read_file
from tfrtool.verbs.reading.kind_vote import VOTERS

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage
    from tfrtool.verbs.index import IndexFault


def verify_file(name: str, options: Options) -> Iterator[Damage | IndexFault | FileReport]:
    """Yield the damage of one input as it is found, then its report; an input that cannot be read is a report too.

    With an index in the options, what of it does not agree is yielded as well, the first `index_check.TOLD` faults. If
    `quick`, the payloads of records that have no line in it are looked at, since a damaged record has none.
    """
    yield from read_file(name, options, _verify if options.index is None else _verify_both)


def _verify_both(read: FileReader) -> Iterator[Damage | IndexFault | FileReport]:
    """Verify a file, and the index that `options` names against it."""
    from tfrtool.verbs.index import IndexCheck, IndexFault, refuse

    assert read.options.index is not None
    if not read.foreign:
        refuse(read)
    with IndexCheck(read.options.index, _unseen(read)) as check:

        def watch(event: Batch | Damage) -> Iterator[IndexFault | Damage]:
            if isinstance(event, Batch):
                for found in check.batch(event):
                    if not isinstance(found, IndexFault):
                        read.reclassify_as_damaged(found)
                    yield found
            elif not read.foreign:
                yield from check.damage(event)

        for event in _verify(read, watch):
            if isinstance(event, FileReport) and event.status in ("clean", "damaged"):
                yield from check.end(event.bytes or 0)
                event.index_faults = check.faults
                if check.faults and not (event.hint or event.remedy):
                    from tfrtool.report import Remedy

                    if check.replaceable:
                        event.remedy = Remedy("stat", event.path, (("index", read.options.index), ("force", True)))
                    else:
                        event.remedy = Remedy("stat", event.path, (("index", "NEW.idx"),), "write an index of it")
            yield event


def _unseen(read: FileReader) -> Callable[[int, int, int], Damage | None] | None:
    """What tells whether a payload is damaged where only headers are read, else None."""
    if not _headers_only(read, indexed=True):
        return None
    from functools import partial

    from tfrtool.verbs.index import payload_damage

    return partial(payload_damage, read)


def _headers_only(read: FileReader, indexed: bool) -> bool:
    """Whether payloads are left alone. Not in a pipe with an index, where none can be looked at later."""
    return read.options.quick and (read.source.seekable or not indexed)


def _verify(
    read: FileReader, watch: Callable[[Batch | Damage], Iterator[IndexFault | Damage]] | None = None
) -> Iterator[Damage | IndexFault | FileReport]:
    options = read.options
    headers = _headers_only(read, indexed=watch is not None)
    lengths = headers and watch is not None
    too_large = 0
    ahead = VOTERS if options.payload else 0
    how = {"payloads": options.payload, "headers_only": headers, "lengths": lengths, "whole": True}
    for event in read.events(ahead=ahead, **how):
        if not isinstance(event, Batch):
            yield event
            if watch is not None:
                yield from watch(event)
            continue
        if watch is not None:
            yield from watch(event)
        if options.payload:
            too_large += event.view is None
            for damage in _misfits(read, event):
                read.reclassify_as_damaged(damage)
                yield damage
    report = read.report()
    if options.payload and report.kind == "unknown" and report.status == "clean" and not report.hint:
        report.hint = f"no payload was parsed, since {read.kind_detector.why_unknown()}"
    elif too_large and report.status == "clean" and not report.hint:
        report.hint = f"not parsed, being too large to be held in memory: {too_large:,} of the records"
    yield report


def _misfits(read: FileReader, batch: Batch) -> Iterator[Damage]:
    """The records of a batch whose payloads do not parse as the kind of the file."""
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
    path: str | bytes | os.PathLike[str] | os.PathLike[bytes],
    *,
    format: Literal["auto", "tfrecord", "ofrecord"] = "auto",
    compression: Literal["auto", "none", "gzip", "zlib"] = "auto",
    quick: bool = False,
    payload: bool = False,
    index: str | bytes | os.PathLike[str] | os.PathLike[bytes] | None = None,
) -> FileReport:
    """The report of one file, with all its damage in `damage`; for files with millions of faults use `walk`.

    `quick` looks at the structure and the checksums of lengths alone, `payload` also parses every payload. `index` is
    an index of the file, which is held against it: `index_faults` says how often they disagree. Never raises for
    damage; a file that cannot be read has status `error`. Raises ValueError or TypeError for arguments that are none.
    """
    from tfrtool.framing.damage import Damage
    from tfrtool.verbs.options import path_name, path_or_none, refuse_options

    refuse_options(format=format, compression=compression, quick=quick, payload=payload)
    if quick and payload:
        raise ValueError("quick leaves payloads alone, and payload parses them: choose one")
    name, where = path_name("path", path), path_or_none("index", index)
    options = Options(format=format, compression=compression, quick=quick, payload=payload, index=where)
    damage: list[Damage] = []
    for item in verify_file(name, options):
        if isinstance(item, FileReport):
            return item.replaced(damage=damage)
        if isinstance(item, Damage):
            damage.append(item)
    raise AssertionError("verify_file ends with a report")
