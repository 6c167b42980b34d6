"""The command line: the only room that prints, and that knows Click, rich, tqdm and exit codes.

`main` is the program around the commands (signals, a full disk, a reader that went away), `app` the table of commands,
`options` what they share, `session` the loop over inputs. A command's own file holds its options and picks a printer:
one for pipes (`*_text`), one for terminals (`*_terminal`), one for programs (`*_json`); `html/` writes pages. All text
that came from data passes `text.safe`; `table` lays out what terminals show, `strip` the map of a file. `generate`
makes the manual pages from the commands and `manual`. At its start the program imports no library but Click.
"""
