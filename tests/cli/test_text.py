"""What came from data is harmless on a terminal and in a row of fields."""

from os import fsencode
from shutil import which
from subprocess import run

from hypothesis import given
from hypothesis import strategies as st
from pytest import mark

from tfrtool.cli.text import plural, printable, row, safe, wants_color
from tfrtool.sources.os_text import shell_word


@given(st.text(alphabet=st.characters()))
def test_what_is_safe_is_printable_whatever_it_was(text: str) -> None:
    assert safe(text).isprintable()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_what_was_made_safe_can_be_told_back(text: str) -> None:
    escaped = safe(text).encode("latin-1", "backslashreplace") if safe(text).isascii() else None
    assert escaped is None or escaped.decode("unicode_escape") == text


@mark.parametrize(
    ("text", "shown"),
    [
        ("label", "label"),
        ("Größe ⌀ 花", "Größe ⌀ 花"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("two\nlines\tand\r", "two\\nlines\\tand\\r"),
        ("\\n", "\\\\n"),
        ("\u2028", "\\u2028"),
        ("\xa0", "\\xa0"),
        ("\ue000\U000f0000", "\\ue000\\U000f0000"),
        ("a\udcffb", "a\\xffb"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_could_command_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert safe(text) == shown


def test_a_sentence_that_quotes_data_is_not_quoted_twice() -> None:
    assert printable("text that begins 'hi\\n' \x1b") == "text that begins 'hi\\n' \\x1b"


def test_a_row_keeps_its_columns_whatever_the_fields_hold() -> None:
    assert row(["a\tb", None, 3, "c\nd"]) == "a\\tb\t\t3\tc\\nd"


def test_one_thing_is_not_plural() -> None:
    assert (plural(0, "record"), plural(1, "record"), plural(2, "record")) == ("0 records", "1 record", "2 records")


@mark.parametrize(
    ("path", "word"),
    [
        ("a/b-c_1.tfrecord", "a/b-c_1.tfrecord"),
        ("a b", "'a b'"),
        ("it's", "'it'\\''s'"),
        ("-n", "./-n"),
        ("-", "-"),
        ("", "''"),
        ("-a\n\x1b'\\\udcff", "$'./-a\\n\\x1b\\'\\\\\\xff'"),
    ],
)
def test_a_path_in_a_hint_can_be_pasted_into_a_shell(path: str, word: str) -> None:
    assert shell_word(path) == word


@mark.skipif(not which("bash"), reason="needs bash")
@mark.parametrize("path", ["a b", "it's", "-n", "$HOME", "`x`", "a\n\x1b'\\ \udcff\x7f é\u202e", "*", "a\\nb", "\x011"])
def test_a_shell_reads_the_word_as_the_path(path: str) -> None:
    printed = run(["bash", "-c", f"printf %s {shell_word(path)}"], capture_output=True, check=True).stdout
    assert printed.removeprefix(b"./") == fsencode(path)


@mark.parametrize(
    ("choice", "environ", "terminal", "colored"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "0"}, False, False),
        ("auto", {"FORCE_COLOR": ""}, False, False),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_color_is_decided_by_the_option_then_the_environment_then_the_terminal(
    choice: str, environ: dict[str, str], terminal: bool, colored: bool
) -> None:
    assert wants_color(choice, terminal, environ) is colored
