"""Which cut a node makes: the exponential mechanism over all public cuts, drawn exactly.

Pr[cut i] ∝ e^(θ·u_i), where u_i = |Σ_left| + |Σ_right| is the gain of cut i: the sums of gradients on its two sides, in
whole units of 2^−20. A record that is added to a node moves one of the two by at most one gradient, so that every gain
rises or falls by at most 2^20 units and θ = ε/2^21 keeps ε (``docs/private-boosting.md``).

The draw is exact although e^x is not a fraction: cuts are proposed from whole-number tickets w_i that are a little
more than 2^40·e^(θ(u_i − u_max)), and a proposal is kept with probability 2^40·e^(θ(u_i − u_max))/w_i, by an exact
coin (:func:`bipartite.lottery.decay.flip_exp_coin`). The w_i come from doubles, which may make more tries needed but
cannot change the law. A second try is needed about once in 10^8 draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.learn.boosting.compiled import ENVELOPE_BITS, GRADIENT_BITS, envelope
from bipartite.lottery.decay import decay_between, flip_exp_coin
from bipartite.lottery.uniform import ticket_below

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Stream

WIDTH: Final = 2 * 2**GRADIENT_BITS


@dataclass(frozen=True)
class SplitRule:
    """The exponential mechanism with ε for one node."""

    epsilon: Fraction
    width: int = WIDTH
    """From the largest fall to the largest rise of a gain when a record is added."""

    @property
    def rate(self) -> Fraction:
        """θ, for each unit of gain."""
        return self.epsilon / self.width

    def proposals(self, utilities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Running sums of the tickets that propose a cut."""
        running = np.empty(len(utilities), dtype=np.int64)
        envelope(utilities, int(utilities.max()), float(self.rate), running)
        return running

    def probability_of_keeping(self, short: int, tickets: int) -> tuple[Fraction, Fraction]:
        """(γ, factor): a proposal ``short`` units below the best is kept with probability factor·e^−γ."""
        return self.rate * short, Fraction(2**ENVELOPE_BITS, tickets)

    def draw(self, utilities: NDArray[np.int64], stream: Stream) -> int:
        """A cut."""
        running = self.proposals(utilities)
        best = int(utilities.max())
        while True:
            cut = int(np.searchsorted(running, ticket_below(int(running[-1]), stream), side="right"))
            tickets = int(running[cut]) - (int(running[cut - 1]) if cut else 0)
            gamma, factor = self.probability_of_keeping(best - int(utilities[cut]), tickets)
            if flip_exp_coin(gamma, stream, factor):
                return cut

    def law(self, utilities: NDArray[np.int64], digits: int = 60) -> list[tuple[Fraction, Fraction]]:
        """Fractions around the probability of every cut: what ``draw`` draws from, for proofs by enumeration."""
        best = int(utilities.max())
        weights = [decay_between(self.rate * (best - int(each)), digits) for each in utilities]
        least, most = sum(low for low, _ in weights), sum(high for _, high in weights)
        return [(low / most, high / least) for low, high in weights]
