"""When compiled kernels are loaded: loading takes time, so only where enough reports are requested or announced."""

from __future__ import annotations

import functools
import importlib
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from bipartite.lottery.points import Nearest

# Loading numba takes as long as it saves on about this many reports (0.6 s, measured), so it is loaded once that many
# have been requested or announced, in one call or several; once loaded, it pays off for far smaller calls.
LOAD_COMPILER_FROM: Final = 2**25
USE_COMPILED_FROM: Final = 2**11
# Without the compiler a report takes 1.2 µs on 100 points and 10 µs on 3,000. Loading these kernels takes 0.4 s once
# they are compiled, and 7.5 to 8 s the first time on a machine (all measured): load them once 2 s of work were
# requested.
_COMPILE_POINTS_FROM: Final = 2.0
# Where few people share a place, finding its m nearest neighbours dominates: 0.1 ms per place on 3,000 places without
# the compiler. Once the kernels are loaded they pay off from a handful of values.
_USE_COMPILED_POINTS_FROM: Final = 16
_SECONDS_A_REPORT: Final = 1e-6
_SECONDS_A_POINT: Final = 3e-9
# From this many points on, finding all m-th neighbours takes a noticeable fraction of a second: done at design time.
PREPARE_FROM: Final = 2**14
# Modules of compiled kernels.
LINE: Final = "bipartite.lottery.compiled"
POINTS: Final = "bipartite.lottery.compiled_points"


@functools.cache
def compiled(module: str) -> ModuleType | None:
    """Load compiled kernels; None where numba is missing, disabled, or cannot cache (no folder, full disk)."""
    try:
        return importlib.import_module(module)
    except Exception:  # noqa: BLE001 (whatever fails in the compiler, NumPy gives the same reports)
        return None


class _Demand:
    """Work requested so far: the number of reports on lines, and for points the seconds NumPy would take."""

    reports = 0
    point_seconds = 0.0


def announce(reports: int) -> None:
    """Announce how many reports will be requested, so that the compiler is loaded at once if it pays off."""
    _Demand.reports += reports


def line_kernels(values: int) -> ModuleType | None:
    """The compiled kernel of windows, if it pays off for a call of ``values`` values."""
    _Demand.reports += values
    asked = values >= USE_COMPILED_FROM and (LINE in sys.modules or _Demand.reports >= LOAD_COMPILER_FROM)
    return compiled(LINE) if asked else None


def point_kernels(values: int, points: int, *, prepared: bool) -> ModuleType | None:
    """The compiled kernels of points, if they pay off; ``prepared``: the m-th neighbours are known already."""
    _Demand.point_seconds += values * (_SECONDS_A_REPORT + _SECONDS_A_POINT * points)
    loaded = POINTS in sys.modules
    asked = values >= USE_COMPILED_FROM and (loaded or _Demand.point_seconds >= _COMPILE_POINTS_FROM)
    few = values >= _USE_COMPILED_POINTS_FROM and points < PREPARE_FROM
    return compiled(POINTS) if asked or (loaded and (few or prepared)) else None


def prepare(points: Nearest, progress: Callable[[int], None] | None = None) -> None:
    """Precompute the neighbours that the first large call needs, where that is slow and the compiler is available."""
    if points.inputs >= PREPARE_FROM and compiled(POINTS) is not None:
        points.neighbours(progress)
