"""What CONTRIBUTING.md sends people to exists."""

import re
from pathlib import Path

from pytest import mark

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / ".github/CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`(?:python |bash )?([\w./]+/[\w./]*)`", TEXT)))
EXAMPLES = {
    "verbs/NAME.py": "verbs/verify.py",
    "cli/printers/NAME.py": "cli/printers/verify.py",
    "cli/commands/NAME.py": "cli/commands/verify.py",
    "verbs/formats/NAME.py": "verbs/formats/jsonl.py",
    "verbs/schema/emit/NAME.py": "verbs/schema/emit/tf.py",
    "tests/verbs/test_NAME.py": "tests/verbs/test_verify.py",
}


@mark.parametrize("path", PATHS)
def test_a_path_exists(path: str) -> None:
    path = EXAMPLES.get(path, path)
    assert (ROOT / path).exists() or (ROOT / "tfrtool" / path).exists()


@mark.parametrize("word, path", re.findall(r"`(\w+)`(?: and `\w+`)? (?:of|in) `([\w./]+)`", TEXT))
def test_a_name_stands_where_it_says(word: str, path: str) -> None:
    assert re.search(rf"\b{word}\b", (ROOT / "tfrtool" / EXAMPLES.get(path, path)).read_text(encoding="utf-8"))


def test_it_fits_on_a_screen() -> None:
    assert len(TEXT.splitlines()) <= 45
