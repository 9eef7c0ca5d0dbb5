"""GRR on a few well-chosen anchors: the least expected loss that ε-LDP allows, or a certificate of how close.

`Anchored` reports values, `AnchoredMeans` means of bins, and `Minimax` draws the set of anchors for the worst case.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from bipartite.domains.base import as_double
from bipartite.domains.outputs import Outputs
from bipartite.errors import BrokenPromiseError, DesignError, InputError, SpecError, is_one_of
from bipartite.lottery import MAX_TOTAL, Epsilon, Mixture, Tickets, TooFewTickets, Window
from bipartite.lottery.tickets import is_close_enough
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import (
    check_domain,
    check_line,
    check_one_of,
    check_tickets,
    tickets_for,
    too_few_tickets,
)
from bipartite.mechanisms.design.anchors import check_circle, choose_anchors, choose_lottery
from bipartite.mechanisms.design.anchors_line import best_bins
from bipartite.mechanisms.design.anchors_sets import cost_of
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.design.minimax import MOST_ENTRIES
from bipartite.mechanisms.spec.fields import AGAIN, INDICES, Field, check_fields, counts, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain, LineDomain
    from bipartite.domains.losses import Loss
    from bipartite.lottery import Deal
    from bipartite.mechanisms.spec.fields import Fields

    Prior = Sequence[float] | NDArray[np.float64] | Literal["minimax"] | None
    AnchorSet = tuple[NDArray[np.int64], Tickets]
    """Anchors as ascending indices of values, and the tickets of the nearest anchor and of each other one."""

MOST_VALUES: Final = 2**24
# The design of means is O(N²), and for many values they gain next to nothing over values.
MOST_FOR_MEANS: Final = 4096
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
    progress
        Called with the share of the search that is done, from 0 to 1.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): all values with the same nearest anchor have the same
    row, and the rows of two anchors are those of GRR.

    Notes
    -----
    On a line it is optimal among releases that report values of the domain (for the distance: among all releases);
    elsewhere ``gap`` bounds how far it is from that. It is optimal *for its prior*, not at every value: some values
    have a larger loss than under GRR (:func:`bipartite.loss`). It reports only K values, so no
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
    >>> from bipartite.quality import loss
    >>> mech = Anchored(Integers(1, 100), epsilon=2)
    >>> mech.anchors, round(loss(mech).mean, 3)
    ([23, 51, 78], 15.614)
    """

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {"tickets": counts(Tickets), "anchors": INDICES}

    def __new__(
        cls, *given: object, prior: object = None, anchors: object = None, outputs: object = "values", **__: object
    ) -> Self:
        """An instance of the class for the given prior and outputs: Anchored, Minimax or AnchoredMeans."""
        kind: type[Anchored] = cls
        if cls is Anchored and anchors is None:
            kind = AnchoredMeans if is_one_of(outputs, ("means",)) else cls
            kind = Minimax if is_one_of(prior, ("minimax",)) else kind
        return cast("Self", super().__new__(kind, *given))

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


def _read_means(fields: Fields, name: str) -> NDArray[np.float64]:
    """The reported means: a number for each bin, ascending and within the line."""
    given, bins = fields[name], fields["bins"]
    numbers = isinstance(given, list) and all(type(each) in (int, float) for each in given)
    if bins[0] != 0 or not numbers or len(given) != len(bins):
        fields.refuse(f"Expected bins starting at index 0, and a number for each as outputs; {AGAIN}")
    line = _check_line(fields.domain)
    means = np.array([as_double(each) for each in given])
    if not ((line.low <= means) & (means <= line.high)).all() or (np.diff(means) <= 0).any():
        fields.refuse(f"Expected outputs as ascending numbers within {line}; {AGAIN}")
    return means


