"""Runs of `repair` in which one call of the operating system goes wrong.

The program runs in a fork of this process. The call is chosen by its number, and each one has its turn.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from pytest import MonkeyPatch

from kit.forked import Ended, forked
from kit.make_samples import DATA

SAMPLE = (DATA / "flowers-damaged.tfrecord").read_bytes()
SOUND = (DATA / "flowers.tfrecord").read_bytes()
CALLS = ("open", "preadv", "write", "fchmod", "fsync", "link", "replace", "unlink", "mkdir", "rmdir")
OLD = b"old"
SIDES = ("--quarantine", "dropped", "--report", "list")


def lay_out(place: Path, monkeypatch: MonkeyPatch) -> None:
    """Put the sample into a directory as `in`, and go there."""
    monkeypatch.chdir(place)
    Path("in").write_bytes(SAMPLE)


def at_call(
    number: int, act: Callable[[], None], moments: str, calls: tuple[str, ...] = CALLS
) -> Callable[[int], None]:
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

        for name in calls:
            setattr(os, name, harmed(name, getattr(os, name)))

    return before


def at_each_call(
    act: Callable[[], None],
    *args: str,
    moments: str = "before",
    calls: tuple[str, ...] = CALLS,
    old: bool = False,
    clean: bool = True,
) -> Iterator[Ended]:
    """The same run again and again, in which each call of the system has its turn to go wrong.

    What stands under the output's name before is nothing, or `old`; `clean` removes what the run before left.
    """
    for number in range(200):
        for name in ("out", *temporary()) if clean else ("out",):
            Path(name).unlink(missing_ok=True)
        if old:
            Path("out").write_bytes(OLD)
        ended = forked("repair", *args, before=at_call(number, act, moments, calls))
        if ended.told is None:
            assert number > 9
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


def with_room_for(size: int) -> Callable[[int], None]:
    """A disk on which no file can be larger."""
    return lambda told: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@cache
def undisturbed() -> bytes:
    """What `repair` makes of the sample."""
    with TemporaryDirectory() as place:
        source, out = Path(place, "in"), Path(place, "out")
        source.write_bytes(SAMPLE)
        assert forked("repair", str(source), "-o", str(out)).code == 1
        return out.read_bytes()
