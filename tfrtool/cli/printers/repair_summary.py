"""Summarize the repair of one file: records recovered and lost, and the next steps."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tfrtool.cli.commands.repair_outputs import RepairPlan
from tfrtool.cli.suggestions import advice
from tfrtool.cli.text import plural
from tfrtool.framing.layout import FRAMING
from tfrtool.report import RepairReport
from tfrtool.sources.os_text import shell_word

if TYPE_CHECKING:
    from tfrtool.report import Outcome

SHOWN = 20
"""Ranges of one file that are shown on a terminal."""

_WAYS = {
    "mended-header": ("header corrected", "header bit flips corrected, payload checksum matches"),
    "lost-header": ("header rewritten", "header lost and rewritten, payload checksum matches"),
    "shifted-payload": ("start found", "payload found at another offset than after the header, checksum matches"),
    "bytes-removed": ("bytes-removed", "inserted bytes removed, payload checksum matches"),
    "stored-checksum": ("checksum corrected", "bit flip in the stored checksum corrected, payload intact"),
    "wrong-writer": ("checksums replaced", "nonstandard checksums replaced; they prove every payload"),
    "conversion": ("conversion undone", "text conversion undone, checksums match"),
    "corrected": ("bit corrected", "1 payload bit corrected (--fix-bits)"),
    "unverified": ("unverified", "parses, but has no valid checksum (--keep-unverified)"),
}
"""Ways to recover records: in a word or two, and in full."""


_PROVED = list(_WAYS)[: list(_WAYS).index("conversion")]
_UNCHECKED = "payloads not checked (OFRecord has no checksums)"


class RecoveredCount(NamedTuple):
    """The number of records that were recovered in one way, or were intact."""

    records: int
    briefly: str
    words: str


UNPROVED = "a payload that lacks four bytes would look the same, so it may be incomplete"
"""The limit of `--keep-unverified`."""


class RepairSummary:
    """Counts the outcomes of one file, and holds the first `SHOWN` of each sort."""

    def __init__(self) -> None:
        self.ways: Counter[str] = Counter()
        self.lost: list[Outcome] = []
        self.whole: list[Outcome] = []
        self.ranges = self.breaks = 0
        self.given_up = False
        self.lost_records = 0
        self.doubtful: list[Outcome] = []
        self.fixable = 0
        self.unproved = 0
        self.within = 0
        self._largest_corrected = 0

    def add(self, outcome: Outcome) -> None:
        """Count the outcome of one damaged range."""
        damage, way = outcome.damage, _way(outcome)
        self.ways[way] += outcome.records
        self.fixable += outcome.fixable
        self.given_up = self.given_up or damage.given_up
        self.within += outcome.within
        recovery = damage.recovery
        self.ranges += 1
        is_break = damage.fault == "codec" and not recovery
        self.breaks += is_break
        sort = self.lost if outcome.dropped or is_break else self.whole
        if len(sort) < SHOWN:
            sort.append(outcome)
        if outcome.action == "kept" and recovery:
            self.lost_records += recovery.records - outcome.records
        if not outcome.records and outcome.dropped:
            self.unproved += recovery.records if recovery and recovery.method == "unverified" else 0
            if damage.record is not None:
                self.lost_records += recovery.records if recovery else 1
        if way in ("corrected", "unverified") and len(self.doubtful) < SHOWN:
            self.doubtful.append(outcome)
        if way == "corrected":
            self._largest_corrected = max(self._largest_corrected, damage.end - damage.begin - FRAMING)

    def saved(self, report: RepairReport) -> list[RecoveredCount]:
        """Return what was written, intact records first."""
        found = [RecoveredCount(report.kept, "intact", "intact, copied unchanged")] if report.kept else []
        for way, (briefly, words) in _WAYS.items():
            count = self.ways[way]
            if report.converted and way == "conversion":
                count = report.restored - sum(self.ways[how] for how in _PROVED)
            if count:
                if way == "corrected":
                    one_in = 2**32 // (8 * self._largest_corrected)
                    words = f"{words}; chance that a correction is wrong: at most 1 in {one_in:,}"
                found.append(RecoveredCount(count, briefly, words))
        return found

    def losses(self, report: RepairReport, plan: RepairPlan) -> str:
        """Return what is not in the output."""
        if not report.lost:
            return "nothing lost"
        parts = []
        left_out = report.sound - report.kept if plan.options.keep != "all" else 0
        if self.lost_records or self.given_up:
            parts.append("at least " * self.given_up + plural(self.lost_records, "damaged record"))
        if left_out:
            parts.append(f"{plural(left_out, 'intact record')} (--keep {plan.options.keep})")
        if report.dropped_bytes:
            held = f" (including {plural(self.within, 'frame')} with valid checksums)" if self.within else ""
            parts.append(f"{report.dropped_bytes:,} of {plural(report.bytes or 0, 'byte')}{held}")
        if self.breaks:
            parts.append(f"the damaged part of the {report.compression} stream")
        return f"dropped: {', '.join(parts)}"


def _way(outcome: Outcome) -> str:
    if outcome.action == "restored":
        return outcome.damage.recovery.method if outcome.damage.recovery else "conversion"
    return {"corrected": "corrected", "kept": "unproved"}.get(outcome.action, "")


def nothing(report: RepairReport, plan: RepairPlan) -> str:
    """Return why no record is written."""
    keep = plan.options.keep
    if keep != "all" and report.sound:
        where = "before the first damage" if keep == "before" else "after the first damage"
        return f"nothing to write: no recoverable record {where} (--keep {keep})"
    return "nothing recoverable: no record has a valid checksum"


def sentence(report: RepairReport, summary: RepairSummary, plan: RepairPlan) -> str:
    """Return a report as one sentence, without the next step."""
    if report.error:
        return report.error[1]
    if report.status == "foreign":
        return f"{report.message or 'no records'}; nothing recovered"
    if report.status == "clean":
        return _clean(report, plan)
    said = [report.message] if report.diagnosis and report.message else []
    if not report.records:
        said.append(nothing(report, plan))
    else:
        would = "would be written" if plan.options.dry_run else "written"
        ways = ", ".join(f"{one.records:,} {one.briefly}" for one in summary.saved(report))
        said.append(f"{plural(report.records, 'record')} {would}: {ways}")
    said.append(summary.losses(report, plan))
    if report.repeats:
        said.append(f"{plural(report.repeats, 'payload')} written more than once")
    if report.format == "ofrecord":
        said.append(_UNCHECKED)
    return "; ".join(said)


def _clean(report: RepairReport, plan: RepairPlan) -> str:
    wanted = plan.options.output_compression
    if wanted in ("auto", report.compression):
        same = "copied byte for byte"
    else:
        same = f"copied {'without compression' if wanted == 'none' else 'with ' + wanted + ' compression'}"
    unchecked = f"; {_UNCHECKED}" if report.format == "ofrecord" else ""
    return f"nothing to repair: {same}{unchecked}"


class NextStep(NamedTuple):
    """A command to run next, and its purpose."""

    command: str
    why: str


def steps(report: RepairReport, summary: RepairSummary, plan: RepairPlan) -> list[NextStep]:
    """Return the next steps for one input, the most useful first."""
    found: list[NextStep] = []
    if report.error:
        return found
    if report.records and report.status == "damaged" and not plan.to_stdout:
        if report.output and os.path.isfile(report.output):
            found.append(NextStep(f"tfrtool head {shell_word(report.output)}", "to look at the output"))
        elif not report.output:
            found.append(NextStep(repair_command(plan, report), "to write them"))
    why = []
    if plan.options.keep != "before":  # drops them in any case
        if summary.fixable:
            why.append(f"to check {plural(summary.fixable, 'payload')} for a single flipped bit")
        if summary.unproved and not plan.options.keep_unverified:
            they_parse = "it parses" if summary.unproved == 1 else "they parse"
            why.append(f"to keep {plural(summary.unproved, 'unverified record')} if {they_parse}")
    if why:
        found.append(NextStep(repair_command(plan, report, summary), " and ".join(why)))
    return found


def hint(report: RepairReport, summary: RepairSummary, plan: RepairPlan) -> str | None:
    """Return the next steps in one line."""
    todo = [f"{step.why}, run: {step.command}" for step in steps(report, summary, plan)]
    return "; ".join(filter(None, (advice(report), *todo))) or None


def repair_command(plan: RepairPlan, report: RepairReport, summary: RepairSummary | None = None) -> str:
    """Return the command that repairs one input with the same options, plus those that `summary` makes worth trying."""
    options = plan.options
    output = plan.outputs.get(report.path)
    sides = [] if len(plan.outputs) > 1 else [("--quarantine", plan.quarantine), ("--report", plan.report)]
    piped = "… | " if report.path == "-" else ""
    words = [f"{piped}tfrtool repair", shell_word(report.path), "-o", shell_word(output) if output else "OUT"]
    values = [
        ("-F", options.format, "auto"),
        ("-z", options.output_compression, "auto"),
        ("--keep", options.keep, "all"),
    ]
    words += [f"{option} {value}" for option, value, usual in values if value != usual]
    if options.fix_bits or (summary and summary.fixable):
        words.append("--fix-bits")
    if options.keep_unverified or (summary and summary.unproved):
        words.append("--keep-unverified")
    words += [f"{option} {shell_word(side)}" for option, side in sides if side]
    written = [side for _, side in sides if side and (not options.dry_run or os.path.isfile(side))]
    if options.force or written or (output and os.path.isfile(output)):
        words.append("--force")
    return " ".join(words)
