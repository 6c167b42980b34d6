"""The jobs as functions: one answers for one input, and a command or a library call runs it over its inputs.

An input that cannot be read is a result too (a `FileReport` of status `error`), so that one bad file never stops the
others. Damage is yielded as it is found, never collected.

Read `reading/` first: it opens, identifies and walks an input for every job, and `diagnose` names what is wrong with
the whole file. Then `count`, the shortest job, and `verify`. `repair/`, `convert/`, `stat/` and `schema/` have a
folder each, `formats/` reads and writes what `convert` needs. A command imports its own job only.
"""
