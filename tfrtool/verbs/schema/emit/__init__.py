"""A schema as other programs take it, one format a module: each turns a `Schema` into text. `forms` has them by name.

What goes into code is quoted as ASCII literals, so that no name can be more than a name. Where a reader cannot take
what the data holds, the text says so in a comment, and `refused` gives the reason where it can take none of it.
"""
