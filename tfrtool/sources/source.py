"""Open a name as a decoded stream of bytes."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

from tfrtool.errors import OpenError, ReadError
from tfrtool.sources.local import LocalFile
from tfrtool.sources.os_text import quoted, reason
from tfrtool.sources.remote import is_url, unsupported
from tfrtool.types import CompressionChoice

if TYPE_CHECKING:
    from types import TracebackType

    from tfrtool.framing.stream import ByteStream
    from tfrtool.sources.codecs.decoder import Decoder
    from tfrtool.sources.codecs.faults import CodecFault
    from tfrtool.sources.codecs.text_mode import TextConversion
    from tfrtool.sources.detect.match import FormatMatch
    from tfrtool.sources.spool import Spool
    from tfrtool.types import Compression

# Modules that a plain record file does not need are imported late: that takes longer than reading a small file.

HEAD_SIZE = 64 << 10
"""Bytes that can be looked at before anything is consumed."""


class RawStream(Protocol):
    """The input as it is stored: a local file, a spool over a pipe, or whatever else can be opened.

    `seekable`: any byte can be read at any time, and `share` opens the same bytes again. `position` is for progress.
    """

    @property
    def size(self) -> int | None:
        """Bytes, None for a stream whose end is not known."""

    @property
    def seekable(self) -> bool: ...

    @property
    def position(self) -> int: ...

    def read_into(self, offset: int, view: memoryview) -> int:
        """See `LocalFile`."""

    def discard_before(self, offset: int) -> None:
        """Bytes before `offset` are not read again."""

    def grown_by(self) -> int:
        """See `LocalFile`."""

    def was_rewritten(self) -> bool:
        """See `LocalFile`."""

    def share(self) -> RawStream:
        """See `LocalFile`."""

    def close(self) -> None: ...


class Source:
    """An open input. A context manager; `close` may be called twice.

    - `name`, as it was given to `open_source`
    - `size_on_disk`: bytes of the file on disk; None for a pipe
    - `compression`: `none`, `gzip` or `zlib`
    - `data`: the decoded stream
    - `faults`: faults of the gzip or zlib stream, in order; grows as `data` is read
    - `seekable`: whether any byte of `data` can be read at once, so that payloads may be skipped
    - `format_mismatch`: what the input is, if it lacks the compression that was asked for; it is then read as it is
    - `head`: the first bytes of the decoded stream, up to 64 KiB; `raw_head`: those of the input as stored
    """

    def __init__(self, name: str, raw: RawStream, raw_head: bytes) -> None:
        """Wrap an input that is read as it is; `decompress_as` and `undo_text` add decoders."""
        self.name = name
        self.size_on_disk = raw.size
        self.compression: Compression = "none"
        self.data: ByteStream = raw
        self.faults: list[CodecFault] = []
        self.format_mismatch: FormatMatch | None = None
        self.seekable = raw.seekable
        self.head = self.raw_head = raw_head
        self._raw = raw
        self._inner_text: TextConversion | None = None
        self._text: str | None = None
        self._spools: list[Spool] = []
        self._lead = 0
        self._decoder: Decoder | None = None

    def decompress_as(
        self, compression: Literal["gzip", "zlib"], *, checked: bool, text: TextConversion | None = None, lead: int = 0
    ) -> None:
        """Decompress the input. Unless `checked`, an input without a header of that kind is left as it is.

        `text` is a conversion of the packed bytes, undone first; `lead` bytes before them are read as they are.
        """
        from tfrtool.sources.codecs.container import CONTAINERS
        from tfrtool.sources.codecs.decoder import Decoder
        from tfrtool.sources.codecs.faults import CodecFault
        from tfrtool.sources.spool import Spool

        container = CONTAINERS[compression]
        if not checked and self.raw_head and container.header(self.raw_head).state == "foreign":
            self.format_mismatch = _describe_mismatch(compression, self.raw_head, self.size_on_disk)
            return
        self.compression, self.seekable, self.format_mismatch = compression, False, None
        self._inner_text, self._lead = text, lead
        packed: ByteStream = self._raw
        if text:
            packed = self._undo_text(packed, text.diagnosis)
            self.faults.append(CodecFault(0, 0, text.message, stops=True, harmless=True))
        # isal needs a second look at what is odd, which only a file can give.
        quick = _quick_zlib() if packed is self._raw and self._raw.seekable else None
        self._decoder = Decoder(packed, container, self.faults, quick, lead)
        self.data = Spool(self._decoder.chunks(), self.name)
        self._spools.append(self.data)
        self.head = _first_bytes(self.data)

    def undo_text(self, diagnosis: str) -> None:
        """Decode the decoded stream once more, to what it was before the text conversion that `diagnosis` names."""
        self.data = self._undo_text(self.data, diagnosis)
        self._text, self.seekable, self.head = diagnosis, False, _first_bytes(self.data)

    def _undo_text(self, data: ByteStream, diagnosis: str) -> Spool:
        from tfrtool.sources.codecs.text_mode import TextModeDecoder
        from tfrtool.sources.spool import Spool

        spool = Spool(TextModeDecoder(data, diagnosis).chunks(), self.name)
        self._spools.append(spool)
        return spool

    def position_encoded(self) -> int:
        """Return the bytes of the input consumed so far, for progress."""
        if self._decoder is not None:
            return self._decoder.position
        return self._raw.position

    def grown_by(self) -> int:
        """Return by how many bytes a file has grown since it was opened; these are not read."""
        return self._raw.grown_by()

    def was_rewritten(self) -> bool:
        """Return whether a file was changed since it was opened, so that old and new data may be mixed."""
        return self._raw.was_rewritten()

    def sniff(self) -> FormatMatch | None:
        """Detect a foreign format by the first bytes of the decoded stream, and the last if available."""
        from tfrtool.sources.detect.signatures import RIEGELI_MAGIC, TAIL_SIZE, sniff_magic

        tail = b""
        size = self.data.size
        if size is None and len(self.head) < HEAD_SIZE:
            size = len(self.head)
        if self.seekable and size is not None and self.head.startswith(RIEGELI_MAGIC):
            view = memoryview(bytearray(256))
            tail = bytes(view[: self.data.read_into(max(0, size - TAIL_SIZE), view)])
        return sniff_magic(self.head, size, tail=tail, outer=self.compression)

    @property
    def encoded(self) -> ByteStream:
        """The input as stored."""
        return self._raw

    @property
    def reopenable(self) -> bool:
        """Whether `reopen` can open the input a second time."""
        return self._raw.seekable

    def reopen(self) -> Source:
        """Return a second source over the same open input, from its beginning; close it before this one."""
        raw = self._raw.share()
        source = Source(self.name, raw, _first_bytes(raw))
        if self.compression != "none":
            source.decompress_as(self.compression, checked=True, text=self._inner_text, lead=self._lead)
        if self._text is not None:
            source.undo_text(self._text)
        source.size_on_disk = self.size_on_disk
        return source

    def spool_to_file(self) -> Source:
        """Copy the decoded stream, of which nothing was forgotten, to a nameless file that `reopen` can open."""
        copy = _spooled_to_file(self.data, self.name)
        kept = Source(self.name, copy, _first_bytes(copy))
        kept.size_on_disk, kept.faults = self.size_on_disk, self.faults
        return kept

    def close(self) -> None:
        """Close the input and its buffers."""
        for spool in self._spools:
            spool.close()
        self._raw.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_source(name: str, *, compression: CompressionChoice = "auto", reopenable: bool = False) -> Source:
    """Open a name that `resolve` gave: a path, `-`, or a URL.

    With `reopenable`, `Source.reopen` can open the input again: a stream that can only be read forwards is first copied
    to a nameless temporary file. `auto` tells the compression by the first bytes. With `gzip` or `zlib` asked
    for and something else found, nothing is decoded, and `format_mismatch` says what was found. Raises `OpenError`,
    `ReadError` (the first bytes cannot be read), or `UnsupportedError` (a URL).
    """
    if compression not in ("auto", "none", "gzip", "zlib"):
        raise ValueError(f"compression is auto, none, gzip or zlib, not {compression!r}")
    if is_url(name):
        raise unsupported(name)
    with ExitStack() as undo:
        raw = _open(name)
        undo.callback(raw.close)
        size = raw.size
        if reopenable and not raw.seekable:
            stream, raw = raw, _spooled_to_file(raw, name)
            stream.close()
            undo.callback(raw.close)
        source = _source(name, raw, compression)
        source.size_on_disk = size
        undo.pop_all()
        return source


def _source(name: str, raw: RawStream, compression: CompressionChoice) -> Source:
    source = Source(name, raw, _first_bytes(raw))
    kind = _detect_compression(source.raw_head) if compression == "auto" else compression
    if kind != "none":
        source.decompress_as(kind, checked=compression == "auto")
    return source


def _spooled_to_file(stream: ByteStream, name: str) -> LocalFile:
    """Copy a stream that can only be read forwards to a nameless temporary file."""
    from tempfile import TemporaryFile

    from tfrtool.sources.spool import read_all

    try:
        with TemporaryFile() as file:
            for view in read_all(stream):
                file.write(view)
            file.flush()
            copy = LocalFile(os.dup(file.fileno()), name)
    except OSError as error:
        raise ReadError(f"cannot keep {quoted(name)} in a temporary file: {reason(error)}") from error
    return copy


def _detect_compression(raw_head: bytes) -> Compression:
    from tfrtool.framing.crc import header_is_sound

    if header_is_sound(raw_head):
        return "none"
    from tfrtool.sources.detect.signatures import compression_of

    return compression_of(raw_head, is_record_header=False)


def _open(name: str) -> RawStream:
    """Open a local file, or a spool over a stream that can only be read forwards."""
    if name == "-":
        return _standard_input()
    try:
        fd = os.open(name, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise OpenError(f"cannot open '{name}': {_reason_or_dead_link(name, error)}") from error
    try:
        mode = os.fstat(fd).st_mode
        if stat.S_ISDIR(mode):
            raise OpenError(f"cannot open '{name}': it is a directory")
        if stat.S_ISREG(mode):
            file = LocalFile(fd, name)
            if file.size or not _has_bytes(fd):
                return file
        from tfrtool.sources.spool import Spool, chunks_of_descriptor

        return Spool(chunks_of_descriptor(fd, name), name, on_close=lambda: os.close(fd))
    except BaseException:
        os.close(fd)
        raise


def _standard_input() -> RawStream:
    try:
        mode = os.fstat(0).st_mode
    except OSError as error:
        raise OpenError(f"cannot read standard input: {reason(error)}") from error
    if os.isatty(0):
        from tfrtool.suggestion import Suggestion

        raise OpenError("standard input is a terminal: pipe records in", Suggestion("verify", "-", first="cat FILE"))
    if stat.S_ISDIR(mode):
        raise OpenError("cannot read standard input: it is a directory")
    if stat.S_ISREG(mode):  # redirected from a file, which can be read at any byte from where it stands
        base = os.lseek(0, 0, os.SEEK_CUR)
        file = LocalFile(0, "-", base=base, closes=False)
        if file.size or not _has_bytes(0):
            return file
    from tfrtool.sources.spool import Spool, chunks_of_descriptor

    return Spool(chunks_of_descriptor(0, "-"), "-")


def _has_bytes(fd: int) -> bool:
    """Return whether a file of size 0 has bytes all the same, as under /proc, or fails to read."""
    try:
        return bool(os.pread(fd, 1, 0))
    except OSError:
        return True


def _first_bytes(data: ByteStream) -> bytes:
    view = memoryview(bytearray(HEAD_SIZE))
    return bytes(view[: data.read_into(0, view)])


def _reason_or_dead_link(name: str, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError) and os.path.islink(name):
        return f"it is a symbolic link to '{os.readlink(name)}', which is not there"
    return reason(error)


def _describe_mismatch(wanted: str, head: bytes, size: int | None) -> FormatMatch:
    """Describe the input that lacks the compression that was asked for."""
    from tfrtool.framing.crc import header_is_sound
    from tfrtool.sources.detect.match import FormatMatch
    from tfrtool.sources.detect.signatures import sniff_magic
    from tfrtool.suggestion import Suggestion

    found, sniffed = _detect_compression(head), None
    if header_is_sound(head):
        diagnosis, what = "tfrecord", "TFRecord data that is not compressed"
    elif found != "none":
        diagnosis, what = "gzip", f"{found} data"
    else:
        sniffed = sniff_magic(head, size)
        diagnosis = sniffed.diagnosis if sniffed else ""
        what = sniffed.message if sniffed else f"it begins with the bytes {head[:8].hex(' ')}"
    message = f"{wanted} data was asked for, and this is none: {what}"
    if sniffed:
        return FormatMatch(diagnosis, message, sniffed.hint, sniffed.suggestion)
    return FormatMatch(
        diagnosis, message, "", Suggestion(settings=(("compression", "auto"),), aim="have it told apart")
    )


def _quick_zlib() -> Any:
    """Return isal, two to three times as fast as zlib, if it is installed and returns the bytes after a stream."""
    from importlib import import_module

    try:
        quick = import_module("isal.isal_zlib")
    except ImportError:
        return None
    trial = quick.decompressobj(-15)
    trial.decompress(b"\x03\0rest")
    # Before version 1.9 it swallows up to 7 bytes, so that the checksum behind sound data seems to be missing.
    return quick if trial.unused_data == b"rest" else None
