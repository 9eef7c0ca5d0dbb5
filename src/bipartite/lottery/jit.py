"""Compiler options and array types that the numba kernels share.

Importing this module fails where numba is missing or disabled; callers then fall back on NumPy.
"""

from __future__ import annotations

from typing import Any, Final

from numba import config, types

if config.DISABLE_JIT:
    msg = "numba's compiler is disabled"
    raise ImportError(msg)

OPTIONS: Final[dict[str, Any]] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}


def read_only(kind: object, dimensions: int = 1, layout: str = "C") -> types.Array:
    """The type of an array that is only read, so that read-only ones (memory maps, Arrow) need no copy."""
    return types.Array(kind, dimensions, layout, readonly=True)
