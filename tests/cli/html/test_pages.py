"""Pages: whole, closed to the network, and never led astray by data; what is printed stays as it is."""

import re
import subprocess
import unicodedata
from pathlib import Path

from kit.make_samples import DATA, example, frame, sequence_example
from kit.pages import HOSTILE, PageReader, hostile_files, png, read_page
from kit.program import COMMAND, environment, json_lines, run
from pytest import mark

SOUND, DAMAGED = str(DATA / "flowers.tfrecord"), str(DATA / "flowers-damaged.tfrecord")
PAGES = ("verify", "stat", "head", "schema")
ELEMENTS = {
    *("html", "head", "meta", "link", "title", "style", "body", "header", "main", "footer", "script", "time"),
    *("h1", "h2", "h3", "p", "section", "div", "span", "bdi", "a", "ul", "li", "dl", "dt", "dd"),
    *("table", "thead", "tbody", "tr", "th", "td", "svg", "rect", "img"),
}


@mark.parametrize("command", PAGES)
@mark.parametrize("inputs", [[SOUND], [DAMAGED], [SOUND, DAMAGED, "missing"]], ids=["sound", "damaged", "several"])
def test_what_is_printed_and_the_exit_code_are_as_without_a_page(
    tmp_path: Path, command: str, inputs: list[str]
) -> None:
    plain, paged = run(command, *inputs), run(command, *inputs, "--html", tmp_path / "page.html")
    assert (paged.returncode, paged.stdout, paged.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert read_page(tmp_path / "page.html").tags["h1"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


@mark.parametrize("command", PAGES)
def test_a_page_may_stand_beside_json(tmp_path: Path, command: str) -> None:
    assert json_lines(command, DAMAGED, "--html", tmp_path / "page.html") == json_lines(command, DAMAGED)
    assert read_page(tmp_path / "page.html").tags["table"] >= 1


@mark.parametrize("command", PAGES)
def test_a_page_asks_for_nothing_and_forbids_all_that_could(tmp_path: Path, command: str) -> None:
    run(command, SOUND, DAMAGED, "--html", tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    assert {value[:5] for value in page.attributes("src", "href")} <= {"data:", "#f1", "#f2"}
    (policy,) = (value for value in page.attributes("content") if "-src" in value)
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-")
    assert "unsafe" not in policy and "http" not in (tmp_path / "page.html").read_text().replace("http-equiv", "")


@mark.parametrize("command", PAGES)
def test_data_stays_text_however_hostile(tmp_path: Path, command: str) -> None:
    names = hostile_files(tmp_path)
    result = run(command, "--html", "page.html", "--", *names, cwd=tmp_path)
    assert result.returncode == 3 and "Traceback" not in result.stderr
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    page = PageReader(text)
    assert set(page.tags) <= ELEMENTS and page.tags["script"] == page.tags["style"] == page.tags["h1"] == 1
    assert page.tags["img"] == 0
    assert not [name for _, name, _ in page.given if name.startswith("on") or name == "style"]
    assert not {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Co", "Cs") and char != "\n"}
    assert "<script>window.hurt=1<\u2215script>" in page.words and "\\xff\\xfe" in page.words
    if command in ("head", "schema"):
        assert HOSTILE[0] in page.words and "\\u202eb\\u2066c" in page.words


def test_a_page_of_verify_has_the_map_the_damage_and_what_to_do(tmp_path: Path) -> None:
    run("verify", DAMAGED, "--html", tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    heads, *rows = page.rows
    assert heads == ["offset", "end", "record", "fault", "recoverable", "message"]
    assert [row[:5] for row in rows] == [
        ["2,390", "3,267", "3", "length-crc", "1"],
        ["5,140", "6,137", "6", "data-crc", "0"],
        ["7,174", "8,250", "8", "data-crc", "1"],
        ["10,524", "11,520", "11", "torn", "0"],
    ]
    kinds = [value for tag, name, value in page.given if tag == "rect" and name == "class"]
    assert kinds == ["sound", "saved", "sound", "lost", "sound", "saved", "sound", "lost", "sound", "saved", "lost"]
    assert "damaged: about bytes 5,136 to 6,144" in page.words
    assert "1 file: 1 damaged; 8 intact records" in page.words and "run: tfrtool repair" in page.words


def test_a_page_of_verify_lists_all_files_and_leads_to_those_that_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "train-00001-of-00002").write_bytes(Path(SOUND).read_bytes())
    run("verify", "train@2", SOUND, DAMAGED, "--html", "page.html", cwd=tmp_path)
    page = read_page(tmp_path / "page.html")
    assert [row[1] for row in page.rows[1:4]] == ["clean", "clean", "damaged"]
    assert page.attributes("href") == {"data:,", "#f3"} and page.attributes("id") == {"f3"}
    assert "train-00000-of-00002: missing from its shard set" in page.words


def test_a_page_of_verify_tells_of_lines_of_an_index_that_disagree(tmp_path: Path) -> None:
    run("stat", SOUND, "--index", tmp_path / "a.idx")
    lines = (tmp_path / "a.idx").read_text().splitlines()
    (tmp_path / "a.idx").write_text("\n".join([lines[0], "<b>", *lines[2:]]) + "\n")
    assert run("verify", SOUND, "--index", tmp_path / "a.idx", "--html", tmp_path / "page.html").returncode == 1
    page = read_page(tmp_path / "page.html")
    assert page.tags["b"] == 0 and "line 2: " in page.words


def test_a_page_of_stat_has_figures_a_histogram_and_a_row_for_each_shard(tmp_path: Path) -> None:
    run("stat", "--duplicates", SOUND, DAMAGED, "--html", tmp_path / "page.html")
    page = read_page(tmp_path / "page.html")
    bins, (heads, *files) = page.rows[:5], page.rows[5:]
    assert [row[0] for row in bins] == ["700 - 799", "800 - 899", "900 - 999", "1,000 - 1,099", "1,100 - 1,199"]
    assert "smallest 741, median 940" in page.words and "the 2 files average" in page.words
    assert heads[-2:] == ["content", "repeats"] and [row[2:10] for row in files] == [
        ["12", "11,720", "11,528", "741", "940", "960.7", "1,180", "example, tfrecord"],
        ["8", "11,520", "7,446", "741", "901", "930.8", "1,141", "example, tfrecord"],
    ]
    assert "8 records with a repeated payload" in page.words


def test_a_page_of_stat_is_the_same_when_nothing_is_printed(tmp_path: Path) -> None:
    for name, option in (("a", "-q"), ("b", "--json"), ("c", "--color=never")):
        run("stat", "--duplicates", SOUND, DAMAGED, option, "--html", tmp_path / name)
    a, b, c = (re.sub("<time.*</time>", "", (tmp_path / name).read_text()) for name in "abc")
    assert a == b == c


def test_a_page_of_head_has_a_card_for_each_record_and_draws_small_images(tmp_path: Path) -> None:
    image, large = png(20, 10), png(8, 8, bytes(300 << 10))
    record = example((b"image", [image, large, image[:20]]), (b"svg", [b"<svg onload='x()'/>"]), (b"label", [7]))
    steps = sequence_example([(b"id", [b"v"])], [(b"frames", [[image], [image]])])
    (tmp_path / "a").write_bytes(frame(record) + frame(steps))
    assert run("head", "a", "--html", "page.html", cwd=tmp_path).returncode == 0
    page = read_page(tmp_path / "page.html")
    assert (page.tags["section"], page.tags["img"], page.tags["svg"]) == (2, 3, 0)
    assert {value[:22] for value in page.attributes("src")} == {"data:image/png;base64,"}
    assert "png 8x8, 300.1 KiB: not shown, larger than 256.0 KiB" in page.words
    assert ["label", "int64", "1", "7"] in page.rows


def test_a_page_of_head_tells_of_damage(tmp_path: Path) -> None:
    run("head", DAMAGED, "--html", tmp_path / "page.html")
    assert "bytes 2,390 to 3,267: length-crc" in read_page(tmp_path / "page.html").words


def test_a_page_of_schema_has_a_row_for_each_feature_and_what_is_odd_about_it(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(frame(example((b"n", [7]), (b"<i>", [b"x"]))) + frame(example((b"n", [1.5]))))
    plain, paged = run("schema", "a", cwd=tmp_path), run("schema", "a", "--html", "page.html", cwd=tmp_path)
    assert (paged.returncode, paged.stdout) == (plain.returncode, plain.stdout)
    page = read_page(tmp_path / "page.html")
    heads, *rows = page.rows[:3]
    assert heads[:3] == ["feature", "kind", "records"]
    assert [row[:5] for row in rows] == [["n", "int64/float", "2", "1", "1"], ["<i>", "bytes", "1", "1", "1"]]
    assert "missing in 1 of 2 records, first in record 1 of a" in rows[1][5]
    assert run("schema", "a", "--emit", "tf", "--html", "b", cwd=tmp_path).returncode == 2


@mark.parametrize("command", PAGES)
def test_nothing_is_written_over_without_force(tmp_path: Path, command: str) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    result = run(command, SOUND, "--html", page)
    assert (result.returncode, result.stdout, page.read_text()) == (3, "", "mine")
    assert result.stderr == f"tfrtool: '{page}' exists already; use --force to replace it\n"
    assert run(command, SOUND, "--html", page, "--force").returncode == 0
    assert read_page(page).tags["h1"] == 1


@mark.parametrize("command", PAGES)
def test_an_input_is_never_written_to(tmp_path: Path, command: str) -> None:
    record = tmp_path / "a"
    record.write_bytes(frame(b"x"))
    result = run(command, record, "--html", record, "--force")
    assert (result.returncode, record.read_bytes()) == (2, frame(b"x"))
    assert "an input is never written to" in " ".join(result.stderr.split())


@mark.parametrize("place", ["no/such/page.html", "/dev/full"])
def test_a_page_that_cannot_be_written_is_a_failure_with_a_sentence(tmp_path: Path, place: str) -> None:
    result = run("verify", SOUND, "--html", place, cwd=tmp_path)
    assert result.returncode == 3
    assert result.stderr.startswith(f"tfrtool: cannot write '{place}'") and result.stderr.count("\n") == 1


def test_a_page_goes_to_standard_output_where_nothing_else_does() -> None:
    assert run("verify", SOUND, "--html", "-").returncode == 2
    result = run("verify", SOUND, "--html", "-", "-q")
    assert result.returncode == 0 and PageReader(result.stdout).tags["h1"] == 1


def test_a_reader_that_goes_away_from_a_page_ends_the_program_quietly() -> None:
    command = [*COMMAND, "verify", SOUND, "--html", "-", "-q"]
    with subprocess.Popen(
        command, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@mark.parametrize(
    "arguments",
    [
        ("verify", "--force"),
        ("head", "--force"),
        ("stat", "--force"),
        ("head", "--raw", "--html", "page"),
        ("stat", "--index", "page", "--html", "page"),
    ],
    ids=" ".join,
)
def test_options_that_contradict_are_wrong_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    assert run(*arguments, SOUND, cwd=tmp_path).returncode == 2
    assert list(tmp_path.iterdir()) == []
