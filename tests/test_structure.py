"""How the package is built: sizes, names, no circles of imports, and what type checkers see of it.

``python tests/test_structure.py`` writes the stub ``src/dsteval/__init__.pyi`` anew.
"""

import ast
import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from mypy import api

import dsteval
from dsteval.metrics import METRICS

PACKAGE = Path(__file__).resolve().parent.parent / "src/dsteval"
STUB = PACKAGE / "__init__.pyi"
MODULES = {
    ".".join(("dsteval", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
TREES = {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imports(node: ast.AST) -> Iterator[str]:
    """The modules of the package that a module imports anywhere but for type checkers only."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    if isinstance(node, ast.Import):
        yield from (name.name for name in node.names if name.name in MODULES)
    elif isinstance(node, ast.ImportFrom) and node.module in MODULES:
        inner = [f"{node.module}.{name.name}" for name in node.names]
        yield from (name for name in inner if name in MODULES)
        if any(name not in MODULES for name in inner):
            yield node.module
    for child in ast.iter_child_nodes(node):
        yield from imports(child)


def test_no_circle_of_imports() -> None:
    graph = {name: {*imports(tree)} - {name} for name, tree in TREES.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(f"imports in a circle: {' <- '.join(circle.args[1])}")


def test_no_module_is_over_350_lines() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in MODULES.items()}
    assert not {name for name, length in lines.items() if length > 350}


def test_at_most_30_modules_and_packages_side_by_side() -> None:
    beside = Counter(name.rpartition(".")[0] for name in MODULES)
    assert {package: size for package, size in beside.items() if size > 30} == {}


def test_class_names_are_unique() -> None:
    classes = Counter(
        node.name for tree in TREES.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)
    )
    assert not {name for name, times in classes.items() if times > 1}


def stub() -> str:
    """The public names as type checkers are to see them, each imported from where it lives."""
    homes = dict.fromkeys(["__version__"], "dsteval._version") | vars(dsteval)["_HOMES"]
    homes |= {name: type(metric).__module__ for name, metric in METRICS.bundled.items()}
    ordered = sorted((home, name) for name, home in homes.items())
    return "".join(f"from {home} import {name} as {name}\n" for home, name in ordered)


def test_the_stub_is_up_to_date() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "python tests/test_structure.py writes it"
    for line in stub().splitlines():
        _, home, _, name, *_ = line.split()
        assert getattr(dsteval, name) is getattr(importlib.import_module(home), name)


def test_importing_the_package_imports_nothing_else() -> None:
    code = "import sys, dsteval; print(*sorted(name for name in sys.modules if name.startswith('dsteval')))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["dsteval", "dsteval._version"]


def test_type_checkers_know_the_public_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKAGE.parent.parent)  # its settings, and the cache of script/test
    file = tmp_path / "use.py"
    file.write_text("import dsteval\nreveal_type(dsteval.FGA)\nreveal_type(dsteval.evaluate)\ndsteval.evalaute\n")
    told, _, status = api.run([str(file)])
    assert 'Revealed type is "dsteval.metrics.fga._FGA"' in told
    assert "-> dsteval.results.result.Result" in told
    assert 'Module has no attribute "evalaute"' in told
    assert status == 1 and "Found 1 error" in told


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
