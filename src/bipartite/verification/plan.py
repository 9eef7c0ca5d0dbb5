"""The number of trials that an audit needs: the power of its test, computed from the same exact bounds.

The audit tests half of its trials. With probability p of the event for one input and p' for the other, the first count
is at least its β/2-quantile and the second at most its (1 − β/2)-quantile with probability at least 1 − β, where
β = 1 − power; the two Clopper–Pearson bounds are computed at these counts. The result assumes that the audit chooses
the best event, which half of the trials is ample for if there are few distinct reports; with that assumption it is
never too small.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import permutations
from statistics import NormalDist
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from bipartite.errors import InputError, Problems, shown
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Mechanism
from bipartite.verification.binomial import lower_bound, tail_below, upper_bound
from bipartite.verification.events import log_ratio

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_CONFIDENCE: Final = 0.5
_MOST_TRIALS: Final = 10**12
# The relative precision at which the search ends.
_PRECISION: Final = 1.002
_ROWS: Final = 64


def trials_needed(
    real: object,  # a number, a mechanism, or two rows of probabilities
    claimed: float,
    *,
    confidence: float = 0.99,
    power: float = 0.99,
    inputs: int = 2,
) -> int:
    """The number of trials per input with which :func:`bipartite.audit` refutes a claimed ε.

    Parameters
    ----------
    real
        The real law: an ε, for binary randomized response; a mechanism, for the two values that are easiest to
        distinguish (among at most 64); or two rows of probabilities.
    claimed
        The claimed ε, below the real one.
    confidence
        The confidence of the audit.
    power
        The least probability that the audit refutes the claim.
    inputs
        The number of inputs compared, for the correction.

    Examples
    --------
    >>> trials_needed(1.05, 1.0) < trials_needed(0.525, 0.5) < 500_000
    True
    """
    problems = Problems()
    check_confidence(confidence, problems)
    if not is_claim(claimed):
        problems.add(f"Expected claimed as a number of at least 0, got {shown(claimed)}; give the ε that is promised.")
    if not is_whole(inputs) or inputs <= 1:
        problems.add(f"Expected inputs as a whole number of at least 2, got {shown(inputs)}; leave it out for two.")
    problems.raise_if_any(InputError)
    return trials_for(law_of(real, claimed), claimed, level_of(confidence, inputs), power)


def is_claim(epsilon: object) -> bool:
    """Whether this can be a claimed ε: a finite number of at least 0."""
    number = isinstance(epsilon, (float, np.floating)) or is_whole(epsilon)
    return number and 0 <= float(cast("float", epsilon)) < math.inf


def check_trials(trials: object, least: int, problems: Problems) -> None:
    """Refuse what is no number of trials."""
    if not is_whole(trials) or trials < least:
        problems.add(f"Expected trials as a whole number of at least {least}, got {shown(trials)}; try 100_000.")


def check_confidence(confidence: object, problems: Problems) -> None:
    """Refuse what is no confidence."""
    if not isinstance(confidence, (float, np.floating)) or not _LEAST_CONFIDENCE <= confidence < 1:
        problems.add(f"Expected confidence from 0.5 to below 1, got {shown(confidence)}; use 0.99.")


def level_of(confidence: float, inputs: int) -> float:
    """α of each single bound: there are two bounds for every ordered pair of inputs."""
    return (1 - confidence) / (2 * inputs * (inputs - 1))


def trials_for(pair: tuple[float, float], claimed: float, alpha: float, power: float) -> int:
    """The number of trials for an event of these two probabilities."""
    if not 0 < power < 1:
        raise InputError(f"Expected power as a probability between 0 and 1, got {shown(power)}; use 0.99.")
    if not log_ratio(*pair) > claimed:
        raise InputError(
            f"Expected a real ε above the claimed {claimed:g}, got {max(0.0, log_ratio(*pair)):.6g} for the best "
            "event; there is no violation that an audit could find."
        )
    # A normal approximation gives the starting point; the exact bounds decide.
    sure = NormalDist().inv_cdf(1 - alpha) + NormalDist().inv_cdf(1 - (1 - power) / 2)
    about = sure**2 * _rank(pair, claimed)[0]
    high = max(64, int(min(about, _MOST_TRIALS)))
    while high < _MOST_TRIALS and not is_enough(pair, claimed, alpha, power, high):
        high *= 2
    if high >= _MOST_TRIALS:
        raise InputError(
            "Expected a violation that 10^12 trials can detect, got a smaller one; ask for a larger violation."
        )
    low = high
    while low > 1 and is_enough(pair, claimed, alpha, power, low):
        high, low = low, low // 2
    while high > low * _PRECISION and high > low + 1:
        middle = (low + high) // 2
        if is_enough(pair, claimed, alpha, power, middle):
            high = middle
        else:
            low = middle
    return 2 * high


def is_enough(pair: tuple[float, float], claimed: float, alpha: float, power: float, tested: int) -> bool:
    """Whether this many tested trials refute the claim with at least this probability."""
    miss = (1 - power) / 2
    least = _quantile(tested, pair[0], miss)
    most = tested - _quantile(tested, 1 - pair[1], miss)
    return log_ratio(lower_bound(least, tested, alpha), upper_bound(most, tested, alpha)) > claimed


def _quantile(trials: int, p: float, miss: float) -> int:
    """The largest count such that a smaller one has probability at most ``miss``."""
    return bisect_right(range(trials), miss, key=lambda count: tail_below(count, trials, p))


def law_of(real: object, claimed: float) -> tuple[float, float]:
    """The two probabilities of the event that needs the fewest trials."""
    if isinstance(real, Mechanism):
        return best_pair(real.matrix(), claimed)[1]
    if isinstance(real, (int, float, np.number)) and not isinstance(real, bool):
        if not 0 < float(real) < math.inf:
            raise InputError(f"Expected a real ε as a positive number, got {real!r}; use one above the claimed ε.")
        odds = math.exp(-float(real))
        return 1 / (1 + odds), odds / (1 + odds)
    rows = np.asarray(real, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != 2 or (rows < 0).any() or not np.allclose(rows.sum(axis=1), 1):  # noqa: PLR2004
        raise InputError(
            "Expected real as an ε, a mechanism, or two rows of probabilities; pass mech.matrix()[[x, x2]]."
        )
    return best_pair(rows, claimed)[1]


def best_pair(matrix: NDArray[np.float64], claimed: float) -> tuple[tuple[int, int], tuple[float, float]]:
    """(two inputs among at most 64 spread over all, the probabilities of an event) that need the fewest trials."""
    rows = np.unique(np.linspace(0, len(matrix) - 1, _ROWS).astype(np.int64)).tolist()
    events = [((x, other), _best_event(matrix[x], matrix[other], claimed)) for x, other in permutations(rows, 2)]
    return min(events, key=lambda event: _rank(event[1], claimed))


def _best_event(row: NDArray[np.float64], other: NDArray[np.float64], claimed: float) -> tuple[float, float]:
    """Of the events that consist of the outputs with the largest ratios, the one that needs the fewest trials."""
    held = (row > 0) | (other > 0)
    row, other = row[held], other[held]
    with np.errstate(divide="ignore"):
        order = np.argsort(-row / other, kind="stable")
    pairs = zip(np.cumsum(row[order]).tolist(), np.cumsum(other[order]).tolist(), strict=True)
    return min(pairs, key=lambda pair: _rank(pair, claimed))


def _rank(pair: tuple[float, float], claimed: float) -> tuple[float, float]:
    """About the trials, up to a factor, that show ln(p/other) > claimed; events that cannot come last, by ratio."""
    p, other = pair
    ratio = log_ratio(p, other)
    if not ratio > claimed:
        return math.inf, -ratio
    if other <= 0:
        return 1 / p, -ratio
    spread = math.sqrt(max(0.0, 1 - p) / p) + math.sqrt(max(0.0, 1 - other) / other)
    return (spread / (ratio - claimed)) ** 2, -ratio
