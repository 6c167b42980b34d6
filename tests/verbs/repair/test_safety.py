"""Whatever happens to `repair` while it works: the output is the old file or the whole new one, and the input stays."""

import gzip
import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from kit.failing_calls import (
    OLD,
    SAMPLE,
    SIDES,
    SOUND,
    at_each_call,
    by_signal,
    fail,
    lay_out,
    output,
    temporary,
    undisturbed,
    with_room_for,
)
from kit.forked import forked
from kit.make_samples import flip, frame
from kit.program import shell
from pytest import MonkeyPatch, fixture, mark

import tfrtool
from tfrtool.report import RepairReport
from tfrtool.sources.source import Source
from tfrtool.verbs.repair.job import repair_file
from tfrtool.verbs.repair.options import RepairOptions

pytestmark = mark.slow


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    return tmp_path


@fixture(scope="module")
def saved() -> bytes:
    return undisturbed()


def test_kill_leaves_no_partial_output(saved: bytes) -> None:
    for ended in at_each_call(by_signal(signal.SIGKILL), "in", "-o", "out"):
        assert ended.code == -signal.SIGKILL
        assert output() in (None, saved)
        assert len(temporary()) <= 1


def test_kill_leaves_the_old_or_the_new_output(saved: bytes) -> None:
    found = {output() for _ in at_each_call(by_signal(signal.SIGKILL), "in", "-o", "out", "--force", old=True)}
    assert found == {OLD, saved}


@mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signal_leaves_the_old_or_the_new_output(number: signal.Signals, code: int, saved: bytes) -> None:
    args = ("in", "-o", "out", "--force")
    for ended in at_each_call(by_signal(number), *args, moments="before behind", old=True):
        assert (ended.code, "tfrtool:" in ended.said) == (code, False), ended
        assert output() in (OLD, saved)
        assert temporary() == [], ended


def test_failing_call_is_an_error_or_harmless(saved: bytes) -> None:
    for ended in at_each_call(fail, "in", "-o", "out"):
        assert (ended.code, output()) in ((1, saved), (3, None)), ended
        assert ("tfrtool: " in ended.said) == (ended.code == 3), ended
        if ended.told != "unlink":
            assert temporary() == []


def test_full_disk_leaves_no_output(saved: bytes) -> None:
    for room in [*range(0, len(saved), 1499), len(saved) - 1]:
        ended = forked("repair", "in", "-o", "out", before=with_room_for(room))
        assert ended.code == 3
        assert "the file would be larger than the system allows" in ended.said
        assert "; free some space or write elsewhere; the input is unchanged" in ended.said
        assert os.listdir() == ["in"]
    assert forked("repair", "in", "-o", "out", before=with_room_for(len(saved))).code == 1
    assert output() == saved


def test_full_disk_behind_stdout_is_an_error() -> None:
    result = shell('tfrtool repair "$1" -o - > /dev/full', "in")
    assert result.returncode == 3
    assert "tfrtool: in: cannot write standard output: no space is left" in result.stderr


def test_unreadable_byte_is_an_error_with_a_hint() -> None:
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


def test_output_made_by_another_process_stays(monkeypatch: MonkeyPatch) -> None:
    at_the_end(monkeypatch, lambda: Path("out").write_bytes(OLD))
    report = reported("out")
    assert report.error and "made by somebody else meanwhile" in report.error[1]
    assert (output(), temporary(), report.output) == (OLD, [], None)


def test_vanished_directory_is_an_error(monkeypatch: MonkeyPatch) -> None:
    os.mkdir("there")
    at_the_end(monkeypatch, lambda: shutil.rmtree("there", ignore_errors=True))
    report = reported("there/out")
    assert report.error and report.error[0] == "write" and "'there/out' could not be read back" in report.error[1]
    assert os.listdir() == ["in"]


def test_output_that_fails_verification_is_not_published(monkeypatch: MonkeyPatch) -> None:
    def spoil() -> None:
        (hidden,) = temporary()
        Path(hidden).write_bytes(flip(Path(hidden).read_bytes(), 500))

    at_the_end(monkeypatch, spoil)
    report = reported("out")
    assert report.error and "did not read back as written" in report.error[1]
    assert os.listdir() == ["in"]


def test_bytes_appended_meanwhile_are_ignored(monkeypatch: MonkeyPatch) -> None:
    real = Source.reopen

    def again(source: Source) -> Source:
        with open("growing", "ab") as file:
            file.write(frame(b"more")[:-1])
        return real(source)

    monkeypatch.setattr(Source, "reopen", again)
    Path("growing").write_bytes(SOUND)
    *_, report = repair_file("growing", "out", RepairOptions())
    assert (report.status, output()) == ("clean", SOUND)  # type: ignore[union-attr]


@mark.parametrize("data", [SAMPLE, SOUND], ids=["damaged", "sound"])
def test_input_rewritten_between_passes_is_an_error(data: bytes, monkeypatch: MonkeyPatch) -> None:
    real = Source.reopen

    def again(source: Source) -> Source:
        with open("in", "r+b") as file:
            file.write(frame(b"other"))
        os.utime("in", ns=(1, 1))
        return real(source)

    Path("in").write_bytes(data)
    monkeypatch.setattr(Source, "reopen", again)
    *_, report = repair_file("in", "out", RepairOptions())
    assert isinstance(report, RepairReport)
    assert report.error and "'in' was written to while it was read" in report.error[1]
    assert os.listdir() == ["in"]


def test_out_of_memory_leaves_nothing(monkeypatch: MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise MemoryError

    monkeypatch.setattr(os, "fsync", fsync)
    assert reported("out").error == ("memory", "out of memory")
    assert os.listdir() == ["in"]


@mark.parametrize("payload", [b"caf\xc3\xa9 au lait", b"one\r\ntwo", bytes(range(256))])
@mark.parametrize("records", [1, 5, 40])
def test_broken_gzip_records_are_never_text_converted(tmp_path: Path, payload: bytes, records: int) -> None:
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
