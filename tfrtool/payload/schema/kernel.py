"""Picks what summarises payloads: the compiled kernel where one is built, else its pure twin (the only one so far).

`summarise` takes a batch of payloads and gives their table, `add` adds it to one; `HeaderCache` is what they remember
from batch to batch.
"""

from __future__ import annotations

from tfrtool.payload.schema.fast_walk import HeaderCache
from tfrtool.payload.schema.summarize import add, summarise

__all__ = ["HeaderCache", "add", "summarise"]
