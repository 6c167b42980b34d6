"""`tfrtool repair`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import click

from tfrtool.cli.options import files, reading_command

if TYPE_CHECKING:
    from tfrtool.cli.common import Common


@reading_command(
    "repair",
    compression="How the outputs, not the inputs, are compressed, whatever their names; auto as their inputs are.",
)
@click.option(
    "-o",
    "--output",
    shell_complete=files,
    metavar="OUT",
    help="The file to write, or - for a pipe; a directory where it is one, ends in /, or is for several inputs or for "
    "what may stand for several: a directory, a list, a pattern.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be done, and write nothing.")
@click.option("--force", is_flag=True, help="Replace files that exist.")
@click.option(
    "--fix-bits",
    is_flag=True,
    help="Turn over the one bit that makes a payload of up to 64 KiB agree with its checksum.",
)
@click.option(
    "--keep-unverified",
    is_flag=True,
    help="Write payloads too that parse but that no checksum proves, since it is missing or zero, or since no payload "
    "of the file agrees with its own; one from which four bytes are missing can look so, and may never have been "
    "written.",
)
@click.option(
    "--keep",
    type=click.Choice(["all", "before", "after"]),
    default="all",
    show_default=True,
    help="Write all records, only those before the first damage, or only those after it.",
)
@click.option("--quarantine", shell_complete=files, metavar="FILE", help="Put the bytes that are dropped into FILE.")
@click.option(
    "--report", shell_complete=files, metavar="FILE", help="Write what became of every byte into FILE, as JSON Lines."
)
def repair(
    common: Common,
    output: str | None,
    dry_run: bool,
    force: bool,
    fix_bits: bool,
    keep_unverified: bool,
    keep: Literal["all", "before", "after"],
    quarantine: str | None,
    report: str | None,
) -> int:
    """Save what can be saved of each INPUT, in a file of its own.

    Sound records are copied as they are, and a sound file byte for byte. A damaged record comes back where a checksum
    in the file proves it; all else is dropped, and said so. The output is read back before it takes its name, and it
    appears whole or not at all. An input is never written to.

    In a pipe, a damaged range is a line of tab-separated fields: path, what was done (restored, corrected, kept or
    dropped), fault, first byte, byte behind the last, number of the record, records written, bytes dropped, what is
    wrong. A line for each input follows: path, status, sound records, records written, bytes dropped, output, what was
    done. With -o - all of this goes to standard error. The exit code is 0 when nothing of the input is lost.

    With --report and --quarantine the outputs take their names when all inputs are done, behind these two files; where
    one of these cannot be written, there are no outputs. The list has a "range" object for each range, in which
    "records" counts those that were written from it and "left_out" the sound ones that --keep leaves out, and an
    "output" object that names the file; an "error" object stands for an input that cannot be opened, or takes
    back what stands above it for its input.
    """
    from tfrtool.cli.commands.repair_outputs import Wish
    from tfrtool.cli.commands.repair_run import run_repair

    return run_repair(Wish(common, output, dry_run, force, fix_bits, keep_unverified, keep, quarantine, report))
