"""What repair leaves behind besides its outputs: whole or not at all, and there before the outputs that it tells of."""

import json
import os
import signal
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path
from resource import RLIMIT_NOFILE, setrlimit

from kit.failing_calls import (
    SIDES,
    SOUND,
    at_each_call,
    by_signal,
    fail,
    lay_out,
    output,
    temporary,
    undisturbed,
    with_room_for,
)
from kit.forked import forked
from kit.make_samples import flip, frame
from pytest import MonkeyPatch, fixture, mark


@fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: MonkeyPatch) -> Path:
    lay_out(tmp_path, monkeypatch)
    return tmp_path


@fixture(scope="module")
def saved() -> bytes:
    return undisturbed()


def test_full_disk_for_side_file_keeps_the_old_output() -> None:
    args = ("repair", "in", "-o", "out", "--keep", "before", *SIDES)  # which drops more than it writes
    assert forked(*args).code == 1
    kept, dropped = (Path(name).read_bytes() for name in ("out", "dropped"))
    for room in range(len(kept), len(dropped), 999):
        for name in ("out", "dropped", "list"):
            Path(name).unlink(missing_ok=True)
        Path("out").write_bytes(b"old")
        ended = forked(*args, "--force", before=with_room_for(room))
        assert ended.code == 3
        assert "cannot write 'dropped': the file would be larger than the system allows" in ended.said
        assert "neither 'dropped' nor 'list' was written whole, so no output was published" in ended.said
        assert sorted(os.listdir()) == ["in", "out"]
        assert output() == b"old"


def test_full_disk_for_the_list_leaves_no_file() -> None:
    Path("many").write_bytes(b"".join(frame(b"sound") + flip(frame(b"payload"), 14) for _ in range(99)))
    ended = forked("repair", "many", "-o", "out", *SIDES, before=with_room_for(5000))
    assert ended.code == 3
    assert "cannot write 'list': the file would be larger" in ended.said
    assert sorted(os.listdir()) == ["in", "many"]


def test_full_device_for_side_file_stops_the_run() -> None:
    Path("other").write_bytes(SOUND)
    ended = forked("repair", "in", "other", "-o", "out/", "--report", "/dev/full", "--json")
    assert ended.code == 3
    assert ended.said.count("/dev/full' was not written whole, so no output was published; free some space") == 2
    files = [json.loads(line) for line in ended.said.splitlines() if line.startswith('{"type":"file"')]
    assert [(file["path"], file["status"], file["output"]) for file in files] == [
        ("in", "error", None),
        ("other", "error", None),
    ]
    assert sorted(os.listdir()) == ["in", "other"]


def test_late_side_file_failure_retracts_outputs() -> None:
    Path("other").write_bytes(SOUND)

    def before(told: int) -> None:
        def link(source: str, target: str) -> None:
            raise OSError(ENOSPC, "no space")

        os.link = link  # type: ignore[assignment]

    ended = forked("repair", "in", "other", "-o", "new/", "--report", "list", before=before)
    assert ended.code == 3
    assert "tfrtool: 1 output reported above not written after all; " in ended.said
    assert ended.said.endswith("; 'list' was not written whole, so no output was published\n")
    assert sorted(os.listdir()) == ["in", "other"]


ALL = ("dropped", "list", "out")
"""In the order in which they get their names."""
NAMING = ("fsync", "link", "replace", "unlink")
"""The calls that give names, and those around them."""


@fixture
def whole() -> dict[str, bytes]:
    assert forked("repair", "in", "-o", "out", *SIDES).code == 1
    found = there()
    clear()
    return found


def there() -> dict[str, bytes]:
    return {name: Path(name).read_bytes() for name in ALL if os.path.exists(name)}


def clear() -> None:
    for name in (*ALL, *temporary()):
        Path(name).unlink(missing_ok=True)


@mark.slow
@mark.parametrize("force", [(), ("--force",)])
def test_kill_leaves_no_output_without_side_files(whole: dict[str, bytes], force: tuple[str, ...]) -> None:
    left = []
    for ended in at_each_call(
        by_signal(signal.SIGKILL), "in", "-o", "out", *force, *SIDES, moments="before behind", calls=NAMING
    ):
        assert ended.code == -signal.SIGKILL
        assert there().items() <= whole.items()
        left.append(tuple(there()))
        clear()
    assert list(dict.fromkeys(left)) == [ALL[:count] for count in range(4)]


