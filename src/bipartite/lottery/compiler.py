"""The compiler (numba) of kernels: importing this fails where it is missing or switched off."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from numba import config, njit, types

if config.DISABLE_JIT:
    msg = "numba's compiler is switched off"
    raise ImportError(msg)

# Arrays that are only read: those that may not be written (memory maps, Arrow) serve as they are.
WHOLE: Final = types.Array(types.int64, 1, "C", readonly=True)
WORDS: Final = types.Array(types.uint64, 1, "C", readonly=True)
FLOATS: Final = types.Array(types.float64, 1, "C", readonly=True)
VECTORS: Final = types.Array(types.int64, 2, "C", readonly=True)
RANKS: Final = types.Array(types.int32, 2, "C", readonly=True)

# Compiled once for one signature and kept on disk; other threads go on meanwhile.
kernel: Final[Any] = partial(njit, cache=True, nogil=True, boundscheck=False, error_model="numpy")
