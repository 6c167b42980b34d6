"""However the program ends, its exit code says how, and nobody sees a traceback."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

from kit import make_samples
from kit.make_samples import DATA, example, frame
from kit.program import COMMAND, PATIENCE, environment, run, shell
from pytest import MonkeyPatch, fixture, mark

from tfrtool.cli.streams import StandardOutput

SOUND, DAMAGED = DATA / "flowers.tfrecord", DATA / "flowers-damaged.tfrecord"
FULL = Path("/dev/full")
needs_a_full_device = mark.skipif(not FULL.exists(), reason="no /dev/full on this system")


@fixture
def many(tmp_path: Path) -> Path:
    """A file whose features fill any pipe."""
    path = tmp_path / "many.tfrecord"
    path.write_bytes(b"".join(frame(example((b"number", [n]))) for n in range(5000)))
    return path


@mark.parametrize(
    ("args", "code"),
    [
        ([SOUND], 0),
        ([DAMAGED], 1),
        ([SOUND, DAMAGED], 1),
        ([DAMAGED, "no-such-file"], 3),
        (["no-such-file", SOUND], 3),
        ([], 2),
        (["--no-such-option", SOUND], 2),
    ],
)
@mark.parametrize("command", ["count", "verify"])
def test_the_graver_of_what_happened_is_the_exit_code(command: str, args: list[str | Path], code: int) -> None:
    result = run(command, *args)
    assert result.returncode == code, result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_command_is_wrong_usage() -> None:
    result = run("frobnicate")
    assert result.returncode == 2
    assert "No such command 'frobnicate'" in result.stderr


def test_options_that_do_not_work_yet_are_hidden() -> None:
    assert run("verify", "--jobs", "2", SOUND).returncode == 0
    help = run("verify", "--help").stdout
    assert "--jobs" not in help and "--cluster" not in help and "--json" in help


def test_a_cluster_is_not_available_yet() -> None:
    result = run("verify", "--cluster", "localhost:8786", SOUND)
    assert result.returncode == 3
    assert result.stderr.count("\n") == 1
    assert "not available yet" in result.stderr


def test_a_reader_that_goes_away_ends_the_program_without_a_word(many: Path) -> None:
    result = shell('tfrtool head -n 5000 "$1" | head -n 1; echo ${PIPESTATUS[0]}', many)
    assert result.stdout.splitlines()[1] == "141"
    assert result.stderr == ""


def test_a_reader_that_was_gone_from_the_start_is_noticed_too() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with open(writer, "wb") as output:
        for args in (["--help"], ["count", SOUND], ["head", "--raw", SOUND]):
            result = subprocess.run([*COMMAND, *args], env=environment(), stdout=output, stderr=subprocess.PIPE)
            assert (result.returncode, result.stderr) == (141, b"")


@mark.parametrize("unbuffered", ["", "1"])
@mark.parametrize("args", [["--help"], ["--version"], ["count", "-h"], ["verify", SOUND], ["count", "--json", SOUND]])
@needs_a_full_device
def test_a_full_disk_is_an_error_whoever_buffers(args: list[str | Path], unbuffered: str) -> None:
    result = shell('"tfrtool" "$@" > /dev/full', *args, PYTHONUNBUFFERED=unbuffered)
    assert result.returncode == 3
    assert result.stderr == "tfrtool: cannot write standard output: no space is left\n"


@needs_a_full_device
def test_a_disk_that_fills_midway_is_an_error(many: Path, tmp_path: Path) -> None:
    script = 'ulimit -f 8; trap "" XFSZ; tfrtool head -n 5000 "$1" > "$2"'
    result = shell(script, many, tmp_path / "out", PYTHONUNBUFFERED="1")
    assert result.returncode == 3
    assert "cannot write standard output" in result.stderr


def test_a_full_pipe_that_another_program_made_non_blocking_is_waited_for(monkeypatch: MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with open(reader, "rb", buffering=0) as pipe, StandardOutput(writer, "wb") as output:
        with suppress(BlockingIOError):
            while True:
                os.write(writer, bytes(1 << 16))
        monkeypatch.setattr("select.select", lambda *_: pipe.read(1 << 16))
        assert output.write(b"line") == 4


def test_a_closed_standard_output_is_an_error() -> None:
    result = shell('tfrtool verify "$1" >&-', SOUND)
    assert result.returncode == 3
    assert result.stderr.count("\n") == 1
    assert "cannot write standard output" in result.stderr


def test_nothing_is_printed_into_a_file_that_took_a_closed_descriptor() -> None:
    result = shell('tfrtool verify "$1" >&- 2>&- <&-', SOUND)
    assert result.returncode == 3
    assert SOUND.read_bytes() == make_samples.samples()[SOUND.name]


def test_closed_streams_that_are_not_needed_do_no_harm() -> None:
    assert shell('tfrtool verify "$1" <&- 2>&-', SOUND).returncode == 0
    assert shell('tfrtool verify -q "$1" >&- <&-', DAMAGED).returncode == 1


def test_a_closed_standard_input_cannot_be_read() -> None:
    result = shell("tfrtool count - <&-")
    assert result.returncode == 3
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_program_and_keeps_what_was_printed(number: signal.Signals, code: int) -> None:
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen([*COMMAND, "count", SOUND, "-"], env=environment(), text=True, **pipes) as program:
        assert program.stdout and program.stderr
        assert program.stdout.readline() == f"12 {SOUND}\n"  # so it now waits for standard input
        os.kill(program.pid, number)
        assert program.wait(PATIENCE) == code
        assert program.stderr.read() == ""


def test_an_input_that_defeats_the_program_does_not_stop_the_others(tmp_path: Path) -> None:
    broken = tmp_path / "sitecustomize.py"
    broken.write_text(
        "import tfrtool.verbs.count as verbs\n"
        "sound = verbs.count_file\n"
        "def count_file(name, options):\n"
        "    if name.endswith('damaged.tfrecord'):\n"
        "        raise ZeroDivisionError('a \\x1b[31mfault\\n')\n"
        "    return sound(name, options)\n"
        "verbs.count_file = count_file\n"
    )
    path = os.pathsep.join([str(tmp_path), environment()["PYTHONPATH"]])
    result = run("count", DAMAGED, SOUND, PYTHONPATH=path)
    assert result.returncode == 3
    assert result.stdout.splitlines() == [f"12 {SOUND}", "12 total"]
    assert result.stderr == (
        f"tfrtool: {DAMAGED}: ZeroDivisionError: a \\x1b[31mfault\\n; this is a bug in tfrtool; "
        "run with -vv for a traceback\n"
    )
    assert "Traceback" in run("count", "-vv", DAMAGED, PYTHONPATH=path).stderr
