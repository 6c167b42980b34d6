"""What is installed: the package, its manual pages and completions, and nothing that happens to lie about."""

from __future__ import annotations

import shutil
import subprocess
import sys
from email import message_from_bytes
from pathlib import Path
from zipfile import ZipFile

from kit.make_samples import DATA
from kit.program import environment, run
from pytest import TempPathFactory, fixture, importorskip

import tfrtool

ROOT = Path(__file__).parents[2]
STRAY = ["tfrtool/notes.txt", "tfrtool/cli/old.py.orig", "man/draft.txt", "tests/test_x.py", "other/module.py"]
DATA_FILES = {
    "share/bash-completion/completions/tfrtool": "completions/bash/tfrtool",
    "share/zsh/site-functions/_tfrtool": "completions/zsh/_tfrtool",
    "share/fish/vendor_completions.d/tfrtool.fish": "completions/fish/tfrtool.fish",
    **{f"share/man/man1/{page.name}": f"man/{page.name}" for page in (ROOT / "man").iterdir()},
}


@fixture(scope="module")
def wheel(tmp_path_factory: TempPathFactory) -> Path:
    """The wheel of a copy of the tree in which other files lie, too."""
    importorskip("setuptools", "77")
    tree = tmp_path_factory.mktemp("tree")
    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tree)
    for name in ("tfrtool", "man", "completions"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in STRAY:
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).touch()
    build = "from setuptools import build_meta; print(build_meta.build_wheel('.'))"
    made = subprocess.run([sys.executable, "-I", "-c", build], cwd=tree, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return tree / made.stdout.splitlines()[-1]


def contents(wheel: Path) -> dict[str, bytes]:
    with ZipFile(wheel) as file:
        return {info.filename: file.read(info) for info in file.infolist() if not info.is_dir()}


def metadata(wheel: Path, name: str) -> bytes:
    return contents(wheel)[f"tfrtool-{tfrtool.__version__}.dist-info/{name}"]


def test_it_holds_every_module_and_no_other_file(wheel: Path) -> None:
    package = {str(path.relative_to(ROOT)) for path in (ROOT / "tfrtool").rglob("*.py")} | {"tfrtool/py.typed"}
    start = f"tfrtool-{tfrtool.__version__}"
    data = {f"{start}.data/data/{name}" for name in DATA_FILES}
    about = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt", "licenses/LICENSE"}
    assert contents(wheel).keys() == package | data | {f"{start}.dist-info/{name}" for name in about}


def test_manual_pages_and_completions_lie_where_man_and_the_shells_look(wheel: Path) -> None:
    inside = contents(wheel)
    for installed, source in DATA_FILES.items():
        assert inside[f"tfrtool-{tfrtool.__version__}.data/data/{installed}"] == (ROOT / source).read_bytes()


def test_it_fits_every_machine_and_installs_the_command(wheel: Path) -> None:
    assert wheel.name == f"tfrtool-{tfrtool.__version__}-py3-none-any.whl"
    assert metadata(wheel, "entry_points.txt") == b"[console_scripts]\ntfrtool = tfrtool.cli.main:main\n"


def test_it_says_what_it_is(wheel: Path) -> None:
    text = metadata(wheel, "METADATA")
    about = message_from_bytes(text)
    assert (about["Version"], about["License-Expression"]) == (tfrtool.__version__, "Apache-2.0")
    assert text.endswith(b"\n\n" + (ROOT / "README.md").read_bytes())
    needed = [need for need in about.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert [need.split(">")[0].split("!")[0] for need in needed] == ["click", "crc32c", "protobuf", "rich", "tqdm"]


def test_it_runs_from_the_archive_as_from_the_tree(wheel: Path) -> None:
    for line in (["verify", DATA / "flowers-damaged.tfrecord"], ["schema", "--help"], ["--version"]):
        ran = subprocess.run(
            [sys.executable, "-m", "tfrtool", *line],
            env=environment(PYTHONPATH=str(wheel), PYTHONOPTIMIZE="2"),
            capture_output=True,
            text=True,
        )
        assert (ran.returncode, ran.stdout) == (run(*line).returncode, run(*line).stdout), ran.stderr
