"""The libraries of the extra ``tables``, loaded on first use, and what we say of their errors."""

from __future__ import annotations

import errno
import functools
import importlib
import os
import sys
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeVar

from bipartite.errors import NOT_INSTALLED, DataFileError, missing_library
from bipartite.lazily import LazyModule

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    import duckdb
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

__all__ = ["culprits", "duckdb", "need", "pa", "pa_csv", "pc", "pd", "pl", "pq", "spare_pandas"]


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


# --- Errors about a file that cannot be read or written: what happened and where, never the contents.
#
# The errors of Arrow show a line of the input. None of that may be part of our errors: not in the message, and
# not as ``__cause__`` or ``__context__``, which a logged traceback would include.


Given = ParamSpec("Given")
Result = TypeVar("Result")

_SYSTEM: Final = {
    errno.ENOSPC: "no space is left on the disk; free some, or write to another",
    errno.EDQUOT: "no space is left in this user's share of the disk; free some, or write to another",
    errno.ENAMETOOLONG: "a file name would be too long; shorten it",
    errno.EMFILE: "too many files are open; allow more with ulimit -n, or release fewer at a time",
}


def without_lines(act: Callable[Given, Result]) -> Callable[Given, Result]:
    """Wrap a function so that its errors carry no other errors, which might show a line of a private table."""

    @functools.wraps(act)
    def acting(*given: Given.args, **named: Given.kwargs) -> Result:
        try:
            return act(*given, **named)
        except BaseException as error:
            error.__cause__ = error.__context__ = None
            raise

    return acting


def unreadable(
    error: BaseException,
    what: str = "the input",
    verb: str = "read",
    hint: str = "repair it, or name its format with input_format=.",
) -> BaseException:
    """Translate an error of a reader or writer, without what it shows, and add what to do."""
    if isinstance(error, OSError):
        said = str(error)
        for code, told in _SYSTEM.items():
            if error.errno == code or os.strerror(code) in said:
                return OSError(code, told)
        if error.errno is not None:
            return OSError(error.errno, os.strerror(error.errno))
    return DataFileError(f"{what} cannot be {verb} ({type(error).__name__}); {hint}")


def culprits(read: Callable[[int, int], object], size: int, errors: Any) -> list[int]:  # noqa: ANN401 (as in except)
    """The places that ``read(first, last)`` refuses, found by halving; usually none."""
    waiting, found = [(0, size)], []
    while waiting:
        first, last = waiting.pop()
        try:
            read(first, last)
        except errors:
            middle = (first + last) // 2
            if middle == first:
                found.append(first)
            else:
                waiting += [(middle, last), (first, middle)]
    return found
