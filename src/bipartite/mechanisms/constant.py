"""The best constant answer: the loss of a report that reveals nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bipartite.domains.outputs import Outputs
from bipartite.errors import SpecError
from bipartite.lottery import Tickets, Window
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.anchors import best_constant
from bipartite.mechanisms.spec.fields import AGAIN, whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Loss
    from bipartite.lottery import Deal, Epsilon


class Constant(Mechanism):
    """Always reports the answer with the least expected loss, whatever the value.

    The answer is argmin_y Σ_x π_x·L(x, y): on a line with the distance as loss, the median of the prior. Every
    comparison should include it: at small ε no mechanism beats it by much, and many do worse.

    Parameters
    ----------
    domain
        Any domain.
    prior
        Public probabilities of the values, None for uniform.
    loss
        None for the domain's own loss; ``"squared"``, ``"zero-one"``, a function of it, or a matrix.

    Guarantee
    ---------
    0-LDP: a report does not depend on the value at all.

    Notes
    -----
    The bias given x is answer − x; the variance is 0.

    Examples
    --------
    >>> from bipartite import Integers
    >>> from bipartite.quality import loss
    >>> mech = Constant(Integers(1, 40))
    >>> mech.answer, loss(mech).mean, mech.epsilon
    (20, 10.0, 0.0)
    """

    __slots__ = ()
    schema = {"answer": whole()}

    def __init__(
        self, domain: Domain, *, prior: Sequence[float] | NDArray[np.float64] | None = None, loss: Loss = None
    ) -> None:
        check_domain(domain)
        self._hold(domain, None, {"answer": best_constant(domain, prior, loss)})

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon | None, facts: Mapping[str, Any]) -> None:  # noqa: ARG003
        answer, size = facts["answer"], len(domain)
        if not 0 <= answer < size:
            raise SpecError(f"Expected answer as the index of a value, 0 to {size - 1}, got {answer}; {AGAIN}")

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        # One output holds both tickets of every row; two, because the compiled draw divides by at least two.
        return Outputs(domain, [facts["answer"]]), Window(len(domain), 1, 1, 0, Tickets(2, 1))

    @property
    def answer(self) -> object:
        """The constant report."""
        return self.outputs.decode(0)
