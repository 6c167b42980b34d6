"""Repair to and from pipes, whose other ends may go away, and which may be waited for."""

import os
import signal
import subprocess
from pathlib import Path

from kit.failing_calls import lay_out, undisturbed
from kit.make_samples import frame
from kit.program import COMMAND, PATIENCE, environment, shell
from pytest import MonkeyPatch, fixture, mark


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    return tmp_path


@fixture(scope="module")
def saved() -> bytes:
    return undisturbed()


@fixture
def many() -> None:
    """An input that fills any pipe."""
    Path("many").write_bytes(frame(b"payload") * 20_000 + b"torn")


def test_pipe_gets_records_only(saved: bytes) -> None:
    result = subprocess.run([*COMMAND, "repair", "in", "-o", "-"], env=environment(), capture_output=True)
    assert (result.returncode, result.stdout) == (1, saved)
    assert result.stderr.startswith(b"in\trestored\t")


@mark.usefixtures("many")
def test_broken_pipe_ends_the_program() -> None:
    result = shell('tfrtool repair many -o - | head -c 1; echo "${PIPESTATUS[0]}"')
    assert result.stdout.endswith("141\n")
    assert result.stderr == ""


@mark.usefixtures("many")
def test_broken_named_pipe_is_an_error() -> None:
    os.mkfifo("fifo")
    result = shell("head -c 1 fifo > /dev/null & tfrtool repair many -o fifo")
    assert result.returncode == 3
    assert result.stderr.endswith("tfrtool: many: cannot write 'fifo': broken pipe\n")


@mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signal_keeps_published_outputs(number: signal.Signals, saved: bytes) -> None:
    os.mkfifo("fifo")
    command = [*COMMAND, "repair", "in", "fifo", "-o", "out/"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout and program.stderr
        with open("fifo", "wb"):  # so it has come to the second input
            os.kill(program.pid, number)
            assert program.wait(PATIENCE) == 128 + number
        assert b"tfrtool:" not in program.stderr.read()
    assert os.listdir("out") == ["in"]
    assert Path("out/in").read_bytes() == saved
