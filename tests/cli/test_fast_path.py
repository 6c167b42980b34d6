"""What is done without Click is what Click would have done."""

from collections.abc import Sequence
from functools import partial
from importlib import import_module
from inspect import Signature, signature
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pytest import MonkeyPatch, mark

from tfrtool.cli.app import COMMANDS, app
from tfrtool.cli.fast_path import COMMANDS as PLAIN
from tfrtool.cli.fast_path import plain

WORDS = ["a", "", "-", "--", "./-x", "-n", "-n3", "--json", "-q", "0", "7", "007", "٣", "-1", "9" * 30, *COMMANDS]
lines = st.lists(st.sampled_from(WORDS), max_size=5) | st.builds(
    lambda name, rest: [name, *rest], st.sampled_from(PLAIN), st.lists(st.sampled_from(WORDS), max_size=4)
)


def asked(monkeypatch: MonkeyPatch, door: Any, arguments: Sequence[str]) -> dict[str, Any] | None:
    """With which values a door calls what a command does, if it does."""
    calls: list[dict[str, Any]] = []
    with monkeypatch.context() as patch:
        for name in PLAIN:
            module = import_module(f"tfrtool.cli.commands.{name}_run")
            patch.setattr(module, name, partial(noted, calls, signature(getattr(module, name)), name))
        door(list(arguments))
    return calls[0] if calls else None


def noted(calls: list[dict[str, Any]], takes: Signature, name: str, *args: Any, **more: Any) -> int:
    values = takes.bind(*args, **more)
    values.apply_defaults()
    calls.append({"command": name, **values.arguments})
    return 0


def by_click(arguments: list[str]) -> None:
    with app.make_context("tfrtool", arguments) as context:
        app.invoke(context)


def without_click(arguments: list[str]) -> None:
    do = plain(arguments)
    if do is not None:
        do()


@given(arguments=lines)
def test_whatever_is_done_without_click_click_would_do_too(arguments: list[str]) -> None:
    monkeypatch = MonkeyPatch()
    done = asked(monkeypatch, without_click, arguments)
    if done is not None:
        assert done == asked(monkeypatch, by_click, arguments)


@mark.parametrize("line", ["count a", "verify a - b", "head a", "head -n 10 a b"])
def test_plain_lines_are_done_without_click(line: str) -> None:
    assert plain(line.split()) is not None


@mark.parametrize("line", ["", "count", "count --json a", "count a -q", "head -n x a", "head a -n 1", "repair a"])
def test_every_other_line_is_left_to_click(line: str) -> None:
    assert plain(line.split()) is None
