"""Picks the hot loops: the compiled kernel where one is built, else its pure twin (the only one so far).

`walk`, `hop`, `hop_lengths` and `scan` take a buffer and go as far as everything is sound; `NAME` says which twin runs.
"""

from __future__ import annotations

from tfrtool.framing.kernel.pure import NAME, Known, hop, hop_lengths, scan, walk

__all__ = ["NAME", "Known", "hop", "hop_lengths", "scan", "walk"]
