"""The common base of mechanisms that add noise from one row of tickets: Laplace and Staircase."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bipartite.domains import Cyclic, Interval
from bipartite.errors import BrokenPromiseError, DesignError, InputError, shown
from bipartite.lottery import Epsilon, Noise
from bipartite.lottery.noise import issue_noise
from bipartite.mechanisms.base import Mechanism, check_domain, not_a_line

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields

MOST_SHIFTS: Final = 2**22
TAIL_BITS: Final = 30
"""At most 2^−30 of the noise lies beyond each end of the outputs, and is added to the last output."""


class AddedNoise(Mechanism):
    """Reports x + Z with Z on the grid of the interval; reports far outside the range are clamped."""

    __slots__ = ()
    fields: ClassVar[frozenset[str]] = frozenset({"padding", "noise"})
    _lottery: Noise

    @property
    def clamped(self) -> bool:
        """Whether reports are clamped to the range."""
        return self._lottery.padding == 0

    def _assemble(self, domain: Domain, budget: Epsilon, lottery: Noise) -> None:
        outputs = padded_outputs(domain, lottery.padding)
        self._set(domain=domain, outputs=outputs, _budget=budget, _lottery=lottery)

    def _issue(self, domain: Domain, budget: Epsilon, chances: NDArray[np.float64]) -> None:
        size = len(domain)
        padding = len(chances) - (size - 1)
        self._assemble(domain, budget, Noise(size, padding, issue_noise(chances, size, budget)))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        padding, domain = fields.whole("padding", 0, MOST_SHIFTS), fields.interval
        if len(domain) + padding > MOST_SHIFTS + 1:
            fields.refuse("Expected noise of at most 2^22 steps; ask for another spec.")
        noise = fields.row("noise", fields["noise"], len(domain) + padding)
        return cls._made(domain, fields.budget, noise_lottery(len(domain), padding, noise)).checked()

    def parts(self) -> dict[str, Any]:
        noise = [str(count) for count in self._lottery.tickets.tolist()]
        return {"padding": self._lottery.padding, "noise": noise}

    def _options(self) -> str:
        return ", clamped=True" if self.clamped else ""


def noise_lottery(size: int, padding: int, noise: NDArray[np.int64]) -> Noise:
    """The lottery of a spec; refused if its tickets are invalid."""
    try:
        return Noise(size, padding, noise)
    except AssertionError:
        raise BrokenPromiseError(
            "Expected decreasing ticket counts of the shifts, at most 2^52 in all; ask for another spec."
        ) from None


def check_interval(domain: object, name: str) -> None:
    """Refuse a domain that is not an interval."""
    check_domain(domain)
    if isinstance(domain, Cyclic):
        raise not_a_line(domain)
    if not isinstance(domain, Interval):
        raise DesignError(
            f"Expected domain as bp.Interval for {name}, got {type(domain).__name__}; for the integers 18 to 90 use "
            "bp.Interval(18, 90, points=73)."
        )


def check_flag(name: str, value: object) -> None:
    """Refuse what is neither True nor False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"Expected {name}=True or False, got {shown(value)}.")


def padding_for(size: int, epsilon: float, *, clamped: bool) -> int:
    """How many steps outputs extend past both ends: e^(−ε·padding/(N−1)) ≤ 2^−30, in multiples of the range."""
    ranges = 0 if clamped else math.ceil(TAIL_BITS * math.log(2) / epsilon)
    if (ranges + 1) * (size - 1) > MOST_SHIFTS:
        fewer = MOST_SHIFTS // (ranges + 1) + 1
        points = f"at most {fewer} points, " if fewer > 1 else ""
        raise DesignError(
            f"Expected noise of at most 2^22 steps, got {ranges + 1} ranges of {size - 1} steps at ε={epsilon:.6g}; "
            f"use {points}a larger ε, or clamped=True."
        )
    return ranges * (size - 1)


def padded_outputs(domain: Domain, padding: int) -> Domain:
    """The domain with ``padding`` more nodes at each end."""
    if not padding or not isinstance(domain, Interval):
        return domain
    try:
        return domain.padded(padding)
    except DesignError:
        raise DesignError(
            "Expected reports past the ends that are distinct doubles; use fewer points, or clamped=True."
        ) from None
