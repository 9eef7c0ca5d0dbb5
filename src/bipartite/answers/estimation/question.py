"""Questions about one attribute: what is asked, and the weight of each value."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import Cyclic, LineDomain
from bipartite.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.base import Series

    Array = NDArray[np.float64]
    Weights = Sequence[float] | NDArray[Any] | Series
    Asked = str | tuple[str, Any] | tuple[str, Any, Any] | Weights

CIRCULAR: Final = ("circular_mean", "resultant_length", "circular_spread")
_OF: Final = (
    "'mean', 'std', 'variance', 'median', ('quantile', q), ('cdf', value), ('bin', value), ('range', first, last), or "
    "one weight per value"
)
_OF_CIRCLE: Final = (
    "'circular_mean', 'resultant_length', 'circular_spread', ('range', first, last), which may pass the last value, "
    "('bin', value), ('quantile', q, origin), or one weight per value"
)
_ROUNDED: Final = 1e-9
_COUNTS: Final = {"quantile": 1, "cdf": 1, "bin": 1, "range": 2}
_COUNTS_OF_CIRCLE: Final = {"quantile": 2, "bin": 1, "range": 2}


def line_of(domain: Domain) -> LineDomain:
    """Check that a domain consists of numbers on a line."""
    if domain.wraps:
        raise InputError(
            f"The values of {domain!r} lie on a circle and have no smallest value, mean or median; ask for "
            f"{_OF_CIRCLE}."
        )
    if not isinstance(domain, LineDomain):
        raise InputError(
            f"The values of {domain!r} are not numbers; use est.shares, or est.ask with one weight per value."
        )
    return domain


def circle_of(domain: Domain) -> Cyclic:
    """Check that a domain is a circle."""
    if not isinstance(domain, Cyclic):
        raise InputError(
            f"Expected values on a circle, bp.Cyclic, got {domain!r}; on a line ask for the mean and the variance."
        )
    return domain


def numbers_of(domain: Domain) -> tuple[Array, float]:
    """(values minus their middle, the middle), so that large numbers lose no digits."""
    numbers = line_of(domain).to_numpy().astype(np.float64)
    middle = float(numbers[0] / 2 + numbers[-1] / 2)
    return numbers - middle, middle


def _of(domain: Domain) -> str:
    """The questions that a domain allows, as text."""
    return _OF_CIRCLE if domain.wraps else _OF


def weights_of(domain: Domain, weights: object) -> Array:
    """Check weights: one finite number per value."""
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.empty(0)
    if w.shape != (len(domain),) or not np.isfinite(w).all():
        raise InputError(f"Expected {_of(domain)}, got {shown(weights)}; this domain has {len(domain)} values.")
    return w


def quantile_of(q: object) -> float:
    """Check a quantile between 0 and 1."""
    if isinstance(q, bool) or not isinstance(q, (int, float, np.floating)) or not 0 < q < 1:
        raise InputError(f"Expected a quantile between 0 and 1, got {shown(q)}; 0.5 is the median.")
    return float(q)


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked: an average of weights, the share of a set of values, a quantile, or another kind of number.

    An average is ``shift`` + Σ weights·share, and a share of a set S is ``shift`` + ``scale``·(share of S): weights of
    two different values are a share, however they were asked for, so that one question has one answer.
    """

    kind: str
    """"average", "share", "quantile", "variance" or "std", or one of `CIRCULAR`."""
    weights: Array = field(default_factory=lambda: np.empty(0))
    """The weight of each value; of a share, 1 within the set and 0 outside."""
    shift: float = 0.0
    scale: float = 1.0
    q: float = math.nan
    """For a quantile: which one."""
    origin: int = 0
    """Around a circle: the index from which a quantile counts."""

    @property
    def alone(self) -> int | None:
        """The index of the only value of a set; None if it has several."""
        inside = np.flatnonzero(self.weights)
        return int(inside[0]) if self.kind == "share" and len(inside) == 1 else None

    @property
    def possible(self) -> tuple[float, float]:
        """The smallest and the largest answer that a population can have."""
        ends = [self.shift + self.scale * float(end) for end in (self.weights.min(), self.weights.max())]
        return min(ends), max(ends)

    @classmethod
    def read(cls, of: object, domain: Domain) -> Question:
        """Parse a question: a name, a tuple, or one weight per value."""
        if isinstance(of, str) and of in {"mean", "variance", "std", "median"}:
            weights, middle = numbers_of(domain)
            if of == "median":
                return cls("quantile", q=0.5)
            return cls("average" if of == "mean" else of, weights, middle)
        if isinstance(of, str) and of in CIRCULAR:
            circle_of(domain)
            return cls(of)
        if isinstance(of, tuple) and of and isinstance(of[0], str):
            kind, *what = of
            counts = _COUNTS_OF_CIRCLE if domain.wraps else _COUNTS
            if kind in counts and len(what) == counts[kind]:
                return cls._about(kind, what, domain)
        elif not isinstance(of, (str, bytes, dict, type(None))):
            return cls.average(weights_of(domain, of))
        raise InputError(f"Expected {_of(domain)}, got {shown(of)}.")

    @classmethod
    def average(cls, weights: Array, shift: float = 0.0) -> Question:
        """The average of these weights plus a number, which is a share if there are only two of them."""
        low, high = float(weights.min()), float(weights.max())
        near = _ROUNDED * (high - low)
        inside = weights >= high - near
        if low == high or not (inside | (weights <= low + near)).all():
            return cls("average", weights, shift)
        # A set and its complement are one question: the smaller one is asked or, of two equal ones, the later. A single
        # value is asked as it is: of flat categories, the shares of two values need not add up to one.
        many = np.count_nonzero(inside)
        if many > 1 and 2 * many + bool(inside[0]) > len(weights):
            inside, low, high = ~inside, high, low
        return cls("share", inside.astype(np.float64), shift + low, high - low)

    @classmethod
    def _about(cls, kind: str, what: list[Any], domain: Domain) -> Question:
        """A question about one or two values, or a quantile."""
        if kind == "quantile":
            origin = domain.encode(what[1]) if domain.wraps else 0
            return cls(kind, q=quantile_of(what[0]), origin=origin)
        if kind != "bin" and not domain.wraps:
            line_of(domain)
        at = [domain.encode(value) for value in what]
        first, last = (at[0], at[-1]) if kind != "cdf" else (0, at[0])
        size = len(domain)
        if first > last and not domain.wraps:
            raise InputError(
                f"Expected the first value of a range before its last, got {shown(what[0])} to {shown(what[1])}."
            )
        return cls.average(((np.arange(size) - first) % size <= (last - first) % size).astype(np.float64))
