"""The best constant answer: the loss of a report that reveals nothing."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from bipartite.domains.subset import Subset
from bipartite.lottery import LineLottery, Tickets
from bipartite.mechanisms.base import Mechanism, check_domain
from bipartite.mechanisms.design.anchors import best_constant

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Loss
    from bipartite.mechanisms.spec.parts import Fields


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
    >>> from bipartite import Integers, expected_loss
    >>> mech = Constant(Integers(1, 40))
    >>> mech.answer, expected_loss(mech), mech.epsilon
    (20, 10.0, 0.0)
    """

    __slots__ = ()
    fields = frozenset({"answer"})
    _lottery: LineLottery
    outputs: Subset

    def __init__(
        self, domain: Domain, *, prior: Sequence[float] | NDArray[np.float64] | None = None, loss: Loss = None
    ) -> None:
        check_domain(domain)
        self._assemble(domain, best_constant(domain, prior, loss))

    @classmethod
    def read(cls, fields: Fields) -> Self:
        answer, size = fields.whole("answer"), len(fields.domain)
        if not 0 <= answer < size:
            fields.refuse(
                f"Expected answer as the index of a value, 0 to {size - 1}, got {answer}; ask for another spec."
            )
        return cls._made(fields.domain, answer)

    def _assemble(self, domain: Domain, answer: int) -> None:
        # One output holds both tickets of every row; two, because the compiled draw divides by at least two.
        lottery = LineLottery(inputs=len(domain), outputs=1, m=1, shift=0, tickets=Tickets(2, 1))
        self._set(domain=domain, outputs=Subset(domain, [answer]), _lottery=lottery)

    @property
    def answer(self) -> object:
        """The constant report."""
        return self.outputs.decode(0)

    @property
    def epsilon(self) -> float:
        """0: nothing is spent."""
        return 0.0

    @property
    def epsilon_decimal(self) -> Decimal:
        """0, exactly."""
        return Decimal(0)

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words."""
        return "0-LDP: reports do not depend on the value"

    def parts(self) -> dict[str, Any]:
        return {"answer": int(self.outputs.indices[0])}

    def __repr__(self) -> str:
        return f"Constant({self.domain!r})"
