"""The paper's experiment on places, for every ε and every rival, on all places and within regions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains.regions import check_places
from bipartite.errors import InputError
from bipartite.locations.choosing import checked_regions
from bipartite.locations.releases import (
    CALIBRATED,
    PUBLISHED,
    WHOLE,
    WITHIN,
    measured,
    rivals_within,
    whole_makers,
    within_row,
)
from bipartite.lottery import Epsilon
from bipartite.mechanisms.design import check_prior
from bipartite.mechanisms.design.regional import parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from bipartite.domains import Points
    from bipartite.domains.regions import Regions
    from bipartite.locations.choosing import Prior
    from bipartite.locations.releases import Release

EPSILONS: Final = ("0.25", "0.5", "0.75", "1", "1.25", "1.5", "1.75", "2")
"""The budgets of the paper's figure."""


def compare(
    places: Points,
    epsilons: Iterable[object] = EPSILONS,
    *,
    prior: Prior = None,
    regions: Regions | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Release]:
    """One row for each ε and release, on all places and within regions, each with what it really promises.

    ``progress`` is told each ε that is done. For 1000 places an ε takes a few seconds.
    """
    check_places(places)
    budgets = [Epsilon.of(each).text for each in epsilons]
    if not budgets:
        msg = "Expected one ε or more, got none; leave epsilons out for those of the paper."
        raise InputError(msg)
    weights = None if prior is None else check_prior(prior, len(places))
    chosen = checked_regions(places, regions)
    domains = parts(chosen)
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

    def to_dict(self) -> dict[str, Any]:
        """The figures, flat: one key for each ε."""
        head = {"scope": self.scope, "name": self.name, "rival": self.rival, "mean": self.mean}
        return head | {f"at {epsilon}": share for epsilon, share in self.by_epsilon.items()}


def improvements(rows: Sequence[Release], name: str = "BRR safe") -> list[Improvement]:
    """How far ``name`` lies below L-SRR as published and calibrated, in both scopes.

    The paper compares with L-SRR as published, within regions. That one spends more than its ε (``epsilon_within``), so
    the fair rival is the calibrated one. Where one of the two could not be made, nothing is said.
    """
    if not {row.name for row in rows} >= {name, PUBLISHED, CALIBRATED}:
        msg = f"Expected rows of {name!r} and of L-SRR; make them with bp.locations.compare."
        raise InputError(msg)
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
