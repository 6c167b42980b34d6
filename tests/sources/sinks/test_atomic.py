"""Outputs appear whole or not at all, never over what must stay, and leave nothing lying about."""

import errno
import os
import pty
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tfrtool.errors import WriteError
from tfrtool.sources.sinks.atomic import Output, atomic_output
from tfrtool.verbs.records import RecordWriter

PACKAGE = str(Path(__file__).parents[3])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: str, data: bytes = b"new", **options: object) -> None:
    with atomic_output(path, **options) as out:  # type: ignore[arg-type]
        out.write(data)


def test_the_output_appears_only_when_it_is_complete() -> None:
    with atomic_output("out") as out:
        out.write(b"a" * 1_000_000)
        out.write(b"b")
        assert not os.path.exists("out")
        assert [name.startswith(".out.tfrtool-") for name in os.listdir()] == [True]
    assert Path("out").read_bytes() == b"a" * 1_000_000 + b"b"
    assert os.listdir() == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, WriteError])
def test_nothing_is_left_when_the_block_fails(error: type[BaseException]) -> None:
    with pytest.raises(error), atomic_output("out") as out:
        out.write(b"half")
        raise error
    assert os.listdir() == []


def test_nothing_is_left_when_the_writer_is_dropped() -> None:
    output = atomic_output("out")
    output.__enter__().write(b"half")
    del output
    assert os.listdir() == []


def test_nothing_is_left_of_a_record_writer_that_is_dropped() -> None:
    writer = RecordWriter("out")
    writer.write(b"payload")
    del writer
    assert os.listdir() == []


def test_an_existing_file_stays_without_force() -> None:
    Path("out").write_bytes(b"old")
    with pytest.raises(WriteError, match="'out' exists already; say force=True to replace it"):
        write("out")
    assert Path("out").read_bytes() == b"old"
    assert os.listdir() == ["out"]


def test_a_file_that_appears_meanwhile_stays() -> None:
    with pytest.raises(WriteError, match="meanwhile"), atomic_output("out"):
        Path("out").write_bytes(b"theirs")
    assert Path("out").read_bytes() == b"theirs"
    assert os.listdir() == ["out"]


def test_force_replaces_and_keeps_the_permissions() -> None:
    Path("out").write_bytes(b"old")
    os.chmod("out", 0o640)
    write("out", force=True)
    assert Path("out").read_bytes() == b"new"
    assert stat.S_IMODE(os.stat("out").st_mode) == 0o640


def test_a_new_file_has_default_permissions() -> None:
    before = os.umask(0o027)
    try:
        write("out")
        write("forced", force=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat("out").st_mode) == 0o640
    assert stat.S_IMODE(os.stat("forced").st_mode) == 0o640


def test_force_replaces_a_link_and_not_what_it_leads_to() -> None:
    Path("target").write_bytes(b"old")
    os.symlink("target", "out")
    write("out", force=True)
    assert not os.path.islink("out")
    assert Path("target").read_bytes() == b"old"


@pytest.mark.parametrize("force", [False, True])
def test_a_link_that_leads_nowhere_is_refused(force: bool) -> None:
    os.symlink("nowhere", "out")
    with pytest.raises(WriteError, match="leads nowhere"):
        write("out", force=force)
    assert os.listdir() == ["out"]


@pytest.mark.parametrize("spelling", ["in", "./in", "symlink", "hardlink", "d/../in"])
def test_an_input_is_never_written_to(spelling: str) -> None:
    Path("in").write_bytes(b"precious")
    os.symlink("in", "symlink")
    os.link("in", "hardlink")
    os.mkdir("d")
    with pytest.raises(WriteError, match="is the input 'in'"):
        write(spelling, force=True, same_as=["-", "gs://b/x", "gone", "in"])
    assert Path("in").read_bytes() == b"precious"


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("no/out", "the directory 'no': no such file"),
        ("file/out", "'file' is not a directory"),
        ("d", "it is a directory"),
        ("d/", "the name of a directory"),
        ("n" * 300, "the name is too long"),
        ("a\0b", "NUL byte"),
    ],
)
def test_what_cannot_be_written_says_why(path: str, says: str) -> None:
    Path("file").touch()
    os.mkdir("d")
    with pytest.raises(WriteError, match=says):
        write(path, force=True)
    assert sorted(os.listdir()) == ["d", "file"]


