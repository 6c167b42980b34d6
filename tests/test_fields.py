"""Values with named fields, as dataclasses are, but quick to import."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections import Counter

import pytest

from tfrtool.fields import Fields, Slotted, made


class Point(Fields):
    x: int
    y: int = 2
    seen: Counter[str] = made(default_factory=Counter)


class Place(Point, frozen=True):
    name: str = ""


class Sum(Slotted):
    __slots__ = ("cached", "total")
    _aside = ("cached",)

    def __init__(self, total: int, cached: int) -> None:
        self.total = total
        self.cached = cached


def test_slots_are_compared_but_for_what_is_set_aside() -> None:
    assert Sum(1, 2) == Sum(1, 3) != Sum(2, 3)
    assert repr(Sum(1, 2)) == "Sum(cached=2, total=1)"


def test_fields_are_given_in_order_or_by_name_and_have_defaults() -> None:
    point = Point(1)
    assert (point.x, point.y, point.seen) == (1, 2, Counter())
    assert Point(1, 3) == Point(y=3, x=1)
    assert Place.names() == ("x", "y", "seen", "name")
    assert Place(1, 2, Counter(), "here").name == "here"


def test_a_default_that_can_change_is_made_anew_for_each() -> None:
    one = Point(1)
    one.seen["a"] += 1
    assert Point(1).seen == Counter()
    assert one != Point(1)


@pytest.mark.parametrize("wrong", [{}, {"x": 1, "z": 2}])
def test_a_field_that_lacks_or_is_not_known_is_an_error(wrong: dict[str, int]) -> None:
    with pytest.raises(TypeError, match="Point"):
        Point(**wrong)
    with pytest.raises(TypeError, match="each to be given once"):
        Point(1, x=2)
    with pytest.raises(TypeError, match="each to be given once"):
        Point(1, 2, Counter(), 4)


def test_a_frozen_value_is_replaced_and_not_changed() -> None:
    place = Place(1, name="here")
    with pytest.raises(AttributeError, match="Place cannot be changed"):
        place.x = 2
    assert place.replaced(x=2) == Place(2, name="here")
    assert place != Point(1)
    assert "x=1" in repr(place)


def test_a_value_can_be_sent_to_another_process() -> None:
    place = Place(1, name="here")
    assert pickle.loads(pickle.dumps(place)) == place


@pytest.mark.parametrize("module", ["report", "cli.schema_run", "cli.schema_text", "cli.stat_run", "cli.stat_text"])
def test_making_them_needs_no_dataclasses(module: str) -> None:
    check = f"import sys, tfrtool.{module}; sys.exit('dataclasses' in sys.modules or 'inspect' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check]).returncode == 0
