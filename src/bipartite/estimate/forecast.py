"""How far an estimate from n reports will be from the population, before anything is collected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bipartite.categories import CategoryMechanism
from bipartite.design import check_prior
from bipartite.domains import LineDomain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism


@dataclass(frozen=True, slots=True)
class Forecast:
    """Standard errors of estimates from the reports of so many people."""

    people: int
    identifiable: bool
    rank: int
    mean: float | None
    histogram: float | None
    cdf: float | None


def forecast(
    mechanism: Mechanism | CategoryMechanism,
    people: int,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
) -> Forecast:
    """The standard errors of what can be estimated from the reports of ``people`` people."""
    domain = mechanism.domain
    size = len(domain)
    weights = np.full(size, 1 / size) if prior is None else check_prior(prior, size)
    line = isinstance(domain, LineDomain)
    if isinstance(mechanism, CategoryMechanism):
        given = mechanism.variances(weights, people) + weights * (1 - weights) / people
        return Forecast(people, True, size, None, float(np.sqrt(given.mean())), None)  # noqa: FBT003
    rows = mechanism.matrix()
    reports = weights @ rows
    information = (rows / reports) @ rows.T
    values, vectors = np.linalg.eigh(information)
    kept = values > values[-1] * 1e-11
    rank = int(kept.sum())
    inverse = (vectors[:, kept] / values[kept]) @ vectors[:, kept].T

    def error(functionals: NDArray[np.float64]) -> float | None:
        projected = functionals @ vectors[:, ~kept]
        if (np.abs(projected) > 1e-7 * np.abs(functionals).max()).any():
            return None
        variances = ((functionals @ inverse) * functionals).sum(axis=1) - (functionals @ weights) ** 2
        return float(np.sqrt(np.maximum(variances, 0).mean() / people))

    full = rank == size
    return Forecast(
        people,
        full,
        rank,
        error(domain.to_numpy()[None, :].astype(float)) if line else None,
        error(np.eye(size)) if full else None,
        error(np.tri(size)[:-1]) if line and full else None,
    )