def test_a_name_as_long_as_names_can_be_is_written() -> None:
    for name in ("n" * 255, "é" * 127, os.fsdecode(b"\xff" * 200)):
        write(name)
        assert Path(name).read_bytes() == b"new"


def test_the_check_sees_the_whole_file_and_can_stop_it() -> None:
    seen = []

    def refuse(path: str) -> None:
        seen.append(Path(path).read_bytes())
        raise WriteError("not good enough")

    with pytest.raises(WriteError, match="not good enough"):
        write("out", check=refuse)
    assert seen == [b"new"]
    assert os.listdir() == []


def failing(code: int, after: int = 0) -> Callable[..., object]:
    """A system call that fails once `after` calls went well."""
    calls = iter(range(after))

    def call(*args: object) -> object:
        if next(calls, None) is None:
            raise OSError(code, os.strerror(code))
        return len(args[1])  # type: ignore[arg-type]

    return call


def test_a_full_disk_names_the_bytes_written_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", failing(errno.ENOSPC, after=2))
    says = "cannot write 'out': no space is left, after 800000 bytes"
    with pytest.raises(WriteError, match=says), atomic_output("out") as out:
        for _ in range(5):
            out.write(b"x" * 400_000)
    assert os.listdir() == []


def test_a_disk_that_is_full_at_the_last_flush_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "write", failing(errno.EDQUOT))
    with pytest.raises(WriteError, match="disk quota"):
        write("out")
    assert os.listdir() == []


def test_a_disk_that_fails_at_fsync_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(WriteError, match="nothing was published"):
        write("out")
    assert os.listdir() == []


def test_short_writes_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: real(fd, memoryview(data)[:1000]))
    data = os.urandom(600_000)
    write("out", data)
    assert Path("out").read_bytes() == data


# File systems without hard links


@pytest.fixture
def no_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", failing(errno.EPERM))


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_the_file_is_published_all_the_same() -> None:
    write("out")
    assert Path("out").read_bytes() == b"new"
    assert os.listdir() == ["out"]


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_a_file_that_appears_meanwhile_stays() -> None:
    with pytest.raises(WriteError, match="meanwhile"), atomic_output("out"):
        Path("out").write_bytes(b"theirs")
    assert Path("out").read_bytes() == b"theirs"


@pytest.mark.usefixtures("no_links")
def test_without_hard_links_a_failing_rename_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", failing(errno.EIO))
    with pytest.raises(WriteError, match="cannot give 'out' its name"):
        write("out")
    assert os.listdir() == []


def test_a_link_whose_answer_was_lost_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.link

    def link(source: str, target: str) -> None:
        real(source, target)
        raise FileExistsError(errno.EEXIST, "")

    monkeypatch.setattr(os, "link", link)
    write("out")
    assert os.listdir() == ["out"]


# Killed between steps

_KILLED = """
import os, sys
left = int(sys.argv[1])
def killing(real):
    def step(*args, **kwargs):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return real(*args, **kwargs)
    return step
from tfrtool.sources.sinks.atomic import atomic_output
if "nolinks" in sys.argv:
    def link(*_): raise OSError(95, "")
    os.link = link
for name in ("open", "write", "fchmod", "fsync", "close", "link", "replace", "unlink"):
    setattr(os, name, killing(getattr(os, name)))
with atomic_output("out", force="force" in sys.argv) as out:
    out.write(b"new" * 200_000)
"""


