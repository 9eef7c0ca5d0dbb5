"""A name for the code that a measured number depends on, so that what was measured by other code is measured again.

What counts: every module of the package below the experiments (pictures, tables and the command line do not change a
number), what ``measure`` uses of the experiment's own module, the modules of this folder that it imports, and the
versions of Python and of the libraries that compute. What does not: how rows are drawn, and which cells a run has (a
cell is kept with its settings); comments, docstrings and layout, because the name is made from the parsed code.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import sys
from pathlib import Path
from typing import Final

import bipartite

_ROOT: Final = Path(bipartite.__file__).parent
_HERE: Final = "reproduction.experiments"
_NO_NUMBER: Final = frozenset({"cli", "experiments", "plots", "tables", "ledger", "explain.py", "service"})
_LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "torch", "numba", "dp-accounting")


def code_version(name: str) -> str:
    """The name of the code behind one experiment: 16 hexadecimal digits."""
    digest = hashlib.sha256(_below().encode())
    for module in sorted(_with_imports(name)):
        digest.update(f"{module}:{_digest(_measuring(_parsed(module)))}".encode())
    for library, version in versions().items():
        digest.update(f"{library}={version}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def versions() -> dict[str, str]:
    """Python and the libraries that compute, those that are installed."""
    found = {"python": ".".join(map(str, sys.version_info[:2]))}
    for library in _LIBRARIES:
        try:
            found[library] = importlib.metadata.version(library)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


@functools.cache
def _below() -> str:
    """The package below the experiments."""
    digest = hashlib.sha256()
    for path in sorted(_ROOT.rglob("*.py")):
        inside = path.relative_to(_ROOT)
        if inside.parts[0] not in _NO_NUMBER:
            digest.update(f"{inside.as_posix()}:{_digest(ast.parse(_text(path)))}".encode())
    return digest.hexdigest()


def _with_imports(name: str, known: frozenset[str] = frozenset()) -> frozenset[str]:
    """A module of this folder and those of this folder that it imports, and so on."""
    known |= {name}
    for node in ast.walk(_measuring(_parsed(name))):
        for imported in _imported(node):
            if imported not in known and (_ROOT / "experiments" / f"{imported}.py").is_file():
                known |= _with_imports(imported, known)
    return known


def _imported(node: ast.AST) -> list[str]:
    """The modules of this folder that a statement imports."""
    if isinstance(node, ast.ImportFrom) and node.module is not None:
        if node.module == _HERE:
            return [each.name for each in node.names]
        if node.module.startswith(f"{_HERE}."):
            return [node.module.split(".")[2]]
    if isinstance(node, ast.Import):
        return [each.name.split(".")[2] for each in node.names if each.name.startswith(f"{_HERE}.")]
    return []


def _measuring(module: ast.Module) -> ast.Module:
    """What ``measure`` needs of a module, by the names that it mentions and those that these mention; else all of it.

    Statements that bind no name, such as a call or a condition, always count, and what they mention.
    """
    binding = [(statement, _bound(statement)) for statement in module.body]
    if not any("measure" in names for _, names in binding):
        return module
    kept = [not names for _, names in binding]
    wanted = {"measure"}
    while True:
        for at, (statement, names) in enumerate(binding):
            if kept[at] or names & wanted:
                kept[at] = True
                wanted |= {each.id for each in ast.walk(statement) if isinstance(each, ast.Name)}
        if all(keeps or not names & wanted for keeps, (_, names) in zip(kept, binding, strict=True)):
            body = [statement for keeps, (statement, _) in zip(kept, binding, strict=True) if keeps]
            return ast.Module(body, module.type_ignores)


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement of a module binds."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(each.asname or each.name).split(".")[0] for each in statement.names}
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}
    return set()


def _digest(tree: ast.Module) -> str:
    """A digest of what code does: without docstrings."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                del body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest()


def _parsed(module: str) -> ast.Module:
    """A module of this folder."""
    return ast.parse(_text(_ROOT / "experiments" / f"{module}.py"))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
