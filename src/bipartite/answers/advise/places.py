"""Which release of a place: the least expected loss among those that are ε-LDP on all places; and the paper's table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.advise.advice import percent
from bipartite.answers.advise.candidates import ANCHORED
from bipartite.answers.advise.patience import constant_seconds
from bipartite.answers.advise.picking import NEAR
from bipartite.answers.advise.place_releases import (
    BASELINE,
    CALIBRATED,
    CONSTANT,
    PUBLISHED,
    WHOLE,
    WITHIN,
    measured,
    planar,
    rivals_within,
    unavailable,
    whole_makers,
    within_row,
)
from bipartite.answers.advise.recommending import LOOK_AT_ALL, clock_of
from bipartite.domains.regions import Regions, check_places, check_regions_of
from bipartite.errors import DesignError, InputError
from bipartite.lottery import Epsilon
from bipartite.lottery.rows import MOST_TICKET_COUNTS
from bipartite.mechanisms import Anchored
from bipartite.mechanisms.design.m import check_prior
from bipartite.mechanisms.design.regional import parts as places_by_region
from bipartite.texts import Printed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.answers.advise.patience import Clock
    from bipartite.answers.advise.place_releases import Maker, PlaceRelease
    from bipartite.domains import Points
    from bipartite.mechanisms import Mechanism

    Prior = Sequence[float] | NDArray[np.float64] | None

EPSILONS: Final = ("0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2")
"""The budgets of the paper's figure."""


@dataclass(frozen=True, slots=True, repr=False)
class Choice(Printed):
    """The chosen release, and everything it was chosen from."""

    mechanism: Mechanism
    name: str
    table: tuple[PlaceRelease, ...]
    """The one chosen, then all others by expected loss; those that are not ε-LDP say so, and come last."""
    reason: str

    def to_rows(self) -> list[dict[str, Any]]:
        """The table as dicts."""
        return [row.to_dict() for row in self.table]

    def __str__(self) -> str:
        width = max(len(row.name) for row in self.table)
        lines = [
            f"{row.name:<{width}}  {row.scope:<14}  {row.expected_loss:>10.1f} km  ε {row.realised_epsilon:>7.4f}  "
            f"{row.note or row.guarantee}"
            for row in self.table
        ]
        return "\n".join([self.reason, *lines])


def choose(
    places: Points,
    epsilon: object,
    *,
    prior: Prior = None,
    regions: Regions | None = None,
    per_km: object = None,
    seconds: float | Clock | None = None,
) -> Choice:
    """The ε-LDP release of a place with the least expected loss, and a table of all.

    GRR, BRR (safe and best), Exponential (tight), L-SRR (calibrated), Anchored and Constant, always the same place, on
    all places, and two levels and a region's weight where there are regions. GRR is among them, so the choice is never
    worse than GRR. L-SRR as published, the paper's protocol within regions and Planar Laplace are in the table with
    what they really guarantee and spend, and are never chosen.

    Parameters
    ----------
    places
        Public candidates, from :func:`bipartite.locations.places`.
    epsilon
        The privacy budget of one report.
    prior
        Public probabilities of the places, None for uniform. Never estimate them from private data.
    regions
        None for :meth:`Regions.by_prefix`.
    per_km
        ε per km, to show Planar Laplace too (at most 1,024 places).
    seconds
        Take the best that is found in this time. No step is begun later; the search for anchors is stopped. Where
        finding the best constant answer would take most of the time, it is left out.

    Notes
    -----
    Anchored is made first, and its bound holds for every ε-LDP release of these places. On more than 4,096 of them,
    where that bound is within 5 %, nothing else is made: all distances would be needed for each. The choice is that of
    :func:`bipartite.recommend` for single values, but for releases that use regions.
    """
    check_places(places)
    budget = Epsilon.of(epsilon).text
    weights = None if prior is None else check_prior(prior, len(places))
    parts = _checked_regions(places, regions)
    clock = clock_of(seconds)
    makers = whole_makers(places, budget, weights, parts, clock.check)
    made, left = _made(makers, budget, weights, clock, places)
    rows = [row for row, _ in made.values()]
    if not left:
        rows.append(within_row(parts, budget, "brr", weights))
    if per_km is not None:
        rows.append(planar(places, per_km, weights))
    # L-SRR as published may happen to keep its ε, but does not promise to.
    best = min((row for row in rows if row.eligible and row.name != PUBLISHED), key=lambda row: row.expected_loss)
    mechanism = made[best.name][1]
    plain = made[BASELINE][0]
    if mechanism is None or best.expected_loss > plain.expected_loss:
        raise AssertionError("the release chosen is worse than GRR, which was among those to choose from")
    ranked = sorted(
        rows,
        key=lambda row: (row is not best, not row.eligible, row.expected_loss != row.expected_loss, row.expected_loss),
    )
    return Choice(mechanism, best.name, tuple(ranked), _reason(best, plain, ranked))


def _made(
    makers: dict[str, Maker], epsilon: str, weights: NDArray[np.float64] | None, clock: Clock, places: Points
) -> tuple[dict[str, tuple[PlaceRelease, Mechanism | None]], str]:
    """Every release and its row, and why some were left out: no time, or nothing can be much better."""
    made: dict[str, tuple[PlaceRelease, Mechanism | None]] = {}
    left = ""
    # The constant answer stands beside whatever is taken, if there is time for it.
    for name in sorted(makers, key=lambda each: (each != CONSTANT, each != ANCHORED)):
        if left or (name == CONSTANT and not clock.allows(constant_seconds(places))):
            made[name] = unavailable(WHOLE, name, epsilon, left or clock.note), None
            continue
        made[name] = measured(WHOLE, name, epsilon, makers[name], weights)
        mechanism = made[name][1]
        gap = mechanism.gap if isinstance(mechanism, Anchored) else None
        if gap is not None and gap <= NEAR and len(places) > LOOK_AT_ALL:
            left = f"left out: {ANCHORED} is proved to be within {percent(gap)} of the best ε-LDP release"
        elif name != CONSTANT and clock.is_over:
            left = clock.note
    return {name: made[name] for name in makers}, left


