"""Whether numba can cache. If not, kernels that NumPy can replace are not compiled; others are, in every process."""

from __future__ import annotations

from numba import njit


def can_cache() -> bool:
    """Whether numba finds a folder that it can write its cache to; without one, ``cache=True`` raises."""
    try:
        njit(cache=True)(can_cache)  # compiles nothing
    except RuntimeError:
        return False
    return True
