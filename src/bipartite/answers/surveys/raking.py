"""Raking: weights that meet the public totals of several columns at once, and averages with these weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.estimating import from_tally, rows_of
from bipartite.answers.estimation.sample import Sample
from bipartite.answers.estimation.tally import Tally, check_weights
from bipartite.answers.surveys.poststratification import Adjusted, linear_question, listed, sample_of, totals_of
from bipartite.errors import InputError, how_many, shown
from bipartite.mechanisms.base import check_mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.answer import Answer
    from bipartite.answers.estimation.question import Asked
    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]
    Columns = Mapping[str, Any] | Any  # or a frame
    Totals = Mapping[str, Mapping[Any, float]]

_SAME: Final = 1e-6  # of totals of two columns, which may be rounded
_CLOSE: Final = 1e-12  # of the totals that weights meet
_ROUNDS: Final = 10_000
_FREE: Final = 1e-9


def raking_weights(columns: Columns, totals: Totals, weights: object = None) -> Array:
    """One weight per person, such that the weights of each label of each column add up to its public total.

    ``columns``, a mapping or a frame, has a public label per person for each name, and ``totals`` the number of people
    in the population, or their share, for each label: ``{"sex": {"f": 0.51, "m": 0.49}, "region": {…}}``. The weights
    are the starting ``weights`` (all equal, or one over the probability of being in the sample) times one factor per
    label, by iterative proportional fitting (Deming, Stephan, Annals of Mathematical Statistics 1940), until all totals
    are met to 12 digits; if they never are, an error says which.

    They are computed from public columns alone, so no report is looked at and ε stays as it is. A column that is *not*
    public must not be used: its labels would have to be known, and they are not protected by anybody's ε.

    >>> columns = {"sex": ["f", "f", "f", "m"], "region": ["north", "north", "south", "south"]}
    >>> raking_weights(columns, {"sex": {"f": 0.5, "m": 0.5}, "region": {"north": 0.4, "south": 0.6}}).round(3)
    array([0.2, 0.2, 0.1, 0.5])
    """
    return Raking.of(columns, totals, weights).weights


def rake(
    mechanism: Mechanism,
    reports: object,
    columns: Columns,
    totals: Totals,
    of: Asked = "mean",
    *,
    weights: object = None,
) -> Answer:
    r"""The answer of a population with these public totals, from reports that need not be like it: Σ w·u / Σ w.

    The weights w are those of :func:`raking_weights`, and u the scores of the reports (:func:`bipartite.scores`), so
    ``of`` is "mean", ("range", first, last), ("cdf", value), ("bin", value) or one weight per value.

    Weights that meet the totals leave no error in what the columns explain. The variance is Σ (w·e)²/(1 − h) / (Σ w)²,
    with e the residual of a score after a regression on all labels with these weights, and h its leverage (Deville,
    Särndal, *Calibration estimators in survey sampling*, JASA 1992; Deville, Särndal, Sautory, JASA 1993). The interval
    is Gaffke's of these residuals (:mod:`bipartite.answers.estimation.sample`): 94 to 100 of 100 at 95 % hold the truth
    on ten shapes (``bench/results/surveys.md``); with few reports for many people, see :func:`poststratify`. That is
    raking to one column, except that for shares it fits the scores.

    Assumed: people were sampled one by one, and the chance to report is a product of one factor per label; then those
    who report are like those with the same labels who do not. ``weights`` are those of the sampling design. All of this
    is public, and ε stays as it is; a column that is not public must not be used.

    >>> from bipartite import BRR, Integers, insecure_seed
    >>> mech = BRR(Integers(1, 10), epsilon=2, edges="padded")
    >>> reports = mech.privatize([3] * 4000 + [8] * 1000, rng=insecure_seed(1))
    >>> columns = {"age": ["young"] * 4000 + ["old"] * 1000, "sex": ["f", "m", "m", "f", "m"] * 1000}
    >>> found = rake(mech, reports, columns, {"age": {"young": 50, "old": 50}, "sex": {"f": 51, "m": 49}})
    >>> found.ci().low < 5.5 < found.ci().high
    True
    """
    check_mechanism(mechanism)
    asked = linear_question(of, mechanism.domain)
    raking = Raking.of(columns, totals, weights)
    rows = rows_of(mechanism, reports)
    if len(rows) != len(raking.weights):
        raise InputError(f"Expected one label per report in each column, {len(rows)}, got {len(raking.weights)}.")
    est = from_tally(mechanism, Tally.of(mechanism, rows, raking.weights))
    sample = sample_of(est, asked.scale * asked.weights[None], repr(mechanism))
    assert sample.each is not None  # noqa: S101 (reports have weights)
    scores = sample.u[0][sample.each[0]]
    variance, around = raking.left_over(scores, sample.range)
    note = (
        f"raked to {', '.join(map(str, raking.codes))} in {how_many(raking.rounds, 'round')}; people are assumed to be "
        "sampled one by one, and like those with the same labels who report"
    )
    known = (around.spread, sample.n, sample.reach, lambda: sample)
    found = Adjusted(sample.mean, np.array([variance]), *known, about=note, around=around)
    return found.answer(asked.possible, shift=asked.shift)


@dataclass(frozen=True, eq=False)
class Raking:
    """Weights that meet public totals, and what they leave to chance."""

    codes: dict[str, NDArray[np.int64]]
    """For each column, the position of each person's label in the totals."""
    labels: dict[str, list[Any]]
    weights: Array
    rounds: int

    @classmethod
    def of(cls, columns: Columns, totals: Totals, weights: object = None) -> Raking:
        """Check columns and totals, and find the weights."""
        if hasattr(columns, "columns") and isinstance(totals, Mapping):  # a frame: other columns do not matter
            columns = {name: columns[name] for name in totals if name in columns.columns}
        wanted = _wanted(columns, totals)
        codes = {name: _codes(name, columns[name], wanted[name]) for name in wanted}
        sizes = {name: len(each) for name, each in codes.items()}
        if len({*sizes.values()}) > 1:
            told = ", ".join(f"{shown(name)} {size}" for name, size in sizes.items())
            raise InputError(f"Expected columns with one label per person, got different lengths: {told}.")
        n = next(iter(sizes.values()))
        start = np.ones(n) if weights is None else check_weights(weights, n)
        for name, each in codes.items():
            held = np.bincount(each, start, len(wanted[name]))
            if labels := [label for label, some in zip(wanted[name], held, strict=True) if not some]:
                raise InputError(
                    f"Nobody in the sample has {listed(labels)} in {shown(name)}, so nothing is known about them; "
                    "merge them with a similar label, in columns and totals."
                )
        return cls(codes, {name: [*each] for name, each in wanted.items()}, *_fitted(codes, wanted, start))

    def residuals(self, values: Array, weights: Array) -> tuple[Array, Array]:
        """What a weighted regression on all labels leaves of the values, and the leverage of each person."""
        labels, person = _combinations(self.codes)
        rows = np.hstack([np.eye(int(each.max()) + 1)[each] for each in labels])
        size, sums = (np.bincount(person, each, len(rows)) for each in (weights, weights * values))
        inverse = np.linalg.pinv((rows * size[:, None]).T @ rows, hermitian=True)
        fit, leverage = rows @ (inverse @ (rows.T @ sums)), np.einsum("ij,jk,ik->i", rows, inverse, rows)
        return values - fit[person], weights * leverage[person]

    def left_over(self, scores: Array, limits: tuple[Array, Array]) -> tuple[float, Sample]:
        """The variance of the weighted average, and a sample of the scores without what labels explain.

        ``limits`` are the smallest and the largest score that any report can have.
        """
        w = self.weights
        left, leverage = self.residuals(scores, w)
        if (alone := leverage > 1 - _FREE).any():
            at = int(alone.argmax())
            told = ", ".join(f"{name} {shown(self.labels[name][each[at]])}" for name, each in self.codes.items())
            raise InputError(
                f"One report alone decides a part of the answer, that of somebody with {told}, and its error cannot be "
                "estimated; merge a label with a similar one, in columns and totals."
            )
        squares = w**2 / (1 - leverage)
        mean, fit = float(w @ scores / w.sum()), scores - left
        ends = (limits[0] - fit.max() + mean, limits[1] - fit.min() + mean)
        return float(squares @ left**2) / float(w.sum()) ** 2, Sample.of((left + mean)[None], w, squares, limits=ends)


