"""`python -m tfrtool` is the `tfrtool` command."""

import sys

from tfrtool.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
