"""The jobs as functions: each answers for one input, and a command or a library call does the rest.

An input that cannot be read is an answer too (a `FileReport` with status `error`), so that one bad file never stops the
others. Damage is yielded as it is found, never held.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfrtool.verbs.count import count_file
    from tfrtool.verbs.head import Record, head_file
    from tfrtool.verbs.options import Options
    from tfrtool.verbs.verify import verify_file

__all__ = ["Options", "Record", "count_file", "head_file", "verify_file"]

_HOMES = {"Options": "options", "Record": "head", "count_file": "count", "head_file": "head", "verify_file": "verify"}


def __getattr__(name: str) -> Any:
    # Imported when first asked for: a command pays for its own job alone.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"tfrtool.verbs.{_HOMES[name]}"), name)
