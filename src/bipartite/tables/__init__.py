"""Columns of files and frames: a plan says what each column may become, and a release happens once.

Names are loaded at first use, because most need the extra ``tables`` (DuckDB and Arrow).
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bipartite.tables.columns import Column as Column
    from bipartite.tables.drawing import Release as Release
    from bipartite.tables.plan import Plan as Plan

# Each public name and the module that holds it.
_HOME: dict[str, str] = {
    "Column": "bipartite.tables.columns",
    "Plan": "bipartite.tables.plan",
    "Release": "bipartite.tables.drawing",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in _HOME:
        msg = f"module 'bipartite.tables' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
