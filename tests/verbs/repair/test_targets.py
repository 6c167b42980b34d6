"""Odd places for the files of `repair`: each is written, or refused in words that say why, and no file is replaced."""

import errno
import os
import subprocess
from pathlib import Path

from kit.forked import forked
from kit.program import COMMAND, environment, shell
from kit.repair_inputs import SOUND, TORN, WHOLE, lay_out
from pytest import MonkeyPatch, fixture, mark

OPTIONS = {"-o": (), "--report": ("-o", "out"), "--quarantine": ("-o", "out")}


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    os.mkdir("directory")
    os.symlink("damaged", "link")
    os.symlink("nowhere", "dangling")
    return tmp_path


def found() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


REFUSED = {
    "directory": (3, "cannot write 'directory': it is a directory"),
    "directory/": (3, "cannot write 'directory/': it is the name of a directory"),
    "link": (2, "'link' is the input 'damaged'; an input is never written to"),
    "dangling": (3, "it is a symbolic link that leads nowhere; remove it first"),
    "no/file": (3, "the directory 'no': no such file or directory; make that directory first"),
    "sound/file": (3, "cannot write 'sound/file': 'sound' is not a directory"),
    "n" * 300: (3, "the name is too long"),
    "/dev/stderr": (3, "cannot write '/dev/stderr': it stands for a file that is open already; give its own name"),
    "/dev/tty": (3, "cannot write '/dev/tty': it is a socket, or a device that is not there"),
}


@mark.parametrize("option", OPTIONS)
@mark.parametrize("target", REFUSED)
def test_unwritable_output_is_refused_first(option: str, target: str) -> None:
    if option == "-o" and target.startswith("directory"):
        return  # where the output goes into it
    before = found()
    with open("words", "wb") as words:
        command = [*COMMAND, "repair", "damaged", *OPTIONS[option], option, target, "--force"]
        ended = subprocess.run(
            command, env=environment(), stdout=subprocess.DEVNULL, stderr=words, start_new_session=True
        )
    code, said = REFUSED[target]
    words_said = Path("words").read_text()
    Path("words").unlink()
    assert (ended.returncode, found()) == (code, before)
    assert said in words_said


@mark.parametrize("option", OPTIONS)
def test_unwritable_directory_is_reported(option: str) -> None:
    def before(told: int) -> None:
        real = os.open

        def opened(path: object, *args: int) -> int:
            if str(path).startswith("directory/"):
                raise OSError(errno.EROFS, "")
            return real(path, *args)  # type: ignore[call-overload, no-any-return]

        os.open = opened  # type: ignore[assignment]

    there = found()
    ended = forked("repair", "damaged", *OPTIONS[option], option, "directory/file", before=before)
    assert (ended.code, found()) == (3, there)
    assert "cannot write 'directory/file': the file system is read-only" in ended.said


@mark.parametrize("option", OPTIONS)
def test_null_device_is_accepted(option: str) -> None:
    for printed in ("words", "/dev/null"):
        assert (
            shell(f"tfrtool repair torn --force {' '.join(OPTIONS[option])} {option} /dev/null > {printed}").returncode
            == 1
        )


@mark.parametrize("option", ["--report", "--quarantine"])
def test_named_pipe_takes_a_side_file(option: str, here: Path) -> None:
    os.mkfifo("fifo")
    result = shell(f"cat fifo > taken & tfrtool repair torn -o out {option} fifo; wait")
    assert result.stderr == ""
    assert Path("out").read_bytes() == WHOLE
    taken = Path("taken").read_bytes()
    assert taken == TORN[len(WHOLE) :] if option == "--quarantine" else taken.count(b"\n") == 3


@mark.parametrize("option", ["--report", "--quarantine"])
def test_full_device_leaves_no_output(option: str) -> None:
    ended = forked("repair", "torn", "-o", "out", option, "/dev/full")
    assert ended.code == 3
    assert ended.said.endswith(
        "tfrtool: torn: cannot write '/dev/full': no space is left, after 0 bytes were written; '/dev/full' was not "
        "written whole, so no output was published; free some space or write elsewhere; the input is unchanged, and "
        "no output was left behind\n"
    )
    assert not Path("out").exists()


@mark.parametrize(
    "command", ["repair damaged -o out", "count damaged", "verify -", "convert damaged -o out --to ofrecord"]
)
def test_messages_are_not_written_into_an_input(command: str) -> None:
    before = found()
    ended = shell(f"tfrtool {command} < damaged >> damaged")
    assert (ended.returncode, found()) == (3, before)
    assert "an input is never written to" in ended.stderr


def test_stdout_by_another_name_takes_records_only() -> None:
    assert shell("tfrtool repair torn -o /dev/stdout > records").returncode == 1
    assert Path("records").read_bytes() == WHOLE
    for option in ("--report", "--quarantine"):
        result = shell(f"tfrtool repair torn -o out {option} /dev/stdout > words")
        assert (result.returncode, Path("words").read_bytes(), os.path.exists("out")) == (2, b"", False)
        assert f"{option} needs a file, and /dev/stdout is standard output" in result.stderr


@mark.parametrize("option", OPTIONS)
def test_file_behind_stdout_is_not_replaced(option: str) -> None:
    result = shell(f"tfrtool repair torn --force {' '.join(OPTIONS[option])} {option} words > words")
    assert (result.returncode, Path("words").read_bytes()) == (2, b"")
    assert "'words' is standard output: choose another name" in result.stderr


def test_file_in_place_of_a_directory_is_reported() -> None:
    ended = forked("repair", "torn", "-o", "sound/")
    assert (ended.code, Path("sound").read_bytes()) == (3, SOUND)
    assert ended.said == "tfrtool: cannot make the directory 'sound/': the name is taken\n"


def test_removed_current_directory_is_reported(here: Path) -> None:
    os.mkdir("gone")

    def before(told: int) -> None:
        os.chdir("gone")
        os.rmdir(here / "gone")

    ended = forked("repair", str(here / "torn"), "-o", "out", before=before)
    assert (ended.code, ended.said) == (3, "tfrtool: the current directory was removed: change to another one\n")
