"""Mergeable results: a tally per range, a report per file, a summary per run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from tfrtool.suggestion import Suggestion
from tfrtool.types import Action, Compression, Format, Kind, Range, Status

if TYPE_CHECKING:
    from tfrtool.framing.damage import Damage


UNCHECKED = 8
"""Records whose payloads must all disagree with their checksums before these are taken to mean nothing."""

_MOSTLY = 4
"""How many such records there must be for each other damage."""


@dataclass
class Tally:
    """Counts over any range of a decoded stream. `Tally()` is the identity of `merge`, which is associative."""

    records: int = 0
    bytes: int = 0
    damaged_bytes: int = 0
    restorable: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def add(self, damage: Damage) -> None:
        """Count one damaged range."""
        self.bytes += damage.end - damage.begin
        self.damaged_bytes += damage.end - damage.begin
        self.restorable += damage.restorable
        self.faults[damage.fault] += 1

    def merge(self, other: Tally) -> Tally:
        """Return the tally of both ranges together; neither operand changes."""
        return Tally(
            self.records + other.records,
            self.bytes + other.bytes,
            self.damaged_bytes + other.damaged_bytes,
            self.restorable + other.restorable,
            self.faults + other.faults,
        )


@dataclass
class FileReport:
    """The result for one input; the fields are those of the JSON `file` object.

    `size` is in bytes on disk (None for a pipe), `bytes` in bytes of the decoded stream (None where it was not read
    to its end). `error` is `(kind, sentence)` and stands only with status `error`. `converted`: the decoded stream went
    through the text conversion that `diagnosis` names, and holds more records once that is undone; then `restorable`
    counts those that come back by that, and `damaged_records` those that stay damaged; `restorable` is None where that
    is not known, since the input was a pipe, which cannot be read again to undo it. `damage` is filled
    by `tfrtool.verify` alone. `hint` says in words what to do next, `suggestion` which job of this library helps; each
    may be missing. `index_faults` counts the disagreements between the file and an index of it, None where
    none was held against it. `unread`: reading stopped before the end of the file, since no more was wanted, or passed
    over payloads on its way to one record; `status` is that of what was read.
    """

    path: str
    status: Status = "clean"
    format: Format | None = None
    compression: Compression | None = None
    size: int | None = None
    records: int = 0
    kind: Kind | None = None
    diagnosis: str | None = None
    message: str | None = None
    hint: str | None = None
    error: tuple[str, str] | None = None
    bytes: int | None = None
    damaged_bytes: int = 0
    restorable: int | None = 0
    faults: Counter[str] = field(default_factory=Counter)
    converted: bool = False
    damaged_records: int = 0
    damage: list[Damage] = field(default_factory=list)
    index_faults: int | None = None
    unread: bool = False
    unproved: int = 0
    suggestion: Suggestion | None = None

    @property
    def unchecked(self) -> bool:
        """Whether none of the payloads of the file agrees with its checksum behind headers that are sound, in so many
        records that the writer is the likeliest reason. Other damage may stand among them, if it is rare."""
        payloads = self.faults["data-crc"]
        return (
            payloads >= UNCHECKED
            and payloads >= _MOSTLY * (self.faults.total() - payloads)
            and self.damaged_bytes == self.bytes
            and not self.restorable
        )

    @property
    def finding(self) -> bool:
        """Whether the exit code is 1 for it."""
        return self.status in ("damaged", "foreign") or bool(self.index_faults)


@dataclass(frozen=True)
class Outcome:
    """What `repair` did with one damaged range.

    `records` counts the records written from it, and `at` is the number of the first of them in the output; `dropped`
    are the ranges of it that went nowhere; `evidence` says what the decision rests on, where that is more than the
    damage's own message tells. `fixable` says that one payload was dropped which `fix_bits` would try to correct.
    `within` counts frames in the dropped bytes whose checksums hold: they are taken for content of what is damaged.
    """

    damage: Damage
    action: Action
    records: int
    dropped: tuple[Range, ...]
    evidence: str = ""
    fixable: bool = False
    at: int | None = None
    within: int = 0

    @property
    def dropped_bytes(self) -> int:
        """Bytes of the range that were not written."""
        return sum(end - begin for begin, end in self.dropped)


@dataclass
class RepairReport(FileReport):
    """What `repair` made of one input. `records` counts what was written: kept, restored, corrected and unverified.

    `sound` counts the sound records of the input. `output` is None where nothing was written, `output_bytes` the bytes
    that were, before they are compressed; `lost` says that some of the input is not in it. `repeats` counts payloads
    that were written more than once, None where that was not looked at. `outcomes` is filled by `tfrtool.repair` alone.
    """

    sound: int = 0
    output: str | None = None
    output_bytes: int = 0
    kept: int = 0
    restored: int = 0
    corrected: int = 0
    unverified: int = 0
    dropped_bytes: int = 0
    quarantine: str | None = None
    report: str | None = None
    lost: bool = False
    repeats: int | None = None
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def written(self) -> int:
        """Records written so far; `records` once all is done."""
        return self.kept + self.restored + self.corrected + self.unverified

    @property
    def finding(self) -> bool:
        """Whether any of the input is missing from the output."""
        return self.lost or self.status == "foreign"


# fmt: off
LossCode = Literal[
    "absent", "bad-line", "bare-nan", "booleans", "compared-with-number", "compared-with-text", "condition-on-list",
    "condition-unmet", "double-as-bytes", "double-as-float", "double-rounded", "empty-kept", "empty-list",
    "empty-skipped", "flattened", "int32-as-int64", "int32-widened", "integers-as-floats", "kind-untold",
    "lists-joined", "name-not-utf8", "name-twice", "name-unmet", "nan-bits", "no-kind-absent", "no-kind-dropped",
    "no-kind-kept", "no-kind-steps", "numbers-anew", "order", "overridden", "parts-joined", "prefix-unmet",
    "respelled", "rounded-to-double", "rounded-to-float", "row-respelled", "row-unknown-field", "runs-joined",
    "second-list", "two-names", "type-unmet", "unknown-fields"
]
# fmt: on
About = tuple[str | int, ...]


@dataclass(frozen=True)
class LossKind:
    """What can become of a feature, or of a record, in a conversion.

    `lost` tells losses from changes that leave every value as it was. `words` are what is said of it, with braces for
    what differs from one to the next.
    """

    code: LossCode
    words: str
    lost: bool = True

    def __hash__(self) -> int:
        return hash(self.code)


@dataclass
class Loss:
    """One way in which features came out of a conversion other than they went in.

    `feature` is the name in the input, None where it is about whole records; `kind` is what became of it, and `about`
    fills the braces of its words. `records` counts the records that it happened to; `first` and `last` are the numbers
    in the file of the first and the last of them.
    """

    feature: bytes | None
    kind: LossKind
    about: About
    records: int
    first: int
    last: int

    @property
    def code(self) -> LossCode:
        """The kind of loss, for programs."""
        return self.kind.code

    @property
    def what(self) -> str:
        """The kind of loss, for people."""
        return self.kind.words.format(*self.about)

    @property
    def lost(self) -> bool:
        """Whether a value, a name or a kind is not in the output as it was."""
        return self.kind.lost


@dataclass
class ConvertReport(FileReport):
    """What `convert` made of one input. `records` counts its sound records that were read.

    `written` counts those in the output, and `output` lists the files that hold them; both are empty where nothing was
    published, but what went into a pipe before a failure is counted. `skipped` counts records that were set aside:
    damaged, or empty ones that were to be skipped. `losses` are all changes, of which `Loss.lost` tells the real
    losses. Where reading stopped with the last record that was wanted, `records` counts up to there.
    """

    output: list[str] = field(default_factory=list)
    written: int = 0
    skipped: int = 0
    losses: list[Loss] = field(default_factory=list)

    @property
    def finding(self) -> bool:
        """Whether anything of the input was set aside or lost."""
        return self.status in ("damaged", "foreign") or self.skipped > 0 or any(loss.lost for loss in self.losses)


EXIT_CLEAN, EXIT_FINDING, EXIT_USAGE, EXIT_FAILED = 0, 1, 2, 3


@dataclass
class Summary:
    """Totals over files. `Summary()` is the identity of `merge`, which is associative."""

    files: int = 0
    clean: int = 0
    damaged: int = 0
    foreign: int = 0
    errors: int = 0
    findings: int = 0
    records: int = 0
    missing: int = 0
    bytes: int = 0
    damaged_bytes: int = 0
    restorable: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    failed: bool = False
    """Whether something failed that belongs to no single input, such as a side file."""
    incomplete: bool = False
    """Whether the results of all inputs together are incomplete."""

    @classmethod
    def of(cls, reports: Iterable[FileReport], missing: int = 0) -> Summary:
        """Fold file reports, and the number of shards that a set should have had, into totals."""
        total = cls(missing=missing)
        for r in reports:
            total = total.merge(
                cls(
                    files=1,
                    clean=r.status == "clean",
                    damaged=r.status == "damaged",
                    foreign=r.status == "foreign",
                    errors=r.status == "error",
                    findings=r.finding,
                    records=r.records,
                    bytes=r.bytes or 0,
                    damaged_bytes=r.damaged_bytes,
                    restorable=r.restorable or 0,
                    faults=r.faults,
                )
            )
        return total

    def merge(self, other: Summary) -> Summary:
        """Return both together; neither operand changes."""
        return Summary(
            self.files + other.files,
            self.clean + other.clean,
            self.damaged + other.damaged,
            self.foreign + other.foreign,
            self.errors + other.errors,
            self.findings + other.findings,
            self.records + other.records,
            self.missing + other.missing,
            self.bytes + other.bytes,
            self.damaged_bytes + other.damaged_bytes,
            self.restorable + other.restorable,
            self.faults + other.faults,
            self.failed or other.failed,
            self.incomplete or other.incomplete,
        )

    @property
    def exit(self) -> int:
        """The most severe result: a job that could not be done, then a finding in the data, then neither."""
        if self.errors or self.failed:
            return EXIT_FAILED
        return EXIT_FINDING if self.findings or self.missing or self.incomplete else EXIT_CLEAN
