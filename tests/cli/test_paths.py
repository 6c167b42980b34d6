"""No file of a run is two of its files: what is read is never written to, and no output replaces another."""

from pathlib import Path

import pytest
from kit.make_samples import DATA, frame
from kit.program import run, shell

import tfrtool

SOUND = DATA / "flowers.tfrecord"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with an index and a list of an input, each of which has a second name."""
    run("stat", SOUND, "--index", tmp_path / "a.idx")
    (tmp_path / "list").write_text(f"{SOUND}\n")
    for name in ("a.idx", "list"):
        (tmp_path / f"other-{name}").hardlink_to(tmp_path / name)
    return tmp_path


PAGES = ["verify", "stat"]


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("page", ["a.idx", "./a.idx", "other-a.idx"])
def test_a_page_never_replaces_the_index_of_its_run(here: Path, command: str, page: str) -> None:
    before = (here / "a.idx").read_bytes()
    done = run(command, "--index", "a.idx", "--html", page, "--force", SOUND, cwd=here)
    assert (done.returncode, done.stdout, (here / "a.idx").read_bytes()) == (2, "", before)
    assert f"--html '{page}' is " in " ".join(done.stderr.split()) and "--index" in done.stderr


def test_a_page_never_replaces_an_index_that_is_still_to_be_written(here: Path) -> None:
    done = run("stat", "--index", "new.idx", "--html", "./new.idx", SOUND, cwd=here)
    assert (done.returncode, (here / "new.idx").exists()) == (2, False)
    done = run("stat", "--index", ".", "--html", "flowers.tfrecord.idx", SOUND, SOUND.with_name("flowers.tfrecord"))
    assert done.returncode == 2


@pytest.mark.parametrize("name", ["list", "other-list"])
@pytest.mark.parametrize(
    "command",
    [
        *(("verify", "--html"), ("head", "--html"), ("schema", "--html"), ("stat", "--html"), ("stat", "--index")),
        *(("schema", "--emit", "tf", "-o"), ("repair", "-o", "new/", "--report")),
        *(("convert", "--to", "jsonl", "-o"), ("convert", "--to", "jsonl", "-o", "new", "--schema-out")),
    ],
    ids=" ".join,
)
def test_a_list_of_inputs_is_never_written_to(here: Path, command: tuple[str, ...], name: str) -> None:
    before = (here / "list").read_bytes()
    done = run(*command, name, "--force", "@list", cwd=here)
    assert (done.returncode, (here / "list").read_bytes(), (here / "new").exists()) == (2, before, False)
    assert "an input is never written to" in " ".join(done.stderr.split())


def test_no_shard_of_a_conversion_replaces_the_list_of_its_inputs(here: Path) -> None:
    (here / "out-00000-of-00001.jsonl").hardlink_to(here / "list")
    how = ["--to", "jsonl", "--shards", "1", "-o", "out.jsonl", "--force"]
    done = run("convert", *how, "@out-00000-of-00001.jsonl", cwd=here)
    assert (done.returncode, (here / "list").read_text()) == (3, f"{SOUND}\n")
    with pytest.raises(tfrtool.WriteError, match="an input is never written to"):
        tfrtool.convert(f"@{here}/list", here / "list", to="jsonl", force=True)


def test_a_schema_that_a_conversion_reads_is_never_written_to(here: Path) -> None:
    run("convert", SOUND, "-o", "rows.jsonl", "--schema-out", "schema.json", cwd=here)
    before = (here / "schema.json").read_bytes()
    outputs = ["-o", "./schema.json", "--to", "jsonl", "--force"]
    done = run("convert", "rows.jsonl", "--schema", "schema.json", *outputs, cwd=here)
    assert (done.returncode, (here / "schema.json").read_bytes()) == (2, before)
    assert "is the file that --schema reads" in " ".join(done.stderr.split())
    with pytest.raises(tfrtool.WriteError, match="an input is never written to"):
        how = {"schema": str(here / "schema.json"), "to": "jsonl", "force": True}
        tfrtool.convert(here / "rows.jsonl", here / "schema.json", **how)


def test_no_report_is_appended_to_the_list_of_its_inputs(here: Path) -> None:
    done = shell('cd "$1"; tfrtool verify @list >> list; echo $?', here)
    assert (done.stdout, (here / "list").read_text()) == ("3\n", f"{SOUND}\n")


def test_a_page_is_not_where_the_report_goes(here: Path) -> None:
    (here / "a").write_bytes(frame(b"x"))
    done = shell('cd "$1"; tfrtool verify a --html page --force > page; echo $?', here)
    assert done.stdout == "2\n" and "is standard output" in " ".join(done.stderr.split())
