"""``bp.estimate_joint``: the joint distribution of two attributes from their reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.attributes import column_of, columns_of
from bipartite.answers.estimation.em import fit_em
from bipartite.answers.estimation.estimating import How, estimate, from_tally, tallied
from bipartite.answers.estimation.histogram import on_simplex
from bipartite.answers.estimation.joint import JointEstimate, Table
from bipartite.answers.estimation.kronecker import Kronecker, Side, check_pairs, check_side
from bipartite.answers.estimation.pair_outputs import ByOutputs
from bipartite.answers.estimation.pair_people import ByPeople, FlatSide, OutputSide
from bipartite.answers.estimation.tally import Tally
from bipartite.errors import InputError, is_one_of, shown
from bipartite.mechanisms import Mechanism, Record
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    from numpy.typing import NDArray

    from bipartite.answers.estimation.estimate import Estimate
    from bipartite.answers.estimation.pair_people import PeopleSide

    Array = NDArray[np.float64]

_METHODS: Final = ("auto", "inverse", "projected", "em")
_TWO: Final = 2
# Unbiased cells are worth showing while their standard errors stay below this fraction of an average cell.
_TELLING: Final = 0.5
_SMALL: Final = "unbiased, with errors that are small compared to an average cell"
_NOISE: Final = "unbiased shares of so many pairs of values would be mostly noise"


def estimate_joint(
    mechanisms: Record | Mapping[str, Mechanism] | Mechanism,
    reports: object,  # columns by name
    of: tuple[str, str] | None = None,
    *,
    method: Literal["auto", "inverse", "projected", "em"] = "auto",
    progress: Callable[[int], None] | None = None,
) -> JointEstimate:
    r"""Estimate the joint distribution of two attributes, from reports of both by the same people, with error bars.

    Parameters
    ----------
    mechanisms
        The :class:`~bipartite.Record` that the reports were made with, or the mechanism of each attribute by name, or
        one mechanism on a :class:`~bipartite.Product` of both.
    reports
        Columns by name, as ``Record.privatize`` returned them: row i of both is one person. If attributes were sampled,
        only people who reported both count; with ``sample=1`` nobody did.
    of
        The names of the two attributes, if there are more; or names for the parts of a product, which are otherwise
        "first" and "second".
    method
        How the table is made; other answers do not depend on it.

        - ``"inverse"``: shares of pairs that are unbiased for every joint distribution (and may be negative).
        - ``"projected"``: the distribution nearest to those.
        - ``"em"``: the most likely joint distribution.
        - ``"auto"``: ``inverse`` while its errors stay below half an average cell, otherwise ``em``, or ``projected``
          if one of both is of flat categories, which have too many different reports for ``em``.
    progress
        Called with the number of steps while EM runs.

    Notes
    -----
    Given a person's two values, their two reports are drawn independently: Pr[y, z | a, b] = P₁[y\|a]·P₂[z\|b]. So the
    score of a pair of reports for the share of values a and b is the product u_a(y)·u_b(z) of both scores, and a
    product with the matrix of pairs is two products with the single matrices. At most 1,024 values per attribute.

    One report about both, on a product, has its own ε, and its answers are linear answers of
    :func:`bipartite.estimate`: ``bp.estimate(mechanism, reports).joint()`` is the same, also with weights and groups.

    The budgets of two reports add up. All of this is computed from the reports alone, and costs no more privacy.

    Examples
    --------
    >>> from bipartite import BRR, GRR, Integers, Record, insecure_seed
    >>> record = Record({"age": BRR(Integers(1, 5), 2, edges="padded"), "car": GRR(Integers(0, 1), 2)})
    >>> reports = record.privatize({"age": [2, 4] * 5000, "car": [0, 1] * 5000}, rng=insecure_seed(1))
    >>> joint = estimate_joint(record, reports)
    >>> joint.interval(0.95, of="correlation").low > 0.8
    True
    """
    if not is_one_of(method, _METHODS):
        raise InputError(f"Expected method as one of {', '.join(map(repr, _METHODS))}, got {shown(method)}.")
    if isinstance(mechanisms, Mechanism) and mechanisms.domain.parts:
        both = estimate(mechanisms, reports, method=method, progress=progress)
        return both.joint() if of is None else both.joint(of)
    names, pair, reports_of = _both(mechanisms, reports, of)
    first, second = pair
    if not first.flat and not second.flat:
        return _of_outputs(names, (first, second), reports_of, method, progress)
    sides = _of_people(first, reports_of[0]), _of_people(second, reports_of[1])
    answers = ByPeople(sides, lambda side: from_tally(side.mechanism, tallied(side.mechanism, side.reports), How()))
    return JointEstimate(names, answers, _of_cells(answers, sides, method))


def _of_outputs(
    names: tuple[str, str],
    pair: tuple[Mechanism, Mechanism],
    indices: tuple[NDArray[Any], NDArray[Any]],
    method: str,
    progress: Callable[[int], None] | None,
) -> JointEstimate:
    """Both reports are outputs, and pairs of outputs are counted."""
    check_pairs(*pair)
    sides = Side.of(pair[0]), Side.of(pair[1])
    outputs = sides[0].operator.outputs, sides[1].operator.outputs
    counts = np.bincount(indices[0] * outputs[1] + indices[1], minlength=outputs[0] * outputs[1])
    tally = Tally.of_counts(counts)
    table = _histogram(sides, tally, method, progress)
    return JointEstimate(names, ByOutputs(sides, tally, _marginal), lambda: table)


def _of_people(mechanism: Mechanism, reports: NDArray[Any]) -> PeopleSide:
    if not mechanism.flat:
        return OutputSide(Side.of(mechanism), reports)
    check_side(len(mechanism.domain))
    mechanism.count(reports)  # raises an error for reports that cannot have come from it
    return FlatSide(mechanism, reports)


def _marginal(mechanism: Mechanism, counts: Array) -> Estimate:
    tally = Tally.of_counts(counts.astype(np.int64))
    return from_tally(mechanism, tally, How())


def _both(
    mechanisms: object,
    reports: object,
    of: object,
) -> tuple[tuple[str, str], tuple[Mechanism, Mechanism], tuple[NDArray[Any], NDArray[Any]]]:
    """The two names, their mechanisms, and the reports of those who reported both."""
    if not isinstance(mechanisms, (Record, Mapping)):
        raise InputError(
            "Expected a Record or a dict of mechanisms, or a mechanism on bp.Product(a, b), got "
            f"{type(mechanisms).__name__}; pass {{'age': mech, …}}."
        )
    record = mechanisms if isinstance(mechanisms, Record) else Record(mechanisms)
    names = tuple(record.mechanisms) if of is None else of
    known = tuple(record.mechanisms)
    if not (isinstance(names, tuple) and len(set(names)) == len(names) == _TWO and set(names) <= set(known)):
        named = ", ".join(map(escaped, known))
        raise InputError(f"Expected of as two names of {named}, got {shown(of)}; pass of=('age', 'income').")
    first, second = str(names[0]), str(names[1])
    if record.sample == 1:
        raise InputError("With sample=1 nobody reported two attributes; use sample=2 or more, or sample=None.")
    pair = record.mechanisms[first], record.mechanisms[second]
    if record.sample is None and isinstance(reports, Mapping) and {first, second} <= set(reports):
        # Other columns may be missing.
        columns = {name: column_of(name, record.mechanisms[name], reports[name], "error") for name in (first, second)}
    else:
        columns = columns_of(record, reports)
    there = [columns[name].there for name in (first, second)]
    if len(there[0]) != len(there[1]):
        raise InputError(f"Expected the same people in both columns, got {len(there[0])} and {len(there[1])}.")
    both = there[0] & there[1]
    if not both.any():
        raise InputError(
            "Nobody reported both attributes, so nothing can be estimated; pass at least one pair of reports."
        )
    return (first, second), pair, (columns[first].at(both), columns[second].at(both))


def _histogram(sides: tuple[Side, Side], tally: Tally, method: str, progress: Callable[[int], None] | None) -> Table:
    identifiable = all(side.found.identifiable for side in sides)
    name, reason = method, "asked for"
    if method in {"inverse", "projected"} and not identifiable:
        worse = next(side for side in sides if not side.found.identifiable)
        raise InputError(
            f"method={method!r} needs mechanisms that tell all values apart, and {worse.mechanism!r} does not: "
            f"{worse.found}; use method='em', or collect with edges='padded'."
        )
    if method == "auto":
        name, reason = _choose(sides, tally.effective, identifiable=identifiable)
    shape = sides[0].operator.outputs, sides[1].operator.outputs
    if name != "em":
        first, second = (side.of_shares() for side in sides)
        assert first is not None and second is not None  # noqa: S101, PT018 (both are identifiable)
        shares: Array = (first @ tally.law.reshape(shape) @ second.T).ravel()
        return Table(name, reason, shares if name == "inverse" else on_simplex(shares), None)
    operator = Kronecker(sides[0].operator, sides[1].operator)
    fit = fit_em(operator, tally.first, progress=progress)
    return Table(name, reason, fit.frequencies, fit)


def _of_cells(answers: ByPeople, sides: tuple[PeopleSide, PeopleSide], method: str) -> Callable[[], Table]:
    """A function that computes the table when it is first needed, if a report is of flat categories."""
    if method == "em":
        raise InputError(
            "method='em' needs counts of whole reports, and flat categories have too many different ones; use "
            "method='projected' for shares that are never negative."
        )
    for side in sides:
        if not side.tells_all:
            raise InputError(
                f"A table with flat categories needs mechanisms that tell all values apart, and {side.mechanism!r} "
                "does not; collect with edges='padded' or GRR."
            )
    name, reason = method, "asked for"
    if method == "auto":
        telling = _tells(sides, answers.effective)
        name, reason = ("inverse", _SMALL) if telling else ("projected", _NOISE)

    def table() -> Table:
        cells = answers.cells()
        assert cells is not None  # noqa: S101 (both tell all values apart)
        return Table(name, reason, cells.values if name == "inverse" else on_simplex(cells.values), None)

    return table


def _choose(sides: tuple[Side, Side], people: float, *, identifiable: bool) -> tuple[str, str]:
    if not identifiable:
        return "em", "not all shares can be estimated without bias"
    return ("inverse", _SMALL) if _tells(sides, people) else ("em", _NOISE)


def _tells(sides: tuple[Side | PeopleSide, Side | PeopleSide], people: float) -> bool:
    """Whether unbiased cells are worth showing; it depends only on the mechanisms and the number of people."""
    # For uniform and independent values the square of a product is the product of the squares.
    square = math.prod(side.mean_square() for side in sides)
    cells = math.prod(len(side.mechanism.domain) for side in sides)
    return math.sqrt(max(square - 1 / cells**2, 0.0) / people) <= _TELLING / cells
