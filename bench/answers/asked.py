"""One way to ask, of the code before issue 35 (``est.interval``) and after it (``est.ask``), for the scripts beside."""

# ruff: noqa: ANN401 (classes of two versions)

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import bipartite as bp
from bipartite.answers.estimation import Estimate
from bipartite.errors import BipartiteError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

NEW = "ask" in vars(Estimate)
SURE = 0.95
NEAR = 1e-9


class Told(NamedTuple):
    """An answer: the point, its standard error, its interval; NaN where there is none."""

    value: float
    se: float
    low: float
    high: float

    def holds(self, truth: float, scale: float, turn: float = 0.0) -> bool:
        """Whether the interval contains a number, up to rounding; ``turn`` is the length of a circle."""
        near = NEAR * scale
        if turn and self.low > self.high:
            return (truth - self.low + near) % turn <= (self.high - self.low) % turn + 2 * near
        return self.low - near <= truth <= self.high + near


def ask(est: Any, of: Any) -> Told:
    """The answer of an estimate to a question, with its interval of 95 %."""
    if NEW:
        answer = est.ask(of)
        return Told(float(answer.value), float(answer.se), *map(float, answer.ci(SURE)))
    if isinstance(of, str) and of == "std":
        told = ask(est, "variance")
        return Told(*(math.sqrt(max(each, 0.0)) for each in (told.value, math.nan, told.low, told.high)))
    interval = est.interval(SURE, of=of)
    try:
        se = est.standard_error(of)
    except BipartiteError:
        se = math.nan
    value = float(_shown(est, of))
    if isinstance(of, tuple) and of[0] == "range":  # as est.ranges showed it
        value = float(np.clip(value, *interval))
    return Told(value, float(se), *map(float, interval))


def _shown(est: Any, of: Any) -> float:  # noqa: PLR0911 (a case each)
    """The number that the old estimate showed beside the interval of this question."""
    names = {"mean", "variance", "median", "circular_mean", "resultant_length", "circular_spread"}
    if isinstance(of, str) and of in names:
        return float(getattr(est, of))
    if not (isinstance(of, tuple) and isinstance(of[0], str)):
        return float(est.linear(of))
    kind, *what = of
    if kind == "quantile":
        return float(est.quantile(*what))
    if kind == "cdf":
        return float(est.cdf(what[0]))
    at = [est.domain.encode(each) for each in what]
    if kind == "bin":
        return float(est.frequencies[at[0]])
    if est.domain.wraps:
        inside = np.arange(at[0], at[0] + (at[1] - at[0]) % len(est.domain) + 1) % len(est.domain)
        return float(est.frequencies[inside].sum())
    running = np.append(0.0, est.cdf())
    return float(running[at[1] + 1] - running[at[0]])


def ask_joint(joint: Any, of: Any) -> Told:
    """The answer of a joint estimate to a question."""
    if NEW:
        return ask(joint, of)
    if isinstance(of, tuple) and of[0] == "mean":
        found = joint.mean_where(of[1], of[2], confidence=SURE)
        return Told(found.mean, found.standard_error, *map(float, found.interval))
    answer = joint.unbiased(of)
    return Told(answer.value, answer.standard_error, *map(float, joint.interval(SURE, of=of)))


def subtract(first: Any, second: Any, of: Any) -> Told:
    """The answer of one group minus that of another."""
    found = bp.difference(first, second, of, confidence=SURE)
    se = found.se if NEW else math.hypot(first.standard_error(of), second.standard_error(of))
    return Told(float(found.value), float(se), *map(float, found.interval))


def joint_of(record: Any, reports: Any, names: tuple[str, str], method: Any = "auto") -> Any:
    """The joint estimate of two attributes of a record."""
    if NEW:
        return bp.estimate(record, reports).joint(*names, method=method)
    old: Callable[..., Any] = bp.estimate_joint  # type: ignore[attr-defined]
    return old(record, reports, names, method=method)


def shares_of(est: Any) -> Array:
    """The shares of all values, or of all pairs."""
    return np.asarray(est.shares if NEW else est.frequencies)


def forged(est: Any, k: int) -> tuple[float, float]:
    """How far k forged reports can move the mean."""
    found = est.ask("mean").forged(k) if NEW else est.poisoning(k)
    return float(found.low), float(found.high)


def counts_of(mechanism: Any, values: Any, n: int) -> Any:
    """Counts of flat categories: how many of n reports support each value."""
    held = bp.Counts(mechanism).to_dict() | {"people": n, "counts": [int(each) for each in values]}
    return bp.Counts.from_dict(held)


def frame_of_means(groups: Any) -> Any:
    """The mean of every group with its error and interval; as a frame where there is one and pandas is there."""
    if NEW and find_spec("pandas"):
        return groups.to_frame(confidence=SURE)
    if NEW:
        return [(label, est.nobs, *ask(est, "mean")) for label, est in groups.items()]
    return [(label, est.people, est.mean, est.standard_error(), *est.interval(SURE)) for label, est in groups.items()]
