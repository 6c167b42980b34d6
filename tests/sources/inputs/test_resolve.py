"""Input strings to names: what each spelling finds, what is missing, and what is said when there is nothing."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrtool.framing import encode
from tfrtool.sources.inputs.resolve import Resolution, is_url, resolve
from tfrtool.sources.inputs.shards import MAX_SHARDS, MissingShard, SetSpec, natural_key


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def touch(*names: str) -> None:
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).touch()


def shards(stem: str, total: int, suffix: str = "", without: tuple[int, ...] = ()) -> list[str]:
    names = [f"{stem}-{i:05d}-of-{total:05d}{suffix}" for i in range(total) if i not in without]
    touch(*names)
    return names


def missing(found: Resolution) -> list[str]:
    return [shard.name for shard in found.missing]


def only_message(found: Resolution) -> str:
    assert found.names == []
    (unmatched,) = found.unmatched
    return unmatched.message


def test_paths_keep_the_order_and_the_spelling_of_the_arguments() -> None:
    touch("b", "a", "d/x")
    assert resolve(["b", "./a", "d/../d/x"]).names == ["b", "./a", "d/../d/x"]


def test_one_file_by_several_spellings_counts_once(here: Path) -> None:
    touch("a", "d/x")
    os.symlink("d", "link")
    assert resolve(["a", "./a", str(here / "a"), "d/x", "link/x", "d/../a"]).names == ["a", "d/x"]


def test_two_links_to_one_file_are_two_names() -> None:
    touch("a")
    os.symlink("a", "b")
    os.link("a", "c")
    assert resolve(["a", "b", "c"]).names == ["a", "b", "c"]


def test_a_path_that_exists_wins_over_every_other_reading() -> None:
    touch("x*", "xy", "@list", "set@4", "-", "s3:/bucket/key", "d[1]/x-00000-of-00001")
    assert resolve(["x*", "@list", "set@4"]).names == ["x*", "@list", "set@4"]
    assert resolve(["-", "s3://bucket/key"]).names == ["./-", "./s3://bucket/key"]
    assert resolve(["?"]).names == ["./-"]
    assert resolve(["d[1]/x@1"]).names == ["d[1]/x-00000-of-00001"]


def test_a_missing_path_says_so_and_stops_no_other() -> None:
    touch("a")
    found = resolve(["nothing", "a"])
    assert found.names == ["a"]
    assert [(u.input, u.message) for u in found.unmatched] == [("nothing", "no such file or directory")]


@pytest.mark.parametrize(
    ("name", "says"),
    [("", "empty"), ("n" * 300, "too long"), ("a\0b", "NUL"), ("a/b", "not a directory"), ("loop/x", "symbolic links")],
)
def test_a_name_that_cannot_be_looked_up_says_why(name: str, says: str) -> None:
    touch("a")
    os.symlink("loop", "loop")
    assert says in only_message(resolve([name]))


def test_links_that_lead_nowhere_and_pipes_are_names() -> None:
    os.symlink("gone", "dangling")
    os.mkfifo("pipe")
    assert resolve(["dangling", "pipe"]).names == ["dangling", "pipe"]


def test_names_that_are_not_utf8_are_kept(here: Path) -> None:
    name = os.fsdecode(b"\xff\xfe-00001-of-00002")
    touch(name)
    assert resolve([name]).names == [name]
    assert resolve(["."]).names == [f"./{name}"]


def test_standard_input_is_taken_once() -> None:
    found = resolve(["-", "-"])
    assert found.names == ["-"]
    assert "twice" in found.unmatched[0].message
    assert "twice" in resolve(["@-", "-"], stdin=io.BytesIO(b"-\n")).unmatched[0].message


def test_urls_go_through_untouched() -> None:
    urls = ["gs://b//x*", "s3://b/x@64", "https://h/a?b"]
    assert resolve([*urls, urls[0]]).names == urls
    assert is_url("file+x-1.0://a")
    assert not is_url("a/b://c")


# Lists


def test_a_list_names_inputs_of_every_kind_one_a_line() -> None:
    touch("a", "b c", "d/1", "d/2", "é")
    Path("list").write_bytes("\ufeffb c\r\n\r\n  # comment\n#a\n@more\nd\n".encode() + "é\n".encode())
    Path("more").write_text("a\n   \nnothing")
    found = resolve(["@list"])
    assert found.names == ["b c", "a", "d/1", "d/2", "é"]
    assert [u.input for u in found.unmatched] == ["nothing"]


def test_names_in_a_list_are_relative_to_the_current_directory() -> None:
    touch("a")
    os.mkdir("d")
    Path("d/list").write_text("a\n")
    assert resolve(["@d/list"]).names == ["a"]


def test_a_list_on_standard_input_may_hold_names_not_utf8() -> None:
    name = os.fsdecode(b"\xff")
    touch(name)
    assert resolve(["@-"], stdin=io.BytesIO(b"\xff\n")).names == [name]


def test_lists_that_name_themselves_end() -> None:
    touch("a")
    Path("one").write_text("@two\na\n@two\n")
    Path("two").write_text("@one\n")
    found = resolve(["@one"])
    assert found.names == ["a"]
    assert [u.message for u in found.unmatched] == ["the list 'one' names itself"]


def test_lists_in_lists_have_a_depth() -> None:
    for depth in range(12):
        Path(f"l{depth}").write_text(f"@l{depth + 1}\n")
    assert "lists name one another" in only_message(resolve(["@l0"]))


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"a\0b\n", "NUL"), (b"x" * 70_000, "longer than"), (b"# nothing\n", "names no inputs")],
)
def test_what_is_no_list_is_refused(content: bytes, says: str) -> None:
    Path("list").write_bytes(content)
    assert says in only_message(resolve(["@list"]))


def test_a_list_that_cannot_be_read_says_why() -> None:
    os.mkdir("d")
    assert "it is a directory" in only_message(resolve(["@d"]))
    assert "no such file" in only_message(resolve(["@nothing"]))


# Shard sets


def test_a_whole_set_is_found_by_its_size() -> None:
    names = shards("d/x", 12)
    shards("d/x", 3)
    shards("d/y", 12)
    found = resolve(["d/x@12"])
    assert (found.names, found.missing, found.unmatched) == (names, [], [])


def test_missing_members_of_a_set_are_named() -> None:
    shards("x", 4, ".gz", without=(1, 3))
    assert missing(resolve(["x@4.gz"])) == ["x-00001-of-00004.gz", "x-00003-of-00004.gz"]


def test_a_star_takes_every_total_as_a_set_of_its_own() -> None:
    shards("x", 2)
    shards("x", 3, without=(2,))
    shards("x", 2, ".gz")
    found = resolve(["x@*"])
    assert len(found.names) == 4
    assert missing(found) == ["x-00002-of-00003"]


def test_the_part_before_the_size_may_be_a_pattern() -> None:
    names = shards("a/x", 2) + shards("b/x", 2, without=(0,))
    found = resolve(["*/x@2"])
    assert found.names == names
    assert missing(found) == ["b/x-00000-of-00002"]


def test_a_set_of_which_nothing_is_there_was_not_found() -> None:
    shards("x", 2, ".gz")
    message = only_message(resolve(["x@64"]))
    assert "'x-?????-of-00064'" in message
    assert resolve(["x@64"]).missing == []
    assert "'x@2.gz'" in only_message(resolve(["x@2"]))


@pytest.mark.parametrize("size", ["0", "100001", "100000000", "9" * 5000])
def test_a_set_of_an_impossible_size_is_refused(size: str) -> None:
    assert "members" in only_message(resolve([f"x@{size}"]))


def test_a_name_that_claims_a_billion_members_is_one_finding() -> None:
    touch("d/x-00000-of-99999999999")
    assert resolve(["d"]).missing == [MissingShard("d/x-?????-of-99999999999", 99999999998)]


def test_no_more_missing_names_are_listed_than_the_bound() -> None:
    touch(*(f"d/{stem}-00000-of-60000" for stem in "abc"))
    found = resolve(["d"])
    assert len(found.missing) <= MAX_SHARDS
    assert sum(shard.count for shard in found.missing) == 3 * 59_999


def test_sets_that_differ_in_their_total_are_reported() -> None:
    shards("d/x", 3)
    shards("d/x", 4)
    shards("d/y", 4)
    shards("e/x", 5)
    both = ["d/x-?????-of-00003", "d/x-?????-of-00004"]
    assert [resolve([text]).mixed for text in ("d/x@*", "d", "d/x-*")] == [[both]] * 3
    assert resolve(["d", "d/x@*"]).mixed == [both]
    assert resolve(["d/x@3", "d/x@4", "d/y@*", "e"]).mixed == []


def test_files_named_one_by_one_miss_nothing() -> None:
    names = shards("x", 4, without=(1,))
    assert resolve(names).missing == []


def test_a_pattern_misses_only_what_it_would_match() -> None:
    shards("d/x", 10, without=(2, 7))
    assert missing(resolve(["d/x-0000[0-3]-of-00010"])) == ["d/x-00002-of-00010"]
    assert missing(resolve(["d/x-00000-of-*"])) == []
    assert missing(resolve(["d/*"])) == ["d/x-00002-of-00010", "d/x-00007-of-00010"]


def test_a_set_numbered_from_one_is_complete() -> None:
    touch(*(f"d/x-{i:03d}-of-004" for i in (1, 2, 3, 4)))
    assert missing(resolve(["d"])) == []
    Path("d/x-002-of-004").unlink()
    assert missing(resolve(["d"])) == ["d/x-002-of-004"]


def test_a_set_without_padding_is_complete() -> None:
    touch(*(f"d/x-{i}-of-12" for i in range(12) if i != 7))
    assert missing(resolve(["d"])) == ["d/x-7-of-12"]


def test_a_missing_member_is_told_once() -> None:
    shards("x", 3, without=(1,))
    assert missing(resolve(["x@3", "x-*", "."])) == ["x-00001-of-00003"]


def test_the_spelling_of_a_set() -> None:
    assert SetSpec.parse("d/x.tfrecord@64.gz") == SetSpec("d/x.tfrecord", 64, ".gz")
    assert SetSpec.parse("x@*") == SetSpec("x", None, "")
    for other in ("@64", "d/@4", "x@", "x@4/y", "user@host", "x@1@2x"):
        assert SetSpec.parse(other) is None


# Directories and patterns


def test_a_directory_gives_record_files_in_natural_order() -> None:
    touch("d/x10", "d/x2", "d/b/x", "d/a.tfrecord", "d/events.out.tfevents.1.h")
    touch("d/_SUCCESS", "d/.x.crc", "d/_temporary/x", "d/.git/x")
    touch(*(f"d/x.{side}" for side in ("crc", "idx", "index", "tfindex", "json", "txt", "pbtxt", "TXT")))
    touch("d/README.md", "d/LICENSE")
    assert resolve(["d"]).names == ["d/a.tfrecord", "d/b/x", "d/events.out.tfevents.1.h", "d/x2", "d/x10"]


def test_a_directory_skips_names_of_other_kinds() -> None:
    touch("d/labels.csv", "d/train.log", "d/NOTES.MD", "d/a.py", "d/b.yaml.gz", "d/c.npz", "d/e.ipynb", "d/f.tar.gz")
    touch("d/x-00000-of-00001.gz", "d/v1.2", "d/data")
    Path("d/day.log").write_bytes(encode.frame(b"payload"))
    found = resolve(["d"])
    assert found.names == ["d/data", "d/v1.2", "d/x-00000-of-00001.gz"]
    assert found.passed_over == 9


def test_what_is_named_or_matched_is_read_whatever_its_name() -> None:
    touch("d/labels.csv")
    assert resolve(["d/labels.csv"]).names == resolve(["d/*"]).names == ["d/labels.csv"]


def test_files_of_rows_below_a_directory_are_for_who_reads_rows() -> None:
    touch("d/a.jsonl", "d/b.parquet", "d/c.ndjson.gz", "d/d.csv", "d/x")
    assert resolve(["d"]).names == ["d/x"]
    assert resolve(["d"], rows=True).names == ["d/a.jsonl", "d/b.parquet", "d/c.ndjson.gz", "d/x"]


def test_a_directory_without_record_files_is_reported() -> None:
    touch("d/_SUCCESS", "d/x.json")
    assert only_message(resolve(["d"])) == "the directory holds no record files; 2 other files were passed over"


def test_links_in_circles_end() -> None:
    touch("d/e/x")
    for n in range(3):
        os.symlink("..", f"d/e/up{n}")
        os.symlink(".", f"d/e/same{n}")
    assert resolve(["d"]).names == ["d/e/x"]
    assert resolve(["d/**"]).names == ["d/e/x"]
    assert resolve(["**/x"]).names == ["d/e/x"]


def test_a_linked_directory_is_entered() -> None:
    touch("far/x")
    os.mkdir("d")
    os.symlink("../far", "d/near")
    assert resolve(["d"]).names == ["d/near/x"]


def test_pipes_are_skipped_and_dead_links_are_not() -> None:
    touch("d/x")
    os.mkfifo("d/pipe")
    os.symlink("gone", "d/dangling")
    assert resolve(["d"]).names == resolve(["d/*"]).names == ["d/dangling", "d/x"]


def test_an_unreadable_directory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    touch("d/closed/x", "d/open/y")
    real = os.scandir

    def scandir(path: str) -> Iterator[os.DirEntry[str]]:
        if path.endswith("closed"):
            raise PermissionError(13, "no")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    for given_name in ("d", "d/*/*"):
        found = resolve([given_name])
        assert found.names == ["d/open/y"]
        assert [u.message for u in found.unmatched] == ["the directory 'd/closed' cannot be listed: permission denied"]


def test_patterns_match_as_in_a_shell() -> None:
    touch("x1", "x2", "x10", ".x3", "d/x4", "d/e/x5")
    assert resolve(["x*"]).names == ["x1", "x2", "x10"]
    assert resolve([".x*"]).names == [".x3"]
    assert resolve(["x[12]"]).names == ["x1", "x2"]
    assert resolve(["*/x?"]).names == ["d/x4"]
    assert resolve(["**/x?"]).names == ["d/e/x5", "d/x4", "x1", "x2"]
    assert resolve([f"{os.getcwd()}/d/**"]).names == [f"{os.getcwd()}/d/e/x5", f"{os.getcwd()}/d/x4"]


def test_a_directory_that_a_pattern_matches_is_read_as_one() -> None:
    touch("a/x", "a/x.json", "b/y", "c")
    assert resolve(["?"]).names == ["c", "a/x", "b/y"]
    assert resolve(["*/"]).names == ["a/x", "b/y"]


def test_a_pattern_without_a_match_says_where_was_looked() -> None:
    os.makedirs("d/empty")
    assert only_message(resolve(["d/e/x*"])) == "no file matches the pattern (looked in 'd/e')"
    assert "a directory without record files" in only_message(resolve(["d/e*"]))


def test_ten_thousand_names_need_one_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"d/x-{i:05d}-of-10000" for i in range(10_000)]
    os.mkdir("d")
    for name in names:
        os.close(os.open(name, os.O_CREAT))
    listings = []
    real = os.scandir

    def counting(path: str) -> Iterator[os.DirEntry[str]]:
        listings.append(path)
        return real(path)

    monkeypatch.setattr(os, "scandir", counting)
    assert resolve(["d"]).names == names
    assert listings == ["d"]


@given(st.lists(st.text("a1290/-", max_size=6), max_size=8))
def test_natural_order_is_a_total_order_and_counts(names: list[str]) -> None:
    assert sorted(sorted(names), key=natural_key) == sorted(names, key=natural_key)
    assert sorted(["x10", "x2", "x02", "x"], key=natural_key) == ["x", "x02", "x2", "x10"]
