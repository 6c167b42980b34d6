"""The engine: buffers in, sound frames and damage out.

This room is pure. It imports nothing else of tfrtool, opens no file, knows no protocol buffer and prints nothing, so
that the same code serves a command, a library call and a worker on another machine. Read it in this order: `layout`
(what a frame looks like), `crc` (its checksums), `window` (bytes by offset), `kernel` (the hot loops), `walk` (frames
and damage in order), `resync` and `mend` (what a damaged stretch still proves), `ofrecord` (the format without
checksums), `encode` (writing a frame).
"""
