"""Which release of a place: the least expected loss among those that are ε-LDP on all places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bipartite.domains.regions import Regions, check_places
from bipartite.errors import InputError
from bipartite.locations.releases import BASELINE, PUBLISHED, WHOLE, measured, planar, whole_makers, within_row
from bipartite.lottery import Epsilon
from bipartite.mechanisms.design import check_prior

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Points
    from bipartite.locations.releases import Release
    from bipartite.mechanisms import Mechanism

    Prior = Sequence[float] | NDArray[np.float64] | None


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, beside everything that it was chosen from."""

    mechanism: Mechanism
    name: str
    table: tuple[Release, ...]
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
) -> Choice:
    """The ε-LDP release of a place with the least expected loss, and a table of all.

    GRR, BRR (safe and best), Exponential (tight), L-SRR (calibrated), Anchored and Constant, always the same place, on
    all places, and two levels and a region's weight where there are regions. GRR is among them, so the choice is never
    worse than GRR. L-SRR as published, the paper's protocol within regions and Planar Laplace stand in the table with
    what they really promise and spend, and are never chosen.

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
    """
    check_places(places)
    budget = Epsilon.of(epsilon).text
    weights = None if prior is None else check_prior(prior, len(places))
    parts = checked_regions(places, regions)
    made = {
        name: measured(WHOLE, name, budget, make, weights)
        for name, make in whole_makers(places, budget, weights, parts).items()
    }
    rows = [row for row, _ in made.values()]
    rows.append(within_row(parts, budget, "brr", weights))
    if per_km is not None:
        rows.append(planar(places, per_km, weights))
    # L-SRR as published may happen to keep its ε, but does not promise to.
    best = min((row for row in rows if row.eligible and row.name != PUBLISHED), key=lambda row: row.expected_loss)
    mechanism = made[best.name][1]
    plain = made[BASELINE][0]
    if mechanism is None or best.expected_loss > plain.expected_loss:
        msg = "the release chosen is worse than GRR, which was among those to choose from"
        raise AssertionError(msg)
    ranked = sorted(
        rows,
        key=lambda row: (row is not best, not row.eligible, row.expected_loss != row.expected_loss, row.expected_loss),
    )
    return Choice(mechanism, best.name, tuple(ranked), _reason(best, plain, ranked))


def checked_regions(places: Points, regions: Regions | None) -> Regions:
    """The regions to use: those given, if they are of these places."""
    if regions is None:
        return Regions.by_prefix(places)
    given: object = regions
    if not isinstance(given, Regions) or regions.places != places:
        msg = "Expected regions as bp.locations.Regions of the same places; make them with Regions.by_prefix(places)."
        raise InputError(msg)
    return regions


def _reason(best: Release, plain: Release, ranked: list[Release]) -> str:
    saved = 1 - best.expected_loss / plain.expected_loss if plain.expected_loss else 0.0
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
