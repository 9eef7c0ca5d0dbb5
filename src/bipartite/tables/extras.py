"""The libraries of the extra ``tables``, or an error that says how to get them."""

from __future__ import annotations

import importlib
from typing import Any

from bipartite.errors import MissingExtraError


def need(module: str) -> Any:  # noqa: ANN401 (a module)
    """A library that tables need."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        there = not (isinstance(error, ModuleNotFoundError) and error.name == package)
        problem = f"is installed but cannot be loaded: {error}" if there else "is not installed"
    msg = f"Tables need {package}, which {problem}; run: pip install --upgrade 'bipartite[tables]'."
    raise MissingExtraError(msg)
