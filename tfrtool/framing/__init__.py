"""The engine: buffers in, sound frames and damage out.

This room is pure. It imports nothing else of tfrtool, opens no file, knows no protocol buffer and prints nothing, so
that the same code serves a command, a library call and a worker on another machine. Read it in this order: `layout`
(what a frame looks like), `crc` (its checksums), `window` (bytes by offset), `kernel` (the hot loops), `walk` (frames
and damage in order), `damage` (what is found, as values). Where damage is met, `resync` takes over: `gap` explains what
stands behind an unsound header and `claim` what stands behind a sound one whose record is not there; they use `scout`
and `ahead` (looking ahead, and what that may cost), `mended` and `mend` (headers with flipped bits), `peel` (records
whose headers are lost), `algebra` (checksums backwards), `writers` (checksums that a writer got wrong), `told` and
`words` (how it is said). `ofrecord` is the format without checksums, `encode` writes a frame, and `pure` stands behind
`kernel`.
"""