def _wanted(columns: object, totals: object) -> dict[str, dict[Any, float]]:
    """The totals of each label of each column, whose sums agree."""
    if not isinstance(columns, Mapping) or not isinstance(totals, Mapping) or not columns:
        raise InputError(
            "Expected columns and totals as mappings with the same names, such as columns={'sex': […]} and "
            "totals={'sex': {'f': 0.51, 'm': 0.49}}."
        )
    if {*columns} != {*totals}:
        raise InputError(
            f"Expected totals for each column, got columns {listed([*columns])} and totals of {listed([*totals])}."
        )
    found = {name: totals_of(f"the totals of {shown(name)}", totals[name]) for name in columns}
    sums = {name: math.fsum(each.values()) for name, each in found.items()}
    if max(sums.values()) - min(sums.values()) > _SAME * max(sums.values()):
        told = ", ".join(f"{shown(name)} {size:.9g}" for name, size in sums.items())
        raise InputError(
            f"The totals of different columns add up to different numbers: {told}; give all as counts of one "
            "population, or all as shares that add up to 1."
        )
    # Those that differ by rounding are made to agree.
    size = next(iter(sums.values()))
    return {name: {label: of * size / sums[name] for label, of in each.items()} for name, each in found.items()}


def _codes(name: str, column: object, wanted: dict[Any, float]) -> NDArray[np.int64]:
    """The position of each person's label among those that have totals."""
    # NumPy turns a list of text and numbers into text.
    given = column if isinstance(column, (list, tuple)) else np.asarray(getattr(column, "to_numpy", lambda: column)())
    labels = given.tolist() if isinstance(given, np.ndarray) and given.ndim == 1 else given
    at = {label: position for position, label in enumerate(wanted)}
    try:
        found = np.array([at.get(label, -1) for label in labels], dtype=np.int64)
    except TypeError:
        found = np.empty(0, dtype=np.int64)
    if not len(found):
        raise InputError(f"Expected a public label per person in {shown(name)}, got {type(column).__name__}.")
    if (found < 0).any():
        strangers = [*dict.fromkeys(label for label, code in zip(labels, found, strict=True) if code < 0)]
        raise InputError(
            f"There is no total for {listed(strangers)} in {shown(name)}; add it, or leave these people out of reports "
            "and columns."
        )
    return found


