"""What every reading command is asked, whoever parsed the command line."""

from typing import NamedTuple

from tfrtool.types import CompressionChoice, FormatChoice

# Without the future import that other modules begin with, for which NamedTuple compiles every annotation again.


class Common(NamedTuple):
    """The inputs, and the options of the same names as the fields, with their defaults."""

    inputs: tuple[str, ...]
    format: FormatChoice = "auto"
    compression: CompressionChoice = "auto"
    jobs: int = 1
    cluster: str | None = None
    json: bool = False
    color: str = "auto"
    progress: bool = True
    quiet: bool = False
    verbose: int = 0
