"""What records mean: wire reading, the kinds of messages, their features, and what bytes values hold.

Read it in this order: `outline` (the messages, written down once), `wire` (reading them in place), `strict` and `kinds`
(which message a payload is), `features` (what it holds, for showing) and `features_read`, `usual` (the short way
through it). Then there are families of files: `schema/` gathers what many records have in common; `mapping*` turns
OFRecord into Example and back on the wire; `rows*` turns records into the rows of JSON and tables and back; `content`,
`media` and `tensors` say what a bytes value is; `values` and `preview` put values into words. `messages` makes protobuf
classes, for few.

Modules are imported where they are first used, so that learning a kind does not load what only showing needs; protobuf
is not imported before a message class is asked for.
"""
