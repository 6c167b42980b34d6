"""Options that would do nothing: wrong usage where the format of the outputs is known, refused where it is learnt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kit.messages import entry, example, numbers, ofrecord, raw_example, tag
from kit.program import run

from tfrtool import RefusedError, convert
from tfrtool.framing.encode import frame, ofrecord_frame

SOUND = example({"a": ("int64_list", [1])})
WITHOUT = [
    ("tf", {"int": "int32"}, "--int cannot be combined with --to tfrecord"),
    ("tf", {"int": "auto"}, "--int cannot be combined with --to tfrecord"),
    ("tf", {"empty": "skip"}, "--empty cannot be combined with --to tfrecord"),
    ("tf", {"empty": "refuse"}, "--empty cannot be combined with --to tfrecord"),
    ("of", {"double": "refuse"}, "--double cannot be combined with --to ofrecord"),
    ("of", {"double": "round"}, "--double cannot be combined with --to ofrecord"),
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tf").write_bytes(frame(SOUND) + frame(b""))
    Path("of").write_bytes(ofrecord_frame(ofrecord({"d": ("double_list", [0.1])})))
    Path("odd").write_bytes(frame(SOUND) + frame(SOUND + tag(7, 0) + b"\x05"))


@pytest.mark.parametrize(("name", "how", "said"), WITHOUT)
def test_option_for_another_output_format_is_refused(name: str, how: dict[str, Any], said: str) -> None:
    ((option, value),) = how.items()
    known = run("convert", name, "-o", "out", "--to", {"tf": "tfrecord", "of": "ofrecord"}[name], f"--{option}", value)
    assert known.returncode == 2 and said in known.stderr
    learnt = run("convert", name, "-o", "out", f"--{option}", value)
    assert learnt.returncode == 3 and said in learnt.stderr
    assert not Path("out").exists()


@pytest.mark.parametrize("to", ["jsonl", "parquet"])
def test_empty_option_is_refused_for_rows(to: str) -> None:
    assert run("convert", "tf", "-o", "out", "--to", to, "--empty", "refuse").returncode == 2


def test_unknown_fields_are_refused_on_request() -> None:
    with pytest.raises(RefusedError, match="'odd' record 1 at byte .*a field that the message does not have"):
        convert("odd", "out", unknown="refuse")
    assert convert("odd", "out").written == 2
    assert Path("out").read_bytes() == Path("odd").read_bytes()


def test_checked_payloads_are_copied_unchanged() -> None:
    reopenable = raw_example(entry(b"n", numbers(3, 1), numbers(3, 2)), entry(b"m", numbers(3, 1), numbers(2)))
    Path("more").write_bytes(frame(SOUND) * 20 + frame(b"") + frame(reopenable) + frame(SOUND) * 3)
    for name in ("more", "of"):
        (report,) = convert(name, "same", unknown="refuse", force=True).reports
        assert report.losses == []
        assert Path("same").read_bytes() == Path(name).read_bytes()


@pytest.mark.parametrize("to", ["ofrecord", "jsonl"])
def test_explicit_default_is_allowed(to: str) -> None:
    with pytest.raises(RefusedError):
        convert("odd", "out", to=to, unknown="refuse")
    if to == "ofrecord":
        with pytest.raises(RefusedError, match="no features"):
            convert("tf", "out", to=to, empty="refuse")
