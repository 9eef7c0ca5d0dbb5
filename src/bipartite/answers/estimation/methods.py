"""The shares of all values by each method, and their standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from bipartite.answers.estimation.em import fit_em, fit_ems, spread_out
from bipartite.answers.estimation.operator import Operator, operator_of
from bipartite.answers.estimation.scores import MOST_DENSE
from bipartite.domains import LineDomain
from bipartite.errors import DesignError, InputError, is_one_of, shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.answers.estimation.em import Fit
    from bipartite.answers.estimation.evidence import Evidence
    from bipartite.answers.estimation.identify import Identifiability
    from bipartite.answers.estimation.scores import Scores
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

Method = Literal["auto", "inverse", "projected", "em", "ems"]
METHODS: Final = ("auto", "inverse", "projected", "em", "ems")
TELLING: Final = 0.5
"""Unbiased shares are worth showing while their standard errors stay below this part of an average share."""


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """Shares of all values, in the order of the domain."""

    method: str
    reason: str
    frequencies: Array
    fit: Fit | None


def choose(method: object, found: Identifiability, scores: Scores | None, people: float) -> tuple[str, str]:
    """(the method, why)."""
    if not is_one_of(method, METHODS):
        names = ", ".join(map(repr, METHODS))
        msg = f"Expected method as one of {names}, got {shown(method)}."
        raise InputError(msg)
    line = isinstance(found.domain, LineDomain)
    if method in {"inverse", "projected"} and (scores is None or not found.identifiable):
        other = "'ems' or 'em'" if line else "'em'"
        pad = ", or collect with edges='padded'" if line else ", or collect with GRR"
        msg = (
            f"method={method!r} needs a mechanism that tells all values apart, and this one does not: {found}; use "
            f"method={other}, which spreads what cannot be told apart{pad}."
        )
        raise InputError(msg)
    if method == "ems" and not line:
        msg = "method='ems' smooths over neighbours on a line, and points and items have no order; use method='em'."
        raise InputError(msg)
    if method != "auto":
        return str(method), "asked for"
    if scores is None or not found.identifiable:
        reason = "not all shares can be estimated without bias"
        return ("ems", f"{reason}; neighbours are taken to be alike") if line else ("em", reason)
    if not line:
        return "inverse", "all shares can be estimated without bias"
    typical = _typical_error(scores, found) / np.sqrt(people)
    if typical <= TELLING / len(found.domain):
        return "inverse", "unbiased, and its errors are small beside an average share"
    return "ems", "unbiased shares would be mostly noise with so many values; neighbours are taken to be alike"


def _typical_error(scores: Scores, found: Identifiability) -> float:
    """The standard error of a share from one report, root mean square, for a uniform population."""
    size = len(found.domain)
    law = _uniform_law(found)
    return float(np.sqrt(np.maximum(scores.shares(law).square - 1 / size**2, 0.0).mean()))


def _uniform_law(found: Identifiability) -> Array:
    weights = np.bincount(found.group_of, minlength=found.rows) / len(found.domain)
    distinct = found.distinct
    return distinct.forward(weights) if isinstance(distinct, Operator) else weights @ distinct


def histogram(
    mechanism: Mechanism,
    evidence: Evidence,
    found: Identifiability | None,
    scores: Scores | None,
    method: object,
    *,
    progress: Callable[[int], None] | None,
) -> Histogram:
    """The shares by one method."""
    people = evidence.effective
    name, reason = ("em", "too many values to decide which can be told apart")
    if found is not None:
        name, reason = choose(method, found, scores, people)
    if found is not None and scores is not None and name in {"inverse", "projected"}:
        shares: Array = scores.shares(evidence.law).mean[found.group_of]
        return Histogram(name, reason, shares if name == "inverse" else on_simplex(shares), None)
    operator = operator_of(mechanism)
    # As many reports as they are worth, so that the stopping rules mean the same with weights.
    counts = evidence.law * people
    fit = (fit_em if name == "em" else fit_ems)(operator, counts, progress=progress)
    return Histogram(name, reason, fit.frequencies, fit)


def on_simplex(shares: Array) -> Array:
    """The distribution nearest to these shares (Euclidean): each lowered by the same amount, and none below zero."""
    falling = np.sort(shares)[::-1]
    excess = (falling.cumsum() - 1) / np.arange(1, len(shares) + 1)
    kept = int(np.count_nonzero(falling > excess))
    nearest: Array = np.maximum(shares - excess[kept - 1], 0.0)
    return nearest


def unbiased_shares(scores: Scores, evidence: Evidence, *, of_sample: bool) -> tuple[Array, Array]:
    """(the unbiased share of each row, its variance): what ``Evidence`` has for one score, for all rows."""
    mean = scores.shares(evidence.law).mean
    total = float(evidence.second.sum())
    squared = scores.shares(evidence.second / total)
    part = total / evidence.size**2
    if of_sample:
        # A person counts 1 or 0, which is its own square, so that the score of the square is the score.
        return mean, np.maximum(squared.square - squared.mean, 0.0) * part
    return mean, np.maximum(squared.square - 2 * mean * squared.mean + mean**2, 0.0) * (part * evidence.correction)


def standard_errors(
    shown_by: Histogram,
    mechanism: Mechanism,
    evidence: Evidence,
    found: Identifiability,
    scores: Scores | None,
    *,
    of_sample: bool,
) -> Array:
    """The standard error of every share, for the method that gave them.

    - ``inverse``, ``projected``: of the unbiased share, from the sample variance of its score.
    - ``em``: from the information matrix at the fit, as if no share were at the limit 0; infinite for shares that
      cannot be told apart.
    - ``ems``: of the smoothed share, by the delta method at the fixed point of EM with smoothing. What smoothing
      biases, it does not show; infinite for shares that cannot be told apart, which smoothing only makes up.
    """
    people = evidence.effective
    if shown_by.method in {"inverse", "projected"}:
        assert scores is not None  # noqa: S101 (there is a histogram of it)
        return np.sqrt(unbiased_shares(scores, evidence, of_sample=of_sample)[1][found.group_of])
    shares = shown_by.frequencies
    law = operator_of(mechanism).forward(shares)
    if shown_by.method == "ems":
        smoothed = _smoothed_variance(mechanism, evidence, shares, law, of_sample=of_sample) / people
        return np.where(_told_apart(found, scores), np.sqrt(smoothed), np.inf)
    variance = _information_variance(found, law, shares)
    if of_sample:
        # What chance adds by who happens to be in the sample, f(1 − f)/n, is no error for the sample itself.
        variance = variance - shares * (1 - shares)
    errors: Array = np.sqrt(np.maximum(variance, 0.0) / people)
    return errors


def _information_variance(found: Identifiability, law: Array, shares: Array) -> Array:
    """The variance of each share times n, by the information matrix at this fit."""
    alone = np.bincount(found.group_of, minlength=found.rows)[found.group_of] == 1
    scores = found.scores(law)
    if found.groups_identifiable:
        square = scores.shares(law).square[found.group_of]
    else:
        each = [scores.of(row) for row in np.eye(found.rows)]
        square = np.array([np.inf if u is None else law @ u**2 for u in each])[found.group_of]
    return np.where(alone, square - shares**2, np.inf)


def _told_apart(found: Identifiability, scores: Scores | None) -> NDArray[np.bool_]:
    """Which values have a share that some score is unbiased for."""
    told: NDArray[np.bool_] = np.bincount(found.group_of, minlength=found.rows)[found.group_of] == 1
    if not found.groups_identifiable:
        fixed = [scores is not None and scores.of(row) is not None for row in np.eye(found.rows)]
        told &= np.array(fixed)[found.group_of]
    return told


def _smoothed_variance(
    mechanism: Mechanism, evidence: Evidence, shares: Array, law: Array, *, of_sample: bool
) -> Array:
    """The variance of each smoothed share times n.

    EMS ends where f = S(f∘g), g = P(c/(n·fᵀP)). With small changes δc of the counts and δf of the shares,
    δf = S(g∘δf − f∘Hδf + f∘P(δc/(n·fᵀP))), H = P·diag(c/(n·(fᵀP)²))·Pᵀ, which is solved for δf.
    """
    size = len(shares)
    if size > MOST_DENSE:
        msg = (
            f"Standard errors of smoothed shares are computed for at most {MOST_DENSE} values, got {size}; ask for the "
            "interval of a mean, a quantile or the share up to a value, or estimate on a coarser domain."
        )
        raise DesignError(msg)
    operator = operator_of(mechanism)
    matrix = operator.forward(np.eye(size))
    seen = evidence.law
    slopes = operator.backward(np.divide(seen, law, out=np.zeros_like(law), where=seen > 0))
    curvature = (matrix * np.divide(seen, law**2, out=np.zeros_like(law), where=seen > 0)) @ matrix.T
    smooth = spread_out(np.eye(size)).T
    change = np.eye(size) - smooth @ (np.diag(slopes) - shares[:, None] * curvature)
    reply = np.linalg.solve(change, smooth @ (shares[:, None] * matrix / law))
    # Given the people, what each one's expected part of the answer is does not vary.
    fixed = (reply @ matrix.T) ** 2 @ shares if of_sample else (reply @ law) ** 2
    variance: Array = np.maximum(reply**2 @ law - fixed, 0.0)
    return variance
