"""Write web pages for `--html FILE`.

`printing` runs a command with its page, `page` is the frame of all pages and the only place that escapes text, `style`
their style and script, `coverage_map` the map of a file; each other module is the page of one command.
"""
