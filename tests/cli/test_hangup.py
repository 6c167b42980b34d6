"""A terminal that is closed (SIGHUP): whatever command writes, no half of its outputs stays behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from kit.forked import forked
from kit.verbs import DATA


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_bytes(DATA)


def hung_up(at_link: int, *, ignored: bool = False) -> Callable[[int], None]:
    """SIGHUP, and once more while the program cleans up, behind the call that gives the output of that number its name.

    `ignored`, as nohup has it.
    """

    def before(told: int) -> None:
        link, unlink, left = os.link, os.unlink, [at_link]

        def linked(*args: object, **options: object) -> None:
            link(*args, **options)  # type: ignore[arg-type]
            left[0] -= 1
            if not left[0]:
                os.write(told, b"hung up")
                os.kill(os.getpid(), signal.SIGHUP)

        def unlinked(*args: object, **options: object) -> None:
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGHUP)
            unlink(*args, **options)  # type: ignore[arg-type]

        signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)
        os.link, os.unlink = linked, unlinked  # type: ignore[assignment]

    return before


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_set_of_shards_appears_whole_or_not_at_all(number: int) -> None:
    ended = forked("convert", "in", "-o", "s", "--shards", "5", before=hung_up(number))
    assert (ended.told, ended.code, ended.said) == ("hung up", 129, "")
    assert os.listdir() == ["in"]


@pytest.mark.parametrize(
    "command",
    ["repair in -o out", "convert in -o out", "stat in --index out", "verify in --html out", "stat in --html out"],
)
def test_no_temporary_file_stays_of_any_output(command: str) -> None:
    ended = forked(*command.split(), before=hung_up(1))
    assert (ended.told, ended.code) == ("hung up", 129) and "tfrtool:" not in ended.said
    assert sorted(os.listdir()) in (["in"], ["in", "out"])


def test_a_program_that_is_to_outlive_its_terminal_does() -> None:
    ended = forked("convert", "in", "-o", "s", "--shards", "5", before=hung_up(1, ignored=True))
    assert (ended.told, ended.code, len(os.listdir())) == ("hung up", 0, 6)