@mark.slow
def test_kill_leaves_no_new_output_beside_an_old_list(whole: dict[str, bytes]) -> None:
    def old() -> None:
        for name in ALL:
            Path(name).write_bytes(b"old")

    old()
    left = []
    for _ in at_each_call(by_signal(signal.SIGKILL), "in", "-o", "out", "--force", *SIDES, calls=NAMING, old=True):
        left.append(tuple(name for name, data in there().items() if data == whole[name]))
        assert all(data in (b"old", whole[name]) for name, data in there().items())
        old()
    assert list(dict.fromkeys(left)) == [ALL[:count] for count in range(4)]


@mark.slow
@mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_leaves_all_files_or_none(whole: dict[str, bytes], number: signal.Signals, code: int) -> None:
    left = set()
    for ended in at_each_call(by_signal(number), "in", "-o", "out", *SIDES, moments="before behind", calls=NAMING):
        assert (ended.code, "tfrtool:" in ended.said, temporary()) == (code, False, []), ended
        assert there() in ({}, whole), ended
        left.add(tuple(there()))
        clear()
    assert left == {(), ALL}


@mark.slow
def test_failing_call_keeps_list_and_outputs_consistent(
    whole: dict[str, bytes],
) -> None:
    for ended in at_each_call(fail, "in", "-o", "out", *SIDES, calls=("write", *NAMING)):
        found = there()
        rows = [json.loads(line) for line in found.get("list", b"").splitlines()]
        taken_back = any(row["type"] == "error" for row in rows)
        if ended.code == 1:
            assert found == whole
        else:
            assert (ended.code, "tfrtool: " in ended.said) == (3, True), ended
            assert "out" not in found or ("list" in found and not taken_back), ended
        clear()


def test_outputs_are_published_after_side_files() -> None:
    Path("other").write_bytes(SOUND)

    def before(told: int) -> None:
        real = os.link

        def link(source: str, target: str) -> None:
            real(source, target)
            os.write(told, f"{target} ".encode())

        os.link = link  # type: ignore[assignment]

    ended = forked("repair", "in", "other", "-o", "new/", *SIDES, before=before)
    assert ended.told == "dropped list new/in new/other "


def theirs_at_the_list(path: str) -> Callable[[int], None]:
    """Has somebody else make a file when the list is about to get its name."""

    def before(told: int) -> None:
        real = os.link

        def link(source: str, target: str) -> None:
            if target == "list":
                Path(path).write_bytes(b"theirs")
            real(source, target)

        os.link = link  # type: ignore[assignment]

    return before


def test_list_made_by_another_process_stays() -> None:
    ended = forked("repair", "in", "-o", "out", *SIDES, before=theirs_at_the_list("list"))
    assert ended.code == 3
    assert ended.said.endswith(
        "tfrtool: in: 'list' was made by somebody else meanwhile; 'list' was not written whole, so no output was "
        "published; use --force to write all of it again\n"
    )
    assert (Path("list").read_bytes(), list(there())) == (b"theirs", ["dropped", "list"])


def test_output_made_by_another_process_is_retracted() -> None:
    Path("other").write_bytes(SOUND)

    ended = forked("repair", "in", "other", "-o", "new/", *SIDES, before=theirs_at_the_list("new/in"))
    assert ended.code == 3
    assert ended.said.endswith("tfrtool: 'new/in' was made by somebody else meanwhile\n")
    assert (Path("new/in").read_bytes(), Path("new/other").read_bytes()) == (b"theirs", SOUND)
    *_, last = map(json.loads, Path("list").read_text().splitlines())
    assert (last["type"], last["path"]) == ("error", "in")


def test_more_outputs_than_open_files_can_wait() -> None:
    os.mkdir("many")
    for number in range(80):
        Path(f"many/{number}").write_bytes(frame(b"sound"))
    few = (64, 64)
    ended = forked("repair", "many", "-o", "new", "-q", *SIDES, before=lambda told: setrlimit(RLIMIT_NOFILE, few))
    assert (ended.code, ended.said, len(os.listdir("new"))) == (0, "", 80)


def test_many_names_are_synced_at_once() -> None:
    Path("other").write_bytes(SOUND)

    def before(told: int) -> None:
        real = os.fsync

        def fsync(fd: int) -> None:
            if os.path.samestat(os.fstat(fd), os.stat("new")):
                os.write(told, b"outputs ")
            real(fd)

        os.fsync = fsync

    ended = forked("repair", "in", "other", "-o", "new/", *SIDES, before=before)
    assert (ended.told, sorted(os.listdir("new"))) == ("outputs ", ["in", "other"])
