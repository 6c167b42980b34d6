"""Check that a payload holds a message of one kind, and nothing else.

Protobuf skips what it does not know, so that almost any message parses as almost any other, with its data gone. Here a
message of the Example family must be known to its last field. Two uses share the walk: `fits` names the first byte at
which a payload departs from its kind; `evidence` asks, for an unknown payload, whether a kind explains all of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from tfrtool.payload.wire.example import PACKED, TAGS, ListKind, read_list
from tfrtool.payload.wire.messages import Package, messages
from tfrtool.payload.wire.reader import I32, I64, LEN, VARINT, Buffer, WireError, check_text, check_varints, fields
from tfrtool.types import Kind

MESSAGE: dict[Kind, tuple[Package, str]] = {
    "example": ("tensorflow", "Example"),
    "sequence_example": ("tensorflow", "SequenceExample"),
    "event": ("tensorflow", "Event"),
    "ofrecord": ("oneflow", "OFRecord"),
}

_WIRE = {"double": I64, "float": I32, "string": LEN, "bytes": LEN}
_VARINTS = {"int64", "int32", "bool", "uint32", "uint64"}
_WIRE_NAMES = ("a varint", "8 bytes", "a sized value", "a group", "a group's end", "4 bytes")
_OPEN = r"Summary.+|Histogram.*|Tensor.*|Dim|PluginData|SourceMetadata|LogMessage|SessionLog|TaggedRunMetadata"
"""Messages inside an Event that later versions of TensorFlow add fields to."""
WINDOW = 128
"""Bytes of a packed list of varints, and values of a list of bytes, that are looked at to learn the kind."""


class Misfit(NamedTuple):
    """Where a payload departs from its kind: `offset` bytes into it, and why, in a few words.

    `strange`: it holds a field that its message does not have.
    """

    offset: int
    why: str
    strange: bool = False

    def __str__(self) -> str:
        return f"{self.why}, at byte {self.offset} of the payload"


class FieldRule(NamedTuple):
    """How one field stands on the wire.

    `width` is that of an element of a packed list: 0 for a varint, None where no list can be packed. `text` must be
    UTF-8. `single` names what may be set only once: a oneof, the name or the value of an entry.
    """

    name: str
    wire: int
    width: int | None
    text: bool
    single: str | None
    shape: MessageRules | None


@dataclass
class MessageRules:
    """A message as the wire shows it.

    `closed`: a field that it does not know is a misfit. `entry`: it is an entry of a map. `lists`: it is a feature, and
    these are the tags of its lists. `leaf`: it is such a list, of values and nothing else.
    """

    name: str
    closed: bool = True
    entry: bool = False
    lists: Mapping[int, ListKind] | None = None
    leaf: bool = False
    rules: dict[int, FieldRule] = field(default_factory=dict)


@cache
def message_rules(package: Package, name: str) -> MessageRules:
    """Return the shape of a message of the outline, with those of the messages inside it."""
    shape = MessageRules(
        name, closed=not re.fullmatch(_OPEN, name), leaf=name.endswith("List") and name != "FeatureList"
    )
    if name == "Feature":
        shape.lists = TAGS["example" if package == "tensorflow" else "ofrecord"]
    for member in messages(package)[name]:
        inner = message_rules(package, member.type) if member.type in messages(package) else None
        if member.map:
            key = FieldRule("name", LEN, None, True, "name", None)
            value = FieldRule("value", LEN, None, False, "value", inner)
            inner = MessageRules(member.entry, entry=True, rules={1: key, 2: value})
        wire = VARINT if member.type in _VARINTS else _WIRE.get(member.type, LEN)
        width = {I64: 8, I32: 4, VARINT: 0}.get(wire) if member.repeated else None
        rule = FieldRule(member.name, wire, width, member.type == "string", member.oneof, inner)
        shape.rules[member.number] = rule
    return shape


class StrangeField(WireError):
    """A field that its message does not have, and that a later version of it may."""


class StrictWalk:
    """One strict walk over a payload. Raises WireError at the first misfit; counts what it met.

    With `lenient` a field that its message does not have is passed over, if the message has others.

    While detecting, of a list of values only the first `WINDOW` are looked at, and no text. All features are, however
    many there are, since what tells the kind may come last: so the time is linear in their number. And an entry of a
    map must have its name and its value once each, as every known writer of these kinds puts them: that is what tells
    nested messages of other kinds apart.
    """

    def __init__(self, view: Buffer, detecting: bool, lenient: bool = False) -> None:
        self.view = view
        self.detecting = detecting
        self.lenient = lenient
        self.entries = 0
        self.kinds = 0
        self.valued = 0

    def message(self, begin: int, end: int, shape: MessageRules) -> None:
        """Walk the message in `[begin, end)`. Recursion is as deep as the outline, whatever the data."""
        seen: set[str] = set()
        known, strange = False, None
        sampled = WINDOW if self.detecting and shape.leaf else None
        at = begin
        for number, wire, first, last in fields(self.view, begin, end):
            rule = shape.rules.get(number)
            if rule is None:
                if shape.closed:
                    strange = strange or StrangeField(at, f"field {number} does not belong to {shape.name}")
                    if not self.lenient:
                        raise strange
            else:
                known = True
                if rule.single is not None:
                    if rule.single in seen:
                        raise WireError(at, f"{shape.name} sets its {rule.single} twice")
                    seen.add(rule.single)
                    self.valued += rule.single == "value"
                if wire == rule.wire:
                    self._value(first, last, rule)
                elif wire == LEN and rule.width is not None:
                    self._packed(first, last, rule.width)
                else:
                    raise WireError(
                        at, f"{rule.name} of {shape.name} is {_WIRE_NAMES[wire]}, not {_WIRE_NAMES[rule.wire]}"
                    )
            at = last
            if sampled is not None:
                sampled -= 1
                if not sampled:
                    return
        if strange and not known:
            raise strange
        if shape.entry:
            self.entries += 1
            if self.detecting and len(seen) < 2:
                raise WireError(begin, "an entry lacks its name or its value")
        elif shape.lists:
            self.kinds += len(seen)

    def _value(self, begin: int, end: int, rule: FieldRule) -> None:
        if shape := rule.shape:
            if shape.lists and begin < end and _is_common_list(self.view, begin, end, shape.lists, not self.detecting):
                self.kinds += 1
            else:
                self.message(begin, end, shape)
        elif rule.text and not self.detecting:
            check_text(self.view, begin, end)

    def _packed(self, begin: int, end: int, width: int) -> None:
        if width:
            if (end - begin) % width:
                raise WireError(begin, f"a packed list of {end - begin} bytes, which {width} does not divide")
        else:
            check_varints(self.view, begin, end, WINDOW if self.detecting else None)


def _is_common_list(p: Buffer, at: int, end: int, tags: Mapping[int, ListKind], full: bool) -> bool:
    """Return whether the feature in `[at, end)`, not empty, has one list in the common form; `full` checks varints."""
    try:
        found = read_list(p, at, end, tags)
        if found.values == PACKED:
            check_varints(p, found.begin, end, None if full else WINDOW)
    except (IndexError, WireError):
        return False
    return True


def evidence(payload: Buffer, kind: Kind) -> StrictWalk | None:
    """Return what a walk met if `kind` explains every byte of the payload, else None. Large values are passed over."""
    walk = StrictWalk(payload, detecting=True)
    try:
        walk.message(0, len(payload), message_rules(*MESSAGE[kind]))
    except WireError:
        return None
    return walk


def nearly(payload: Buffer) -> str:
    """Which kind a payload of no known kind comes near to, and what it departs by; "" where that would be a guess.

    Near is what has at least a feature of some name, or the wall time of an event and another field: a list of doubles
    begins like several of the former.
    """
    reached: list[tuple[int, str]] = []
    for kind, name in MESSAGE.items():
        walk = StrictWalk(payload, detecting=True)
        try:
            walk.message(0, len(payload), message_rules(*name))
        except WireError as error:
            if walk.valued or (kind == "event" and error.offset >= 11 and payload[0] == 1 << 3 | I64 != payload[9]):
                reached.append((error.offset, f"nearly an {name[1]}: {error}".replace("an Seq", "a Seq")))
    return max(reached, key=lambda one: one[0], default=(0, ""))[1]


def misfit(payload: Buffer, kind: Kind, *, lenient: bool = False) -> Misfit | None:
    """Return the first departure of a payload from `kind`, or None; all is looked at but what bytes values hold.

    `lenient`: see `StrictWalk`.
    """
    if kind not in MESSAGE:
        return None
    if kind == "ofrecord" and not payload:
        return Misfit(0, "an OFRecord without features, at which OneFlow stops")
    try:
        StrictWalk(payload, False, lenient).message(0, len(payload), message_rules(*MESSAGE[kind]))
    except WireError as error:
        return Misfit(error.offset, error.why, isinstance(error, StrangeField))
    return None
