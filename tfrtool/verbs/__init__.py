"""The jobs as functions: each answers for one input, and a command or a library call does the rest.

An input that cannot be read is an answer too (a `FileReport` with status `error`), so that one bad file never stops the
others. Damage is yielded as it is found, never held.

Each job has a file of its own name; all of them open, tell apart and walk an input by `reading` and `identify`, and
name what is wrong with the whole of it by `diagnose`. Behind `repair` stand `salvage` (what becomes of each stretch),
`mending` (the accounts) and `saving` (the output); behind `stat` `sizes`, `digests` and `dataset`; behind `schema`
`findings` and `emit/`; behind `convert` the files `convert_*` and `formats_*`, with `jsonl*` and `parquet*` for
rows. A command imports its own job alone.
"""
