"""Whatever happens to `repair` while it works: the output is the old file or the whole new one, and the input stays.

The program runs in a fork of this process, in which one call of the operating system goes wrong. That call is chosen by
its number, and each one has its turn.
"""

import errno
import gzip
import os
import resource
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from fork import Ended, forked
from make_samples import DATA, flip, frame
from program import COMMAND, environment, shell
from pytest import MonkeyPatch, fixture, mark

import tfrtool
from tfrtool.report import RepairReport
from tfrtool.sources import Source, debris
from tfrtool.verbs import RepairOptions, repair_file

SAMPLE = (DATA / "flowers-damaged.tfrecord").read_bytes()
SOUND = (DATA / "flowers.tfrecord").read_bytes()
CALLS = ("open", "preadv", "write", "fchmod", "fsync", "link", "replace", "unlink", "mkdir", "rmdir")
OLD = b"old"


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(debris, "_swept", set())
    Path("in").write_bytes(SAMPLE)
    return tmp_path


@fixture(scope="module")
def saved(tmp_path_factory) -> bytes:  # type: ignore[no-untyped-def]
    """What undisturbed `repair` makes of the sample."""
    where = tmp_path_factory.mktemp("undisturbed")
    (where / "in").write_bytes(SAMPLE)
    assert forked("repair", str(where / "in"), "-o", str(where / "out")).code == 1
    return (where / "out").read_bytes()


def at_call(number: int, act: Callable[[], None], moments: str) -> Callable[[int], None]:
    """Lets `act` happen at a moment that has this number: those `before` a call of the system, those `behind` it."""

    def before(told: int) -> None:
        left, tell = number, os.write

        def moment(when: str, name: str) -> None:
            nonlocal left
            if when in moments:
                left -= 1
                if left == -1:
                    tell(told, name.encode())
                    act()

        def harmed(name: str, real: Callable[..., object]) -> Callable[..., object]:
            def call(*args: object, **options: object) -> object:
                moment("before", name)
                result = real(*args, **options)
                moment("behind", name)
                return result

            return call

        for name in CALLS:
            setattr(os, name, harmed(name, getattr(os, name)))

    return before


def at_each_call(
    act: Callable[[], None], *args: str, moments: str = "before", old: bool = False, clean: bool = True
) -> Iterator[Ended]:
    """The same run again and again, in which each call of the system has its turn to go wrong.

    What stands under the output's name before is nothing, or `old`; `clean` removes what the run before left.
    """
    for number in range(200):
        for name in ("out", *temporary()) if clean else ("out",):
            Path(name).unlink(missing_ok=True)
        if old:
            Path("out").write_bytes(OLD)
        ended = forked("repair", *args, before=at_call(number, act, moments))
        if ended.told is None:
            assert number > 15
            return
        assert "Traceback" not in ended.said
        assert Path("in").read_bytes() == SAMPLE
        yield ended
    raise AssertionError("it never came to its end")


