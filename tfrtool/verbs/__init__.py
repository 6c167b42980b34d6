"""The jobs as functions: each answers for one input, and a command or a library call does the rest.

An input that cannot be read is an answer too (a `FileReport` with status `error`), so that one bad file never stops the
others. Damage is yielded as it is found, never held.

Each job has a file of its own name; all of them open, tell apart and walk an input by `reading` and `identify`, and
name what is wrong with the whole of it by `diagnose`. Behind `repair` stand `salvage` (what becomes of each stretch),
`mending` (the accounts) and `saving` (the output); behind `stat` `sizes`, `digests` and `dataset`; behind `schema`
`findings` and `emit/`; behind `convert` the files `convert_*`, with `jsonl*` and `parquet*` for rows.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfrtool.report import Outcome
    from tfrtool.verbs.conversion import Conversion
    from tfrtool.verbs.convert_options import ConvertOptions
    from tfrtool.verbs.count import count_file
    from tfrtool.verbs.head import Record, head_file, record_file
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.repair import repair_file
    from tfrtool.verbs.repair_options import RepairOptions
    from tfrtool.verbs.stat import StatOptions, StatReport, stat_file
    from tfrtool.verbs.trail import Trail
    from tfrtool.verbs.verify import verify_file

_HOMES = {
    "Conversion": "conversion",
    "ConvertOptions": "convert_options",
    "Options": "options",
    "Outcome": "tfrtool.report",
    "Record": "head",
    "RepairOptions": "repair_options",
    "StatOptions": "stat",
    "StatReport": "stat",
    "Trail": "trail",
    "count_file": "count",
    "head_file": "head",
    "record_file": "head",
    "repair_file": "repair",
    "stat_file": "stat",
    "verify_file": "verify",
}

__all__ = [
    "Conversion",
    "ConvertOptions",
    "Options",
    "Outcome",
    "Record",
    "RepairOptions",
    "StatOptions",
    "StatReport",
    "Trail",
    "count_file",
    "head_file",
    "record_file",
    "repair_file",
    "stat_file",
    "verify_file",
]


def __getattr__(name: str) -> Any:
    # Imported when first asked for: a command pays for its own job alone.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name] if "." in _HOMES[name] else f"tfrtool.verbs.{_HOMES[name]}"), name)
