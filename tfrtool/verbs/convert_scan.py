"""Looking at all values before the first is written: which int64 features are int32 in truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrtool.payload.mapping_numbers import all_int32
from tfrtool.payload.mapping_read import read_record, values_of
from tfrtool.payload.wire import LONG_NAME, WireError

if TYPE_CHECKING:
    from tfrtool.verbs.convert_inputs import Input

_MOST = 1 << 16
"""Names that are learnt; what has more, or longer ones, is no table of features, and its numbers stay int64."""


def small_integers(source: Input, fit: dict[bytes, bool]) -> None:
    """Note of each int64 feature of an input whether all of its values are in the range of int32.

    Damage and payloads that are no Examples are passed over: the conversion itself tells of them.
    """
    if source.foreign:
        return
    side = source.side
    for payload in source.payloads():
        view = memoryview(payload)
        try:
            record = read_record(view, side, sequence=True)
            found = record.items + [step for _, steps in record.steps for step in steps]
            for item in found:
                if item.kind == "int64" and fit.get(item.name, len(fit) < _MOST and len(item.name) <= LONG_NAME):
                    fit[item.name] = all(map(all_int32, values_of(view, item.lists, "int64")))
        except WireError:
            continue
