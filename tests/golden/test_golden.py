"""Every command prints what is recorded; record it again with `python tests/golden/make.py`."""

from __future__ import annotations

from pathlib import Path

from golden.make import COMMANDS, FORMS, HERE, path, recorded, write_inputs
from pytest import mark

from tfrtool.cli.app import COMMANDS as ALL


@mark.parametrize("form", FORMS)
@mark.parametrize("command", COMMANDS)
def test_a_command_prints_what_is_recorded(command: str, form: str, tmp_path: Path) -> None:
    write_inputs(tmp_path)
    assert recorded(command, form, tmp_path) == path(command, form).read_text(encoding="utf-8")


def test_every_command_is_recorded_and_nothing_else_is() -> None:
    assert set(COMMANDS) == set(ALL) - {"completion"}
    assert {path(command, form) for command in COMMANDS for form in FORMS} == set(HERE.glob("*.txt"))


def test_the_records_stay_small() -> None:
    assert sum(file.stat().st_size for file in HERE.glob("*.txt")) < 200_000
