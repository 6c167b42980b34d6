"""The order of the rooms: each imports only those below it, and the door opens without waking the house."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from kit.program import environment
from pytest import mark

import tfrtool
from tfrtool.framing.encode import frame

PACKAGE = Path(tfrtool.__file__).parent
ORDER = ["framing", "sources", "payload", "run", "verbs", "cli"]
FOR_ALL = {"errors", "report", "suggestion", "types"}
LATE = {"click", "crc32c", "fsspec", "google", "json", "pyarrow", "rich", "tqdm"}
"""What a module imports inside the function that needs it, since many runs do not."""


MODULES = sorted(PACKAGE.rglob("*.py"))


def imports(tree: ast.AST) -> Iterator[tuple[str, ast.stmt]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            yield node.module or "", node
            if node.module == "tfrtool":
                yield from ((f"tfrtool.{alias.name}", node) for alias in node.names)


def room(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "tfrtool" and len(parts) > 1 else None


@mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_imports_only_itself_and_those_below(path: Path) -> None:
    here = path.relative_to(PACKAGE).parts[0]
    if here.endswith(".py"):
        assert here.removesuffix(".py") in FOR_ALL | {"__init__", "__main__"}
        return
    allowed = set(ORDER[: ORDER.index(here) + 1])
    if here != "framing":
        allowed |= FOR_ALL
    if here == "cli":
        allowed |= {"__version__"}
    used = {room(name) for name, _ in imports(ast.parse(path.read_bytes()))} - {None}
    assert used <= allowed


@mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_command_line_knows_click_rich_and_tqdm(path: Path) -> None:
    if path.relative_to(PACKAGE).parts[0] != "cli":
        used = {name.partition(".")[0] for name, _ in imports(ast.parse(path.read_bytes()))}
        assert not used & {"click", "rich", "tqdm"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(("tfrtool", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def imported_modules(tree: ast.AST, known: set[str]) -> set[str]:
    """What of the `known` modules a module imports anywhere: in functions and for type checkers too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in known else str(node.module) for name in inner}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found & known


def test_no_module_needs_one_that_imports_it() -> None:
    trees = {module_name(path): ast.parse(path.read_bytes()) for path in MODULES}
    graph = {name: trees.keys() & imported_modules(tree, set(trees)) - {name} for name, tree in trees.items()}
    assert "tfrtool.framing.walk" in graph["tfrtool.verbs.reading.file_reader"]
    assert list(TopologicalSorter(graph).static_order())  # a cycle is an error that names it


@mark.parametrize("path", sorted(PACKAGE.rglob("*/__init__.py")), ids=lambda path: path.parent.name)
def test_a_package_says_what_is_in_it_and_holds_nothing_itself(path: Path) -> None:
    tree = ast.parse(path.read_bytes())
    assert ast.get_docstring(tree) and len(tree.body) == 1


def test_what_all_may_import_imports_framing_at_most() -> None:
    for name in FOR_ALL:
        used = {room(module) for module, _ in imports(ast.parse((PACKAGE / f"{name}.py").read_bytes()))} - {None}
        assert used <= FOR_ALL | {"framing"}


def at_the_top(path: Path) -> set[str]:
    """The packages that a module imports when it is imported itself."""

    def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
        for statement in body:
            if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
                continue
            yield statement
            if isinstance(statement, ast.If | ast.Try | ast.With):
                yield from statements(statement.body)

    tree = ast.parse(path.read_bytes())
    tree.body = [node for node in statements(tree.body) if isinstance(node, ast.Import | ast.ImportFrom)]
    return {name.split(".")[0] for name, _ in imports(tree)}


@mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_costs_time_to_import_is_imported_late(path: Path) -> None:
    name = path.relative_to(PACKAGE).as_posix()
    allowed = {"click"} if name.startswith("cli/") else set()
    if name.startswith("cli/printers/"):
        allowed.add("json")
    assert at_the_top(path) & LATE <= allowed


def loaded(*args: str) -> set[str]:
    """The modules that the program has imported when it ends."""
    script = (
        "import sys; sys.argv[1:] = sys.argv[1:]\n"
        "from tfrtool.cli.main import main\n"
        "main()\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    result = subprocess.run(
        [sys.executable, "-c", script, *args], env=environment(), capture_output=True, text=True, check=True
    )
    return set(result.stderr.splitlines())


@mark.parametrize("args", [["--help"], ["--version"], ["verify", "--help"]], ids=" ".join)
def test_help_imports_click_and_little_else(args: list[str]) -> None:
    names = loaded(*args)
    assert "click" in names
    slow = {"crc32c", "fsspec", "google.protobuf", "importlib.metadata", "json", "rich", "tqdm"}
    assert names & slow == set()
    assert {name for name in names if name.startswith(("tfrtool.verbs", "tfrtool.payload", "tfrtool.sources"))} == set()


@mark.parametrize("command", ["count", "stat", "verify"])
def test_reading_a_file_imports_no_terminal_and_no_protobuf(command: str, tmp_path: Path) -> None:
    (tmp_path / "empty.tfrecord").write_bytes(b"")
    names = loaded(command, str(tmp_path / "empty.tfrecord"))
    slow = {"asyncio", "fsspec", "google.protobuf", "importlib.metadata", "rich", "tqdm"}
    assert names & slow == set()


SOUND = frame(bytes(100)) * 3
DAMAGED = SOUND[:50] + b"x" + SOUND[51:]


def rooms_entered(tmp_path: Path, data: bytes, *args: str) -> dict[str, set[str]]:
    """Which modules of which rooms a command imports to read a file."""
    path = tmp_path / "a.tfrecord"
    path.write_bytes(data)
    names = loaded(*args, str(path))
    parts = [name.split(".") for name in names if name.startswith("tfrtool.")]
    return {here: {p[2] for p in parts if p[1] == here and len(p) > 2} for here in ORDER} | {"": names}


def test_counting_a_sound_file_imports_what_that_takes_and_no_more(tmp_path: Path) -> None:
    rooms = rooms_entered(tmp_path, SOUND, "count")
    assert rooms["framing"] == {"crc", "kernel", "layout", "stream", "walk"}
    assert rooms["sources"] == {"inputs", "local", "os_text", "remote", "source"}
    assert rooms["payload"] == set()
    assert rooms["verbs"] == {"count", "options", "reading"}


def test_what_explains_damage_is_imported_with_the_first(tmp_path: Path) -> None:
    explains = {"damage", "messages", "recovery"}
    assert not explains & rooms_entered(tmp_path, SOUND, "verify")["framing"]
    assert explains <= rooms_entered(tmp_path, DAMAGED, "verify")["framing"]


@mark.parametrize("command", ["verify", "head", "stat"])
def test_showing_intact_records_in_a_pipe_imports_no_search(command: str, tmp_path: Path) -> None:
    rooms = rooms_entered(tmp_path, SOUND, command)
    assert "html" not in rooms["cli"]
    assert rooms["framing"] == {"crc", "kernel", "layout", "stream", "walk"}
