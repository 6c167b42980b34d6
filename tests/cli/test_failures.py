"""What could not be done, in a sentence; and the bar that shows how far a job is."""

from io import StringIO

from pytest import MonkeyPatch, mark

from tfrtool.cli.suggestions import failure
from tfrtool.cli.terminal import progress
from tfrtool.errors import OpenError, UnsupportedError


@mark.parametrize(
    ("error", "kind", "message"),
    [
        (OpenError("cannot open 'a'"), "open", "cannot open 'a'"),
        (UnsupportedError("not here"), "unsupported", "not here"),
        (MemoryError(), "memory", "out of memory"),
        (ImportError("a.so: failed to map segment from shared object"), "memory", "out of memory"),
        (PermissionError(13, "Permission denied", "a"), "system", "a: permission denied"),
        (OSError(28, "No space left on device"), "system", "no space is left"),
        (KeyError("a"), "internal", "KeyError: 'a'; this is a bug in tfrtool; run with -vv for a traceback"),
        (RecursionError(), "internal", "RecursionError; this is a bug in tfrtool; run with -vv for a traceback"),
    ],
)
def test_whatever_was_raised_is_a_kind_and_a_sentence(error: Exception, kind: str, message: str) -> None:
    assert failure(error) == (kind, message)


def test_progress_is_one_bar_in_bytes_that_leaves_nothing_behind(monkeypatch: MonkeyPatch, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a").write_bytes(bytes(2048))
    screen = StringIO()
    monkeypatch.setattr(progress.sys, "stderr", screen)
    monkeypatch.setattr(progress, "DELAY", 0)
    bar = progress.Progress([str(tmp_path / "a")])
    bar.advance(1024)
    bar.hide()
    bar.advance(1024)
    bar.close()
    shown = screen.getvalue()
    assert "50%" in shown and "1.00k/2.00k" in shown
    assert shown.rpartition("\r")[2] == "" and "\n" not in shown


def test_progress_does_not_show_before_its_time(monkeypatch: MonkeyPatch) -> None:
    screen = StringIO()
    monkeypatch.setattr(progress.sys, "stderr", screen)
    bar = progress.Progress(["-"])
    bar.advance(1)
    bar.hide()
    bar.close()
    assert screen.getvalue() == ""
