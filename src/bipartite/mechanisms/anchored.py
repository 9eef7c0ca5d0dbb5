"""GRR on a few well-chosen anchors: the least expected loss that ε-LDP allows, or a certificate of how close."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import SetDomain
from bipartite.domains.subset import Subset
from bipartite.errors import BrokenPromiseError, DesignError, InputError, is_one_of
from bipartite.lottery import Epsilon, GroupedLottery, LineLottery, Tickets
from bipartite.mechanisms.base import Mechanism, check_domain, check_one_of, check_tickets, tickets_for
from bipartite.mechanisms.catalogue import entries
from bipartite.mechanisms.design.anchors import choose_anchors
from bipartite.mechanisms.spec.parts import written

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Loss
    from bipartite.mechanisms.spec.parts import Fields

    AnchorSet = tuple[NDArray[np.int64], Tickets]
    """Anchors as ascending indices of values, and the tickets of the nearest one and of each other."""
    Prior = Sequence[float] | NDArray[np.float64] | Literal["minimax"] | None

MOST_VALUES: Final = 2**24
# The constant answer, which keeps every ε. Two tickets, because the compiled draw divides by at least two.
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
        Public probabilities of the values, None for uniform. Never estimate it from the private data. ``"minimax"``:
        the least worst case instead of the least expected loss, by a lottery over sets of anchors, which is
        :class:`~bipartite.Minimax`.
    loss
        None for the domain's own loss, ``"squared"``, or a function that never falls as that loss grows.
    anchors
        Given anchors, as values of the domain, instead of the best ones: any are private.
    outputs
        ``"values"``: reports are values of the domain. ``"means"``, on a line and for the squared loss: posterior means
        of bins, which need not be values and save much where values are few (:class:`~bipartite.AnchoredMeans`).

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): all values that share an anchor have the same row, and
    two rows differ as GRR's do.

    Notes
    -----
    It is best among releases that report values of the domain (for the distance on a line: among all), and *for its
    prior*, not at every value: some values pay more than under GRR (:func:`bipartite.local_loss`). It reports only K
    values, so no distribution can be estimated from it. Bias and variance given x are those of GRR on the anchors
    around x's nearest one. Use BRR where no value may do worse than under GRR, and padded BRR for statistics.

    Reference
    ---------
    On a line this is *randomized response on bins*: Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan, Zhang:
    *Regression with Label Differential Privacy* (ICLR 2023, arXiv 2212.06074), who prove it optimal for a prior and a
    loss that grows on both sides of the value, and find it by dynamic programming. Where every wrong report costs 1,
    RRWithPrior is best (Ghazi, Golowich, Kumar, Manurangsi, Zhang: NeurIPS 2021). The linear programme over all
    releases: Kairouz, Oh, Viswanath (JMLR 2016); its corners: Holohan, Leith, Mason (2017); for places: Bordenabe,
    Chatzikokolakis, Palamidessi (CCS 2014); for unbiased reports, which these are not: Badanidiyuru et al. (NeurIPS
    2023). New here, as far as a search shows: that for any loss the best release is a facility location problem, trees,
    the certified gap, and 10⁵ places; ``docs/optimal-release`` has the theorems and their proofs.

    Examples
    --------
    >>> from bipartite import Integers, expected_loss
    >>> mech = Anchored(Integers(1, 100), epsilon=2)
    >>> mech.anchors, round(expected_loss(mech), 3)
    ([23, 51, 78], 15.614)
    """

    __slots__ = ("_sets", "achieved_loss", "lower_bound")
    fields = frozenset({"anchors", "tickets"})
    _sets: Sequence[AnchorSet]
    achieved_loss: float | None
    """F(A), the expected loss under the prior it was designed for; the worst case of :class:`~bipartite.Minimax`. None
    where anchors were given or came from a spec."""
    lower_bound: float | None
    """What no ε-LDP release among the domain's values can go below, in units of the loss: of the expected loss under
    the prior, or of the worst case of :class:`~bipartite.Minimax`. None where anchors were given or came from a spec.
    """

    def __new__(
        cls, *_: object, prior: object = None, anchors: object = None, outputs: object = "values", **__: object
    ) -> Self:
        """One set of anchors or, for the least worst case or for means, a mechanism of that kind."""
        wanted = {"minimax": is_one_of(prior, ("minimax",)), "anchored-means": is_one_of(outputs, ("means",))}
        named = next((name for name, asked in wanted.items() if asked and cls is Anchored and anchors is None), None)
        kind: type[Self] = cls if named is None else next(each for each in entries() if each.name == named).load()
        return super().__new__(kind)

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
            msg = f"Expected at most 2^24 values, got {len(domain)}; use an Interval of fewer points, or bp.BRR."
            raise DesignError(msg)
        check_one_of("outputs", outputs, ("values", "means"))
        if anchors is not None:
            if prior is not None or loss is not None or outputs != "values":
                msg = "Given anchors need no prior, no loss and no outputs; leave those out, or leave out anchors."
                raise InputError(msg)
            given = _given(domain, anchors)
            self._assemble(domain, budget, [(given, issue(budget, len(given)))])
            return
        choice = choose_anchors(domain, budget, prior, loss, progress)
        tickets = issue(budget, len(choice.anchors))
        self._assemble(domain, budget, [(choice.anchors, tickets)], choice.loss, choice.lower)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        tickets = fields.counts("tickets", Tickets)
        anchors = np.array(fields.indices("anchors"), dtype=np.int64)
        domain, budget = fields.domain, fields.budget
        if len(domain) > MOST_VALUES:
            fields.refuse(f"Expected at most 2^24 values, got {len(domain)}; ask for another spec.")
        check_read_tickets(budget, tickets, len(anchors))
        return cls._made(domain, budget, [(anchors, tickets)], *cls.known_of(fields))

    @staticmethod
    def known_of(fields: Fields) -> tuple[float | None, float | None]:
        """What a pickle also holds: the loss and the bound that were known when the anchors were chosen."""
        return fields.spec.get("achieved_loss"), fields.spec.get("lower_bound")

    def _assemble(
        self,
        domain: Domain,
        budget: Epsilon,
        sets: Sequence[AnchorSet],
        achieved_loss: float | None = None,
        lower_bound: float | None = None,
    ) -> None:
        ((anchors, tickets),) = sets
        inner = LineLottery(inputs=len(anchors), outputs=len(anchors), m=1, shift=0, tickets=tickets)
        lottery = GroupedLottery(nearest_anchor(domain, anchors), inner)
        self._set(domain=domain, outputs=Subset(domain, anchors), _budget=budget, _lottery=lottery)
        self._set(_sets=sets, achieved_loss=achieved_loss, lower_bound=lower_bound)

    @property
    def anchors(self) -> list[Any]:
        """The values that are ever reported, in the domain's order."""
        return list(self.outputs)

    @property
    def gap(self) -> float | None:
        """How far above the best release this one is at most, as a share of it: 0.004 is 0.4 %, 0 is optimal.

        The best is meant among all ε-LDP releases whose reports are values of the domain.

        ``(achieved_loss − lower_bound)/abs(lower_bound)``, for the prior and loss that it was designed for. None where
        anchors were given or came from a spec.
        """
        if self.achieved_loss is None or self.lower_bound is None:
            return None
        excess = max(0.0, self.achieved_loss - self.lower_bound)
        if not excess:
            return 0.0
        return excess / abs(self.lower_bound) if self.lower_bound else np.inf

    def parts(self) -> dict[str, Any]:
        ((anchors, tickets),) = self._sets
        return {"anchors": anchors.tolist(), "tickets": written(tickets)}

    def __reduce__(self) -> tuple[Any, ...]:
        reread, (kind, domain, spec) = super().__reduce__()
        return reread, (kind, domain, spec | {"achieved_loss": self.achieved_loss, "lower_bound": self.lower_bound})

    def _options(self) -> str:
        return f", {len(self.outputs)} anchors"


