"""Large pieces of a file are read in two halves at once, and it cannot be told but by the time."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import get_ident
from time import monotonic, sleep
from types import FrameType

from pytest import MonkeyPatch, fixture, mark, raises

from tfrtool.errors import ReadError
from tfrtool.sources import local
from tfrtool.sources import local as beside
from tfrtool.sources.local import LocalFile

SIZE = 1 << 16
DATA = Random(5).randbytes(SIZE)
HALF = SIZE // 2
ME = get_ident()
Preadv = Callable[[int, list[memoryview], int], int]
real: Preadv = os.preadv


@fixture(autouse=True)
def two_processors(monkeypatch: MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(local, "_LARGE", 1 << 10)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    before = _thread._count()
    yield
    assert threads_end(before)  # in every test, whatever was interrupted in it


@fixture
def file(tmp_path: Path) -> Iterator[LocalFile]:
    path = tmp_path / "data"
    path.write_bytes(DATA)
    opened = LocalFile(os.open(path, os.O_RDONLY), "data")
    yield opened
    opened.close()


def filled(file: LocalFile, offset: int = 0, size: int = SIZE) -> bytes:
    view = memoryview(bytearray(size))
    return bytes(view[: file.read_into(offset, view)])


def threads_end(count: int) -> bool:
    limit = monotonic() + 20
    while _thread._count() > count and monotonic() < limit:
        sleep(0.001)
    return _thread._count() <= count


@mark.parametrize("offset", [0, 1, 1000, HALF, SIZE - 1024, SIZE - 1023, SIZE])
@mark.parametrize("size", [SIZE, SIZE - 1, 1024, 1023, 2049])
def test_all_bytes_come_in_their_order(file: LocalFile, offset: int, size: int) -> None:
    for _ in range(3):
        assert filled(file, offset, size) == DATA[offset : offset + size]
    assert file.position == (min(offset + size, SIZE) if offset < SIZE else 0)


def test_each_half_is_read_by_a_thread_of_its_own(file: LocalFile, monkeypatch: MonkeyPatch) -> None:
    seen: list[tuple[bool, int, int]] = []

    def noted(fd: int, views: list[memoryview], offset: int) -> int:
        seen.append((get_ident() == ME, offset, len(views[0])))
        return real(fd, views, offset)

    monkeypatch.setattr(os, "preadv", noted)
    assert filled(file) == DATA
    assert sorted(seen) == [(False, HALF, HALF), (True, 0, HALF)]
    assert filled(file, 0, 1000) == DATA[:1000]
    assert seen[2:] == [(True, 0, 1000)]


@mark.parametrize("theirs", [False, True], ids=["the first half", "the second half"])
def test_a_half_that_comes_short_is_read_on(file: LocalFile, monkeypatch: MonkeyPatch, theirs: bool) -> None:
    def short(fd: int, views: list[memoryview], offset: int) -> int:
        wanted = views[0][:7] if (get_ident() != ME) == theirs else views[0]
        return real(fd, [wanted], offset)

    monkeypatch.setattr(os, "preadv", short)
    assert filled(file) == DATA


@mark.parametrize("bad", [100, HALF + 100])
def test_an_error_in_either_half_is_told_with_its_place(file: LocalFile, monkeypatch: MonkeyPatch, bad: int) -> None:
    def failing(fd: int, views: list[memoryview], offset: int) -> int:
        if offset <= bad < offset + len(views[0]):
            if offset == bad:
                raise OSError(5, "Input/output error")
            return real(fd, [views[0][: bad - offset]], offset)
        return real(fd, views, offset)

    monkeypatch.setattr(os, "preadv", failing)
    with raises(ReadError, match=f"cannot read 'data' at byte {bad}: "):
        filled(file)


def test_a_file_that_got_shorter_is_an_error(file: LocalFile, tmp_path: Path) -> None:
    os.truncate(tmp_path / "data", HALF + 10)
    with raises(ReadError, match="shrank from 65,536 to 32,778 bytes"):
        filled(file)


def test_an_interrupt_leaves_all_in_order(file: LocalFile, monkeypatch: MonkeyPatch) -> None:
    def interrupted(fd: int, views: list[memoryview], offset: int) -> int:
        if get_ident() == ME:
            raise KeyboardInterrupt
        return real(fd, views, offset)

    monkeypatch.setattr(os, "preadv", interrupted)
    with raises(KeyboardInterrupt):
        filled(file)
    monkeypatch.setattr(os, "preadv", real)
    assert filled(file) == DATA


def test_an_interrupt_anywhere_is_waited_for_by_nobody(file: LocalFile) -> None:
    """Raised at each line of `Beside.read` in turn: the file can be read on, and closed, at once."""
    code = beside.Beside.read.__code__
    lines = sorted({line for *_, line in code.co_lines() if line and line > code.co_firstlineno})
    path = f"/proc/self/fd/{file._fd}"
    for stop in lines:
        other = LocalFile(os.open(path, os.O_RDONLY), "data")

        def interrupt(frame: FrameType, event: str, arg: object, stop: int = stop) -> object:
            if frame.f_code is code and event == "line" and frame.f_lineno == stop:
                raise KeyboardInterrupt
            return interrupt

        sys.settrace(interrupt)
        try:
            with suppress(KeyboardInterrupt):
                filled(other)
        finally:
            sys.settrace(None)
        assert filled(other, 7, SIZE - 7) == DATA[7:], stop
        other.close()


def test_closing_the_file_ends_the_thread(file: LocalFile) -> None:
    before = _thread._count()
    assert filled(file) == DATA
    assert _thread._count() == before + 1
    file.close()
    file.close()
    assert threads_end(before)


def test_where_no_thread_can_be_had_one_reads_alone(file: LocalFile, monkeypatch: MonkeyPatch) -> None:
    def refused(*given: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(beside, "start_new_thread", refused)
    assert filled(file) == DATA


def test_one_processor_reads_alone(file: LocalFile, monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    before = _thread._count()
    assert filled(file) == DATA
    assert _thread._count() == before


FORKED = """
import os, sys
from tfrtool.sources import local
from tfrtool.sources.local import LocalFile
local._LARGE = 1 << 10
os.sched_getaffinity = lambda process: {0, 1}
data = open(sys.argv[1], "rb").read()
file = LocalFile(os.open(sys.argv[1], os.O_RDONLY), "data")
view = memoryview(bytearray(len(data)))
assert file.read_into(0, view) == len(data) and file._beside
child = os.fork()
view[:] = bytes(len(view))
assert file.read_into(0, view) == len(data) and view == data
file.close()
if child:
    assert os.waitpid(child, 0)[1] == 0
os._exit(0)
"""


def test_the_child_of_a_fork_reads_alone(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(DATA)
    command = [sys.executable, "-W", "ignore", "-c", FORKED, str(path)]
    assert subprocess.run(command, timeout=60).returncode == 0
