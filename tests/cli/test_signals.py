"""Signals wait for a short piece of work, and lose nothing of their effect."""

import os
import signal
from collections.abc import Iterator

from pytest import fixture, mark, raises

from tfrtool.cli.main import defer_signals

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(BaseException):
    """What the program makes of a signal."""


@fixture(autouse=True)
def handlers() -> Iterator[None]:
    def end(number: int, frame: object) -> None:
        raise Ended(number)

    before = {number: signal.signal(number, end) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@mark.parametrize("number", ENDING)
def test_a_signal_has_its_effect_behind_the_block(number: signal.Signals) -> None:
    done = False
    with raises(Ended) as raised, defer_signals():
        os.kill(os.getpid(), number)
        done = True
    assert (done, raised.value.args) == (True, (number,))
    with raises(Ended):
        os.kill(os.getpid(), number)


def test_one_that_is_ignored_keeps_none_from_its_effect() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with raises(Ended) as raised, defer_signals():
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
    assert (raised.value.args, signal.getsignal(signal.SIGHUP)) == ((signal.SIGTERM,), signal.SIG_IGN)


def test_no_signal_is_no_effect() -> None:
    with defer_signals():
        done = True
    assert done


def test_what_the_block_raises_comes_before_a_signal() -> None:
    with raises(ValueError), defer_signals():
        os.kill(os.getpid(), signal.SIGTERM)
        raise ValueError