def _given(domain: Domain, anchors: Sequence[Any]) -> NDArray[np.int64]:
    """Given anchors as ascending indices."""
    if isinstance(anchors, (str, bytes)) or not hasattr(anchors, "__iter__"):
        msg = f"Expected anchors as a list of values of the domain, got {type(anchors).__name__}."
        raise InputError(msg)
    found = [domain.encode(value.item() if isinstance(value, np.generic) else value) for value in anchors]
    if not found or len(set(found)) != len(found):
        msg = f"Expected distinct anchors, one or more, got {len(found)} with {len(found) - len(set(found))} repeated."
        raise InputError(msg)
    return np.array(sorted(found), dtype=np.int64)


def issue(budget: Epsilon, anchors: int) -> Tickets:
    """The tickets of the nearest anchor and of each other."""
    return _SINGLE if anchors == 1 else tickets_for(budget, 1, anchors, "anchors")


def check_read_tickets(budget: Epsilon, tickets: Tickets, anchors: int) -> None:
    """Refuse tickets of a spec that break what its promise rests on."""
    if anchors > 1:
        check_tickets(budget, tickets, 1, anchors)
    elif tickets != _SINGLE:
        got = f"near={tickets.near}, far={tickets.far}"
        msg = f"Expected near=2, far=1 for a single anchor, got {got}; ask for another spec."
        raise BrokenPromiseError(msg)


def nearest_anchor(domain: Domain, anchors: NDArray[np.int64]) -> NDArray[np.int64]:
    """The position of each value's nearest anchor, decided in whole numbers; the lower of two equally near."""
    if isinstance(domain, SetDomain):
        return domain.order.nearest_of(anchors)
    last = np.append((anchors[:-1] + anchors[1:]) // 2, len(domain) - 1)
    return np.repeat(np.arange(len(anchors)), np.diff(last, prepend=-1))
