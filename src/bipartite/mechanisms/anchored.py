"""GRR on a few well-chosen anchors: the least expected loss that ε-LDP allows, or a certificate of how close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from bipartite.domains.outputs import Outputs
from bipartite.errors import BrokenPromiseError, DesignError, InputError, SpecError, is_one_of
from bipartite.lottery import Epsilon, Tickets, Window
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.catalogue import entries
from bipartite.mechanisms.checks import check_domain, check_one_of, check_tickets, tickets_for
from bipartite.mechanisms.design.anchors import choose_anchors
from bipartite.mechanisms.spec.fields import AGAIN, INDICES, Field, counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Loss
    from bipartite.lottery import Deal

    Prior = Sequence[float] | NDArray[np.float64] | Literal["minimax"] | None

MOST_VALUES: Final = 2**24
# A constant report, which keeps every ε. Two tickets, because the compiled draw divides by at least two.
_SINGLE: Final = Tickets(2, 1)


class Anchored(Mechanism):
    r"""Sends each value to its nearest anchor and runs GRR on the anchors: the release with the least expected loss.

    With K anchors A and E = e\ :sup:`ε`, the nearest anchor of x is reported with probability E/(E + K − 1) and every
    other with 1/(E + K − 1). Its expected loss is
    F(A) = Σ_x π_x·[(E − 1)·min_{a∈A} L(x, a) + Σ_{a∈A} L(x, a)]/(E + K − 1), minimised over A and K. K = 1 is the
    constant answer, A = everything is GRR.

    Parameters
    ----------
    domain
        Any domain. On :class:`~bipartite.Integers` and :class:`~bipartite.Interval` the anchors are exactly optimal
        (dynamic programming); on points, items and a circle (of at most 4,096 values) they come from local search, with
        a certified gap.
    epsilon
        The privacy budget of one report.
    prior
        Public probabilities of the values, None for uniform. Never estimate it from the private data. ``"minimax"``
        minimises the worst-case loss instead of the expected loss, by a lottery over sets of anchors
        (:class:`~bipartite.Minimax`).
    loss
        None for the domain's own loss, ``"squared"``, or a non-decreasing function of that loss.
    anchors
        Values of the domain to use as anchors instead of the best ones; the guarantee holds for any anchors.
    outputs
        ``"values"``: reports are values of the domain. ``"means"``, on a line and for the squared loss: posterior means
        of bins, which need not be values and reduce the loss much where values are few
        (:class:`~bipartite.AnchoredMeans`).

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): all values with the same nearest anchor have the same
    row, and the rows of two anchors are those of GRR.

    Notes
    -----
    On a line it is optimal among releases that report values of the domain (for the distance: among all releases);
    elsewhere ``gap`` bounds how far it is from that. It is optimal *for its prior*, not at every value: some values
    have a larger loss than under GRR (:func:`bipartite.quality.local_loss`). It reports only K values, so no
    distribution can be estimated from it. Bias and variance given x are those of GRR on the anchors, at the anchor
    nearest to x. Use BRR where no value may do worse than under GRR, and padded BRR for statistics.

    Reference
    ---------
    On a line this is *randomized response on bins*: Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan, Zhang:
    *Regression with Label Differential Privacy* (ICLR 2023, arXiv 2212.06074), who prove it optimal for a prior and a
    loss that grows on both sides of the value, and find it by dynamic programming. Where every wrong report costs 1,
    RRWithPrior is optimal (Ghazi, Golowich, Kumar, Manurangsi, Zhang: NeurIPS 2021). The linear program over all
    releases: Kairouz, Oh, Viswanath (JMLR 2016); its vertices: Holohan, Leith, Mason (2017); for places: Bordenabe,
    Chatzikokolakis, Palamidessi (CCS 2014); for unbiased reports, which these are not: Badanidiyuru et al. (NeurIPS
    2023). New here, as far as we found: the reduction to facility location for any loss, optimality on trees, the
    certified gap, and the scale of 10⁵ places; ``docs/optimal-release`` has the theorems and their proofs.

    Examples
    --------
    >>> from bipartite import Integers
    >>> from bipartite.quality import expected_loss
    >>> mech = Anchored(Integers(1, 100), epsilon=2)
    >>> mech.anchors, round(expected_loss(mech), 3)
    ([23, 51, 78], 15.614)
    """

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {"tickets": counts(Tickets), "anchors": INDICES}

    def __new__(
        cls, *given: object, prior: object = None, anchors: object = None, outputs: object = "values", **__: object
    ) -> Self:
        """An instance of the class for the given prior and outputs: Anchored, Minimax or AnchoredMeans."""
        wanted = {"minimax": is_one_of(prior, ("minimax",)), "anchored-means": is_one_of(outputs, ("means",))}
        named = next((name for name, asked in wanted.items() if asked and cls is Anchored and anchors is None), None)
        kind: type[Self] = cls if named is None else next(each for each in entries() if each.name == named).load()
        return super().__new__(kind, *given)

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        prior: Prior = None,
        loss: Loss = None,
        anchors: Sequence[Any] | None = None,
        outputs: Literal["values", "means"] = "values",
        progress: Callable[[float], None] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        if len(domain) > MOST_VALUES:
            raise DesignError(
                f"Expected at most 2^24 values, got {len(domain)}; use an Interval of fewer points, or bp.BRR."
            )
        check_one_of("outputs", outputs, ("values", "means"))
        if anchors is not None:
            if prior is not None or loss is not None or outputs != "values":
                raise InputError(
                    "Given anchors need no prior, no loss and no outputs; leave those out, or leave out anchors."
                )
            given = _encode(domain, anchors)
            self._hold(domain, budget, {"tickets": issue_for_anchors(budget, len(given)), "anchors": given})
            return
        choice = choose_anchors(domain, budget, prior, loss, progress)
        facts = {"tickets": issue_for_anchors(budget, len(choice.anchors)), "anchors": choice.anchors}
        self._hold(domain, budget, facts, achieved_loss=choice.loss, lower_bound=choice.lower)

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        if len(domain) > MOST_VALUES:
            raise SpecError(f"Expected at most 2^24 values, got {len(domain)}; {AGAIN}")
        check_read_tickets(budget, facts["tickets"], len(facts["anchors"]))

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        anchors: NDArray[np.int64] = facts["anchors"]
        return Outputs(domain, anchors), grr_on_groups(domain.nearest_of(anchors), facts["tickets"], len(anchors))

    @property
    def achieved_loss(self) -> float | None:
        """F(A), the expected loss under its prior; for :class:`~bipartite.Minimax`, the worst-case loss.

        None if the anchors were given or came from a spec.
        """
        return self.known.get("achieved_loss")

    @property
    def lower_bound(self) -> float | None:
        """A proved lower bound on the same loss of every ε-LDP release that reports values of the domain.

        None if the anchors were given or came from a spec.
        """
        return self.known.get("lower_bound")

    @property
    def anchors(self) -> list[Any]:
        """The possible reports, in the domain's order."""
        return list(self.outputs)

    @property
    def gap(self) -> float | None:
        """How far its loss is above the optimum at most: 0.004 is 0.4 %, 0 is optimal.

        ``(achieved_loss − lower_bound)/abs(lower_bound)`` for its prior and loss, where the optimum is over all ε-LDP
        releases whose reports are values of the domain. None if the anchors were given or came from a spec.
        """
        if self.achieved_loss is None or self.lower_bound is None:
            return None
        excess = max(0.0, self.achieved_loss - self.lower_bound)
        if not excess:
            return 0.0
        return excess / abs(self.lower_bound) if self.lower_bound else np.inf

    def _options(self) -> str:
        return f", {len(self.outputs)} anchors"