class AnchoredMeans(Anchored):
    r"""Sends each value to its bin and runs GRR on the bins, each reported as its posterior mean.

    With bins B_1 … B_K of neighbouring values and E = e\ :sup:`ε`, the bin of the value is reported with probability
    E/(E + K − 1) and every other with 1/(E + K − 1). Bin k is reported as the mean of the value given this report,
    [(E−1)·Σ_{B_k} π_x x + Σ_x π_x x] / [(E−1)·π(B_k) + 1]: a number that need not be a value. ``Anchored(…,
    loss="squared", outputs="means")`` is this mechanism.

    Parameters
    ----------
    domain
        :class:`~bipartite.Integers` or :class:`~bipartite.Interval` of at most 4096 values.
    epsilon
        The privacy budget of one report.
    prior
        Public probabilities of the values, None for uniform. Never estimate it from the private data.
    loss
        ``"squared"``, the only loss for which means are optimal. For the distance, values are as good as any numbers.
    outputs, progress
        As in :class:`~bipartite.Anchored`; ``"means"`` is the only choice.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`): all values of a bin have the same row, and the rows of
    two bins are those of GRR. The means are public and the same for every person.

    Notes
    -----
    The bins are exactly optimal (dynamic programming): no ε-LDP release has a smaller expected squared loss, whatever
    it reports (``gap``). Compared with reporting values, means reduce the loss by 27 % for two equally likely values at
    ε = 1, by 8 % for five, and by next to nothing for more than about ten. Reports are doubles, low + step·r with r
    rounded to 9 decimals; the spec stores them.

    Reference
    ---------
    Ghazi, Kamath, Kumar, Leeman, Manurangsi, Varadarajan, Zhang: *Regression with Label Differential Privacy* (ICLR
    2023, arXiv 2212.06074): randomized response on bins with arbitrary numbers as bin values.

    Examples
    --------
    >>> from bipartite import Anchored, Integers
    >>> from bipartite.quality import loss
    >>> mech = AnchoredMeans(Integers(0, 1), epsilon=1)
    >>> mech.anchors, round(loss(mech, loss="squared").mean, 3)
    ([0.268941421, 0.731058579], 0.197)
    >>> round(loss(Anchored(Integers(0, 1), epsilon=1, loss="squared"), loss="squared").mean, 3)
    0.269
    """

    __slots__ = ()
    schema = {"tickets": counts(Tickets), "bins": INDICES, "outputs": Field(_read_means, lambda means: means.tolist())}

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        prior: Sequence[float] | NDArray[np.float64] | None = None,
        loss: Literal["squared"] = "squared",
        outputs: Literal["means"] = "means",
        progress: Callable[[float], None] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_line(domain)
        if not is_one_of(outputs, ("means",)):
            raise InputError("Expected outputs='means', or no outputs; use bp.Anchored for reports that are values.")
        if not is_one_of(loss, ("squared",)):
            raise InputError("Expected loss='squared' with outputs='means': means are optimal for no other loss.")
        line = _check_line(domain)
        size = len(line)
        weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
        choice = best_bins(weights, cost_of(budget.exp))
        # Rounding must not move a mean past the ends: a spec with such a report is refused.
        means = np.clip(line.decode(0) + line.step * choice.means, line.low, line.high)
        tickets = issue_for_anchors(budget, len(choice.starts))
        losses = {"achieved_loss": choice.loss * line.step**2, "lower_bound": choice.lower * line.step**2}
        self._hold(line, budget, {"tickets": tickets, "bins": choice.starts, "outputs": means}, **losses)
        if progress is not None:
            progress(1.0)

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:  # noqa: ARG003 (see _read_means)
        check_read_tickets(budget, facts["tickets"], len(facts["bins"]))

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        bins = facts["bins"]
        bin_of = np.searchsorted(bins, np.arange(len(domain)), side="right") - 1
        return Outputs.of_numbers(facts["outputs"]), grr_on_groups(bin_of, facts["tickets"], len(bins))

    @property
    def bins(self) -> NDArray[np.int64]:
        """The index of the first value of each bin."""
        bins: NDArray[np.int64] = self.facts["bins"]
        return bins

    def _options(self) -> str:
        return f", {len(self.bins)} means" if len(self.bins) > 1 else ", one mean"


def _check_line(domain: Domain) -> LineDomain:
    if not domain.has_ends:
        raise DesignError(
            f"Expected domain as integers or an interval, got {type(domain).__name__}; leave out outputs='means'."
        )
    if len(domain) > MOST_FOR_MEANS:
        raise DesignError(
            f"Expected at most {MOST_FOR_MEANS} values for means, got {len(domain)}; "
            "use outputs='values', which is as good for this many."
        )
    return cast("LineDomain", domain)


