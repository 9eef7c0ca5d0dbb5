"""Anchors, or a lottery over sets of anchors, with their loss and a lower bound for every ε-LDP release."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

_BETWEEN: Final = 0.1  # seconds


class EnoughError(Exception):
    """Raised by a progress callback to end a search early: the best result so far is used."""


class Watch:
    """Receives the progress of a search, and keeps its best result in case it is stopped."""

    def __init__(self, progress: Callable[[float], None] | None = None) -> None:
        self._progress = progress
        self._part = 0.0
        self._next = 0.0
        self._rank = math.inf
        self.anchors: list[int] = []
        """The best anchors so far."""

    def report(self, part: float) -> None:
        """Report the share that is done, from 0 to 1; it never goes back, even if a search is repeated."""
        self._part = max(self._part, part)
        if self._progress is not None:
            self._progress(self._part)

    def pause(self) -> None:
        """Let the caller stop the search with EnoughError, a few times a second."""
        if self._progress is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN
            self._progress(self._part)

    def note(self, rank: float, anchors: list[int]) -> None:
        """Remember anchors if they are the best so far."""
        if rank < self._rank:
            self._rank, self.anchors = rank, anchors


@dataclass(frozen=True, eq=False)
class AnchorChoice:
    """Anchors and their certificate: no ε-LDP release that reports values of the domain has a loss below ``lower``.

    Parameters
    ----------
    anchors : NDArray[np.int64]
        The indices of the anchors in increasing order: an input is sent to its nearest anchor, then GRR runs on them.
    loss : float
        The expected loss of this release under the prior.
    lower : float
        A proved lower bound on that loss over all ε-LDP releases with reports in the domain, up to rounding of floats.
    """

    anchors: NDArray[np.int64]
    loss: float
    lower: float

    def __repr__(self) -> str:
        return f"<AnchorChoice: {len(self.anchors)} anchors, loss {self.loss:.6g}, lower bound {self.lower:.6g}>"


@dataclass(frozen=True, eq=False)
class LotteryChoice:
    """A lottery over sets of anchors and its certificate: no ε-LDP release has a worst-case loss below ``lower``.

    Parameters
    ----------
    sets : tuple of NDArray[np.int64]
        The indices of the anchors of each set, in increasing order.
    weights : NDArray[np.float64]
        The probability of each set, all positive, with sum 1.
    loss : float
        The largest expected loss of any input.
    lower : float
        A proved lower bound on it over all ε-LDP releases with reports in the domain, up to rounding of floats.
    """

    sets: tuple[NDArray[np.int64], ...]
    weights: NDArray[np.float64]
    loss: float
    lower: float

    def __repr__(self) -> str:
        return f"<LotteryChoice: {len(self.sets)} sets of anchors, loss {self.loss:.6g}, lower bound {self.lower:.6g}>"
