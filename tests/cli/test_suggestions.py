"""What helps: a job as a value, told to callers of the library and to people at a shell each in their own words."""

from __future__ import annotations

import ast
import pickle
import re
from inspect import signature
from pathlib import Path

import pytest
from kit.program import run

import tfrtool
from tfrtool.cli.commands.convert import convert as CONVERT
from tfrtool.cli.suggestions import advice, command, error_text, option_text, suggestion_words
from tfrtool.errors import OpenError, OptionError, WriteError
from tfrtool.report import FileReport
from tfrtool.suggestion import USE_FORCE, Suggestion
from tfrtool.verbs.convert.options import convert_options

UNDO = Suggestion("repair", "a b", aim="undo it")


def test_a_job_is_a_command_that_can_be_pasted() -> None:
    assert suggestion_words(UNDO) == "to undo it, run: tfrtool repair 'a b' -o OUT"
    assert command(Suggestion("convert", "x", (("to", "tfrecord"), ("skip_damaged", True)))) == (
        "tfrtool convert x -o OUT --to tfrecord --skip-damaged"
    )
    assert (
        command(Suggestion("stat", "x", (("index", "i x"), ("force", True)))) == "tfrtool stat --index 'i x' --force x"
    )


def test_what_has_to_be_run_before_stands_before() -> None:
    assert command(Suggestion("verify", "-", first="zstd -dc x")) == "zstd -dc x | tfrtool verify -"
    assert command(Suggestion("verify", "DIR", first="unzip x -d DIR")) == "unzip x -d DIR && tfrtool verify DIR"
    assert command(Suggestion("repair", "-")) == "… | tfrtool repair - -o OUT"


def test_an_argument_of_the_same_job_is_an_option_to_say_or_to_leave_out() -> None:
    assert suggestion_words(USE_FORCE) == "use --force to replace it"
    assert suggestion_words(Suggestion(settings=(("compression", "auto"),))) == "omit --compression"


def test_the_library_tells_of_arguments_and_calls() -> None:
    assert str(USE_FORCE) == "say force=True to replace it"
    assert str(UNDO) == "to undo it: tfrtool.repair('a b', 'OUT')"
    assert str(Suggestion("verify", "-", first="zstd -dc x")) == "`zstd -dc x`, then tfrtool.verify('-')"


def test_an_error_says_its_facts_and_the_argument_that_helps() -> None:
    error = WriteError("'x' exists already", USE_FORCE)
    assert (str(error), error_text(error)) == (
        "'x' exists already; say force=True to replace it",
        "'x' exists already; use --force to replace it",
    )
    assert str(OpenError("it is a terminal", Suggestion("verify", "-"))) == "it is a terminal"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.suggestion) == (str(error), USE_FORCE)


def test_words_come_before_the_remedy_and_either_may_be_alone() -> None:
    assert (
        advice(FileReport("x", hint="fetch it again", suggestion=UNDO)) == f"fetch it again; {suggestion_words(UNDO)}"
    )
    assert advice(FileReport("x", hint="fetch it again")) == "fetch it again"
    assert advice(FileReport("x", suggestion=USE_FORCE)) == "use --force to replace it"
    assert advice(FileReport("x")) is None


def test_several_ways_are_told_in_words_whose_arguments_each_reader_knows() -> None:
    suggestion = Suggestion(words="{unknown=drop} leaves them out, {source} tells, {skip_damaged} too")
    assert str(suggestion).startswith("unknown='drop' leaves them out, `source` tells, `skip_damaged` too")
    assert suggestion_words(suggestion).startswith("--unknown drop leaves them out, --from tells, --skip-damaged too")


def test_options_that_do_not_fit_are_told_apart_from_what_was_given() -> None:
    error = OptionError("'%s' is no name: use {to=jsonl}", "{to=x} %s")
    assert (str(error), option_text(error)) == (
        "'{to=x} %s' is no name: use to='jsonl'",
        "'{to=x} %s' is no name: use --to jsonl",
    )
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
    assert option_text(ValueError("{to=x}")) == "{to=x}"


def test_no_sentence_below_the_command_line_tells_how_a_command_is_typed() -> None:
    for room in ("framing", "payload", "sources", "verbs"):
        for path in (Path(tfrtool.__file__).parent / room).rglob("*.py"):
            for text in sentences(ast.parse(path.read_text())):
                assert not re.search(r"tfrtool (verify|repair|convert|stat)\b|(^|[ `(])--[a-z]", text), (
                    f"{path}: {text}"
                )


def sentences(tree: ast.AST) -> list[str]:
    """The strings of a module that are no docstrings."""
    spoken = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in spoken)
    return [node.value for node in strings if isinstance(node.value, str)]


def test_what_stands_in_braces_is_an_argument_that_convert_takes_and_an_option_that_it_has() -> None:
    parameters = signature(convert_options).parameters
    options = {name for param in CONVERT.params for name in param.opts}
    found = set()
    for room in ("payload", "verbs"):
        for path in (Path(tfrtool.__file__).parent / room).rglob("*.py"):
            for text in sentences(ast.parse(path.read_text())):
                for name, value in re.findall(r"\{([a-z_]+)(?:=([a-z0-9]+))?\}", text):
                    assert name in parameters and suggestion_words(Suggestion(words=f"{{{name}}}")) in options, text
                    convert_options(**{name: value} if value else {})
                    found.add(name)
    assert found >= {"double", "unknown", "schema", "schema_out", "types", "drop"}


@pytest.mark.parametrize("name", ["count", "verify", "head", "head -q", "stat", "schema"])
def test_what_cannot_be_opened_is_piped_into_the_command_that_was_given(name: str) -> None:
    for url in ("gs://b/x", "s3://b/x"):
        assert run(*name.split(), url).stderr.rstrip().endswith(f" | tfrtool {name.split()[0]} -")


@pytest.mark.parametrize("name", ["repair", "convert"])
def test_what_cannot_be_opened_is_piped_into_the_command_that_was_to_write_it(tmp_path: Path, name: str) -> None:
    said = run(name, "gs://b/x", "-o", "out.jsonl", cwd=tmp_path)
    assert f"gsutil cat 'gs://b/x' | tfrtool {name} - -o OUT" in said.stderr + said.stdout
