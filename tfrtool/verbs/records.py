"""Read records in a program, stopping at damage or not, and write record files that appear whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, Self

from tfrtool.errors import DamageError
from tfrtool.framing.crc import Bytes
from tfrtool.framing.damage import Damage
from tfrtool.framing.encode import footer, header
from tfrtool.framing.walk import MAX_RECORD, Batch
from tfrtool.sources.sinks.atomic import PendingOutput, open_output
from tfrtool.sources.source import open_source
from tfrtool.types import CompressionChoice, FormatChoice, PathLike
from tfrtool.verbs.options import Options
from tfrtool.verbs.reading.file_reader import FileReader, unwrapped

if TYPE_CHECKING:
    from tfrtool.types import Compression


@dataclass(frozen=True, slots=True)
class Frame:
    """One intact record: its number in the file, the offset of its frame in the decoded stream, and its payload."""

    index: int
    offset: int
    payload: bytes


def walk(
    source: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
) -> Iterator[Frame | Damage]:
    """Yield every intact frame and every damaged range of a file, in order; together they cover the whole file.

    Never raises for damage. Raises `OpenError`, `ReadError` or `UnsupportedError` where the file cannot be read, and
    `DamageError` for a record of more than 1 GiB, which is not read into memory; ValueError or TypeError at once for
    invalid arguments.
    """
    from tfrtool.verbs.options import path_name, refuse_options

    refuse_options(format=format, compression=compression)
    return _walk(path_name("source", source), Options(format=format, compression=compression))


def _walk(name: str, options: Options) -> Iterator[Frame | Damage]:
    with open_source(name, compression=options.compression) as opened:
        yield from _walked(name, FileReader(unwrapped(opened, options.compression), options))


def _walked(name: str, reader: FileReader) -> Iterator[Frame | Damage]:
    before, _ = reader.framing
    for event in reader.events(payloads=True):
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
    path: PathLike,
    *,
    format: FormatChoice = "auto",
    compression: CompressionChoice = "auto",
) -> Iterator[bytes]:
    """Yield the payload of each record of a file; raise `DamageError` at the first damage, with file, offset and cause.

    Raises what `walk` raises where the file cannot be read or an argument is invalid.
    """
    from tfrtool.verbs.options import path_name, refuse_options

    refuse_options(format=format, compression=compression)
    return _records(path_name("path", path), Options(format=format, compression=compression))


def _records(name: str, options: Options) -> Iterator[bytes]:
    with open_source(name, compression=options.compression) as opened:
        reader = FileReader(unwrapped(opened, options.compression), options)
        for item in _walked(name, reader):
            if isinstance(item, Frame):
                yield item.payload
            elif reader.foreign:
                raise DamageError(f"{name}: {item.message or 'not a record file'}", name)
            else:
                where = f"[{item.begin}, {item.end})"
                raise DamageError(f"{name}: {item.fault} at {where}: {item.message}", name, item)


_WBITS = {"gzip": 31, "zlib": 15}


def packer(compression: Compression, level: int) -> Any:
    """Return a zlib compressor for an output, or None; gzip is written as one member without a time stamp."""
    if compression == "none":
        return None
    import zlib

    return zlib.compressobj(level, zlib.DEFLATED, _WBITS[compression])


class FrameFile:
    """A file of bytes, compressed or not, that gets its name in `close`; `discard` leaves no trace of it.

    gzip is written as one member without a time stamp, so that equal records give equal files. The arguments after
    `compression` are those of `atomic_output`; failures are `WriteError`.
    """

    def __init__(
        self,
        path: str,
        compression: Compression = "none",
        *,
        level: int = 6,
        force: bool = False,
        same_as: Iterable[str] = (),
        check: Callable[[str], None] | None = None,
    ) -> None:
        self._sink = open_output(path, force=force, same_as=same_as)
        self._out: BinaryIO | None = self._sink.out
        self._check = check
        self._level = level
        self.compress(compression)

    def compress(self, compression: Compression) -> None:
        """Compress all that is written, which is nothing yet."""
        self._deflate = packer(compression, self._level)

    @property
    def closed(self) -> bool:
        """Whether the file was published or discarded."""
        return self._out is None

    def write(self, data: Bytes) -> None:
        """Append bytes as they are. If that fails the whole file is discarded, since half of them may be written."""
        if self._out is None:
            raise ValueError("the writer is closed")
        try:
            self._out.write(data if self._deflate is None else self._deflate.compress(data))
        except BaseException:
            self.discard()
            raise

    def finish(self) -> PendingOutput | None:
        """Flush the file to disk and have it checked. Return what the caller has to publish or discard; None where the
        file is closed."""
        if self._out is None:
            return None
        try:
            if self._deflate is not None:
                self._out.write(self._deflate.flush())
            self._sink.finish(self._check)
        except BaseException:
            self.discard()
            raise
        self._out = None
        return self._sink

    def close(self) -> None:
        """Publish the file. A second call does nothing."""
        sink = self.finish()
        if sink is not None:
            try:
                sink.publish()
            finally:
                sink.discard()

    def discard(self) -> None:
        """Drop everything that was written; a file that existed at the path is unchanged."""
        if self._out is not None:
            self._out = None
            self._sink.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()


class RecordWriter(FrameFile):
    """Write a TFRecord file that appears whole or not at all.

    Records go to a temporary file beside `path`, which is renamed to `path` in `close`. As a context manager it closes
    at the end of the block, and discards everything if the block raises. `compression` is None, "gzip" or "zlib", in
    upper or lower case; gzip is written as one member, since TensorFlow up to 2.4 reads only the first. Raises
    `WriteError` if the file exists, unless `force`. `level` is the compression level, from 0 to 9 (-1 for zlib's
    default). `records` counts what was written. Raises ValueError or TypeError for invalid arguments.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        compression: Literal["gzip", "zlib", "none", "GZIP", "ZLIB", "NONE", ""] | None = None,
        level: int = 6,
        force: bool = False,
    ) -> None:
        from tfrtool.verbs.options import path_name, refuse_options, whole_number

        if not isinstance(compression, str | None):
            raise TypeError(f"compression is gzip, zlib or None, not {compression!r}")
        codec = (compression or "none").lower()
        if codec not in ("none", "gzip", "zlib"):
            raise ValueError(f"compression is gzip, zlib or None, not {compression!r}")
        refuse_options(force=force)
        level = whole_number("level", level, -1, 9)
        super().__init__(path_name("path", path), codec, level=level, force=force)  # type: ignore[arg-type]
        self.records = 0

    def write(self, payload: Bytes) -> None:
        """Append one record."""
        payload = memoryview(payload).cast("B")
        for part in (header(len(payload)), payload, footer(payload)):
            super().write(part)
        self.records += 1