def compare(
    places: Points,
    epsilons: Iterable[object] = EPSILONS,
    *,
    prior: Prior = None,
    regions: Regions | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[PlaceRelease]:
    """One row for each ε and release, on all places and within regions, each with what it really guarantees.

    ``progress`` is told each ε that is done. For 1000 places an ε takes a few seconds. More than 5,792 places are
    refused at once: some rivals hold a ticket count for every pair of them, at most 2^25.
    """
    check_places(places)
    if len(places) ** 2 > MOST_TICKET_COUNTS:
        raise DesignError(
            f"Expected at most {math.isqrt(MOST_TICKET_COUNTS):,} places to compare every release, got "
            f"{len(places):,}: L-SRR and Exponential hold a ticket count for every pair, at most 2^25. Take some of "
            "them, or the best release of all with bp.locations.choose."
        )
    budgets = [Epsilon.of(each).text for each in epsilons]
    if not budgets:
        raise InputError("Expected one ε or more, got none; leave epsilons out for those of the paper.")
    weights = None if prior is None else check_prior(prior, len(places))
    chosen = _checked_regions(places, regions)
    domains = places_by_region(chosen)
    rows = []
    for budget in budgets:
        makers = whole_makers(places, budget, weights, chosen)
        rows += [measured(WHOLE, name, budget, make, weights)[0] for name, make in makers.items()]
        rows += [within_row(chosen, budget, inside, weights) for inside in ("grr", "brr")]
        rows += rivals_within(chosen, domains, budget, weights)
        if progress is not None:
            progress(budget)
    return rows


@dataclass(frozen=True, slots=True)
class Improvement:
    """How far a release lies below a rival, as a share of the rival's expected loss: 0.087 is 8.7 %."""

    scope: str
    name: str
    rival: str
    by_epsilon: dict[str, float]
    mean: float

    def __repr__(self) -> str:
        return f"<Improvement: {self.name} {self.mean:.1%} below {self.rival} on average, {self.scope}>"

    def to_dict(self) -> dict[str, Any]:
        """The figures, flat: one key for each ε."""
        head = {"scope": self.scope, "name": self.name, "rival": self.rival, "mean": self.mean}
        return head | {f"at {epsilon}": share for epsilon, share in self.by_epsilon.items()}


def improvements(rows: Sequence[PlaceRelease], name: str = "BRR safe") -> list[Improvement]:
    """How far ``name`` lies below L-SRR as published and calibrated, in both scopes.

    The paper compares with L-SRR as published, within regions. That one spends more than its ε (``epsilon_within``), so
    the fair rival is the calibrated one. Where one of the two could not be made, nothing is said.
    """
    if not {row.name for row in rows} >= {name, PUBLISHED, CALIBRATED}:
        raise InputError(f"Expected rows of {name!r} and of L-SRR; make them with bp.locations.compare.")
    found = []
    for scope in (WITHIN, WHOLE):
        # A release that could not be made has no loss to compare.
        losses = {
            (row.name, row.epsilon): row.expected_loss for row in rows if row.scope == scope and row.expected_loss > 0
        }
        epsilons = [epsilon for each, epsilon in losses if each == name]
        for rival in (PUBLISHED, CALIBRATED):
            shares = {
                epsilon: 1 - losses[name, epsilon] / losses[rival, epsilon]
                for epsilon in epsilons
                if (rival, epsilon) in losses
            }
            if shares:
                found.append(Improvement(scope, name, rival, shares, float(np.mean(list(shares.values())))))
    return found


def _checked_regions(places: Points, regions: Regions | None) -> Regions:
    """The regions to use: those given, if they are of these places."""
    if regions is None:
        return Regions.by_prefix(places)
    check_regions_of(places, regions)
    return regions


def _reason(best: PlaceRelease, plain: PlaceRelease, ranked: list[PlaceRelease]) -> str:
    saved = 1 - best.expected_loss / plain.expected_loss if plain.expected_loss else 0.0
    if plain.note.startswith("left out"):
        constant = next(row for row in ranked if row.name == CONSTANT)
        beside = "" if constant.note else f" (always the same place: {constant.expected_loss:.1f} km)"
        mean = f"{best.expected_loss:.1f} km expected{beside}"
        return f"{best.name}: {mean} with ε = {best.epsilon}; others were {plain.note}."
    beside = "GRR cannot be made with this ε"
    if best.name == plain.name:
        beside = "and nothing lies below it"
    elif not plain.note:
        beside = f"{saved:.0%} below GRR ({plain.expected_loss:.1f} km)"
    second = next((row for row in ranked if row.eligible and row.name not in {best.name, PUBLISHED}), None)
    next_best = "" if second is None else f", {second.name} {second.expected_loss:.1f} km"
    return (
        f"{best.name}: {best.expected_loss:.1f} km expected, {beside}{next_best}; the least of all that are ε-LDP on "
        f"all places with ε = {best.epsilon}."
    )