def _combinations(codes: dict[str, NDArray[np.int64]]) -> tuple[list[NDArray[np.int64]], NDArray[np.int64]]:
    """The different combinations of labels, a list of positions for each column, and that of each person."""
    person = first = np.zeros(1, dtype=np.int64)
    for each in codes.values():
        _, first, person = np.unique(person * (each.max() + 1) + each, return_index=True, return_inverse=True)
    return [each[first] for each in codes.values()], person


def _fitted(
    codes: dict[str, NDArray[np.int64]], wanted: dict[str, dict[Any, float]], start: Array
) -> tuple[Array, int]:
    """Weights by iterative proportional fitting, and the number of rounds."""
    cells, person = _combinations(codes)
    held = np.bincount(person, start)
    factors = np.ones(len(held))
    aims = [np.array([*each.values()]) for each in wanted.values()]
    for rounds in range(1, _ROUNDS + 1):
        for at, aim in zip(cells, aims, strict=True):
            factors *= (aim / np.bincount(at, held * factors, len(aim)))[at]
        off = [np.abs(np.bincount(at, held * factors, len(aim)) / aim - 1) for at, aim in zip(cells, aims, strict=True)]
        if max(float(each.max()) for each in off) < _CLOSE:
            return start * factors[person], rounds
    worst = max(range(len(off)), key=lambda at: float(off[at].max()))
    name, label = [*wanted][worst], int(off[worst].argmax())
    raise InputError(
        f"No weights meet these totals: after {_ROUNDS:,} rounds, {shown([*wanted[name]][label])} in {shown(name)} is "
        f"off by {100 * float(off[worst].max()):.2g} %. Perhaps nobody in the sample has a combination of labels "
        "that the totals need; merge labels, or leave a column out."
    )
