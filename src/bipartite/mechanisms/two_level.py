"""Two levels: the region by GRR, then the place in it; ε-LDP on all places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, cast

from bipartite.errors import DesignError, InputError, shown
from bipartite.lottery import Epsilon
from bipartite.lottery.regional import check_blocks
from bipartite.mechanisms.base import check_one_of
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.design.regional import Split, best_split, near_counts, two_level_epsilon
from bipartite.mechanisms.in_regions import InBlocks, build_below, check_regions, two_level_tickets

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains.regions import Regions
    from bipartite.mechanisms.in_regions import BlockRows

Inside = Literal["best", "safe", "grr"]
_MOST: Final = 50


class TwoLevel(InBlocks):
    r"""Reports a region by GRR with ε1; in the true region a near place with ε2, in any other a uniform place.

    Parameters
    ----------
    regions
        A public partition of places, :class:`~bipartite.locations.Regions`, two regions or more.
    epsilon
        The privacy budget of one report, **both levels together**.
    inside
        The window in the true region: ``"best"``, the m with the least expected loss; ``"safe"``, Algorithm 2's m; or
        ``"grr"``, m = 1.
    budgets
        (ε1, ε2). By default those with the least expected loss whose *realised* ε is the budget; ε1 + ε2 is only a
        loose bound.
    prior
        Public probabilities of the places, None for uniform.

    Guarantee
    ---------
    ε-LDP for each report over all places, exactly (:func:`bipartite.verify`).

    Notes
    -----
    With Z_r = m_r·e\ :sup:`ε2` + n_r − m_r the realised ε is the largest over regions r of ε2,
    ε1 + ε2 − ln(Z_r/n_r) and ln(Z_r/n_r) − ε1. Bias and variance given x follow from row x of ``matrix()``.

    Examples
    --------
    >>> from bipartite import Points, verify
    >>> from bipartite.domains.regions import Regions
    >>> places = Points([[52.5, 13.4], [52.4, 13.1], [48.9, 2.35], [48.8, 2.1]], metric="haversine")
    >>> mech = TwoLevel(Regions.of(places, ["DE", "DE", "FR", "FR"]), epsilon=1)
    >>> verify(mech).holds, round(float(verify(mech).epsilon_upper), 6)
    (True, 1.0)
    """

    __slots__ = ("budgets",)
    budgets: tuple[float, float] | None
    """(ε1, ε2) as designed; their sum exceeds ε. None if the mechanism came from a spec."""

    def __init__(
        self,
        regions: Regions,
        epsilon: object,
        *,
        inside: Inside = "best",
        budgets: tuple[float, float] | None = None,
        prior: Sequence[float] | NDArray[np.float64] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_regions(regions, least=2)
        check_blocks(regions.sizes)
        check_one_of("inside", inside, ("best", "safe", "grr"))
        weights = None if prior is None else check_prior(prior, len(regions.places))
        split = (
            best_split(regions, float(budget), weights, inside)
            if budgets is None
            else _split_as_given(regions, float(budget), budgets, inside, weights)
        )

        sizes = regions.sizes.tolist()

        def build(wanted: float) -> BlockRows | None:
            # Given budgets are kept; chosen ones are lowered to allow for the rounding of tickets.
            scale = wanted / float(budget) if budgets is None else 1.0
            return two_level_tickets(sizes, Split(split.region * scale, split.place * scale, split.m))

        least = {} if budgets is None else {"least": 0.0}
        rows = build_below(budget, build, **least)
        self._assemble(regions, budget, rows, budgets=(split.region, split.place))

    def _assemble(self, *parts: Any, budgets: tuple[float, float] | None = None) -> None:  # noqa: ANN401
        super()._assemble(*parts)
        self._set(budgets=budgets)


def _split_as_given(
    regions: Regions, epsilon: float, budgets: object, inside: Inside, prior: NDArray[np.float64] | None
) -> Split:
    numbers = isinstance(budgets, tuple) and len(budgets) == 2  # noqa: PLR2004
    if not numbers or not all(
        isinstance(each, (int, float)) and 0 <= each <= _MOST for each in cast("tuple[Any]", budgets)
    ):
        raise InputError(
            f"Expected budgets as two numbers (ε1, ε2) from 0 to 50, got {shown(budgets)}; or leave them out."
        )
    first, second = (float(each) for each in cast("tuple[Any, Any]", budgets))
    m = near_counts(regions, second, inside, prior)
    realised = two_level_epsilon(regions.sizes, m, first, second)
    if realised > epsilon:
        raise DesignError(
            f"Budgets {first:g} and {second:g} realise ε = {realised:.4f}, more than {epsilon:g}; lower one of them."
        )
    return Split(first, second, tuple(m.tolist()))
