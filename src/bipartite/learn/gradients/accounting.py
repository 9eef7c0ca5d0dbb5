"""Noise for a promise, and the promise of a noise.

Gaussian noise with Poisson sampling is accounted by Google's ``dp_accounting`` with privacy loss distributions, whose
rounding is upward.
"""

from __future__ import annotations

import functools
import importlib
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from bipartite.errors import InputError, missing_library

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

Neighbours = Literal["add_remove", "replace"]

LEAST_NOISE: Final = 2.0**-10
MOST_NOISE: Final = 2.0**14
# Noise within one percent of the least that suffices, and never below it.
_TOLERANCE: Final = 0.01
# Rényi accounting asks for at most this much more noise, as far as a search for less is worth its time.
_RDP_EXCESS: Final = 0.6
_GRID: Final = 1e-4
_ORDERS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512)


@dataclass(frozen=True)
class Steps:
    """``count`` steps, each on a Poisson sample of this rate."""

    count: int
    rate: float


@functools.cache
def gaussian_epsilon(multiplier: float, steps: Steps, delta: float, neighbours: Neighbours = "add_remove") -> float:
    """ε of Gaussian noise of ``multiplier`` clipping norms, at δ."""
    accounting = _library()
    relation = {
        "add_remove": accounting.NeighboringRelation.ADD_OR_REMOVE_ONE,
        "replace": accounting.NeighboringRelation.REPLACE_ONE,
    }[neighbours]
    # Losses are rounded up to a grid, finer than what is told apart here and coarser for a larger ε, or it takes long.
    rough = _rdp_epsilon(multiplier, steps, delta)
    grid = min(max(_GRID, rough * _GRID), 0.05)
    accountant = _library("dp_accounting.pld").PLDAccountant(relation, value_discretization_interval=grid)
    accountant.compose(_event(multiplier, steps))
    return float(accountant.get_epsilon(delta))


@functools.cache
def gaussian_multiplier(epsilon: float, delta: float, steps: Steps) -> float:
    """About the least noise, in clipping norms, that keeps (ε, δ) when a record is added or removed."""
    low = high = LEAST_NOISE
    while _rdp_epsilon(high, steps, delta) > epsilon:
        low, high = high, high * 2
        if high > MOST_NOISE:
            raise InputError(
                f"No noise up to {MOST_NOISE:g} clipping norms keeps ε={epsilon:g}; use fewer steps or a larger ε."
            )
    # Rényi accounting is quick and never below the truth: its answer begins the search with the tighter one.
    high = _least(low, high, lambda noise: _rdp_epsilon(noise, steps, delta) <= epsilon)
    return _least(high * _RDP_EXCESS, high, lambda noise: gaussian_epsilon(noise, steps, delta) <= epsilon)


def _least(low: float, high: float, enough: Callable[[float], bool]) -> float:
    """The least noise that is enough, to within the tolerance and from above; ``high`` is enough."""
    while high / low > 1 + _TOLERANCE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _library(name: str = "dp_accounting") -> ModuleType:
    """Google's accounting, or a part of it: an extra that has no types."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise missing_library(
            what="Accounting for Gaussian noise needs", library="dp-accounting", extra="learn"
        ) from None


def _event(multiplier: float, steps: Steps) -> object:
    accounting = _library()
    noise = accounting.GaussianDpEvent(multiplier)
    sampled = noise if steps.rate >= 1 else accounting.PoissonSampledDpEvent(steps.rate, noise)
    return accounting.SelfComposedDpEvent(sampled, steps.count)


def _rdp_epsilon(multiplier: float, steps: Steps, delta: float) -> float:
    accountant = _library("dp_accounting.rdp").RdpAccountant(_ORDERS)
    accountant.compose(_event(multiplier, steps))
    return float(accountant.get_epsilon(delta))
