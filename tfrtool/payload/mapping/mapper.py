"""Map OFRecord to Example and back on the wire: what both can hold is copied bit for bit, the rest is reported.

    kind     Example   OFRecord   what is done
    bytes       1         1       the list is copied
    float       2         2       the list is copied, NaNs and all
    int64       3         5       the list is copied under another number
    double      -         3       see `Rules.double`; floats under `exact`, and back by the kind that is asked for
    int32       -         4       int64 in an Example: cut to 32 bits, as protobuf reads it, where it needs to be

The order of features and repeated names stay. What is ambiguous is decided as protobuf does: lists set twice are
joined, a list of one kind overrides that of another. Sizes and tags are written in their shortest form, so that a
record in the form that protobuf writes comes back byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tfrtool.payload.mapping.fast import TagChange, TagRewriter
from tfrtool.payload.mapping.lists import AS_INT64, ListMapper, Pieces, packed, packed_ints, size_of, sized
from tfrtool.payload.mapping.record import NOT_TEXT, Item, MappingRecord, read_record
from tfrtool.payload.mapping.rules import KINDS, STEPS_LEFT, Losses, NameMapping, Refused, Rules, Side
from tfrtool.payload.mapping.sequences import joined_steps, lengths_of, rebuilt, refuse_clashes, refuse_clashes_apart
from tfrtool.payload.mapping.unknown_fields import UnknownFields
from tfrtool.payload.wire.example import ListKind
from tfrtool.payload.wire.reader import LEN, MAX_SIZE, Buffer
from tfrtool.report import LossKind

if TYPE_CHECKING:
    from tfrtool.types import Kind

Seen = Callable[[bytes, ListKind | None, bytes, ListKind | None], None]
"""Told of each feature: its name and kind in the input, then in the output."""

_KINDS = {side: {number: kind for kind, number in kinds.items()} for side, kinds in KINDS.items()}
_MERGED = LossKind("parts-joined", "features in more than one part, joined as protobuf reads them", lost=False)
_RESPELLED = LossKind("respelled", "spelled otherwise than protobuf spells it, and written as it does", lost=False)
_NOTHING_KEPT = LossKind(
    "empty-kept", "a record of no features, kept as no bytes: OneFlow stops there, and reading it finds damage", False
)
_NOTHING_SKIPPED = LossKind("empty-skipped", "a record of no features, left out")
_KINDLESS_KEPT = LossKind("no-kind-kept", "kept without a kind, at which OneFlow stops", lost=False)
_KINDLESS_DROPPED = LossKind("no-kind-dropped", "a feature without a kind, left out")
_FLATTENED = LossKind("flattened", "a feature list, stored as a feature and its lengths", lost=False)
_Feature = tuple[bytes, Pieces]


class Mapper:
    """Maps payloads of one side to the other, or to its own where only features are chosen or renamed.

    A SequenceExample stays one among Examples, of which features of the context and feature lists are chosen and
    renamed alike; `Rules.sequence` lays it flat, without which it does not become an OFRecord.

    `losses` gathers what was changed, `names` which of the names that were asked for were met. `seen`, if given, is
    told of every feature of every record, and `flattened` of each feature list that was flattened: its name in the
    input and in the output, and that of its lengths. `renamed` is that of `NameMapping`.
    """

    def __init__(
        self,
        source: Side,
        target: Side,
        rules: Rules,
        seen: Seen | None = None,
        flattened: Callable[[bytes, bytes, bytes], None] | None = None,
        *,
        renamed: dict[bytes, bytes] | None = None,
    ) -> None:
        self.source = source
        self.target = target
        self.rules = rules
        self.losses = Losses()
        self._seen = seen
        self._on_flattened = flattened
        self.names = NameMapping(rules, renamed)
        self._same = source == target and rules.sequence == "refuse" and not rules.lists
        self._sequences = source == "example" and (self._same or rules.sequence == "flatten")
        self._lists = ListMapper(target, rules, self.losses, self.names.seen.types)
        self._unknown_fields = UnknownFields(source, target, rules, self.losses, sequences=self._sequences)
        self._rewriter = None if rules.renames or rules.lists else TagRewriter(source, target, self._change)

    def convert(self, payload: Buffer, record: int) -> Pieces | None:
        """Return the payload of the record of that number on the other side, or None where it is to be left out.

        The parts may be views of `payload`. Raises WireError where that is not the message it should be, and Refused
        where the rules do not let it through.
        """
        view = memoryview(payload)
        if self._rewriter is not None:
            pieces = self._rewriter.convert(view, record)
            if pieces is not None:
                return pieces
        pieces = self.exactly(view, record)
        return pieces if pieces is None or not self.rules.lists else [rebuilt(b"".join(pieces), self.rules.lists)]

    def made(self, kind: Kind) -> Kind:
        """Return what becomes of the records of a file of that kind."""
        return kind if self._same else self.target

    def many(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], which: range, first: int
    ) -> list[bytes]:
        """Return the payloads of the first of some records, where those are much alike; often none.

        The records are `view[begins[i]:ends[i]]` with `i` in `which`, from the number `first` on. Gives what `convert`
        would, in less time.
        """
        return [] if self._rewriter is None else self._rewriter.many(view, begins, ends, which, first)

    def _change(self, name: bytes, number: int, record: int) -> TagChange | None:
        """Return what `TagRewriter` may do with a feature of this name and this list, if anything."""
        kind = _KINDS[self.source][number]
        item = Item(name, kind)
        try:
            wanted = self._lists.wanted(item, name)
        except Refused:
            return None
        if wanted != kind and {wanted, kind} != {"int32", "int64"}:
            return None
        if self._seen is not None:
            self._seen(name, kind, name, wanted)
        loss = None
        if (kind, wanted) == ("int32", "int64"):
            loss = self.losses.of(name, AS_INT64, record)
        return TagChange(self._lists.numbers[wanted] << 3 | LEN, wanted != kind, loss)

    def exactly(self, view: memoryview, record: int) -> Pieces | None:
        """Return the same as `convert`, by reading every field."""
        self._unknown_fields.refuse_other_kinds(view)
        found = read_record(view, self.source, self._sequences, lenient=self.rules.unknown == "drop")
        for name in found.nameless:
            self.losses.add(name, NOT_TEXT, record)
        if found.merged:
            self.losses.add(None, _MERGED, record)
        if found.respelled:
            self.losses.add(None, _RESPELLED, record)
        self._unknown_fields.refuse_other_messages(view, found)
        self._unknown_fields.beside(found, record)
        sequence = self._same and 2 in found.parts
        if sequence:
            refuse_clashes_apart(found, self.names)
        elif self.rules.renames or found.steps:
            refuse_clashes(found, self.names)
        features = [feature for item in found.items if (feature := self._feature(view, item, record)) is not None]
        if sequence:
            return self._sequence(view, found, features, record)
        for name, steps in found.steps:
            features += self._flattened(view, name, steps, record)
        body: Pieces = []
        for _, pieces in features:
            body += pieces
        body += self._unknown_fields.kept(view, found.beside)
        return self._whole(body, self._unknown_fields.kept(view, found.top), record)

    def _whole(self, body: Pieces, top: Pieces, record: int) -> Pieces | None:
        size = size_of(body)
        if self.target == "example":
            body = [*sized(1, body), *top]
        elif not size and not self.rules.for_rows:
            if self.rules.empty == "keep":
                self.losses.add(None, _NOTHING_KEPT, record)
                return body
            if self.rules.empty == "skip":
                self.losses.add(None, _NOTHING_SKIPPED, record)
                return None
            raise Refused(
                None, "an OFRecord of no features, at which OneFlow stops", "{empty=skip} leaves such records out"
            )
        return self._bounded(body)

    def _bounded(self, body: Pieces) -> Pieces:
        size = size_of(body)
        if size > MAX_SIZE:
            raise Refused(None, f"a message of {size:,} bytes, beyond the 2 GiB of protobuf", "leave features out")
        return body

    def _sequence(self, view: memoryview, found: MappingRecord, features: list[_Feature], record: int) -> Pieces:
        """Return a SequenceExample again, of the features of its context that are left, and of the feature lists."""
        context: Pieces = [piece for _, pieces in features for piece in pieces]
        lists: Pieces = []
        for name, steps in found.steps:
            new = self.names.target(name)
            if new is not None:
                listed = [piece for step in steps for piece in sized(1, self._step(view, step, new, record))]
                lists += sized(1, [*sized(1, [new]), *sized(2, listed)])
        body = sized(1, context) if context or 1 in found.parts else []
        return self._bounded([*body, *sized(2, lists), *self._unknown_fields.kept(view, found.top)])

    def _step(self, view: memoryview, step: Item, new: bytes, record: int) -> Pieces:
        """Return one step of a feature list, which keeps its place: those after it count by theirs."""
        if step.kind is None and self.rules.no_kind != "keep":
            raise Refused(
                step.name, "a step of it has no kind, and has to keep its place", "{no_kind=keep} lets it through"
            )
        extra = self._unknown_fields.report_unusual(view, step, record)
        if step.kind is None:
            if self._seen is not None:
                self._seen(step.name, None, new, None)
            return extra
        kind, content = self._lists.content(view, step, new, record)
        if self._seen is not None:
            self._seen(step.name, step.kind, new, kind)
        return [*sized(self._lists.numbers[kind], content), *extra]

    # One feature

    def _feature(self, view: memoryview, item: Item, record: int) -> _Feature | None:
        name = self.names.target(item.name)
        if name is None:
            return None
        extra = self._unknown_fields.report_unusual(view, item, record)
        if item.kind is None:
            return self._kindless(item, name, extra, record)
        kind, content = self._lists.content(view, item, name, record)
        if self._seen is not None:
            self._seen(item.name, item.kind, name, kind)
        return name, self._entry(view, item, name, [*sized(self._lists.numbers[kind], content), *extra])

    def _entry(self, view: memoryview, item: Item, name: bytes, feature: Pieces) -> Pieces:
        beside = [view[begin:end] for begin, end in item.beside if self.rules.unknown == "keep"]
        return sized(1, [*sized(1, [name]), *sized(2, feature), *beside])

    def _kindless(self, item: Item, name: bytes, extra: Pieces, record: int) -> _Feature | None:
        view = memoryview(b"")
        if self.rules.no_kind == "refuse":
            raise Refused(item.name, "it has no kind and no values", "{no_kind=keep} or {no_kind=drop} lets it through")
        if self.rules.no_kind == "drop":
            self.losses.add(item.name, _KINDLESS_DROPPED, record)
            return None
        if self.target == "ofrecord" and not self.rules.for_rows:
            self.losses.add(item.name, _KINDLESS_KEPT, record)
        if self._seen is not None:
            self._seen(item.name, None, name, None)
        self._lists.note_seen(item, name)
        beside = Item(item.name)
        return name, self._entry(view, beside, name, extra)

    def _flattened(self, view: memoryview, name: bytes, steps: list[Item], record: int) -> list[_Feature]:
        """Return a feature list as two features: its values one after another, and how many there are in each step."""
        if self.names.target(name) is None:
            return []
        whole, counts = joined_steps(view, name, steps)
        if any(step.kind is None for step in steps):
            self.losses.add(name, STEPS_LEFT, record)
        self.losses.add(name, _FLATTENED, record)
        values = self._feature(view, whole, record)
        lengths = lengths_of(name, self.names)
        if self._on_flattened is not None:
            self._on_flattened(name, self.names.target(name) or name, lengths)
        listed = sized(self._lists.numbers["int64"], packed(packed_ints(counts)))
        return [*([values] if values else []), (lengths, self._entry(view, Item(lengths), lengths, listed))]


class PassThrough(Mapper):
    """Lets payloads through as they are, if a mapper of the same rules would let them through."""

    def convert(self, payload: Buffer, record: int) -> Pieces | None:
        super().convert(payload, record)
        self.losses = Losses()  # nothing of what was found is changed
        return [memoryview(payload)]

    def many(
        self, view: memoryview, begins: Sequence[int], ends: Sequence[int], which: range, first: int
    ) -> list[bytes]:
        found = super().many(view, begins, ends, which, first)
        return [bytes(view[begins[i] : ends[i]]) for i in which[: len(found)]]