def _read_sets(fields: Fields, name: str) -> tuple[AnchorSet, ...]:
    domain, given = fields.domain, fields[name]
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        fields.refuse(f"Expected sets as a list of {{'anchors': […], 'tickets': {{…}}}}; {AGAIN}")
    _check_sets(domain, len(given))
    for each in given:
        check_fields("a set", set(each), {"anchors", "tickets"}, fields.problems)
    fields.problems.raise_if_any(SpecError)
    within = [fields.within(each) for each in given]
    tickets = [each.counts("tickets", Tickets) for each in within]
    return tuple(zip([each.indices("anchors") for each in within], tickets, strict=True))


def _write_sets(sets: Sequence[AnchorSet]) -> list[dict[str, Any]]:
    return [{"anchors": anchors.tolist(), "tickets": written(tickets)} for anchors, tickets in sets]


class Minimax(Anchored):
    r"""A lottery over sets of anchors: on lines and trees, the release of values with the least worst-case loss.

    For every report a set A_k is drawn with a public probability p_k, and the value is reported by GRR on A_k, as
    :class:`~bipartite.Anchored` does with one set: Pr[y|x] = Σ_k p_k·Pr_k[y|x]. ``Anchored(…, prior="minimax")`` is
    this mechanism.

    Parameters
    ----------
    domain
        Any domain. ``gap`` is a proved bound on how far the lottery is from the best release of values. On
        :class:`~bipartite.Integers` and :class:`~bipartite.Interval` of up to 129 values, for the distance and the
        squared loss, it was below 1e-6 for every ε from 0.01 to 10 that was tried; for a million values it is 3e-6 at
        ε = 1 and 0.12 % at ε = 3. For losses that are constant from some distance on, the search may stop earlier (gap
        up to 0.15 % for 129 values). On points and items the sets come from local search.
    epsilon
        The privacy budget of one report.
    loss
        None for the domain's own loss, ``"squared"``, or a non-decreasing function of that loss.
    prior, outputs, progress
        As in :class:`~bipartite.Anchored`; ``"minimax"`` and ``"values"`` are the only choices.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`). Proof: GRR on each set alone keeps ε:
    Pr_k[y|x] ≤ e\ :sup:`ε`\ ·Pr_k[y|x′]. The probability p_k of a set does not depend on the value, so the same holds,
    term by term, for the sums Σ_k p_k·Pr_k[y|x] and Σ_k p_k·Pr_k[y|x′]. It holds even if the drawn set is published.
    In tickets: set k holds a_k for the nearest anchor and b_k for each other, a_k ≤ e\ :sup:`ε`\ ·b_k, and
    a_k + (K_k − 1)·b_k in all for every value; a row is the sum over all sets.

    Notes
    -----
    Why a lottery: a single set serves the values half-way between its anchors badly. The least worst-case loss of all
    releases of values equals the largest, over priors, of the loss of the best release for a prior (von Neumann); on
    lines and trees that release is a set of anchors, so a lottery over such sets attains it. Ten values at ε = 3: 1.116
    against 1.520 for the best single set. For the distance on a line, no reports other than values do better; for the
    squared loss some do. Draw: one random word gives a ticket, which determines first the set, then the anchor.

    It minimises the *worst-case* loss; for the mean over a prior use :class:`~bipartite.Anchored`.

    Reference
    ---------
    ``docs/optimal-release``; for lines, randomized response on bins: Ghazi, Kamath, Kumar, Leeman, Manurangsi,
    Varadarajan, Zhang (ICLR 2023).

    Examples
    --------
    >>> from bipartite import Integers
    >>> from bipartite.quality import loss
    >>> mech = Minimax(Integers(1, 3), epsilon=1)
    >>> [(round(float(chance), 3), anchors) for chance, anchors in mech.sets], round(loss(mech).worst, 3)
    ([(0.314, [1, 3]), (0.686, [1, 2, 3])], 0.605)
    """

    __slots__ = ()
    schema = {"sets": Field(_read_sets, _write_sets)}
    checked_by_rows = True

    def __init__(
        self,
        domain: Domain,
        epsilon: object,
        *,
        loss: Loss = None,
        prior: Literal["minimax"] = "minimax",
        outputs: Literal["values"] = "values",
        progress: Callable[[float], None] | None = None,
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        if not is_one_of(prior, ("minimax",)):
            raise InputError(
                "Expected prior='minimax', or no prior: the worst case does not depend on one; use bp.Anchored."
            )
        if not is_one_of(outputs, ("values",)):
            raise InputError(
                "Expected outputs='values' for the worst case: means depend on a prior; leave out outputs."
            )
        _check_sets(domain, 1)
        choice = choose_lottery(domain, budget, loss)
        _check_sets(domain, len(choice.sets))
        tickets = _tickets(budget, choice.weights, [len(each) for each in choice.sets])
        sets = tuple(zip(choice.sets, tickets, strict=True))
        self._hold(domain, budget, {"sets": sets}, achieved_loss=choice.loss, lower_bound=choice.lower)
        if progress is not None:
            progress(1.0)

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        _check_sets(domain, len(facts["sets"]))
        held = [tickets for _, tickets in facts["sets"]]
        if any(each.near < each.far for each in held) or _total(facts["sets"]) > MAX_TOTAL:
            raise BrokenPromiseError(f"Expected near ≥ far ≥ 1 in each set, and at most 2^52 tickets in all; {AGAIN}")
        if not all(budget.allows(each.near, each.far) for each in held):
            raise BrokenPromiseError(
                f"The tickets of a set exceed e^ε for ε={budget.text}; do not report with this spec."
            )

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        sets: Sequence[AnchorSet] = facts["sets"]
        reported = np.unique(np.concatenate([anchors for anchors, _ in sets]))
        most = max(len(anchors) for anchors, _ in sets)
        own = np.empty((len(sets), len(domain)), dtype=np.min_scalar_type(most))
        for row, (anchors, _) in zip(own, sets, strict=True):
            row[:] = domain.nearest_of(anchors)
        lottery = Mixture(
            sets=tuple(np.searchsorted(reported, anchors) for anchors, _ in sets),
            own=own,
            near=np.array([tickets.near for _, tickets in sets]),
            far=np.array([tickets.far for _, tickets in sets]),
            outputs=len(reported),
        )
        return Outputs(domain, reported), lottery

    @property
    def sets(self) -> list[tuple[Fraction, list[Any]]]:
        """The sets of anchors, each with its exact probability, in the order of their tickets."""
        return [
            (Fraction(_total([each]), self.lottery.total), list(Outputs(self.domain, each[0])))
            for each in self.facts["sets"]
        ]

    def _options(self) -> str:
        count = len(self.facts["sets"])
        return f", {count} sets of anchors" if count > 1 else ", one set of anchors"


def _check_sets(domain: Domain, sets: int) -> None:
    """Refuse what would take too much memory, a number for each value and set, and circles no lottery is made for."""
    check_circle(domain)
    if len(domain) > MOST_VALUES or len(domain) * sets > MOST_ENTRIES:
        raise DesignError(
            f"Expected at most 2^24 values and 2^27 / values sets, got {len(domain)} and {sets}; use fewer values."
        )


def _total(sets: Sequence[AnchorSet]) -> int:
    return sum(tickets.total(1, len(anchors)) for anchors, tickets in sets)


def _tickets(budget: Epsilon, weights: NDArray[np.float64], sizes: list[int]) -> list[Tickets]:
    """Tickets for each set: about its weight times 2^52 in all, and near as large as ε allows for far.

    In a set of one anchor near and far are equal.
    """
    # A little less than 2^52, so that rounding never makes them too many.
    share = weights * float(MAX_TOTAL) * (1 - 2.0**-40)
    issued = []
    for held, size in zip(share.tolist(), sizes, strict=True):
        far = int(held / (budget.exp + size - 1)) if size > 1 else int(held)
        if far < 1:
            raise too_few_tickets(budget, TooFewTickets.EPSILON_TOO_LARGE, size, "anchors")
        tickets = Tickets(budget.most_near_tickets(far) if size > 1 else far, far)
        if size > 1 and not is_close_enough(tickets, budget):
            raise too_few_tickets(budget, TooFewTickets.EPSILON_TOO_SMALL, size, "anchors")
        issued.append(tickets)
    return issued
