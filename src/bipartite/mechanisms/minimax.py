"""The least worst-case loss: GRR on anchors, with a set of anchors drawn for every report."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.outputs import Outputs
from bipartite.errors import BrokenPromiseError, DesignError, InputError, SpecError, is_one_of
from bipartite.lottery import MAX_TOTAL, Epsilon, Mixture, Tickets, TooFewTickets
from bipartite.lottery.tickets import is_close_enough
from bipartite.mechanisms.anchored import MOST_VALUES, Anchored
from bipartite.mechanisms.checks import check_domain, too_few_tickets
from bipartite.mechanisms.design.anchors import check_circle, choose_lottery
from bipartite.mechanisms.design.minimax import MOST_ENTRIES
from bipartite.mechanisms.spec.fields import AGAIN, Field, check_fields, written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Literal

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.domains.losses import Loss
    from bipartite.lottery import Deal
    from bipartite.mechanisms.spec.fields import Fields

    AnchorSet = tuple[NDArray[np.int64], Tickets]
    """Anchors as ascending indices of values, and the tickets of the nearest anchor and of each other one."""


def _read_sets(fields: Fields, name: str) -> tuple[AnchorSet, ...]:
    domain, given = fields.domain, fields[name]
    if not isinstance(given, list) or not given or not all(isinstance(each, dict) for each in given):
        fields.refuse(f"Expected sets as a list of {{'anchors': […], 'tickets': {{…}}}}; {AGAIN}")
    _check_size(domain, len(given))
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
        squared loss, it was below 1e-6 for every ε from 0.01 to 10 that was tried; for a million values it is 0.01 %
        at ε = 1 and 0.2 % at ε = 3. For losses that are constant from some distance on, the search converges slowly
        and stops earlier (gap up to 1.3 %). On points and items the sets come from local search.
    epsilon
        The privacy budget of one report.
    loss
        None for the domain's own loss, ``"squared"``, or a non-decreasing function of that loss.

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
    >>> from bipartite.quality import worst_loss
    >>> mech = Minimax(Integers(1, 3), epsilon=1)
    >>> [(round(float(chance), 3), anchors) for chance, anchors in mech.sets], round(worst_loss(mech), 3)
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
        _check_size(domain, 1)
        choice = choose_lottery(domain, budget, loss)
        _check_size(domain, len(choice.sets))
        tickets = _tickets(budget, choice.weights, [len(each) for each in choice.sets])
        sets = tuple(zip(choice.sets, tickets, strict=True))
        self._hold(domain, budget, {"sets": sets}, achieved_loss=choice.loss, lower_bound=choice.lower)
        if progress is not None:
            progress(1.0)

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        _check_size(domain, len(facts["sets"]))
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


def _check_size(domain: Domain, sets: int) -> None:
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
