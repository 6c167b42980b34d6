"""Read what records mean: the wire format, the kinds of messages, their features, and what bytes values hold.

Read it in this order: `wire` (the wire format, the messages, and the common form of features), `validate` and `kinds`
(which message a payload is), `features` (what one record holds, for showing). Then `schema` gathers what many records
have in common; `mapping` turns OFRecord into Example and back on the wire; `rows` turns records into the rows of JSON
and tables and back; `content` detects what a bytes value is; `filter` chooses records; `text` writes values as text.

Modules are imported where they are first used, so that detecting a kind does not load what only showing needs; protobuf
is not imported before a message class is asked for.
"""
