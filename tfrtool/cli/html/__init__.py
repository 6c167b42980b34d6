"""What `--html FILE` writes: one page for a browser, beside what a command prints.

`printing` runs a command with its page, `page` is the frame of all pages and the only home of escaping, `look` their
style and script, `map` the picture of a file; each other module is the page of the command that it is named after. For
another command, write its module with a `Page` in it, and add the options of `tfrtool.cli.options.page_options`.
"""
