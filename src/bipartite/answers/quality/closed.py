"""What every closed form of the worth of a report offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fractions import Fraction


class ClosedForm(ABC):
    """The worth of a mechanism, for the distance as loss and the uniform prior, in O(1) or nearly."""

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
        """The chance that a report lies within this many steps of a value chosen uniformly."""

    def share_within(self, distance: float) -> float:
        """The chance that a report lies within ``distance`` of a value chosen uniformly."""
        # A rounding error must not lose the last step.
        return float(self.share_within_steps(int(min(distance / self.step * (1 + 1e-12), float(self.farthest)))))

    def loss_quantile(self, wanted: float) -> float:
        """The least distance within which a report lies with this chance; in O(log N)."""
        low, high = 0, self.farthest
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.share_within_steps(middle) >= wanted else (middle + 1, high)
        return low * self.step
