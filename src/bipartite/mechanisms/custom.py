"""A mechanism of your own: a matrix of probabilities, checked against ε and drawn from integer tickets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.domains import Domain
from bipartite.domains.base import as_real
from bipartite.domains.outputs import Outputs
from bipartite.domains.sets import check_labels
from bipartite.errors import DesignError, DomainError, InputError, Problems, shown
from bipartite.lottery import MAX_TOTAL, Epsilon, check_table, issue_rows, log_between
from bipartite.lottery.budgets import round_up
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.tabled import Tabled, chosen_values, outputs_field

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from numpy.typing import ArrayLike, NDArray

    Kept = Callable[[NDArray[np.bool_]], Domain]

_CLOSE: Final = Fraction(1, 10**9)
"""How far a row sum may differ from 1, and a ratio exceed e^ε (relatively), and still count as rounding."""


class Custom(Tabled):
    r"""A mechanism of your own: P[x, y] is the probability of reporting y when x is true.

    Parameters
    ----------
    domain
        The true values: one row of the matrix per value, in the order of the domain.
    outputs
        The reports, one column each: the domain itself, or a list of its values; on a line also other numbers, which
        are reported as floats; or labels (strings; where values are not numbers, also integers). Values and numbers
        are sorted in ascending order, together with their columns.
    matrix
        The probabilities, from 0 to 1. A row sum may differ from 1 by 10\ :sup:`−9`, and the row is divided by it; a
        larger difference is refused. An output whose column is zero is never reported and is left out.
    epsilon
        The privacy budget of one report. A matrix in which the ratio of two entries of a column exceeds e\ :sup:`ε` by
        more than a factor of 1 + 10\ :sup:`−9`, the allowance for rounding, is refused with the ε that it has: infinite
        where a column has both a zero and a positive entry.

    Guarantee
    ---------
    ε-LDP for each report, exactly (:func:`bipartite.verify`), for every matrix: the tickets of each column lie between
    a floor c ≥ 1 and the largest integer below e\ :sup:`ε`·c.

    Notes
    -----
    Every row holds 2\ :sup:`52` tickets. A probability is rounded down to tickets and clamped between the floor and the
    ceiling of its column, where the floor is one more than the smallest count of the column; the difference to the
    total of the row goes to the outputs with the most room. ``largest_change`` is the largest effect of this on a
    probability, and ``epsilon_realised`` the resulting ε. ``matrix()`` gives the probabilities as they are drawn, and
    :func:`bipartite.identifiability` says which values the reports can tell apart.

    Examples
    --------
    >>> from bipartite import Integers, verify
    >>> mech = Custom(Integers(1, 3), ["low", "high"], [[0.7, 0.3], [0.5, 0.5], [0.3, 0.7]], epsilon=1)
    >>> verify(mech).holds, round(float(mech.epsilon_realised), 9)
    (True, 0.84729786)
    >>> mech.largest_change < 1e-15
    True
    >>> Custom(Integers(1, 3), ["low", "high"], [[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]], epsilon=1)
    Traceback (most recent call last):
        ...
    bipartite.errors.DesignError: Expected a matrix of ε = 1 or less, got ε = 1.386294361119891 in the column of ...
    """

    __slots__ = ()
    schema = {**Tabled.schema, "outputs": outputs_field("numbers", "labels")}

    def __init__(
        self, domain: Domain, outputs: Domain | Sequence[Any] | NDArray[Any], matrix: ArrayLike, epsilon: object
    ) -> None:
        budget = Epsilon.of(epsilon)
        check_domain(domain)
        kept, order = _reports_of(domain, outputs)
        check_table(len(domain), len(order))
        given = _probabilities(matrix, len(domain), len(order))[:, order]
        used = np.atleast_1d(given.any(axis=0))
        reports, given = kept(used), given[:, used]
        _check_ratios(given, budget, list(reports))
        sums = np.array([math.fsum(row) for row in given.tolist()])
        tickets = issue_rows(given / sums[:, None], budget)
        self._table(domain, budget, tickets, reports, known={"largest_change": _change(tickets, given)})

    @property
    def largest_change(self) -> float | None:
        """The largest change of a probability by rounding to tickets; None for a mechanism read from its spec."""
        return self.known.get("largest_change")

    @property
    def epsilon_realised(self) -> Decimal:
        """The ε of the tickets as :func:`bipartite.verify` certifies it, rounded up in the 30th digit."""
        return log_between(self.largest_ratio())[1]

    def _options(self) -> str:
        changed = "" if self.largest_change is None else f", largest_change={self.largest_change:.1e}"
        return f", outputs={len(self.outputs)}, realised={round_up(self.epsilon_realised, 6)}{changed}"


def _reports_of(domain: Domain, outputs: object) -> tuple[Kept, NDArray[np.int64]]:
    """(a function from a mask of used outputs to their domain, the order of the columns of the matrix among them)."""
    listed = _listed(domain, outputs)
    if isinstance(listed, Domain):
        return _values(domain, list(range(len(domain)))), np.arange(len(domain))
    try:
        distinct = len(set(listed)) == len(listed)
    except TypeError:
        distinct = True  # refused below
    if not distinct:
        raise InputError(
            f"Expected distinct outputs, got {len(listed) - len(set(listed))} duplicates; add their columns."
        )
    if all(each in domain for each in listed):
        indices = [domain.encode(each) for each in listed]
        order = np.argsort(indices, kind="stable")
        return _values(domain, sorted(indices)), order
    if domain.has_ends and np.isfinite([as_real(each) for each in listed]).all():
        return _numbers(listed)
    return _labels(domain, listed), np.arange(len(listed))


def _listed(domain: Domain, outputs: object) -> list[Any] | Domain:
    """The outputs one by one, or the domain itself."""
    if isinstance(outputs, Domain) and outputs == domain:
        return domain
    # A set is refused because its order, and with it that of the columns, may differ each time.
    if isinstance(outputs, (str, bytes, set, frozenset)) or not isinstance(outputs, Iterable):
        raise InputError(
            f"Expected outputs as the domain, or as a list of values, numbers or labels, got {shown(outputs)}; "
            "pass domain, or a list such as ['yes', 'no']."
        )
    listed = [each.item() if isinstance(each, np.generic) else each for each in outputs]
    if not listed:
        raise InputError("Expected at least one output, got none; pass the domain itself, or a list.")
    return listed


def _values(domain: Domain, indices: list[int]) -> Kept:
    return lambda used: chosen_values(domain, np.array(indices)[used].tolist())


def _numbers(listed: list[Any]) -> tuple[Kept, NDArray[np.int64]]:
    numbers = np.array([as_real(each) for each in listed]) + 0.0  # −0.0 becomes 0.0
    order = np.argsort(numbers, kind="stable")
    try:
        ascending = Outputs.of_numbers(numbers[order]).to_numpy()
    except DomainError:
        raise InputError("Expected outputs that are distinct doubles; add the columns of those that are not.") from None
    return lambda used: Outputs.of_numbers(ascending[used]), order


def _labels(domain: Domain, listed: list[Any]) -> Kept:
    problems = Problems()
    names = check_labels(listed, None, problems)
    if domain.parts:
        problems.add("Expected outputs of a product as its values; pass the domain, or a list of tuples.")
    elif problems:
        or_numbers = "all as numbers, or " if domain.has_ends else ""
        problems = Problems()
        problems.add(f"Expected outputs all as values of {domain!r}, {or_numbers}all as labels; convert them with str.")
    problems.raise_if_any(InputError)
    return lambda used: Outputs.of_labels(np.array(names, dtype=object)[used].tolist())


def _probabilities(matrix: object, rows: int, columns: int) -> NDArray[np.float64]:
    """The matrix as doubles; refused unless it holds probabilities."""
    expected = f"Expected matrix as {rows} rows, one per value, of {columns} probabilities, one per output"
    try:
        found = np.array(matrix, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{expected}, got {type(matrix).__name__}; pass a list of rows or a 2-d array of numbers."
        ) from None
    if found.shape != (rows, columns):
        advice = "transpose it." if found.shape == (columns, rows) else "check domain and outputs."
        raise InputError(f"{expected}, got shape {found.shape}; {advice}")
    wrong = ~((found >= 0) & (found <= 1 + float(_CLOSE)))
    if wrong.any():
        x, y = (int(at[0]) for at in np.nonzero(wrong))
        raise InputError(
            f"Expected probabilities from 0 to 1, got {float(found[x, y])!r} in row {x}, column {y}; repair it."
        )
    off = [math.fsum(row) - 1 for row in found.tolist()]
    x = max(range(rows), key=lambda at: abs(off[at]))
    if abs(off[x]) > _CLOSE:
        raise InputError(
            f"Expected rows that sum to 1 within 1e-9, got a sum of {1 + off[x]!r} in row {x}; "
            "divide each row by its sum if that is what you mean."
        )
    return found


def _check_ratios(matrix: NDArray[np.float64], budget: Epsilon, outputs: list[Any]) -> None:
    """Refuse a matrix that exceeds ε by more than rounding, and name its ε."""
    most, least = matrix.max(axis=0), matrix.min(axis=0)
    broken = np.flatnonzero(least == 0)
    if len(broken):
        y = int(broken[0])
        x, other = int(matrix[:, y].argmin()), int(matrix[:, y].argmax())
        raise DesignError(
            f"Expected a matrix of ε = {budget.text} or less, got an infinite ε: row {x} never reports {outputs[y]!r}, "
            f"and row {other} does; give every row a positive probability there, or none."
        )
    # Doubles are exact fractions: float division leaves a few candidates, and fractions decide among them.
    with np.errstate(over="ignore"):
        near = most / least
    candidates = np.flatnonzero(near >= near.max() * (1 - 1e-12))
    ratio, y = max((Fraction(most[at]) / Fraction(least[at]), int(at)) for at in candidates)
    if not budget.allows(*(ratio * (1 - _CLOSE)).as_integer_ratio()):
        low, high = (int(getattr(matrix[:, y], which)()) for which in ("argmin", "argmax"))
        raise DesignError(
            f"Expected a matrix of ε = {budget.text} or less, got ε = {round_up(log_between(ratio)[1])} in the "
            f"column of {outputs[y]!r}: {float(most[y])!r} in row {high} against {float(least[y])!r} in row {low}; "
            "ask for that ε, or move the two closer."
        )


def _change(tickets: NDArray[np.int64], given: NDArray[np.float64]) -> float:
    """The largest difference of two probabilities, rounded up."""
    largest = float(np.abs(tickets / MAX_TOTAL - given).max())
    return math.nextafter(largest, math.inf) if largest else 0.0
