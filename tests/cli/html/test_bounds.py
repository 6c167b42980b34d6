"""A page stays small, whatever there is to tell: what has no room is counted."""

from html import unescape
from io import BytesIO

from kit.make_samples import example
from kit.pages import PageReader, png
from pytest import MonkeyPatch, mark

from tfrtool.cli.html import head, page, thumbnails, verify
from tfrtool.cli.html.head import HeadPage
from tfrtool.cli.html.page import Page
from tfrtool.cli.html.thumbnails import Thumbnails
from tfrtool.cli.html.verify import VerifyPage
from tfrtool.framing.damage import Damage
from tfrtool.payload.features.read import read_features
from tfrtool.report import FileReport, Summary
from tfrtool.verbs.head import Record

pytestmark = mark.slow


def written(shown: Page, reports: list[FileReport]) -> PageReader:
    shown.end(Summary.of(reports), [])
    out = BytesIO()
    shown.write(out)
    return PageReader(out.getvalue().decode())


def hurt(path: str, ranges: int) -> tuple[list[Damage], FileReport]:
    damage = [Damage(9 * n, 9 * n + 5, "stray", detail="bytes of no record") for n in range(ranges)]
    report = FileReport(path, "damaged", "tfrecord", records=1, bytes=9 * ranges, damaged_bytes=5 * ranges)
    report.faults["stray"] = ranges
    return damage, report


def test_damage_beyond_ten_thousand_ranges_is_counted() -> None:
    shown, reports = VerifyPage(False), []
    for path, ranges in (("a", 9_999), ("b", 3), ("c", 2)):
        damage, report = hurt(path, ranges)
        for one in damage:
            shown.show(path, one)
        shown.show(path, report)
        reports.append(report)
    found = written(shown, reports)
    assert len([row for row in found.rows if row[3] == "stray"]) == 10_000
    assert found.tags["section"] == 3 and found.words.count("and 2 more damaged ranges; --json lists all") == 2


def test_files_beyond_the_rows_are_counted_and_sound_ones_go_first(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(page, "FILES", 4)
    monkeypatch.setattr(verify, "SECTIONS", 2)
    shown, reports = VerifyPage(False), []
    for number in range(9):
        report = FileReport(f"file{number}", "foreign" if number % 3 == 2 else "clean", message="not records")
        shown.show(report.path, report)
        reports.append(report)
    found = written(shown, reports)
    assert [row[0] for row in found.rows[1:]] == ["file0", "file2", "file5", "file8"]
    assert "and 5 more files; --json lists all" in found.words
    assert found.tags["section"] == 2 and "and 1 more file without a map" in found.words


def test_cards_beyond_the_room_are_counted(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(head, "_ALL", 3_000)
    shown = HeadPage(None)
    payload = example((b"name", [b"x" * 50]))
    for number in range(20):
        shown.show("a", Record(number, 0, len(payload), "example", payload))
    found = written(shown, [FileReport("a", records=20)])
    assert 1 < found.tags["section"] < 10
    assert f"and {20 - found.tags['section']} more cards not shown" in found.words


def test_images_leave_the_cards_their_room(monkeypatch: MonkeyPatch) -> None:
    monkeypatch.setattr(head, "_ALL", 12_000)
    shown = HeadPage(None)
    payload = example((b"image", [png(9, 9, bytes(range(256)) * 60)]))
    for number in range(3):
        shown.show("a", Record(number, 0, len(payload), "example", payload))
    assert written(shown, [FileReport("a", records=3)]).tags["img"] == 3


def test_features_beyond_a_thousand_are_counted() -> None:
    shown = HeadPage(None)
    payload = example(*((b"%d" % n, [n]) for n in range(1_003)))
    shown.show("a", Record(0, 0, len(payload), "example", payload))
    found = written(shown, [FileReport("a", records=1)])
    assert len(found.rows) == 1_001 and "and 3 more features" in found.words


def drawn(images: Thumbnails, *values: bytes) -> str:
    return images.of(read_features(example((b"image", list(values))), "example").features[0])


def test_images_are_drawn_until_the_page_has_enough_bytes_or_pixels(monkeypatch: MonkeyPatch) -> None:
    image = png(10, 10)
    monkeypatch.setattr(thumbnails, "_ALL", 2 * len(image) + 1)
    assert drawn(Thumbnails(), image, image, image).count("<img") == 2
    monkeypatch.undo()
    monkeypatch.setattr(thumbnails, "_PIXELS", 399)
    assert drawn(Thumbnails(), image, image, image, image).count("<img") == 3


def test_an_image_that_unpacks_to_gigabytes_is_named_and_not_drawn() -> None:
    bomb = png(1, 1).replace(bytes.fromhex("0000000100000001"), bytes.fromhex("0000c3500000c350"), 1)
    shown = unescape(drawn(Thumbnails(), bomb))
    assert "<img" not in shown and "png 50000x50000" in shown


def test_what_only_begins_like_an_image_is_not_drawn() -> None:
    assert drawn(Thumbnails(), png(1, 1)[:20], b"\xff\xd8\xff\xe0", b"<svg/>", b"GIF89a") == ""
