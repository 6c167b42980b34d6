"""Where OneFlow is, if it is installed: in this interpreter, or in that which `TFRTOOL_ONEFLOW_PYTHON` names."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from shutil import which


def _python() -> str | None:
    named = os.environ.get("TFRTOOL_ONEFLOW_PYTHON")
    if not named:
        return sys.executable if find_spec("oneflow") else None
    found = which(named)
    if found is None:
        raise RuntimeError(f"TFRTOOL_ONEFLOW_PYTHON names '{named}', which is no program")
    return os.path.abspath(found)


PYTHON = _python()
"""The interpreter that has OneFlow, or None."""

_FIND = """
import glob, os, site
print(os.pathsep.join(path for root in site.getsitepackages() for path in glob.glob(root + "/nvidia/*/lib")))
"""


def libraries(python: str) -> str:
    """The folders of the libraries that OneFlow loads, as pip puts them beside it."""
    return subprocess.run([python, "-c", _FIND], capture_output=True, text=True, check=True).stdout.strip()
