r"""Small groups, drawn towards each other: the model of Fay and Herriot.

The direct answer y of a small group has a large error, and that of a private survey a larger one. The model borrows
from the other groups: true answers θᵢ = xᵢᵀβ + vᵢ scatter around a line of public covariates x (or around one mean)
with vᵢ ~ N(0, A), and yᵢ = θᵢ + eᵢ with eᵢ ~ N(0, Dᵢ) (Fay, Herriot, JASA 74, 1979). Given A, the best prediction is
γᵢ·yᵢ + (1 − γᵢ)·xᵢᵀβ̂ with γᵢ = A/(A + Dᵢ).

A is hardly known from a few groups, and to put one number in its place makes intervals too short: with the REML
estimate and the errors of Prasad and Rao (JASA 1990) and Datta and Lahiri (Statistica Sinica 2000) those of 95 % held
as seldom as 91 % (``bench/results/surveys.md``). So A is averaged over: every A ≥ 0 counts by its restricted
likelihood, which is a Bayesian analysis with flat priors on A and β (Morris, Tang, Statistical Science 26, 2011). There
is nothing to maximize, A is never taken for zero, and the errors know how uncertain it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from bipartite.answers.estimation.difference import NOT_TOLD
from bipartite.answers.estimation.intervals import FEW, ConfidenceInterval, check_confidence, normal_width, within
from bipartite.answers.estimation.showing import load_pandas
from bipartite.answers.surveys.contrasts import disjoint_groups
from bipartite.answers.surveys.poststratification import linear_question
from bipartite.errors import InputError, shown
from bipartite.texts import Printed, Table, in_digits

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.question import Asked, Question

    Array = NDArray[np.float64]

_NODES: Final = 512
_SPARE: Final = 3  # groups beyond the coefficients, without which the average over A does not exist
_POOLED: Final = 100
"""The variance of a group's scores is averaged with that of all groups, which counts as if it had so many reports."""
_MODEL: Final = "a model: holds on average over groups that follow it, not for each group"
_HEADING: Final = "by the model of Fay and Herriot: intervals hold on average over groups that follow it, not for each"


class SmallGroup(NamedTuple):
    """What is said about one group: the direct answer, and what the model makes of it."""

    nobs: int
    direct: float
    direct_se: float
    """As the model takes it: that of a few reports is smoothed over all groups."""
    value: float
    """The prediction of the model."""
    rmse: float
    """The root mean squared error of the prediction, if the model holds."""
    weight: float
    """How much of the prediction is the direct answer: γ."""
    interval: ConfidenceInterval
    """value ± z·rmse, cut to what some population could give."""


@dataclass(frozen=True, slots=True, repr=False)
class SmallGroups(Printed, Mapping[Any, SmallGroup]):
    """A :class:`SmallGroup` for each label; ``print`` shows a table."""

    groups: dict[Any, SmallGroup]
    coefficients: tuple[float, ...]
    """β: the intercept and one for each covariate."""
    spread: float
    """√A, the standard deviation of true answers around their line: its posterior median."""

    def __getitem__(self, label: object) -> SmallGroup:
        return self.groups[label]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.groups)

    def __len__(self) -> int:
        return len(self.groups)

    def to_frame(self) -> DataFrame:
        """A row for every group: group, n, direct, direct_se, value, rmse, weight, low, high."""
        columns = ["group", "n", "direct", "direct_se", "value", "rmse", "weight", "low", "high"]
        rows = [(label, *each[:-1], *each.interval) for label, each in self.groups.items()]
        found: DataFrame = load_pandas("the groups").DataFrame(rows, columns=columns)
        return found

    def __str__(self) -> str:
        return "\n".join(self._parts())

    def _parts(self) -> list[str]:
        sure = next(iter(self.groups.values())).interval.confidence
        lines = [("group", "n", "direct", "±", "model", f"{100 * sure:g} % interval", "weight")]
        for label, each in self.groups.items():
            value, low, high = in_digits(each.value, *each.interval)
            direct, *_ = in_digits(each.direct, *(each.direct + side * each.direct_se for side in (-2, 2)))
            lines.append((str(label), f"{each.nobs:,}", direct, f"{each.direct_se:.2g}", value, f"{low} to {high}",
                          f"{each.weight:.2f}"))  # fmt: skip
        return [f"{len(self)} groups {_HEADING}", Table(lines)]


