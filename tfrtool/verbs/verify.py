"""verify: is every byte sound."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from tfrtool.framing.layout import FRAMING, HEADER, OFRECORD_HEADER
from tfrtool.framing.walk import Batch
from tfrtool.report import FileReport
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import Reading, reading

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage


def verify_file(name: str, options: Options) -> Iterator[Damage | FileReport]:
    """Yield the damage of one input as it is found, then its report; an input that cannot be read is a report too."""
    yield from reading(name, options, _verify)


def _verify(read: Reading) -> Iterator[Damage | FileReport]:
    options = read.options
    for event in read.events(payloads=options.payload, headers_only=options.quick):
        if not isinstance(event, Batch):
            yield event
        elif options.payload:
            for damage in _misfits(read, event):
                read.unfit(damage)
                yield damage
    report = read.report()
    if options.payload and report.kind == "unknown" and report.status == "clean" and not report.hint:
        report.hint = f"no payload was parsed, since {read.why_unknown()}"
    yield report


def _misfits(read: Reading, batch: Batch) -> Iterator[Damage]:
    """The records of a batch whose payloads do not parse as the kind of the file."""
    kind = read.kind
    if kind is None or kind == "unknown" or batch.view is None:
        return
    from tfrtool.framing.damage import Damage
    from tfrtool.payload.kinds import fits

    before = HEADER if read.identity.format == "tfrecord" else OFRECORD_HEADER
    after = FRAMING - HEADER if read.identity.format == "tfrecord" else 0
    for i, (begin, end) in enumerate(zip(batch.begins, batch.ends, strict=True)):
        misfit = fits(batch.view[begin:end], kind)
        if misfit is not None:
            at = batch.base + begin
            yield Damage(
                at - before,
                batch.base + end + after,
                "payload",
                batch.first + i,
                message=f"the payload is no {kind}: {misfit}",
            )


def verify(
    path: str | os.PathLike[str],
    *,
    format: Literal["auto", "tfrecord", "ofrecord"] = "auto",
    compression: Literal["auto", "none", "gzip", "zlib"] = "auto",
    payload: bool = False,
) -> FileReport:
    """The report of one file, with all its damage in `damage`; for files with millions of faults use `walk`.

    `payload` also parses every payload. Never raises for damage; a file that cannot be read has status `error`.
    """
    options = Options(format=format, compression=compression, payload=payload)
    damage: list[Damage] = []
    for item in verify_file(os.fspath(path), options):
        if isinstance(item, FileReport):
            return replace(item, damage=damage)
        damage.append(item)
    raise AssertionError("verify_file ends with a report")
