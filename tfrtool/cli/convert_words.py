"""What `convert` says of an input and of its outputs: the words for pipes, people and programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.cli.remedies import advice
from tfrtool.cli.text import plural
from tfrtool.report import ConvertReport, FileReport, LossCode

if TYPE_CHECKING:
    from tfrtool.verbs.conversion import Conversion

_UNASKED: tuple[LossCode, ...] = ("overridden", "rounded-to-float", "rounded-to-double", "no-kind-steps")


def sentence(report: FileReport, conversion: Conversion) -> str:
    """What became of an input, for people, without what to do next."""
    if report.error:
        return report.error[1]
    assert isinstance(report, ConvertReport)
    if report.status == "foreign":
        return f"{report.message or 'no records'}; nothing was written"
    if conversion.failed:
        if report.status == "damaged" and not conversion.options.skip_damaged:
            return f"the first damage stops the conversion; {_gone(report, conversion)}"
        link = "though" if report.written else "since"
        return f"{_gone(report, conversion)}, {link} {conversion.reason}"
    would = "would be written" if conversion.options.dry_run else "written"
    said = [f"{plural(report.written, 'record')} {would}"]
    if conversion.none_fulfils:
        said.append("since none fulfils --where")
    if report.skipped:
        said.append(f"{report.skipped:,} skipped")
    lost = sum(loss.lost for loss in report.losses)
    if lost:
        asked = "" if _unasked(report, conversion) else ", as asked for"
        said.append(("1 loss" if lost == 1 else f"{lost:,} losses") + asked)
    if report.unread:
        said.append("and reading stopped there" if report.records else "not read, since no more were wanted")
    return ", ".join(said)


def _gone(report: ConvertReport, conversion: Conversion) -> str:
    """What of an input went out before a failure."""
    if conversion.cut_off:
        return "what went out before is cut off, and to be thrown away"
    return f"{plural(report.written, 'record')} went out before" if report.written else "nothing was written"


def _unasked(report: ConvertReport, conversion: Conversion) -> bool:
    """Whether something was lost that no option asks for: what rows cannot say, digits that a float has not, a list
    that another one overrides."""
    from tfrtool.verbs.formats_base import ROWS

    return conversion.target in ROWS or any(loss.code in _UNASKED for loss in report.losses)


def hint(report: FileReport, conversion: Conversion) -> str | None:
    """What to do next about an input, if anything."""
    found = advice(report)
    if report.status == "foreign" and report.faults["payload"]:
        return "--to tfrecord copies them as they are, without options about features"
    if set(report.faults) == {"payload"}:  # which repair cannot mend
        if conversion.options.skip_damaged:
            return None
        other = f", or {found}" if found and report.remedy and report.remedy.words else ""
        return f"say --skip-damaged to leave such records out{other}"
    if report.status == "damaged" and conversion.failed and not conversion.options.skip_damaged:
        repair = f"{found} to save what can be saved, or say" if found else "say"
        return f"{repair} --skip-damaged to leave out what is damaged"
    return found


def outputs_shown(names: list[str]) -> str:
    """The outputs in a few words: the first and the last."""
    if len(names) < 3:
        return " and ".join(names)
    return f"{names[0]} … {names[-1]}"


def oneflow_line(conversion: Conversion) -> str | None:
    """How OneFlow reads the outputs, where those are parts by its rule."""
    if conversion.target != "ofrecord" or not conversion.outputs:
        return None
    from tfrtool.verbs.convert_shards import oneflow_arguments

    arguments = oneflow_arguments(conversion.outputs)
    if arguments is None:
        return None
    said = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    packed = conversion.compression
    return said if packed == "none" else f"{said}, once they are unpacked: it does not read {packed}"
