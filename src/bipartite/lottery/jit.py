"""How kernels are compiled (numba): the options and the types of arrays that they share.

Importing this module fails where numba is missing or switched off; who calls a kernel then does without.
"""

from __future__ import annotations

from typing import Any, Final

from numba import config, types

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

OPTIONS: Final[dict[str, Any]] = {"nogil": True, "cache": True, "boundscheck": False, "error_model": "numpy"}


def read_only(kind: object, dimensions: int = 1, layout: str = "C") -> types.Array:
    """An array that is only read: one that may not be written (a memory map, Arrow) serves as it is."""
    return types.Array(kind, dimensions, layout, readonly=True)