def killed_at_every_step(*options: str) -> Iterator[bool]:
    """Runs the writer once for each step, killed before it, and at last to its end; says whether it came to that."""
    for step in range(40):
        command = [sys.executable, "-c", _KILLED, str(step), *options]
        code = subprocess.run(command, env={**os.environ, "PYTHONPATH": PACKAGE}, check=False).returncode
        assert code in (0, 9)
        yield code == 0
        if code == 0:
            assert step > 5
            return
    raise AssertionError("it never came to its end")


def test_a_kill_at_any_step_leaves_nothing_or_the_whole_file() -> None:
    for finished in killed_at_every_step():
        there = os.path.exists("out")
        assert there or not finished
        if there:
            assert Path("out").read_bytes() == b"new" * 200_000
            os.unlink("out")


def test_a_kill_at_any_step_leaves_the_old_or_the_new_file() -> None:
    for finished in killed_at_every_step("force"):
        if os.path.exists("out"):
            assert Path("out").read_bytes() in ((b"new" * 200_000,) if finished else (b"old", b"new" * 200_000))
        Path("out").write_bytes(b"old")


# Standard output, pipes and devices


def run(program: str, **options: object) -> "subprocess.CompletedProcess[bytes]":
    code = "import os, sys\nfrom tfrtool.sources.sinks.atomic import atomic_output\n" + program
    environment = {**os.environ, "PYTHONPATH": PACKAGE, "PYTHONUNBUFFERED": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, check=False, **options)  # type: ignore[call-overload, no-any-return]


TO_STDOUT = "with atomic_output('-', same_as=['in']) as out: out.write(b'x' * 3_000_000)"


def test_standard_output_gets_every_byte() -> None:
    done = run(TO_STDOUT, stdout=subprocess.PIPE)
    assert (done.returncode, done.stdout) == (0, b"x" * 3_000_000)


def test_a_full_disk_behind_standard_output_is_an_error() -> None:
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))\n"
    with open("full", "wb") as file:
        done = run(limit + TO_STDOUT, stdout=file, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"WriteError: cannot write standard output: the file would be larger" in done.stderr
    assert os.path.getsize("full") == 1 << 20


def test_a_reader_who_goes_away_is_a_broken_pipe() -> None:
    done = run(
        "import threading\nr, w = os.pipe(); os.dup2(w, 1); os.close(r)\n"
        f"try:\n    {TO_STDOUT}\nexcept BrokenPipeError: sys.stderr.write('gone')",
        stderr=subprocess.PIPE,
    )
    assert done.stderr == b"gone"


def test_a_terminal_gets_no_records() -> None:
    terminal, inside = pty.openpty()
    try:
        done = run(TO_STDOUT, stdout=inside, stderr=subprocess.PIPE)
    finally:
        os.close(terminal)
        os.close(inside)
    assert b"WriteError: standard output is a terminal" in done.stderr


def test_an_input_behind_standard_output_is_refused() -> None:
    Path("in").write_bytes(b"precious")
    with open("in", "ab") as file:
        done = run(TO_STDOUT, stdout=file, stderr=subprocess.PIPE)
    assert b"WriteError: standard output is the input 'in'" in done.stderr
    assert Path("in").read_bytes() == b"precious"


def test_devices_are_written_to_and_never_replaced() -> None:
    write("/dev/null", b"x" * 1_000_000, force=True)
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with open("behind", "wb") as file:
        done = run("with atomic_output('/dev/stdout', force=True): pass", stdout=file, stderr=subprocess.PIPE)
    assert b"it stands for a file that is open already" in done.stderr


def test_a_descriptor_that_does_not_block_is_waited_for() -> None:
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    data = os.urandom(1_000_000)
    with subprocess.Popen(["cat"], stdin=read_end, stdout=subprocess.PIPE) as cat:
        os.close(read_end)
        assert cat.stdout is not None

        def feed() -> None:
            with Output(write_end, "pipe") as out:
                out.write(data)

        feeder = threading.Thread(target=feed)
        feeder.start()
        assert cat.stdout.read() == data
        feeder.join()
