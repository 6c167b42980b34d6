"""Reading records in a program: payloads that stop at damage, or frames and damage that never do."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tfrtool.errors import DamageError
from tfrtool.framing.damage import Damage
from tfrtool.framing.walk import MAX_RECORD, Batch
from tfrtool.sources.opening import open_source
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading import Reading, unwrapped

Path = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@dataclass(frozen=True, slots=True)
class Frame:
    """One sound record: its number in the file, the offset of its frame in the decoded stream, and its payload."""

    index: int
    offset: int
    payload: bytes


def walk(
    source: Path,
    *,
    format: Literal["auto", "tfrecord", "ofrecord"] = "auto",
    compression: Literal["auto", "none", "gzip", "zlib"] = "auto",
) -> Iterator[Frame | Damage]:
    """Yield every sound frame and every damaged range of a file, in its order; together they are the whole file.

    Damage is never raised. Raises `OpenError`, `ReadError` or `UnsupportedError` where the file cannot be read, and
    `DamageError` for a record of more than 1 GiB, which is not read into memory; ValueError or TypeError at once for
    arguments that are none.
    """
    from tfrtool.verbs.asked import path_name, refuse_options

    refuse_options(format=format, compression=compression)
    return _walk(path_name("source", source), Options(format=format, compression=compression))


def _walk(name: str, options: Options) -> Iterator[Frame | Damage]:
    with open_source(name, compression=options.compression) as opened:
        yield from _walked(name, Reading(unwrapped(opened, options.compression), options))


def _walked(name: str, reading: Reading) -> Iterator[Frame | Damage]:
    before, _ = reading.framing
    for event in reading.events(payloads=True):
        if isinstance(event, Batch):
            yield from _frames(name, event, before)
        else:
            yield event


def _frames(name: str, batch: Batch, before: int) -> Iterator[Frame]:
    view = batch.view
    if view is None:
        size = batch.ends[0] - batch.begins[0]
        raise DamageError(f"record {batch.first} holds {size:,} bytes, more than {MAX_RECORD:,}", name)
    offset = batch.base - before
    for i, (begin, end) in enumerate(zip(batch.begins, batch.ends, strict=True)):
        yield Frame(batch.first + i, offset + begin, bytes(view[begin:end]))


def records(
    path: Path,
    *,
    format: Literal["auto", "tfrecord", "ofrecord"] = "auto",
    compression: Literal["auto", "none", "gzip", "zlib"] = "auto",
) -> Iterator[bytes]:
    """Yield the payload of each record of a file; `DamageError` at the first damage, naming file, offset and cause.

    Raises what `walk` raises where the file cannot be read or an argument is none.
    """
    from tfrtool.verbs.asked import path_name, refuse_options

    refuse_options(format=format, compression=compression)
    return _records(path_name("path", path), Options(format=format, compression=compression))


def _records(name: str, options: Options) -> Iterator[bytes]:
    with open_source(name, compression=options.compression) as opened:
        reading = Reading(unwrapped(opened, options.compression), options)
        for item in _walked(name, reading):
            if isinstance(item, Frame):
                yield item.payload
            elif reading.foreign:
                raise DamageError(f"{name}: {item.message or 'no record file'}", name)
            else:
                where = f"[{item.begin}, {item.end})"
                raise DamageError(f"{name}: {item.fault} at {where}: {item.message}", name, item)
