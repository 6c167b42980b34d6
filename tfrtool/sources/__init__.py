"""Names and codecs in, bytes out; and a sink that publishes whole or not at all.

`inputs` turns what a user wrote into names (`shards`, `listing` and `lists` help). `open_source` is the one door from a
name to a decoded stream (`opening`): a plain file is read where it lies (`local`), everything else through a spool
(`stream`, `overflow`), unpacked where need be (`codec`, with `wrapper`, `inflate` and `resume`). `sniff` says what a
foreign file is. `sink` writes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tfrtool.sources.faults import CodecFault
    from tfrtool.sources.opening import Source, open_source
    from tfrtool.sources.sniffed import Sniffed

__all__ = ["CodecFault", "Sniffed", "Source", "open_source"]

_HOMES = {"CodecFault": "faults", "Sniffed": "sniffed", "Source": "opening", "open_source": "opening"}


def __getattr__(name: str) -> Any:
    # Imported when first asked for: a plain sound file has neither faults nor a foreign beginning.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"tfrtool.sources.{_HOMES[name]}"), name)
