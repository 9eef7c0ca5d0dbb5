"""A clipping bound that is paid for: some people spend their whole ε on how large a coordinate of theirs is.

Each of them draws one coordinate of their gradient and reports its binary exponent e, 2^(e−1) ≤ |g| < 2^e, held to a
public range of exponents, by padded BRR. The bound is 2 to the estimated quantile of the exponents. These people answer
nothing else, so that everybody still spends ε once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation import estimate
from bipartite.domains import Integers
from bipartite.errors import InputError, Problems, shown
from bipartite.learn.gradients.checks import positive, whole
from bipartite.mechanisms import BRR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Source

# More would tell the exponents no better.
_MOST_EPSILON: Final = 20.0


@dataclass(frozen=True)
class PrivateQuantile:
    """The bound below which about a share ``quantile`` of all coordinates lies, from the reports of ``people`` persons.

    ``exponents`` is the public range of binary exponents that are told apart: (−20, 4) is from a millionth to 16.
    """

    quantile: float = 0.95
    people: int = 1000
    exponents: tuple[int, int] = (-20, 4)

    def __post_init__(self) -> None:
        problems = Problems()
        positive("quantile", self.quantile, problems, below=1, hint="0.95 clips one coordinate in twenty")
        whole("people", self.people, problems, hint="a thousand serve for ε of 1 and more")
        given: object = self.exponents
        pair = given if isinstance(given, tuple) else ()
        are_two = len(pair) == 2 and all(type(each) is int for each in pair)  # noqa: PLR2004
        if not are_two or not -1000 <= pair[0] < pair[1] <= 1000:  # noqa: PLR2004 (the exponents of doubles)
            problems.add(f"Expected exponents as (low, high) within ±1000, got {shown(self.exponents)}; try (-20, 4).")
        problems.raise_if_any(InputError)

    def mechanism(self, epsilon: float) -> BRR:
        """What reports an exponent."""
        return BRR(Integers(*self.exponents), min(epsilon, _MOST_EPSILON), m="cdf", edges="padded")

    def report(self, values: NDArray[np.float64], epsilon: float, source: Source) -> NDArray[np.int64]:
        """The reports about one coordinate of each person; what is not finite counts as the largest."""
        low, high = self.exponents
        sizes = np.abs(np.asarray(values, dtype=np.float64))
        exponents = np.frexp(sizes)[1].astype(np.int64)
        exponents = np.where(sizes == 0, low, np.where(np.isfinite(sizes), exponents, high))
        found: NDArray[np.int64] = self.mechanism(epsilon).privatize(np.clip(exponents, low, high), rng=source)
        return found

    def bound(self, reports: NDArray[np.int64], epsilon: float) -> float:
        """The clipping bound from reports: within the public range, whatever they say."""
        found = float(estimate(self.mechanism(epsilon), reports).quantile(self.quantile))
        return float(2.0 ** min(max(round(found), self.exponents[0]), self.exponents[1]))
