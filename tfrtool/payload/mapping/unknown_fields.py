"""Handle what does not belong in a record that is mapped: other messages, unknown fields, lists set twice."""

from __future__ import annotations

from tfrtool.payload.kinds import kind_of
from tfrtool.payload.mapping.lists import Pieces
from tfrtool.payload.mapping.record import Item, MappingRecord, Span
from tfrtool.payload.mapping.rules import KINDS, TITLES, Losses, Refused, Rules, Side
from tfrtool.payload.wire.reader import WireError, read_tag
from tfrtool.report import LossKind

OVERRIDDEN = LossKind("overridden", "a list that one of another kind overrides, left out")
_UNKNOWN = LossKind("unknown-fields", "unknown fields, left out")
_JOINED = LossKind("lists-joined", "lists set more than once, joined as protobuf reads them", lost=False)
_SPLIT = LossKind("runs-joined", "numbers in more than one run, packed into one", lost=False)
"""Lost in every conversion that reads it: for protobuf, and so for every reader, it is not there."""


class UnknownFields:
    """Refuses what does not belong, or tells `losses` what becomes of it. `sequences`: a SequenceExample belongs."""

    def __init__(self, source: Side, target: Side, rules: Rules, losses: Losses, *, sequences: bool) -> None:
        self._source = source
        self._target = target
        self._rules = rules
        self._losses = losses
        self._sequences = sequences
        self._numbers = KINDS[target]

    def refuse_other_kinds(self, view: memoryview) -> None:
        """Raise WireError for what is another kind, though it can be read as this one, with its data gone."""
        kind = kind_of(view)
        allowed: set[str | None] = {None, "unknown", self._source}
        if self._sequences:
            allowed.add("sequence_example")
        if kind not in allowed:
            if kind == "sequence_example" and self._source == "example":
                raise Refused(
                    None,
                    "a SequenceExample, which has no counterpart",
                    "{sequence=flatten} writes its lists side by side",
                )
            bare = " (or the bare features of an Example)" if kind == "ofrecord" else ""
            found = f"{TITLES.get(kind or '', kind)}{bare}"
            raise WireError(0, f"this is an {found}, not an {TITLES[self._source]}")

    def refuse_other_messages(self, view: memoryview, found: MappingRecord) -> None:
        """Raise WireError for a message of fields that none of ours has, whatever is done to single ones of them."""
        odd = found.top + found.beside
        if odd and not found.items and not found.steps:
            number, wire, _ = read_tag(view, odd[0][0], len(view))
            raise WireError(odd[0][0], f"field {number} (wire type {wire}) and no feature: this is another message")

    def beside(self, found: MappingRecord, record: int) -> None:
        """Refuse or note the fields at the top of a record and between its features."""
        if found.top:
            nowhere = "beside the features, which an OFRecord has no place for" if self._target == "ofrecord" else ""
            self._unknown(None, found.top, record, homeless=nowhere)
        if found.beside:
            nowhere = "in one of the two halves of a SequenceExample" if 2 in found.parts else ""
            self._unknown(None, found.beside, record, homeless=nowhere)

    def _unknown(self, name: bytes | None, spans: list[Span], record: int, homeless: str = "") -> None:
        """Refuse or note unknown fields. `homeless` says why they cannot be kept, where they cannot."""
        rule = self._rules.unknown
        homeless = "" if self._target == self._source == "ofrecord" else homeless
        if rule == "refuse" or (rule == "keep" and homeless):
            where = f"{homeless or 'that the message does not have'}, at byte {spans[0][0]} of the payload"
            hint = "{unknown=drop} leaves them out" + ("" if homeless else ", {unknown=keep} copies them")
            raise Refused(name, f"a field {where}", hint)
        if rule == "drop":
            self._losses.add(name, _UNKNOWN, record)

    def report_unusual(self, view: memoryview, item: Item, record: int) -> Pieces:
        """Return the unknown fields of a feature that are kept, and report all that is unusual about it."""
        extra: Pieces = []
        if item.unknown or item.beside or item.within:
            extra = self._extra(view, item, record)
        if item.overridden:
            self._losses.add(item.name, OVERRIDDEN, record)
        if item.joined:
            self._losses.add(item.name, _JOINED, record)
        if item.split:
            self._losses.add(item.name, _SPLIT, record)
        return extra

    def _extra(self, view: memoryview, item: Item, record: int) -> Pieces:
        spans = [span for _, span in item.unknown] + item.beside
        taken = [number for number, _ in item.unknown if number in self._numbers.values()]
        homeless = f"{taken[0]}, which is a list in an {TITLES[self._target]}" if taken else ""
        if item.within:
            homeless, spans = "inside a list, where it is no value", spans or item.lists
        self._unknown(item.name, spans, record, homeless=homeless)
        return [view[begin:end] for _, (begin, end) in item.unknown if self._rules.unknown == "keep"]

    def kept(self, view: memoryview, spans: list[Span]) -> Pieces:
        """Return the fields of those spans, if they are to be kept."""
        return [view[begin:end] for begin, end in spans] if self._rules.unknown == "keep" else []
