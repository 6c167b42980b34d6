"""Picks what summarises payloads: the compiled kernel where one is built, else its pure twin (the only one so far).

`summarise` takes a batch of payloads and gives their table; `Known` is what it remembers from batch to batch. `NAME`
says which twin runs.
"""

from __future__ import annotations

from tfrtool.payload.schema.summary import NAME, summarise
from tfrtool.payload.schema.walker import Known

__all__ = ["NAME", "Known", "summarise"]
