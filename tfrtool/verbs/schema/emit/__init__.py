"""Emit a schema for other programs, one format a module: each turns a `Schema` into text. `forms` lists them by name.

Names are quoted as ASCII literals, so that no name can be code. If a reader cannot take what the data holds, the text
says so in a comment, and an error gives the reason if it can take none of it.
"""
