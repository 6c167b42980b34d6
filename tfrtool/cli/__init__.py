"""The command line: the only package that prints, and that uses Click, rich, tqdm and exit codes.

`main` runs the program (signals, full disks, broken pipes), `app` lists the commands, `options` has what they share,
and `session` is the loop over inputs. Each command is a module in `commands/` and has its printers in `printers/`: for
pipes, for terminals and for programs; `html/` writes pages. All text from data passes `text.safe`. `terminal/` has the
tables and bars of terminals, `docs/` generates the manual pages. At start-up no library but Click is imported.
"""
