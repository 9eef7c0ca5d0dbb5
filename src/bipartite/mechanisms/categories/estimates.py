"""The estimate from flat categories: unbiased shares of every value, with their standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class CategoryEstimate:
    """The shares of all values among the people who reported, in the order of the domain."""

    frequencies: NDArray[np.float64]
    """Unbiased, so the share of a rare value may be below 0, and the shares need not add up to 1."""
    standard_errors: NDArray[np.float64]
    """Plug-in: the exact variance formula with the estimated shares, clamped to [0, 1], in place of the true ones."""
    standard_errors_of_rare: NDArray[np.float64]
    """The formula of the literature, for a value with true share 0. It needs no estimate, except for Hadamard Response
    with several blocks, where it uses the estimated share of the block."""
    people: int
    """The number of people who reported."""

    def __post_init__(self) -> None:
        for array in (self.frequencies, self.standard_errors, self.standard_errors_of_rare):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<CategoryEstimate of {len(self.frequencies):,} shares from the reports of {self.people:,} people>"
