"""The interface of closed forms of the quality of a report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


class ClosedForm(ABC):
    """The quality of a mechanism, with the distance as loss and a uniform prior, in O(1) or nearly."""

    step: float
    """The distance between neighbours."""

    @abstractmethod
    def expected_loss(self) -> float:
        """Q_g, exactly."""

    @abstractmethod
    def worst_loss(self) -> float:
        """The largest Q^(x), exactly."""

    @property
    @abstractmethod
    def farthest(self) -> int:
        """The largest distance that occurs, in steps."""

    @abstractmethod
    def share_within_steps(self, reach: int) -> Fraction:
        """The probability that a report is within this many steps of a uniformly random value."""

    def share_within(self, distance: float) -> float:
        """The probability that a report is within ``distance`` of a uniformly random value."""
        # Tolerate rounding errors at the limit.
        return float(self.share_within_steps(int(min(distance / self.step * (1 + 1e-12), float(self.farthest)))))

    def loss_quantile(self, wanted: float) -> float:
        """The smallest distance that a report stays within with this probability; in O(log N)."""
        low, high = 0, self.farthest
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.share_within_steps(middle) >= wanted else (middle + 1, high)
        return low * self.step
