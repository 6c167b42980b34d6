"""tfrtool: inspect, verify, repair and convert TFRecord and OFRecord files, without TensorFlow.

All that the commands do, a function does:

    records(path)        iterate payloads; raises DamageError at the first damage
    walk(path)           yield sound frames and damage, never raising for damage
    count(path)          how many records, from headers alone
    convert(paths, out)  the same records in another format, or cut, joined and chosen anew
    schema(paths…)       which features the records have, of which kind
    verify(path)         every fault of the file
    repair(path, out)    write what can be saved of it to a new file
    stat(path)           how the file is made: sizes of payloads, framing, compression
    stat_all(paths…)     the same of some files together, and how even they are
    head(path)           the first records, or the one of a number, with their features
    emit(schema, form)   a schema as text for TensorFlow, DALI, tfds and others
    RecordWriter(path)   write a file that appears whole or not at all
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Damage",
    "DamageError",
    "DataSet",
    "FileReport",
    "Frame",
    "OpenError",
    "Outcome",
    "ReadError",
    "Record",
    "RecordWriter",
    "RefusedError",
    "RepairReport",
    "StatReport",
    "TfrtoolError",
    "UnsupportedError",
    "WriteError",
    "convert",
    "count",
    "emit",
    "head",
    "records",
    "repair",
    "schema",
    "stat",
    "stat_all",
    "verify",
    "walk",
]

if TYPE_CHECKING:
    from tfrtool.errors import (
        DamageError,
        OpenError,
        ReadError,
        RefusedError,
        TfrtoolError,
        UnsupportedError,
        WriteError,
    )
    from tfrtool.framing.damage import Damage
    from tfrtool.report import FileReport, Outcome, RepairReport
    from tfrtool.verbs.convert.api import convert
    from tfrtool.verbs.count import count
    from tfrtool.verbs.head import Record, head
    from tfrtool.verbs.records import Frame, RecordWriter, records, walk
    from tfrtool.verbs.repair.job import repair
    from tfrtool.verbs.schema.emit.forms import emit
    from tfrtool.verbs.schema.job import schema
    from tfrtool.verbs.stat.dataset import DataSet, stat_all
    from tfrtool.verbs.stat.job import StatReport, stat
    from tfrtool.verbs.verify import verify

_HOMES = {
    "errors": (
        "DamageError",
        "OpenError",
        "ReadError",
        "RefusedError",
        "TfrtoolError",
        "UnsupportedError",
        "WriteError",
    ),
    "framing.damage": ("Damage",),
    "report": ("FileReport", "Outcome", "RepairReport"),
    "verbs.convert.api": ("convert",),
    "verbs.count": ("count",),
    "verbs.stat.dataset": ("DataSet", "stat_all"),
    "verbs.schema.emit.forms": ("emit",),
    "verbs.head": ("Record", "head"),
    "verbs.records": ("Frame", "RecordWriter", "records", "walk"),
    "verbs.repair.job": ("repair",),
    "verbs.schema.job": ("schema",),
    "verbs.stat.job": ("StatReport", "stat"),
    "verbs.verify": ("verify",),
}


def __getattr__(name: str) -> Any:
    # Imported when first asked for, so that `tfrtool --help` pays for none of it.
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"tfrtool.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
