"""tfrtool: inspect, verify, repair and convert TFRecord and OFRecord files, without TensorFlow.

There is a function for everything that the commands do:

    records(path)        iterate payloads; raises DamageError at the first damage
    walk(path)           iterate intact frames and damage; never raises for damage
    count(path)          count records by their headers
    verify(path)         check every checksum and report all damage
    repair(path, out)    write the intact and recoverable records to a new file
    convert(paths, out)  write the records in another format, or reshard, merge and filter them
    head(path)           read the first records, or one by its number, with their features
    stat(path)           report record sizes, framing overhead and compression of a file
    stat_all(paths…)     the same for several files together, and how even they are
    schema(paths…)       describe the features of the records
    emit(schema, form)   write a schema as text for TensorFlow, DALI, tfds and others
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
