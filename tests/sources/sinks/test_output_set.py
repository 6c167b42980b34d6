"""Several outputs take their names together or not at all, and leave nothing lying about."""

import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tfrtool.errors import WriteError
from tfrtool.sources.sinks import output_set as sink_set
from tfrtool.sources.sinks.output_set import OutputSet

NAMES = ["part-0", "part-1", "part-2"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(names: list[str], *, then: Callable[[], None] = lambda: None, **how: object) -> None:
    """Write a set of members that hold their own names."""
    with OutputSet(names[0], **how) as outputs:  # type: ignore[arg-type]
        for name in names:
            outputs.open().write(name.encode())
        then()
        outputs.publish(names)


def found() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def test_all_names_appear_at_the_end_and_not_before() -> None:
    write(NAMES, then=lambda: [] if not set(NAMES) & set(os.listdir()) else pytest.fail("too early"))
    assert found() == {name: name.encode() for name in NAMES}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, WriteError])
def test_nothing_is_left_when_the_block_fails(error: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(error):
        write(NAMES, then=fail)
    assert os.listdir() == []


def test_without_publish_nothing_is_left() -> None:
    with OutputSet("out") as outputs:
        outputs.open().write(b"half")
    assert os.listdir() == []


@pytest.mark.parametrize("taken", NAMES)
def test_one_name_that_is_taken_stops_them_all(taken: str) -> None:
    Path(taken).write_bytes(b"old")
    with pytest.raises(WriteError, match=f"'{taken}' exists already"):
        write(NAMES)
    assert found() == {taken: b"old"}


def test_a_name_that_is_taken_meanwhile_stops_them_all() -> None:
    with pytest.raises(WriteError, match="exists already"):
        write(NAMES, then=lambda: Path("part-0").write_bytes(b"theirs") and None)
    assert found() == {"part-0": b"theirs"}


def test_a_failure_between_two_new_names_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    real = sink_set.publish
    monkeypatch.setattr(
        sink_set,
        "publish",
        lambda *args: real(*args) if args[1] != "part-0" else (_ for _ in ()).throw(WriteError("no")),
    )
    with pytest.raises(WriteError):
        write(NAMES)
    assert os.listdir() == []


def test_a_failure_under_force_leaves_only_whole_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES[1:]:
        Path(name).write_bytes(b"old")
    real = sink_set.publish

    def fails_at_the_second(temporary: str, path: str, force: bool) -> None:
        if path == "part-1":
            raise WriteError("no")
        real(temporary, path, force)

    monkeypatch.setattr(sink_set, "publish", fails_at_the_second)
    with pytest.raises(WriteError):
        write(NAMES, force=True)
    assert found() == {"part-1": b"old", "part-2": b"part-2"}


def test_the_first_member_takes_its_name_last(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    real = sink_set.publish
    monkeypatch.setattr(sink_set, "publish", lambda *args: (order.append(args[1]), real(*args)))
    write(NAMES)
    assert order == NAMES[::-1]


def test_force_replaces_all_and_keeps_their_permissions() -> None:
    for name in NAMES:
        Path(name).write_bytes(b"old")
        os.chmod(name, 0o640)
    write(NAMES, force=True)
    assert found() == {name: name.encode() for name in NAMES}
    assert {os.stat(name).st_mode & 0o777 for name in NAMES} == {0o640}


def test_an_input_is_never_an_output_even_with_force() -> None:
    Path("in").write_bytes(b"data")
    os.link("in", "part-1")
    with pytest.raises(WriteError, match="is the input 'in'"):
        write(NAMES, force=True, same_as=("in",))
    assert found() == {"in": b"data", "part-1": b"data"}


def test_a_directory_is_made_for_the_set_and_goes_with_it() -> None:
    write([f"new/{name}" for name in NAMES], make_directory=True)
    assert sorted(os.listdir("new")) == NAMES
    with OutputSet("other/part-0", make_directory=True) as outputs:
        outputs.open().write(b"x")
    assert not os.path.exists("other")


def test_a_pipe_takes_one_output_directly() -> None:
    reader, writer = os.pipe()
    with OutputSet(f"/dev/fd/{writer}") as outputs:
        outputs.open().write(b"records")
        with pytest.raises(WriteError, match="takes one output alone"):
            outputs.open()
        outputs.publish([f"/dev/fd/{writer}"])
    assert os.read(reader, 100) == b"records"
    os.close(reader)
    os.close(writer)


def test_no_two_outputs_are_one_file() -> None:
    os.mkdir("here")
    for names in (["a", "a"], ["here/../a", "a"]):
        with pytest.raises(WriteError, match="'a' would be written twice"):
            write(names, force=True)
    assert os.listdir() == ["here"]


MANY = [f"part-{number:04d}" for number in range(1_000)]


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are not brought to the disk, which is not what is asked here."""
    monkeypatch.setattr(os, "fsync", lambda fd: None)


@pytest.fixture
def few_descriptors() -> Iterator[None]:
    """As `ulimit -n 64` leaves them."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("few_descriptors", "no_waiting")
def test_a_set_may_exceed_the_limit_of_open_files() -> None:
    write(MANY)
    assert sorted(os.listdir()) == MANY
    with pytest.raises(WriteError, match="'part-0000' exists already"):
        write([*(f"more-{number}" for number in range(500)), "part-0000"])
    assert sorted(os.listdir()) == MANY