def _encode(domain: Domain, anchors: Sequence[Any]) -> NDArray[np.int64]:
    """The indices of given anchors, ascending."""
    if isinstance(anchors, (str, bytes)) or not hasattr(anchors, "__iter__"):
        raise InputError(f"Expected anchors as a list of values of the domain, got {type(anchors).__name__}.")
    found = [domain.encode(value.item() if isinstance(value, np.generic) else value) for value in anchors]
    if not found or len(set(found)) != len(found):
        raise InputError(
            f"Expected one or more distinct anchors, got {len(found)} with {len(found) - len(set(found))} repeated."
        )
    return np.array(sorted(found), dtype=np.int64)


def grr_on_groups(group_of: NDArray[np.int64], tickets: Tickets, groups: int) -> Window:
    """GRR on the groups, after sending each value to its own."""
    return Window(len(group_of), groups, 1, 0, tickets, groups=group_of)


def issue_for_anchors(budget: Epsilon, anchors: int) -> Tickets:
    """The tickets of the nearest anchor and of each other one."""
    return _SINGLE if anchors == 1 else tickets_for(budget, 1, anchors, "anchors")


def check_read_tickets(budget: Epsilon, tickets: Tickets, anchors: int) -> None:
    """Refuse tickets of a spec that do not keep its ε."""
    if anchors > 1:
        check_tickets(budget, tickets, 1, anchors)
    elif tickets != _SINGLE:
        got = f"near={tickets.near}, far={tickets.far}"
        raise BrokenPromiseError(f"Expected near=2, far=1 for a single anchor, got {got}; {AGAIN}")
