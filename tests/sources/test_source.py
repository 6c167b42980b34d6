"""Opening: files, pipes and packed streams all read alike, and what cannot be opened says why."""

import contextlib
import errno
import gzip
import os
import pty
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kit.sources import flipped, frame, gz, pieces, read_all, records, words

from tfrtool.errors import OpenError, ReadError, UnsupportedError
from tfrtool.sources.local import LocalFile
from tfrtool.sources.source import Source, open_source
from tfrtool.sources.spool import DiskBuffer, Spool, chunks_of_descriptor

DATA = records(40)


def get(readable: Spool | LocalFile, begin: int, size: int) -> bytes:
    view = memoryview(bytearray(size))
    return bytes(view[: readable.read_into(begin, view)])


# The spool


@contextlib.contextmanager
def spool(data: bytes, sizes: list[int] | int = 7, memory: int = 64, segment: int = 128) -> Iterator[Spool]:
    made = Spool(pieces(data, sizes), "stream", memory=memory, segment=segment)
    try:
        yield made
    finally:
        made.close()


def on_disk(data: Spool) -> int:
    """Bytes kept in temporary files at this moment."""
    return data._overflow.held


@given(st.lists(st.integers(1, 90), min_size=1, max_size=6), st.integers(1, 200), st.integers(0, 300))
def test_any_chunking_reads_the_same(sizes: list[int], step: int, memory: int) -> None:
    with spool(DATA[:2000], sizes, memory) as data:
        assert read_all(data, step) == DATA[:2000]
        assert on_disk(data) == 0


@given(st.data())
def test_all_from_the_last_forgotten_byte_on_can_be_read_again(data: st.DataObject) -> None:
    source = words(300)
    sizes = data.draw(st.lists(st.integers(1, 400), min_size=1, max_size=4))
    with spool(source, sizes, data.draw(st.integers(0, 500)), data.draw(st.integers(1, 500))) as made:
        floor = 0
        for _ in range(12):
            begin = floor + data.draw(st.integers(0, 900))
            size = data.draw(st.integers(0, 700))
            assert get(made, begin, size) == source[begin : begin + size]
            floor = max(floor, data.draw(st.integers(0, begin + 50)))
            made.discard_before(floor)


def test_a_byte_that_was_forgotten_is_an_error_of_the_caller() -> None:
    with spool(DATA) as data:
        get(data, 0, 100)
        data.discard_before(50)
        data.discard_before(10)
        assert get(data, 50, 5) == DATA[50:55]
        with pytest.raises(ValueError, match="forgotten"):
            get(data, 49, 1)


def test_bytes_that_were_forgotten_ahead_are_never_kept() -> None:
    with spool(DATA, 50) as data:
        data.discard_before(2000)
        assert get(data, 2000, 10) == DATA[2000:2010]
        assert on_disk(data) == 0


def test_disk_use_is_bounded_by_what_is_kept() -> None:
    data = bytes(range(256)) * 4000
    with spool(data, 1000, memory=10_000, segment=8_000) as made:
        for offset in range(0, len(data), 5_000):
            assert get(made, offset, 20_000) == data[offset : offset + 20_000]
            made.discard_before(offset)
            assert on_disk(made) <= 40_000


def test_tiny_chunks_are_kept_together() -> None:
    with spool(DATA, 1, memory=1 << 20) as data:
        get(data, 0, 4000)
        assert len(data._kept) == 1


def test_a_failing_stream_never_looks_like_an_end() -> None:
    def failing() -> Iterator[bytes]:
        yield b"0123456789"
        raise ReadError("the disk is on fire")

    data = Spool(failing(), "stream")
    assert get(data, 0, 10) == b"0123456789"
    for _ in range(2):
        with pytest.raises(ReadError, match="fire"):
            get(data, 0, 11)
    assert get(data, 5, 5) == b"56789"


def test_a_full_disk_says_where_to_find_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "")

    monkeypatch.setattr(os, "pwrite", full)
    with spool(DATA) as data, pytest.raises(ReadError, match=r"no space is left; set TMPDIR"):
        get(data, 0, 1000)


def test_an_overflow_writes_on_after_short_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda fd, data, at: real(fd, data[:3], at))
    kept = DiskBuffer("stream", segment=10)
    for at in range(0, 100, 20):
        kept.append(at, memoryview(DATA)[at : at + 20])
    view = memoryview(bytearray(70))
    assert kept.read(25, view) == 70
    assert bytes(view) == DATA[25:95]
    kept.close()


# Descriptors and files


def script(*steps: bytes | OSError) -> Callable[..., bytes]:
    """A stand-in for `os.read` that does one step a call."""
    rest = iter(steps)

    def read(fd: int, size: int) -> bytes:
        step = next(rest, b"")
        if isinstance(step, OSError):
            raise step
        return step

    return read


def test_an_io_error_of_a_pipe_names_the_byte(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "read", script(b"abc", b"d", OSError(errno.EIO, "")))
    chunks = chunks_of_descriptor(99, "pipe")
    assert (next(chunks), next(chunks)) == (b"abc", b"d")
    with pytest.raises(ReadError, match="cannot read 'pipe' at byte 4: input/output error"):
        next(chunks)