def small_groups(
    ests: Mapping[Any, Estimate],
    of: Asked = "mean",
    *,
    covariates: Mapping[Any, float | tuple[float, ...]] | None = None,
    confidence: float = 0.95,
) -> SmallGroups:
    r"""The answers of small groups, drawn towards the other groups by the model of Fay and Herriot.

    ``ests`` are the groups of ``bp.estimate(mech, reports, by=…)`` and ``of`` is "mean", a share such as ("range",
    first, last), or one weight per value. ``covariates`` gives one or several public numbers for each group: true
    answers are then expected on a line of them instead of around one mean.

    **This is a model.** Its intervals hold on average over the groups if true answers scatter normally around that
    line, given A and β with flat priors. For one given group they need not: a group unlike all others is drawn towards
    them, and its interval may hardly ever hold the truth. The direct answers, ``ests[label].ask(of)``, need no model.

    Direct answers are unbiased averages of scores. The model takes their variances Dᵢ as known; but that of a few
    reports is noise itself, even zero by chance, and of private reports mostly that of the mechanism, which all groups
    share. So Dᵢ = ((nᵢ − 1)·sᵢ² + 100·s²)/(nᵢ + 99)/nᵢ, with s² pooled over the groups of the same mechanism.

    Fay, Herriot, *Estimates of income for small places*, JASA 74, 1979; Morris, Tang, *Estimating random effects via
    adjustment for density maximization*, Statistical Science 26, 2011.

    >>> import numpy as np
    >>> from bipartite import BRR, Integers, estimate, insecure_seed
    >>> mech = BRR(Integers(1, 10), epsilon=2, edges="padded")
    >>> sizes = [40, 80, 120, 400, 2000]
    >>> towns, values = np.repeat(["A", "B", "C", "D", "E"], sizes), np.repeat([4, 5, 4, 5, 5], sizes)
    >>> print(small_groups(estimate(mech, mech.privatize(values, rng=insecure_seed(1)), by=towns)))
    5 groups by the model of Fay and Herriot: intervals hold on average over groups that follow it, not for each
    group      n  direct      ±  model  95 % interval  weight
    A         40     5.3   0.64    5.1     4.1 to 6.0    0.53
    B         80     5.0   0.42    4.9     4.2 to 5.6    0.67
    C        120     4.1   0.33    4.3     3.6 to 4.9    0.74
    D        400    4.86   0.19   4.85   4.50 to 5.21    0.86
    E      2,000    4.96  0.081   4.96   4.80 to 5.11    0.96
    """
    sure, groups = check_confidence(confidence), disjoint_groups(ests, 1 + _SPARE)
    x = _design(groups, covariates)
    if len(groups) < x.shape[1] + _SPARE:
        raise InputError(
            f"Expected at least {x.shape[1] + _SPARE} groups for {x.shape[1]} coefficients, got {len(groups)}; leave "
            "covariates out, or ask for direct answers."
        )
    asked, y, variances = _direct(groups, of)
    fit = fay_herriot(y, variances, x)
    half = normal_width(sure) * fit.rmse
    low, high = within(fit.value - half, fit.value + half, fit.value, asked.possible)
    made = {}
    for at, (label, each) in enumerate(groups.items()):
        direct = float(y[at]), float(np.sqrt(variances[at]))
        model = float(fit.value[at]), float(fit.rmse[at]), float(fit.weight[at])
        interval = ConfidenceInterval(float(low[at]), float(high[at]), sure, _MODEL)
        made[label] = SmallGroup(each.nobs, *direct, *model, interval)
    return SmallGroups(made, tuple(fit.coefficients.tolist()), fit.spread)


class Fit(NamedTuple):
    """The model, averaged over A."""

    value: Array
    rmse: Array
    weight: Array
    coefficients: Array
    spread: float


