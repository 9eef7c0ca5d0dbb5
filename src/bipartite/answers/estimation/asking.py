"""What an answer is asked for: the weight that each value counts with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import LineDomain
from bipartite.errors import InputError, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.base import Series

    Array = NDArray[np.float64]
    Weights = Sequence[float] | NDArray[Any] | Series
    Asked = str | tuple[str, Any] | Weights

_OF: Final = "'mean', 'variance', 'median', ('quantile', q), ('cdf', value), ('bin', value), or one weight a value"


def line_of(domain: Domain) -> LineDomain:
    """A domain of numbers; the refusal of any other."""
    if not isinstance(domain, LineDomain):
        msg = f"The values of {domain!r} are no numbers; use est.frequencies, or est.linear with a weight a value."
        raise InputError(msg)
    return domain


def numbers_of(domain: Domain) -> tuple[Array, float]:
    """(values around their middle, the middle): large numbers then lose no digits."""
    numbers = line_of(domain).to_numpy().astype(np.float64)
    middle = float(numbers[0] / 2 + numbers[-1] / 2)
    return numbers - middle, middle


def up_to(domain: Domain, value: object) -> Array:
    """One for every value up to this one."""
    at = line_of(domain).encode(value)
    return (np.arange(len(domain)) <= at).astype(np.float64)


def unit(domain: Domain, value: object) -> Array:
    """One for this value alone."""
    weights = np.zeros(len(domain))
    weights[domain.encode(value)] = 1.0
    return weights


def weights_of(domain: Domain, weights: object) -> Array:
    """One finite number a value."""
    try:
        w = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        w = np.empty(0)
    if w.shape != (len(domain),) or not np.isfinite(w).all():
        msg = f"Expected {_OF}, got {shown(weights)}; this domain has {len(domain)} values."
        raise InputError(msg)
    return w


def quantile_of(q: object) -> float:
    """A number between 0 and 1."""
    if isinstance(q, bool) or not isinstance(q, (int, float, np.floating)) or not 0 < q < 1:
        msg = f"Expected a quantile between 0 and 1, got {shown(q)}; 0.5 is the median."
        raise InputError(msg)
    return float(q)


def parsed(of: object) -> tuple[str, Any]:
    """(kind, what) of what an interval is asked for."""
    if isinstance(of, str):
        if of == "median":
            return "quantile", 0.5
        if of in {"mean", "variance"}:
            return of, None
    elif isinstance(of, tuple) and len(of) == 2 and isinstance(of[0], str):  # noqa: PLR2004 (a name and a value)
        if of[0] in {"quantile", "cdf", "bin"}:
            return of[0], of[1]
    elif not isinstance(of, (bytes, dict, type(None))):
        return "linear", of
    msg = f"Expected {_OF}, got {shown(of)}."
    raise InputError(msg)