def test_a_descriptor_that_does_not_block_is_waited_for() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(read_end, False)

    def write() -> None:
        os.write(write_end, b"late")
        os.close(write_end)

    late = threading.Timer(0.05, write)
    late.start()
    assert list(chunks_of_descriptor(read_end, "pipe")) == [b"late"]
    late.join()
    os.close(read_end)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x"
    path.write_bytes(DATA)
    return path


@pytest.fixture
def local(path: Path) -> Iterator[LocalFile]:
    file = LocalFile(os.open(path, os.O_RDONLY), str(path))
    yield file
    file.close()
    file.close()


def test_a_local_file_reads_anywhere(local: LocalFile) -> None:
    assert local.size == len(DATA)
    assert get(local, 100, 50) == DATA[100:150]
    assert get(local, len(DATA) - 5, 50) == DATA[-5:]
    assert get(local, len(DATA) + 5, 50) == b""
    assert read_all(local, 13) == DATA


def test_short_reads_are_gone_on_from(local: LocalFile, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.preadv
    monkeypatch.setattr(os, "preadv", lambda fd, views, at: real(fd, [views[0][:3]], at))
    assert get(local, 10, 100) == DATA[10:110]


def test_an_io_error_of_a_file_names_the_byte(local: LocalFile, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.preadv

    def failing(fd: int, views: list[memoryview], at: int) -> int:
        if at >= 500:
            raise OSError(errno.EIO, "")
        return real(fd, [views[0][: 500 - at]], at)

    monkeypatch.setattr(os, "preadv", failing)
    with pytest.raises(ReadError, match="at byte 500: input/output error"):
        read_all(local, 400)


def test_a_file_that_shrinks_cannot_be_read_to_its_end(local: LocalFile, path: Path) -> None:
    os.truncate(path, 1000)
    assert get(local, 0, 1000) == DATA[:1000]
    with pytest.raises(ReadError, match="shrank from 7,836 to 1,000 bytes while it was read"):
        read_all(local)


def test_a_file_that_says_it_is_longer_than_it_is_cannot_be_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    local = LocalFile(os.open(path, os.O_RDONLY), str(path))
    monkeypatch.setattr(os, "preadv", lambda fd, views, at: 0)  # as files under /sys do
    with pytest.raises(ReadError, match="it ends there, though it says that it has 7,836 bytes"):
        read_all(local)
    local.close()


def test_a_file_that_grows_ends_where_it_ended(local: LocalFile, path: Path) -> None:
    assert not local.grown_by()
    with path.open("ab") as file:
        file.write(b"more")
    assert read_all(local) == DATA
    assert local.grown_by() == 4
    assert not local.was_rewritten()


def test_a_file_that_is_written_over_is_told(local: LocalFile, path: Path) -> None:
    assert not local.was_rewritten()
    os.utime(path, ns=(0, 0))
    assert local.was_rewritten()


# The door


def opened(path: Path, content: bytes, **options: str) -> Source:
    path.write_bytes(content)
    return open_source(str(path), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("content", "compression"), [(DATA, "none"), (gz(DATA), "gzip"), (zlib.compress(DATA), "zlib"), (b"", "none")]
)
def test_compression_is_told_by_content(path: Path, content: bytes, compression: str) -> None:
    with opened(path, content) as source:
        assert (source.compression, source.size_on_disk) == (compression, len(content))
        assert source.seekable == (compression == "none")
        whole = DATA if content else b""
        assert (source.head, source.raw_head) == (whole[: 64 << 10], content[: 64 << 10])
        assert read_all(source.data) == whole
        assert source.faults == []
        assert source.position_encoded() == len(content)


def test_a_first_record_that_begins_like_packed_data_is_plain(path: Path) -> None:
    for size in (376, 0x9C78, 35_615, 559_903):
        record = frame(bytes(size))
        assert record[:2] in (b"\x78\x01", b"\x78\x9c", b"\x1f\x8b")
        with opened(path, record) as source:
            assert source.compression == "none"


def test_packed_data_of_packed_data_is_opened_once(path: Path) -> None:
    with opened(path, gz(gz(DATA))) as source:
        assert read_all(source.data) == gz(DATA)
        sniffed = source.sniff()
        assert sniffed is not None
        assert (sniffed.diagnosis, "twice" in sniffed.message) == ("gzip", True)


def test_the_compression_that_is_asked_for_is_not_doubted(path: Path) -> None:
    with opened(path, gz(DATA), compression="none") as source:
        assert read_all(source.data) == gz(DATA)
    with opened(path, gz(DATA)[:-20], compression="gzip") as source:
        assert read_all(source.data)
        assert len(source.faults) == 1


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (DATA, "TFRecord data that is not compressed"),
        (zlib.compress(DATA), "zlib data"),
        (b"<html>", "a web page"),
        (b"\xfe\xdc", "fe dc"),
    ],
)
def test_a_missing_compression_is_reported_and_not_decoded(path: Path, content: bytes, what: str) -> None:
    with opened(path, content, compression="gzip") as source:
        assert read_all(source.data) == content
        assert (source.compression, source.faults) == ("none", [])
        assert source.format_mismatch
        assert what in source.format_mismatch.message


