"""Convert records to another format, or reshard, merge, filter or recompress them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tfrtool.errors import DamageError, OpenError
from tfrtool.framing.damage import Damage
from tfrtool.report import ConvertReport
from tfrtool.sources.inputs.resolve import resolve
from tfrtool.types import PathLike
from tfrtool.verbs.convert.job import Conversion
from tfrtool.verbs.convert.options import convert_options


@dataclass(frozen=True, slots=True)
class Converted:
    """Result of `convert`: the outputs in order, and a report for each input."""

    outputs: list[str]
    reports: list[ConvertReport]

    @property
    def written(self) -> int:
        """The number of records in the outputs."""
        return sum(report.written for report in self.reports)

    @property
    def lost(self) -> bool:
        """Whether any input was damaged or foreign, or any record or value of it was left out or lost."""
        return any(report.finding for report in self.reports)


def convert(inputs: PathLike | Iterable[PathLike], output: PathLike, **how: Any) -> Converted:
    """Convert files into one output, or a set of shards, as `tfrtool convert` does.

    `how` takes the options of the command, with `_` for each `-` in their names:

    - outputs: `to`, `compress`, `shards`, `records_per_shard` and `shard_size` (bytes, a number), `force`,
      `dry_run`
    - inputs: `source` (the command's --from), `format`, `compression`, `skip_damaged`, `payload`
    - records: `where` (a list of texts), `skip`, `n`
    - features: `select` and `drop` (lists of texts), `rename` (new names by the old ones), `strip_prefix`
    - values: `types` (kinds by names), `double`, `int`, `no_kind`, `empty`, `unknown`, `sequence`
    - schema files, to restore the original: `schema`, `schema_out`

    `tfrtool.verbs.convert.options.convert_options` has their types and defaults.

    Raises `DamageError` at the first damage unless `skip_damaged`, `RefusedError` for records that the output cannot
    hold, and other `TfrtoolError`s for other failures; nothing is then published. Raises ValueError or TypeError for
    invalid arguments and options, before anything is read.
    """
    from tfrtool.verbs.options import path_name, path_names

    options = convert_options(**how)
    given, output = path_names("inputs", inputs), path_name("output", output)
    resolution = resolve(given, rows=True)
    if resolution.unmatched:
        missing = resolution.unmatched[0]
        raise OpenError(f"cannot open '{missing.input}': {missing.message}")
    if resolution.missing and not options.skip_damaged:
        raise OpenError(f"'{resolution.missing[0].name}' is missing from its shard set")
    with Conversion(resolution.names, output, options, lists=resolution.lists) as conversion:
        for name in resolution.names:
            damage: list[Damage] = []
            for found in conversion.read(name):
                if isinstance(found, Damage) and not damage:
                    damage.append(found)
            if conversion.error is not None:
                raise conversion.error
            if conversion.reports[-1].status == "foreign" or (damage and not options.skip_damaged):
                raise _damaged(conversion.reports[-1], *damage)
        conversion.publish()
    return Converted(conversion.outputs, conversion.reports)


def _damaged(report: ConvertReport, damage: Damage | None = None) -> DamageError:
    if damage is None or (report.status == "foreign" and damage.fault != "payload"):
        return DamageError(f"{report.path}: {report.message or 'no record file'}", report.path)
    where = f"{damage.fault} at [{damage.begin}, {damage.end})"
    return DamageError(f"{report.path}: {where}: {damage.message}", report.path, damage)
