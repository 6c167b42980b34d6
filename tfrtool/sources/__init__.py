"""Names and codecs in, bytes out; and outputs that appear whole or not at all.

Read in this order: `inputs` expands what a user wrote into names. `source.open_source` opens a name as a decoded
stream: a plain file is read in place (`local`), anything else through a `spool`, decompressed by `codecs`. `detect`
names foreign files. `sinks` writes.
"""
