"""The libraries of the extra ``tables``, loaded on first use, or an error that says how to install them."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

from bipartite.errors import NOT_INSTALLED, missing_library
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    from types import ModuleType

    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

__all__ = ["duckdb", "need", "pa", "pa_csv", "pc", "pd", "pl", "pq", "spare_pandas"]


def need(module: str) -> ModuleType:
    """Import a library that tables need."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ImportError as error:
        there = not (isinstance(error, ModuleNotFoundError) and error.name == package)
        problem = f"is installed but cannot be loaded ({error})" if there else NOT_INSTALLED
    extra = "tables" if package == "pyarrow" else None
    raise missing_library(what="Tables need", library=package, extra=extra, problem=problem)


if not TYPE_CHECKING:
    duckdb, pa, pa_csv, pc, pd, pl, pq = (
        LazyModule(each, need)
        for each in ("duckdb", "pyarrow", "pyarrow.csv", "pyarrow.compute", "pandas", "polars", "pyarrow.parquet")
    )


class _WithoutPandas:
    """An import finder, consulted first, that hides pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:  # noqa: ARG004 (Python's protocol)
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


def spare_pandas() -> None:
    """Keep Arrow from loading pandas, in a process that belongs to this package.

    Arrow loads pandas with its first value, to recognise pandas objects, and never tries again. That takes 0.3 s, as
    long as everything else that a small release loads.
    """
    sys.meta_path.insert(0, _WithoutPandas)
    try:
        pa.scalar(0)
    finally:
        sys.meta_path.remove(_WithoutPandas)
