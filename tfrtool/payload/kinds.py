"""Detect which kind of message a payload is, by strict structure.

A wrong answer loses data without a warning, so what is in doubt is `unknown`.

    Example          1: {1: entries}                     entry {1: name, 2: Feature}
    SequenceExample  1: {1: entries}, 2: {1: entries}    entry of 2 {1: name, 2: {1: Feature, 1: Feature, …}}
    OFRecord         1: entry, 1: entry, …               entry {1: name, 2: Feature}
    Event            1: wall time (8 bytes), 2: step, one of 3 to 9, 10

A Feature is one list: 1 bytes, 2 float, 3 int64; in an OFRecord 1 bytes, 2 float, 3 double, 4 int32, 5 int64.
No reader can distinguish a SequenceExample that has only its context from an Example (the bytes are the same), nor a
tensorflow.Features of bytes and floats alone from an OFRecord.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

from tfrtool.payload.validate import WINDOW, Misfit, evidence, misfit, nearly
from tfrtool.payload.wire.example import PACKED, HeaderCache, Layout, record_entries
from tfrtool.payload.wire.reader import LEN, VARINT, Buffer, WireError, check_text, check_varints, fields
from tfrtool.types import Kind

SAMPLE = 64
"""How many records settle the kind of a file."""

_FILE_VERSION = b"brain.Event:"
_GRAPH_FIELDS = {4: range(1, 6), 9: range(1, 8)}  # of a GraphDef, and of a MetaGraphDef
_GRAPH_SAMPLE = 64
_caches: dict[Layout, HeaderCache] = {"example": HeaderCache("example"), "ofrecord": HeaderCache("ofrecord")}


def count_features(p: Buffer, layout: Layout, full: bool) -> int:
    """Return how many features with a kind a record has, or -1 if it is not in the common form.

    `full` also checks that names are UTF-8, and every packed varint instead of those within `WINDOW`. This can only say
    yes, never no: a record in another form may be legal.
    """
    count = 0
    try:
        for at, header in record_entries(p, 0, len(p), _caches[layout]):
            column = header.column
            if full and column.note is None:
                check_text(column.name, 0, len(column.name))
                column.note = True
            if header.count == PACKED:
                check_varints(p, at + header.head, at + header.total, None if full else WINDOW)
            count += column.kind is not None
    except (IndexError, WireError):
        return -1
    return count


def kind_of(payload: Buffer) -> Kind | None:
    """Return the kind of one payload; `unknown` if none explains all of it; None if it holds nothing that could tell.

    None is for a payload of no bytes, an Example or SequenceExample without any feature, an OFRecord of features
    without a kind, and an Event of a time and a step alone. Takes microseconds: bytes values are jumped over, packed
    lists sampled. Names need not be UTF-8.
    """
    if count_features(payload, "example", False) > 0:
        return "example"
    if count_features(payload, "ofrecord", False) > 0:
        return "ofrecord"
    return _by_rules(payload)


def _by_rules(payload: Buffer) -> Kind | None:
    """Return the same by the strict walk, for what is legal but seldom written."""
    if not payload:
        return None
    if walk := evidence(payload, "example"):
        return "example" if walk.entries else None
    if walk := evidence(payload, "sequence_example"):
        return "sequence_example" if walk.entries else None
    if walk := evidence(payload, "ofrecord"):
        return "ofrecord" if walk.kinds else None
    if evidence(payload, "event"):
        return _event(payload)
    return "unknown"


def _event(payload: Buffer) -> Kind | None:
    """Is a message with the fields of an Event one? The version must read as one, and a graph begin as one."""
    numbers = set()
    for number, _, begin, end in fields(payload, 0, len(payload)):
        numbers.add(number)
        if number == 3:
            return "event" if payload[begin : begin + len(_FILE_VERSION)] == _FILE_VERSION else "unknown"
        if number in _GRAPH_FIELDS and not _plausible_graph(payload, begin, end, _GRAPH_FIELDS[number]):
            return "unknown"
    if 1 not in numbers:
        return "unknown"
    return "event" if numbers - {1, 2, 10} else None


def _plausible_graph(payload: Buffer, begin: int, end: int, known: range) -> bool:
    try:
        head = islice(fields(payload, begin, end), _GRAPH_SAMPLE)
        return all(number in known and wire in (LEN, VARINT) for number, wire, _, _ in head)
    except WireError:
        return False


def fits(payload: Buffer, kind: Kind) -> Misfit | None:
    """Return where a payload departs from `kind` (its offset, and why), or None if it is that kind to the last byte.

    A misfit is what a common reader refuses, loses or reads otherwise than another one does: broken wire format, a
    message of another kind, or of no fields of its own, a value of the wrong wire type, a name that is not UTF-8, a
    feature that sets its list twice, an entry of two names or two values, an OFRecord of no features. Legal are: no
    features, a feature of no kind, empty lists, lists that are not packed, entries without a name or a value, the same
    name twice (every reader keeps the last), fields that a later version may have added. For the kind `unknown` nothing
    can be said: None.
    """
    if kind == "example" and count_features(payload, "example", True) > 0:
        return None
    if kind == "ofrecord" and count_features(payload, "ofrecord", True) > 0:
        return None
    found = misfit(payload, kind)
    if found and found.strange and kind_of(payload) in (kind, "unknown"):
        return misfit(payload, kind, lenient=True)
    return found


def plausible_ofrecord(payload: Buffer) -> bool:
    """Is this an OFRecord with at least one feature? For the search of the next record in a file without checksums.

    The shortest that passes is six given bytes. Never true of an Example, whose entries lie deeper. Random bytes are
    refused at the first one or two.
    """
    if len(payload) < 6 or payload[0] != 0x0A:
        return False
    if payload[1] <= 0x7F and (payload[1] > len(payload) - 2 or payload[2] not in (0x0A, 0x12)):
        return False
    return count_features(payload, "ofrecord", False) > 0 or evidence(payload, "ofrecord") is not None


@dataclass
class KindVote:
    """The kind of a file, from the kinds of its records. `KindVote()` is the identity of `merge`, which is associative.

    An Example reads as a SequenceExample without lists, so a file of both is of SequenceExamples. The first record of
    an events file says so by its version, and settles it. Else the kind of most records counts, and `unknown` wins a
    tie.
    """

    votes: Counter[Kind] = field(default_factory=Counter)
    seen: int = 0
    versioned: bool = False
    closest_kind: tuple[int, str] | None = None
    """Number of the first record of no known kind that comes near to one, and how near."""

    def add(self, payload: Buffer) -> None:
        """Let one record vote."""
        kind = kind_of(payload)
        if kind == "unknown" and self.closest_kind is None and (near := nearly(payload)):
            self.closest_kind = self.seen, near
        self.seen += 1
        if kind is not None:
            self.votes[kind] += 1
        if self.seen == 1 and kind == "event" and _FILE_VERSION in bytes(payload[:64]):
            self.versioned = True

    def merge(self, other: KindVote) -> KindVote:
        """Return the vote of both, those of `other` behind those of this; neither operand changes."""
        versioned = self.versioned if self.seen else other.versioned
        near = self.closest_kind or (other.closest_kind and (self.seen + other.closest_kind[0], other.closest_kind[1]))
        return KindVote(self.votes + other.votes, self.seen + other.seen, versioned, near)

    @property
    def decided(self) -> bool:
        """Enough records have voted; those that hold nothing have no vote."""
        return self.versioned or self.votes.total() >= SAMPLE or self.seen >= SAMPLE * SAMPLE

    @property
    def kind(self) -> Kind | None:
        """Return the kind of the file; None while no record was seen, `unknown` if none of them could tell."""
        if not self.seen:
            return None
        if self.versioned:
            return "event"
        votes = Counter(self.votes)
        if votes["sequence_example"]:
            votes["sequence_example"] += votes.pop("example", 0)
        best = max(votes, key=lambda kind: (votes[kind], kind == "unknown", kind), default=None)
        return best if best is not None and votes[best] else "unknown"


def kind_of_file(payloads: Iterable[Buffer]) -> Kind | None:
    """Return the kind of a file by its first records; None if there are none. Takes no more payloads than it needs."""
    vote = KindVote()
    for payload in payloads:
        vote.add(payload)
        if vote.decided:
            break
    return vote.kind