def fay_herriot(y: Array, variances: Array, x: Array) -> Fit:
    """Posterior means and errors of θ given direct answers, with flat priors on A and β."""
    # In orthogonal columns large covariates lose no digits: a change of β, and a constant in the likelihood.
    q, back = np.linalg.qr(x)
    t, weights = _nodes()
    # A = c·(t/(1 − t))²: with c near A + D the likelihood is smooth in t, and dA takes the place of its tail.
    c = float(variances.mean() + np.var(y))
    a = c * (t / (1 - t)) ** 2
    total = a[:, None] + variances
    log, beta, spread = restricted(y, total, q)
    log += np.log(weights * t) - 3 * np.log1p(-t)
    p = np.exp(log - log.max())
    p /= p.sum()
    gamma = a[:, None] / total
    means = gamma * y + (1 - gamma) * (beta @ q.T)
    # Given A: the error of the best prediction, and that of its line.
    given = gamma * variances + (1 - gamma) ** 2 * np.einsum("ij,gjk,ik->gi", q, spread, q)
    value = p @ means
    return Fit(
        value,
        np.sqrt(p @ (given + (means - value) ** 2)),
        p @ gamma,
        np.linalg.solve(back, p @ beta),
        float(np.interp(0.5, p.cumsum() - p / 2, np.sqrt(a))),
    )


@cache
def _nodes() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return (nodes + 1) / 2, weights


def restricted(y: Array, total: Array, x: Array) -> tuple[Array, Array, Array]:
    """For each row of total variances A + D: the restricted log-likelihood, up to a constant, β̂, and its covariance."""
    inverse = np.linalg.inv(np.einsum("gi,ij,ik->gjk", 1 / total, x, x))
    beta = np.einsum("gjk,gk->gj", inverse, (y / total) @ x)
    squares = ((y - beta @ x.T) ** 2 / total).sum(axis=1)
    return (np.linalg.slogdet(inverse)[1] - np.log(total).sum(axis=1) - squares) / 2, beta, inverse


def _direct(groups: Mapping[Any, Estimate], of: Asked) -> tuple[Question, Array, Array]:
    """The direct answers and their variances."""
    asked = linear_question(of, next(iter(groups.values())).domain, "ask about ('cdf', value)")
    answers, squares, sizes, kinds = [], [], [], []
    for each in groups.values():
        sample = each._source.sample(asked.weights[None], fitted=asked.kind == "share")
        if sample is None:
            raise InputError(NOT_TOLD)
        answers.append(asked.shift + asked.scale * float(sample.mean[0]))
        squares.append(asked.scale**2 * float(sample.variances[0]) * sample.n if sample.n > 1 else 0.0)
        sizes.append(sample.n)
        # Fitted scores, which a share has from 50 reports on, vary less than others.
        kinds.append((each.mechanism, asked.kind == "share" and sample.n >= FEW))
    n, own = np.array(sizes), np.array(squares)
    degrees = np.maximum(n - 1, 0.0)
    pooled = np.empty_like(own)
    for kind in kinds:
        alike = np.array([other == kind for other in kinds])
        pooled[alike] = (degrees * own)[alike].sum() / max(degrees[alike].sum(), 1e-9)
    variances = (degrees * own + _POOLED * pooled) / (degrees + _POOLED) / n
    if not (variances > 0).all():
        raise InputError(
            "The scores of some groups do not vary, or these have a single report each, so there are no standard "
            "errors; merge them with others."
        )
    return asked, np.array(answers), variances


def _design(groups: Mapping[Any, Estimate], covariates: object) -> Array:
    """A row for each group: 1 and its covariates."""
    if covariates is None:
        return np.ones((len(groups), 1))
    missing = [label for label in groups if not isinstance(covariates, Mapping) or label not in covariates]
    if missing:
        raise InputError(f"Expected covariates as a dict of public numbers by group, without {shown(missing[0])}.")
    assert isinstance(covariates, Mapping)  # noqa: S101 (or all were missing)
    try:
        rows = np.array([np.ravel(covariates[label]) for label in groups], dtype=np.float64)
    except (TypeError, ValueError):
        rows = np.full((1, 1), np.nan)
    if not np.isfinite(rows).all():
        raise InputError("Expected covariates as finite numbers, equally many for every group.")
    x = np.column_stack([np.ones(len(rows)), rows])
    # The rank is counted relative to the largest column, so all are made equally large.
    if np.linalg.matrix_rank(x / np.maximum(np.abs(x).max(axis=0), 1e-300)) < x.shape[1]:
        raise InputError("Some covariates are the same for all groups, or follow from others; leave them out.")
    return x
