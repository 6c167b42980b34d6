"""Names that many modules share: what files are, what became of them, and how callers give paths."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

Format = Literal["tfrecord", "ofrecord"]
FormatChoice = Literal["auto", "tfrecord", "ofrecord"]
"""`auto` detects the format by the content."""

Compression = Literal["none", "gzip", "zlib"]
CompressionChoice = Literal["auto", "none", "gzip", "zlib"]
"""`auto` detects the compression of an input by its content, and gives an output that of its input or name."""

Kind = Literal["example", "sequence_example", "event", "ofrecord", "unknown"]
"""The message that the payloads of a file are."""

Status = Literal["clean", "damaged", "foreign", "error"]

Action = Literal["restored", "corrected", "kept", "dropped"]
"""What `repair` does with a damaged range.

`restored`: its payloads are proved by a checksum and written whole. `corrected`: one bit of a payload was flipped on
request. `kept`: complete payloads without a valid checksum were written on request. `dropped`: nothing was written.
"""

Range = tuple[int, int]
"""Half-open: start and end offset, in bytes."""

PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]

Progress = Callable[[int], None]
"""Called with the number of bytes of the input consumed since the last call."""
