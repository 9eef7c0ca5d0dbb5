"""The libraries of the extra ``tables``, or an error that says how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from bipartite.errors import MissingExtraError


def need(module: str) -> Any:  # noqa: ANN401 (a module)
    """A library that tables need."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        msg = f"Tables need {package}, which is not installed; run: pip install 'bipartite[tables]'."
        raise MissingExtraError(msg) from None
