"""Make the published schemas of ``--json`` from the types of what each command prints.

    python tools/schemas.py

A type is a ``TypedDict`` or a dataclass at the top of the command's module; its docstrings become descriptions.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import itertools
import json
import textwrap
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).parents[1] / "src" / "bipartite" / "cli" / "schemas"
PRINTED = {
    "audit": "bipartite.cli.audit:PrintedAudit",
    "collect-across": "bipartite.collect.views:View",
    "collect-check": "bipartite.cli.collect_output:PrintedCheck",
    "collect-show": "bipartite.cli.collect_output:PrintedStudy",
    "design": "bipartite.cli.design:PrintedDesign",
    "design-compare": "bipartite.cli.design:PrintedComparison",
    "design-people": "bipartite.cli.design:PrintedPeople",
    "error": "bipartite.cli.output:PrintedError",
    "estimate": "bipartite.cli.estimate_json:PrintedEstimate",
    "explain": "bipartite.cli.explain:PrintedExplain",
    "ledger-check": "bipartite.cli.ledger:PrintedCheck",
    "ledger-export": "bipartite.ledger:Debit",
    "ledger-show": "bipartite.cli.ledger:PrintedLedger",
    "plan": "bipartite.cli.plan:PrintedPlan",
    "privatize": "bipartite.cli.privatize:PrintedRelease",
    "release": "bipartite.tables.metadata:WrittenRelease",
    "verify": "bipartite.cli.verify:PrintedVerify",
}
"""The type of each schema."""


def schema_of(where: str) -> str:
    """The schema of a type, as it is published: one line, keys sorted."""
    module, name = where.split(":")
    home = importlib.import_module(module)
    found = msgspec.json.schema(getattr(home, name))
    described: dict[str, dict[str, str]] = {}
    for kind in _types_in(home, found.get("$defs", {})):
        described[kind.__name__] = _descriptions(kind)
    for title, each in found.get("$defs", {}).items():
        for key, text in described.get(title, {}).items():
            if key in each.get("properties", {}):
                each["properties"][key].setdefault("description", text)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"} | _closed(found)
    return json.dumps(schema, ensure_ascii=False, sort_keys=True, separators=(",", ":")) + "\n"


def _types_in(home: Any, names: dict[str, Any]) -> list[type]:  # noqa: ANN401 (a module)
    return [getattr(home, name) for name in names if hasattr(home, name)]


def _descriptions(kind: type) -> dict[str, str]:
    """The docstring below each field of a class; none for a type that is not written as a class."""
    try:
        (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    except (OSError, TypeError):
        return {}
    fields: list[Any] = getattr(body, "body", [])
    return {
        each.target.id: " ".join(below.value.value.split())
        for each, below in itertools.pairwise(fields)
        if isinstance(each, ast.AnnAssign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
    }


def _closed(value: Any) -> Any:  # noqa: ANN401 (JSON)
    """The same schema, in which objects have no other keys than it names, and decimals no exponent."""
    if isinstance(value, list):
        return [_closed(each) for each in value]
    if not isinstance(value, dict):
        return value
    more: dict[str, Any] = {}
    if value.get("type") == "object" and "properties" in value:
        more = {"additionalProperties": False}
    if value.get("format") == "decimal":
        more = {"pattern": "^[0-9]+(\\.[0-9]+)?$"}
    return {key: _closed(each) for key, each in value.items()} | more


if __name__ == "__main__":
    for title, where in PRINTED.items():
        (FOLDER / f"{title}.json").write_text(schema_of(where), encoding="utf-8")
