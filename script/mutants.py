"""Mutation trial: small changes to the package, and which of them no test notices.

A path is a module or a folder under src/dsteval, such as ``readers`` or ``stats/paired.py``; without any, all are
meant. First the suite runs once, which tells what each test calls. Then every mutant is tried on the tests that
call the function it lies in, or anything in its module if it lies in none: the fastest first, until one fails or
``--limit`` seconds of tests have passed. All happens in copies. The exit code is 1 where a mutant survives.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-p", "no:cacheprovider"]
RECORD = "DSTEVAL_MUTANTS_RECORD"

PAIRS = "Lt LtE, Gt GtE, Eq NotEq, In NotIn, Is IsNot, And Or, Add Sub, Mult Div"
SWAPS: dict[type[ast.AST], type[ast.AST]] = {}
for one, other in (pair.split() for pair in PAIRS.split(", ")):
    SWAPS |= {getattr(ast, one): getattr(ast, other), getattr(ast, other): getattr(ast, one)}
DROPPED = (ast.AugAssign, ast.Raise, ast.Continue, ast.Break, ast.Delete)


class Mutant(NamedTuple):
    """A module with one change: where it is, the line at which its function begins (0: in none), what it is."""

    path: str
    line: int
    function: int
    change: str
    text: bytes


# A test, how many seconds it took, and the functions that it called, each a file and the line where it begins.
Recorded: TypeAlias = tuple[str, float, list[list[Any]]]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Any:
    """Write down, as a plugin in a copy, what a test calls in its own process; a shared fixture is the first's."""
    root, called, began, failed = f"{ROOT}/", set(), time.perf_counter(), item.session.testsfailed

    def trace(frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if code.co_filename.startswith(f"{root}src/"):
            called.add((code.co_filename[len(root) :], code.co_firstlineno))

    sys.settrace(trace)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        if item.session.testsfailed == failed:
            with Path(os.environ[RECORD], str(os.getpid())).open("a", encoding="utf-8") as file:
                print(json.dumps([item.nodeid, time.perf_counter() - began, sorted(called)]), file=file)


def replaced(node: Any, **new: Any) -> str:
    """The text of a node with other parts, in parentheses."""
    return f"({ast.unparse(type(node)(**{name: getattr(node, name) for name in node._fields} | new))})"


def changes(node: Any) -> Iterator[tuple[Any, str]]:
    """The small changes at a node: what is changed, itself or a part, and what stands there then."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        yield node, replaced(node, ops=[SWAPS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp | ast.BinOp) and type(node.op) in SWAPS:
        yield node, replaced(node, op=SWAPS[type(node.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        yield node, repr(not node.value if isinstance(node.value, bool) else node.value + 1)
    elif isinstance(node, ast.Tuple | ast.List | ast.Set) and len(node.elts) > 1:
        if all(isinstance(element, ast.Constant) for element in node.elts):
            yield node, replaced(node, elts=node.elts[:-1])
    elif isinstance(node, DROPPED) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield node, "pass"
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        yield node.test, f"(not ({ast.unparse(node.test)}))"


def walked(node: Any, function: int = 0) -> Iterator[tuple[Any, int]]:
    """The nodes that run, each with the line of its function; nothing in f-strings, where places are not told."""
    names = [ast.unparse(getattr(node, part, None) or ast.Pass()) for part in ("test", "annotation")]
    names += map(ast.unparse, getattr(node, "targets", ()))
    if isinstance(node, ast.JoinedStr) or not {"TYPE_CHECKING", "TypeAlias", "__all__"}.isdisjoint(names):
        return
    if isinstance(node, ast.FunctionDef):
        function = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    yield node, function
    for name, value in ast.iter_fields(node):
        if name not in ("annotation", "returns") and not (isinstance(node, ast.ClassDef) and name != "body"):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from walked(child, function)


def mutants(path: Path) -> Iterator[Mutant]:
    """Every mutant of a module."""
    text = path.read_bytes()
    lines = text.splitlines(keepends=True)
    for place, function in walked(ast.parse(text)):
        for node, new in changes(place):
            begin = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
            end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
            change = f"{' '.join(text[begin:end].decode().split())}  ->  {new}"
            mutated = text[:begin] + new.encode() + text[end:]
            yield Mutant(path.relative_to(ROOT).as_posix(), node.lineno, function, change, mutated)


def run(copy: Path, *arguments: str, timeout: float | None = None) -> str:
    """Test a copy. Nothing is compiled, as a mutant could be taken for a text of the same size and second."""
    paths = {"PYTHONPATH": f"{copy}/src:{copy}/script", RECORD: f"{copy}/record"}
    environment = os.environ | paths | {"PYTHONDONTWRITEBYTECODE": "1"}
    command = [*PYTEST, *arguments]
    with (copy / "output").open("w") as out:
        try:
            code = subprocess.call(command, cwd=copy, env=environment, stdout=out, stderr=out, timeout=timeout)
        except subprocess.TimeoutExpired:
            return "timeout"
    return "killed" if code else "survived"


def recorded(copy: Path) -> list[Recorded]:
    """The tests, the fastest first. Those that fail without any change, be it by the trace, are left out."""
    (copy / "record").mkdir()
    if run(copy, "-n", "auto", "-p", "mutants") == "killed":
        print((copy / "output").read_text("utf-8").splitlines()[-1], flush=True)
    lines = [line for file in (copy / "record").iterdir() for line in file.read_text("utf-8").splitlines()]
    return sorted(map(json.loads, lines), key=lambda test: float(test[1]))


def chosen(mutant: Mutant, tests: list[Recorded], limit: float) -> Iterator[str]:
    """The tests that a mutant is tried on, one at least if any calls it."""
    for name, seconds, called in tests:
        lines = [line for path, line in called if path == mutant.path]
        if limit > 0 and (mutant.function in lines or (lines and not mutant.function)):
            limit -= seconds
            yield name


def tried(mutant: Mutant, copies: SimpleQueue[Path], tests: list[Recorded], limit: float) -> str:
    """What becomes of a mutant: killed, timeout, survived, or uncalled where no test calls it."""
    if not (names := [*chosen(mutant, tests, limit)]):
        return "uncalled"
    copy = copies.get()
    original = (copy / mutant.path).read_bytes()
    try:
        (copy / mutant.path).write_bytes(mutant.text)
        (copy / "chosen").write_text("\n".join(names), encoding="utf-8")
        return run(copy, "-x", "@chosen", timeout=60 + 5 * limit)
    finally:
        (copy / mutant.path).write_bytes(original)
        copies.put(copy)


def main() -> int:
    parser = argparse.ArgumentParser(prog="script/mutants", description="Which small changes does no test notice?")
    parser.add_argument("paths", nargs="*", default=[""], help="modules or folders under src/dsteval")
    parser.add_argument("--number", type=int, default=40, help="how many mutants to try (40)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--limit", type=float, default=30, help="seconds of tests for each (30)")
    asked = parser.parse_args()
    places = [(ROOT / "src/dsteval" / path).resolve(strict=True) for path in asked.paths]
    modules = {path for place in places for path in ([place] if place.suffix else place.rglob("*.py"))}
    every = [mutant for path in sorted(modules) for mutant in mutants(path)]
    trial = random.Random(asked.seed).sample(every, min(asked.number, len(every)))
    survivors, jobs = 0, os.cpu_count() or 1
    unneeded = shutil.ignore_patterns(".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for name in map(str, range(jobs)):
            copies.put(copy := shutil.copytree(ROOT, Path(folder).resolve() / name, ignore=unneeded))
        print(f"{len(trial)} of {len(every)} mutants; first the suite, to see what each test calls", flush=True)
        tests = recorded(copy)
        ends = pool.map(lambda mutant: tried(mutant, copies, tests, asked.limit), trial)
        for mutant, end in zip(trial, ends, strict=True):
            survivors += end in ("survived", "uncalled")
            print(f"{end:<8}  {mutant.path}:{mutant.line}  {mutant.change}", flush=True)
    print(f"{survivors} of {len(trial)} mutants survived {len(tests)} tests")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
