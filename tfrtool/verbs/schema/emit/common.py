"""Shared by the emitters: which features a reader can take, how many values they have, how names are quoted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from tfrtool.errors import UnsupportedError
from tfrtool.payload.schema.dataset import Schema
from tfrtool.payload.schema.feature import Feature
from tfrtool.payload.schema.table import Table
from tfrtool.payload.text import is_utf8, plural, text_of
from tfrtool.verbs.schema.findings import sampled


def examples(schema: Schema, reader: str, *, sequences: bool = False) -> Table:
    """Return the features of Examples. Raises `UnsupportedError` if there are none, or feature lists that `reader`
    cannot take."""
    table = schema.examples
    if schema.kinds.keys().isdisjoint(("example", "sequence_example")):
        held = f"the inputs hold records of kind {schema.kind}" if schema.kind else "the inputs hold no record"
        if schema.kind is None and (lost := unknown(schema)):
            held = f"nothing of the inputs can be described: they have {', '.join(lost)}"
        elif schema.records == schema.blank > 0:
            held = f"the {'first records of the ' * schema.limited}inputs hold nothing but empty records"
        raise UnsupportedError(f"{reader} reads Examples, and {held}")
    if table.sequences and not sequences:
        count = "1 record is" if table.sequences == 1 else f"{table.sequences:,} records are"
        raise UnsupportedError(f"{reader} cannot read SequenceExamples, and {count} such")
    return table


class Told(NamedTuple):
    """A feature as it is described to a reader, or the reason why it is left out.

    `size` is the common length of all lists, None if it varies or a record has none. `doubt` is what the reader fails
    on, as a comment; `refused` what TensorFlow fails on too. `no_text`: the name is not UTF-8, so that no reader can
    take it, and `name` is empty.
    """

    feature: Feature
    name: str
    kind: str
    size: int | None
    doubt: str
    left_out: str
    refused: str = ""
    no_text: bool = False


def told(feature: Feature, schema: Schema) -> Told:
    """Describe one feature. In a sample, no feature counts as present in every record."""
    kind, name, left_out = feature.kind, "", "its name is not UTF-8"
    text = is_utf8(feature.name, True)
    if text:
        name = feature.name.decode()
        left_out = f"no record {'that was read ' * schema.limited}sets its kind" if kind is None else ""
    low, high = feature.shortest, feature.longest
    always = feature.missing is None and None not in feature.kinds and not schema.limited
    size = low if always and low == high else None
    doubts = []
    if len(feature.set_kinds) > 1:
        counts = ", ".join(f"{one} in {feature.kinds[one].records:,}" for one in feature.set_kinds)
        doubts.append(f"kinds differ: {counts} records")
    refused = [f"{doubt}; parsing stops at others than {kind}" for doubt in doubts]
    if any(lists.pieced for lists in feature.kinds.values()):
        refused.append("packed numbers in several pieces; parsing stops there")
    return Told(feature, name, kind or "", size, "; ".join(doubts), left_out, "; ".join(refused), not text)


class Entries:
    """Collect the lines of a Python dictionary: an entry for each feature that a reader can read from every record.

    The others stand in comments. `notes` has a sentence, which begins with the name as it is in the data, for each
    feature that is left out or read differently than expected; `reasons` says why features are left out.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.notes: list[str] = []
        self.reasons: list[str] = []

    def add(self, one: Told, code: str, doubt: str = "") -> None:
        """Add an entry, with a comment if there is a doubt."""
        self.lines.append(f"    {quoted(one.name)}: {code},{doubt and f'  # {doubt}'}")
        if doubt:
            self.notes.append(f"{text_of(one.feature.name)}: {doubt}")

    def leave_out(self, one: Told, why: str, code: str = "", reason: str = "") -> None:
        """Add a comment, with the code that `why` speaks against, if any."""
        said = f"{named(one.feature)} is left out: {why}"
        self.lines.append(f"    # {quoted(one.name)}: {code},  # {why}" if code else f"    # {said}")
        self.notes.append(f"{text_of(one.feature.name)}: left out: {why}")
        self.reasons.append(reason or said)

    @property
    def empty(self) -> bool:
        """Whether there is no entry; comments do not count."""
        return len(self.reasons) == len(self.lines)


def refuse_none(reader: str, dictionaries: Iterable[Entries]) -> None:
    """Raise `UnsupportedError` if there is no entry at all: most readers fail on an empty description."""
    found = list(dictionaries)
    if not all(entries.empty for entries in found):
        return
    reasons = [reason for entries in found for reason in entries.reasons]
    if not reasons:
        raise UnsupportedError(f"{reader} needs a feature, and none is described")
    which = "the one feature" if len(reasons) == 1 else f"any of the {len(reasons):,} features"
    raise UnsupportedError(f"{reader} cannot read {which} of all records: {reasons[0]}")


def heading(schema: Schema, what: str, table: Table) -> list[str]:
    """Return comment lines: what was read, what that means, and what the `table` does not describe."""
    records, files = plural(schema.records, "record"), plural(len(schema.files), "file")
    lines = [f"# {what}, from {records} of {files}, by tfrtool schema."]
    if schema.limited:
        which = sampled(schema, "file")
        lines.append(f"# Only the first records of {which} were read, so no feature is said to be in every record.")
    if table.more:
        lines.append("# There are more features than are described here: those that stand in most records are.")
    mine = schema.kind_of(table)
    others = [f"{count:,} of kind {kind}" for kind, count in schema.kinds.items() if kind != mine]
    if others:
        lines.append(f"# Records of other kinds are not described: {', '.join(others)}.")
    lost = unknown(schema)
    if schema.missing:
        lost.append(_counted(schema.missing, "shard missing from its set", "shards missing from their sets"))
    if lost:
        lines.append(f"# Left out, and possibly unlike what is described: {', '.join(lost)}.")
    return lines


def unknown(schema: Schema) -> list[str]:
    """Return what could not be described of the inputs."""
    counts = (
        (schema.unread, "file that could not be read", "files that could not be read"),
        (schema.damaged, "damaged range", "damaged ranges"),
        (schema.misfits, "payload that does not parse", "payloads that do not parse"),
        (schema.large, "record too large to be held", "records too large to be held"),
    )
    return [_counted(*each) for each in counts if each[0]]


def _counted(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def quoted(name: str) -> str:
    """Return a name as a Python string literal in ASCII."""
    return ascii(name)


def named(feature: Feature) -> str:
    """Return the name of a feature for a comment."""
    return ascii(feature.name.decode() if is_utf8(feature.name, True) else feature.name).removeprefix("b")
