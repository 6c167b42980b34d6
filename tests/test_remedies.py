"""What helps: a job as a value, told to callers of the library and to people at a shell each in their own words."""

from __future__ import annotations

import ast
import pickle
import re
from pathlib import Path

import tfrtool
from tfrtool.cli.remedies import advice, command, error_words, remedy_words
from tfrtool.errors import OpenError, WriteError
from tfrtool.report import FORCE, FileReport, Remedy

UNDO = Remedy("repair", "a b", aim="undo it")


def test_a_job_is_a_command_that_can_be_pasted() -> None:
    assert remedy_words(UNDO) == "to undo it, run: tfrtool repair 'a b' -o OUT"
    assert command(Remedy("convert", "x", (("to", "tfrecord"), ("skip_damaged", True)))) == (
        "tfrtool convert x -o OUT --to tfrecord --skip-damaged"
    )
    assert command(Remedy("stat", "x", (("index", "i x"), ("force", True)))) == "tfrtool stat --index 'i x' --force x"


def test_what_has_to_be_run_before_stands_before() -> None:
    assert command(Remedy("verify", "-", first="zstd -dc x")) == "zstd -dc x | tfrtool verify -"
    assert command(Remedy("verify", "DIR", first="unzip x -d DIR")) == "unzip x -d DIR && tfrtool verify DIR"
    assert command(Remedy("repair", "-")) == "… | tfrtool repair - -o OUT"


def test_an_argument_of_the_same_job_is_an_option_to_say_or_to_leave_out() -> None:
    assert remedy_words(FORCE) == "say --force to replace it"
    assert remedy_words(Remedy(settings=(("compression", "auto"),))) == "leave --compression out"


def test_the_library_tells_of_arguments_and_calls() -> None:
    assert str(FORCE) == "say force=True to replace it"
    assert str(UNDO) == "to undo it: tfrtool.repair('a b', 'OUT')"
    assert str(Remedy("verify", "-", first="zstd -dc x")) == "`zstd -dc x`, then tfrtool.verify('-')"


def test_an_error_says_its_facts_and_the_argument_that_helps() -> None:
    error = WriteError("'x' exists already", FORCE)
    assert (str(error), error_words(error)) == (
        "'x' exists already; say force=True to replace it",
        "'x' exists already; say --force to replace it",
    )
    assert str(OpenError("it is a terminal", Remedy("verify", "-"))) == "it is a terminal"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.remedy) == (str(error), FORCE)


def test_words_come_before_the_remedy_and_either_may_be_alone() -> None:
    assert advice(FileReport("x", hint="fetch it again", remedy=UNDO)) == f"fetch it again; {remedy_words(UNDO)}"
    assert advice(FileReport("x", hint="fetch it again")) == "fetch it again"
    assert advice(FileReport("x", remedy=FORCE)) == "say --force to replace it"
    assert advice(FileReport("x")) is None


def test_no_sentence_below_the_command_line_tells_how_a_command_is_typed() -> None:
    for room in ("framing", "sources", "verbs"):
        for path in (Path(tfrtool.__file__).parent / room).rglob("*.py"):
            if path.name.startswith("conver"):  # whose options have names of their own on the command line alone
                continue
            for text in sentences(ast.parse(path.read_text())):
                assert not re.search(r"tfrtool (verify|repair|convert|stat)\b|(^|[ `])--[a-z]", text), f"{path}: {text}"


def sentences(tree: ast.AST) -> list[str]:
    """The strings of a module that are no docstrings."""
    spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in spoken)
    return [node.value for node in strings if isinstance(node.value, str)]