def by_signal(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def fail() -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def output() -> bytes | None:
    return Path("out").read_bytes() if os.path.exists("out") else None


def temporary() -> list[str]:
    return [name for name in os.listdir() if name.endswith(".tmp")]


def test_a_kill_at_any_moment_leaves_no_output_or_the_whole_one_and_the_next_run_clears_up(saved: bytes) -> None:
    left = set()
    for ended in at_each_call(by_signal(signal.SIGKILL), "in", "-o", "out", clean=False):
        assert ended.code == -signal.SIGKILL
        assert output() in (None, saved)
        left.add(len(temporary()))
    assert left == {0, 1}
    assert temporary() == []


def test_a_kill_at_any_moment_leaves_the_old_output_or_the_whole_new_one(saved: bytes) -> None:
    found = {output() for _ in at_each_call(by_signal(signal.SIGKILL), "in", "-o", "out", "--force", old=True)}
    assert found == {OLD, saved}


@mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_at_any_moment_leaves_the_old_output_or_the_whole_new_one(
    number: signal.Signals, code: int, saved: bytes
) -> None:
    args = ("in", "-o", "out", "--force")
    for ended in at_each_call(by_signal(number), *args, moments="before behind", old=True):
        assert (ended.code, "tfrtool:" in ended.said) == (code, False), ended
        assert output() in (OLD, saved)
        assert temporary() == [], ended


def test_a_call_that_fails_is_an_error_or_does_no_harm(saved: bytes) -> None:
    for ended in at_each_call(fail, "in", "-o", "out"):
        assert (ended.code, output()) in ((1, saved), (3, None)), ended
        assert ("tfrtool: " in ended.said) == (ended.code == 3), ended
        if ended.told != "unlink":
            assert temporary() == []


def with_room_for(size: int) -> Callable[[int], None]:
    """A disk on which no file can be larger."""
    return lambda told: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_disk_that_is_full_at_any_byte_leaves_nothing_of_an_output(saved: bytes) -> None:
    for room in [*range(0, len(saved), 1499), len(saved) - 1]:
        ended = forked("repair", "in", "-o", "out", before=with_room_for(room))
        assert ended.code == 3
        assert "the file would be larger than the system allows" in ended.said
        assert "; make room there, or write elsewhere; the input is as it was" in ended.said
        assert os.listdir() == ["in"]
    assert forked("repair", "in", "-o", "out", before=with_room_for(len(saved))).code == 1
    assert output() == saved


SIDES = ("--quarantine", "dropped", "--report", "list")


def test_a_disk_that_is_full_for_a_side_file_leaves_the_outputs_and_neither_side_file() -> None:
    args = ("repair", "in", "-o", "out", "--keep", "before", *SIDES)  # which drops more than it writes
    assert forked(*args).code == 1
    kept, dropped = (Path(name).read_bytes() for name in ("out", "dropped"))
    for room in range(len(kept), len(dropped), 999):
        for name in ("out", "dropped", "list"):
            Path(name).unlink(missing_ok=True)
        ended = forked(*args, before=with_room_for(room))
        assert ended.code == 3
        assert "tfrtool: cannot write 'dropped': the file would be larger than the system allows" in ended.said
        assert "there is no 'dropped' nor 'list' now; the outputs are not concerned; say --force to" in ended.said
        assert sorted(os.listdir()) == ["in", "out"]
        assert output() == kept


def test_a_disk_that_is_full_for_the_list_alone_leaves_the_outputs_and_neither_side_file() -> None:
    Path("many").write_bytes(b"".join(frame(b"sound") + flip(frame(b"payload"), 14) for _ in range(99)))
    ended = forked("repair", "many", "-o", "out", *SIDES, before=with_room_for(5000))
    assert ended.code == 3
    assert "cannot write 'list': the file would be larger" in ended.said
    assert output() == frame(b"sound") * 99
    assert sorted(os.listdir()) == ["in", "many", "out"]


def test_a_full_disk_for_one_side_file_does_not_stop_the_inputs_that_follow(saved: bytes) -> None:
    Path("other").write_bytes(SOUND)
    ended = forked("repair", "in", "other", "-o", "out/", "--report", "/dev/full")
    assert ended.code == 3
    assert "cannot write '/dev/full': no space is left" in ended.said
    assert (Path("out/in").read_bytes(), Path("out/other").read_bytes()) == (saved, SOUND)


def test_a_signal_at_any_moment_leaves_no_half_of_a_side_file() -> None:
    assert forked("repair", "in", "-o", "out", *SIDES).code == 1
    whole = {name: Path(name).read_bytes() for name in ("dropped", "list", "out")}
    found = set()
    for ended in at_each_call(by_signal(signal.SIGTERM), "in", "-o", "out", "--force", *SIDES):
        assert (ended.code, "tfrtool:" in ended.said, temporary()) == (143, False, []), ended
        there = {name: Path(name).read_bytes() for name in whole if os.path.exists(name)}
        assert there.items() <= whole.items()
        found.add(tuple(there))
        for name in ("dropped", "list"):
            Path(name).unlink(missing_ok=True)
    assert ("out",) in found


def test_a_full_disk_behind_standard_output_is_an_error() -> None:
    result = shell('tfrtool repair "$1" -o - > /dev/full', "in")
    assert result.returncode == 3
    assert "tfrtool: in: cannot write standard output: no space is left" in result.stderr


def test_a_byte_that_cannot_be_read_is_an_error_that_says_where_and_what_helps() -> None:
    Path("large").write_bytes(SAMPLE * 200)
    real = os.preadv

    def preadv(fd: int, views: list[memoryview], at: int) -> int:
        bad = 1_000_000
        if at + len(views[0]) > bad:
            if at >= bad:
                fail()
            return real(fd, [views[0][: bad - at]], at)
        return real(fd, views, at)

    ended = forked("repair", "large", "-o", "out", *SIDES, before=lambda told: setattr(os, "preadv", preadv))
    assert ended.code == 3
    assert "cannot read 'large' at byte 1000000: input/output error of the device; copy it with" in ended.said
    assert sorted(os.listdir()) == ["dropped", "in", "large", "list"]
    assert Path("list").read_bytes().startswith(b'{"type":"error","v":1,"path":"large","message":"cannot read')


def at_the_end(monkeypatch: MonkeyPatch, act: Callable[[], object]) -> None:
    """Lets `act` happen when the output is complete, and has not got its name."""
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        act()

    monkeypatch.setattr(os, "fsync", fsync)


def reported(output: str, **options: bool) -> RepairReport:
    *_, report = repair_file("in", output, RepairOptions(**options))
    assert isinstance(report, RepairReport)
    assert Path("in").read_bytes() == SAMPLE
    return report


def test_an_output_that_somebody_else_makes_meanwhile_stays(monkeypatch: MonkeyPatch) -> None:
    at_the_end(monkeypatch, lambda: Path("out").write_bytes(OLD))
    report = reported("out")
    assert report.error and "made by somebody else meanwhile" in report.error[1]
    assert (output(), temporary(), report.output) == (OLD, [], None)


def test_a_directory_that_vanishes_is_an_error(monkeypatch: MonkeyPatch) -> None:
    os.mkdir("there")
    at_the_end(monkeypatch, lambda: shutil.rmtree("there", ignore_errors=True))
    report = reported("there/out")
    assert report.error and report.error[0] == "write" and "'there/out' could not be read back" in report.error[1]
    assert os.listdir() == ["in"]


def test_an_output_that_does_not_read_back_as_it_was_written_is_not_published(monkeypatch: MonkeyPatch) -> None:
    def spoil() -> None:
        (hidden,) = temporary()
        Path(hidden).write_bytes(flip(Path(hidden).read_bytes(), 500))

    at_the_end(monkeypatch, spoil)
    report = reported("out")
    assert report.error and "did not read back as written" in report.error[1]
    assert os.listdir() == ["in"]


def test_what_is_appended_to_an_input_while_it_is_read_is_left_for_the_next_time(monkeypatch: MonkeyPatch) -> None:
    real = Source.again

    def again(source: Source) -> Source:
        with open("growing", "ab") as file:
            file.write(frame(b"more")[:-1])
        return real(source)

    monkeypatch.setattr(Source, "again", again)
    Path("growing").write_bytes(SOUND)
    *_, report = repair_file("growing", "out", RepairOptions())
    assert (report.status, output()) == ("clean", SOUND)  # type: ignore[union-attr]


def test_memory_that_runs_out_is_an_error_that_leaves_nothing(monkeypatch: MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise MemoryError

    monkeypatch.setattr(os, "fsync", fsync)
    assert reported("out").error == ("memory", "out of memory")
    assert os.listdir() == ["in"]


# Pipes


@fixture
def many() -> None:
    """An input that fills any pipe."""
    Path("many").write_bytes(frame(b"payload") * 20_000 + b"torn")


def test_a_pipe_gets_the_records_and_nothing_else(saved: bytes) -> None:
    result = subprocess.run([*COMMAND, "repair", "in", "-o", "-"], env=environment(), capture_output=True)
    assert (result.returncode, result.stdout) == (1, saved)
    assert result.stderr.startswith(b"in\trestored\t")


@mark.usefixtures("many")
def test_a_reader_that_goes_away_ends_the_program() -> None:
    result = shell('tfrtool repair many -o - | head -c 1; echo "${PIPESTATUS[0]}"')
    assert result.stdout.endswith("141\n")
    assert result.stderr == ""


@mark.usefixtures("many")
def test_a_reader_of_a_named_pipe_that_goes_away_is_an_error() -> None:
    os.mkfifo("fifo")
    result = shell("head -c 1 fifo > /dev/null & tfrtool repair many -o fifo")
    assert result.returncode == 3
    assert result.stderr.endswith("tfrtool: many: cannot write 'fifo': its reader went away\n")


@mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_it_waits_for_an_input_keeps_what_was_published(number: signal.Signals, saved: bytes) -> None:
    os.mkfifo("fifo")
    command = [*COMMAND, "repair", "in", "fifo", "-o", "out/"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout and program.stderr
        with open("fifo", "wb"):  # so it has come to the second input
            os.kill(program.pid, number)
            assert program.wait(30) == 128 + number
        assert b"tfrtool:" not in program.stderr.read()
    assert os.listdir("out") == ["in"]
    assert Path("out/in").read_bytes() == saved


@mark.parametrize("payload", [b"caf\xc3\xa9 au lait", b"one\r\ntwo", bytes(range(256))])
@mark.parametrize("records", [1, 5, 40])
def test_records_of_a_broken_gzip_file_are_never_converted(tmp_path: Path, payload: bytes, records: int) -> None:
    packed = gzip.compress(b"".join(frame(payload + bytes([n])) for n in range(records)), mtime=0)
    path, out = tmp_path / "in.gz", tmp_path / "out"
    for at in range(10, len(packed), 3):
        hurt = bytearray(packed)
        hurt[at] ^= 1
        path.write_bytes(hurt)
        sound = tfrtool.verify(path)
        assert sound.diagnosis not in ("crlf", "utf8-mangled")
        if sound.records:
            assert tfrtool.repair(path, out, force=True).records >= sound.records
