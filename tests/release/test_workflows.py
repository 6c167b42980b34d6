"""What runs on every change covers what the package promises."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_python_version_of_the_package_is_checked() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))
    (versions,) = re.findall(r"python: \[(.*)\]", (ROOT / ".github/workflows/ci.yml").read_text())
    assert set(promised) <= set(re.findall(r"3\.\d+", versions))
    assert project["requires-python"] == f">={promised[0]}"


def test_a_change_is_checked_as_on_a_developers_machine() -> None:
    assert "- run: bash .ci/run\n" in (ROOT / ".github/workflows/ci.yml").read_text()
