"""The two families of rows whose mean is linear in the value: Duchi's two ends, and a sliding window.

Both consist of integer tickets, and their outputs are scaled by the exact inverse of the slope, so that the mean of a
report is the true node, up to the rounding of the outputs to doubles.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.domains.outputs import Outputs
from bipartite.errors import BrokenPromiseError, DesignError, DomainError, Problems
from bipartite.lottery import MAX_TOTAL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Interval
    from bipartite.lottery import Epsilon
    from bipartite.mechanisms.spec.parts import Fields

MOST_OUTPUTS: Final = 2**22


@dataclass(frozen=True, slots=True)
class TwoEnds:
    """Node i of N has least + step·i tickets for the upper end, and least + step·(N − 1 − i) for the lower."""

    least: int
    step: int

    @classmethod
    def issue(cls, budget: Epsilon, inputs: int, total: int) -> TwoEnds:
        """The finest rows of at most ``total`` tickets."""
        least = int(total * (1 - 2**-40) / (1 + math.exp(float(budget))))
        step = (budget.most_near_tickets(least) - least) // (inputs - 1)
        if least < 1 or step < 1:
            raise DesignError(
                f"2^52 tickets cannot keep ε={budget.text} on {inputs} points; use another ε, or fewer points."
            )
        return cls(least, step)

    def total(self, inputs: int) -> int:
        """W = least + most."""
        return 2 * self.least + self.step * (inputs - 1)

    def ratio(self, inputs: int) -> Fraction:
        """most/least: e^(realised ε)."""
        return Fraction(self.total(inputs) - self.least, self.least)

    def rows(self, inputs: int) -> NDArray[np.int64]:
        """(lower, upper) for every node."""
        upper = self.least + self.step * np.arange(inputs, dtype=np.int64)
        return np.column_stack([upper[::-1], upper])

    def values(self, domain: Interval) -> NDArray[np.float64]:
        """Two numbers: middle ± B·range/2 with B = (most + least)/(most − least)."""
        middle, half = domain.low / 2 + domain.high / 2, domain.high / 2 - domain.low / 2
        spread = half * (self.total(len(domain)) / (self.step * (len(domain) - 1)))
        return np.array([middle - spread, middle + spread])

    def problems(self, budget: Epsilon, inputs: int) -> Problems:
        """The problems of a spec with these tickets."""
        problems = Problems()
        if self.total(inputs) > MAX_TOTAL:
            problems.add("Expected at most 2^52 tickets per row; ask for another spec.")
        if not budget.allows(*self.ratio(inputs).as_integer_ratio()):
            problems.add(f"The tickets exceed e^ε for ε={budget.text}; do not report with this spec.")
        return problems


@dataclass(frozen=True, slots=True)
class Sliding:
    """A window of m outputs that begins at output stride·i for node i of N; M = stride·(N − 1) + m outputs."""

    m: int
    stride: int

    @classmethod
    def design(cls, epsilon: float, inputs: int, outputs: int | None) -> Sliding:
        """A window of the share 1/(s + 1) of about this many outputs, s = e^(ε/2)."""
        s = math.exp(epsilon / 2)
        wanted = max(_DEFAULT_OUTPUTS, math.ceil(_DEFAULT_WINDOW * (s + 1))) if outputs is None else outputs
        stride = max(1, round(wanted * s / (s + 1) / (inputs - 1)))
        m = round(stride * (inputs - 1) / s)
        if m < 1:
            raise DesignError(
                f"Expected a grid of reports with at least one in the window, got about {wanted} at ε={epsilon:.6g}; "
                f"use outputs={math.ceil(s + 1)} or more."
            )
        sliding = cls(m, stride)
        if sliding.outputs(inputs) > MOST_OUTPUTS:
            raise DesignError(
                f"Expected at most 2^22 reports, got {sliding.outputs(inputs)}; use a smaller ε, fewer outputs, or an "
                "Interval of fewer points."
            )
        return sliding

    def outputs(self, inputs: int) -> int:
        """M."""
        return self.stride * (inputs - 1) + self.m

    def values(self, domain: Interval, near: int, far: int) -> NDArray[np.float64]:
        """Equidistant outputs around the middle of the range, spread so that the mean of a report is its node.

        E[report] − middle = δ·(near − far)·m·stride·(i − (N − 1)/2)/W, because the far part is the same for all nodes
        and the mean of the window moves by ``stride`` outputs per node; δ scales this to (i − (N − 1)/2) steps.
        """
        inputs = len(domain)
        outputs = self.outputs(inputs)
        total = self.m * near + (outputs - self.m) * far
        apart = domain.step * (total / ((near - far) * self.m * self.stride))
        from_middle = np.arange(outputs, dtype=np.float64) - (outputs - 1) / 2
        return domain.low / 2 + domain.high / 2 + apart * from_middle


# Large enough that rounding the window to an integer changes the variance by a few percent at most.
_DEFAULT_OUTPUTS: Final = 1024
_DEFAULT_WINDOW: Final = 32


def read_sliding(fields: Fields) -> Sliding:
    """The window of a spec."""
    return Sliding(fields.whole("m", 1, MOST_OUTPUTS), fields.whole("stride", 1, MOST_OUTPUTS))


def check_sliding(sliding: Sliding, inputs: int) -> None:
    """Refuse a window of a spec with too many outputs."""
    if sliding.outputs(inputs) > MOST_OUTPUTS:
        raise BrokenPromiseError(f"Expected at most 2^22 reports, got {sliding.outputs(inputs)}; ask for another spec.")


def reports(values: NDArray[np.float64]) -> Outputs:
    """These numbers as outputs; refused if they are not distinct doubles."""
    try:
        return Outputs.of_numbers(values)
    except DomainError:
        raise DesignError(
            "Expected reports that are distinct finite doubles; use fewer outputs, or an Interval nearer to zero."
        ) from None
