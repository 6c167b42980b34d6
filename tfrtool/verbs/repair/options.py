"""The options of `repair`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tfrtool.types import CompressionChoice
from tfrtool.verbs.options import Options


@dataclass(frozen=True)
class RepairOptions(Options):
    """The options of `repair`.

    `output_compression` is that of the output, `auto` for the input's. `keep` says which records are written: `all`,
    those `before` the first damage, or those `after` it. `fix_bits` corrects single flipped bits of payloads,
    `keep_unverified` writes complete payloads that no checksum proves. `force` replaces an existing output. `dry_run`
    writes nothing.
    """

    output_compression: CompressionChoice = "auto"
    keep: Literal["all", "before", "after"] = "all"
    fix_bits: bool = False
    keep_unverified: bool = False
    force: bool = False
    dry_run: bool = False
