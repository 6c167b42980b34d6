"""Names and codecs in, bytes out; and a sink that publishes whole or not at all.

`inputs` turns what a user wrote into names (`shards`, `listing` and `lists` help). `open_source` is the one door from a
name to a decoded stream (`opening`): a plain file is read where it lies (`local`), everything else through a spool
(`stream`, `overflow`), unpacked where need be (`codec`, with `wrapper`, `inflate` and `resume`). `sniff` says what a
foreign file is. `sink` writes.
"""