def test_no_bytes_are_no_fault_whatever_was_asked_for(path: Path) -> None:
    with opened(path, b"", compression="gzip") as source:
        assert read_all(source.data) == b""
        assert source.faults == []


def test_faults_come_as_the_stream_is_read(path: Path) -> None:
    big = records(3000)
    packed = gz(big)
    with opened(path, packed[:-100]) as source:
        assert source.faults == []
        assert big.startswith(read_all(source.data))
        assert len(source.faults) == 1


def test_what_cannot_be_unpacked_at_all_is_still_gzip(path: Path) -> None:
    with opened(path, flipped(gz(DATA), 10)) as source:
        assert source.compression == "gzip"
        read_all(source.data)
        assert source.faults


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gz(DATA),))
    writer.start()
    with open_source(str(pipe)) as source:
        assert (source.size_on_disk, source.compression, source.seekable) == (None, "gzip", False)
        assert source.head == DATA[: 64 << 10]
        assert read_all(source.data) == DATA
        assert source.position_encoded() == len(gz(DATA))
    writer.join()


def test_a_file_without_a_size_is_read_all_the_same() -> None:
    with open_source("/proc/self/status") as source:
        assert (source.size_on_disk, source.seekable) == (None, False)
        assert read_all(source.data).startswith(b"Name:")


def test_a_failing_open_leaves_no_descriptor(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object) -> int:
        raise OSError(errno.EIO, "")

    before = os.listdir("/proc/self/fd")
    monkeypatch.setattr(os, "preadv", failing)
    with pytest.raises(ReadError, match="at byte 0"):
        open_source(str(path))
    monkeypatch.undo()
    with open_source(str(path)), open_source("/proc/self/status"):
        pass
    assert os.listdir("/proc/self/fd") == before


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("nothing", "no such file"),
        ("d", "it is a directory"),
        ("dangling", "a symbolic link to 'gone', which is not there"),
        ("loop", "symbolic links"),
        ("n" * 300, "too long"),
        ("a\0b", "NUL byte"),
    ],
)
def test_an_open_error_names_its_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, says: str) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkdir("d")
    os.symlink("gone", "dangling")
    os.symlink("loop", "loop")
    with pytest.raises(OpenError, match=says):
        open_source(name)


def test_a_file_without_permission_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> int:
        raise PermissionError(errno.EACCES, "")

    monkeypatch.setattr(os, "open", denied)
    with pytest.raises(OpenError, match="permission denied"):
        open_source(str(path))


@pytest.mark.parametrize("url", ["gs://b/x", "s3://b/x", "https://h/x", "odd://x"])
def test_a_url_says_what_to_do_instead(url: str) -> None:
    with pytest.raises(UnsupportedError, match=f"'{url}'.*pipe it in") as raised:
        open_source(url)
    suggestion = raised.value.suggestion
    assert suggestion is not None and (suggestion.verb, suggestion.path) == ("verify", "-")
    assert f" '{url}'" in suggestion.first


def test_a_url_of_a_file_here_says_to_give_its_path() -> None:
    with pytest.raises(UnsupportedError, match="give the path itself, '/d/x'"):
        open_source("file:///d/x")


# Standard input

_READ = """
import sys; sys.path.insert(0, sys.argv[1])
from kit.sources import read_all
from tfrtool.errors import OpenError
from tfrtool.sources.source import open_source
try:
    with open_source("-") as source:
        print(source.seekable, source.size_on_disk, source.compression, len(read_all(source.data)))
except OpenError as error:
    print(error)
"""


def on_standard_input(stdin: object, before: str = "") -> str:
    tests = str(Path(__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", before + _READ, tests]
    done = subprocess.run(command, stdin=stdin, capture_output=True, text=True, env=environment, check=True)  # type: ignore[call-overload]
    return str(done.stdout).strip()


def test_redirected_input_is_read_from_its_offset(path: Path) -> None:
    with path.open("rb") as file:
        assert on_standard_input(file) == f"True {len(DATA)} none {len(DATA)}"
        os.lseek(file.fileno(), 100, os.SEEK_SET)
        assert on_standard_input(file) == f"True {len(DATA) - 100} none {len(DATA) - 100}"


def test_standard_input_that_is_a_pipe_is_read_to_its_end(path: Path) -> None:
    path.write_bytes(gzip.compress(DATA))
    with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE) as cat:
        assert on_standard_input(cat.stdout) == f"False None gzip {len(DATA)}"


def test_standard_input_that_is_a_terminal_or_closed_is_refused() -> None:
    terminal, inside = pty.openpty()
    try:
        assert "standard input is a terminal" in on_standard_input(inside)
    finally:
        os.close(terminal)
        os.close(inside)
    assert "cannot read standard input: it is closed" in on_standard_input(None, "import os; os.close(0)\n")
