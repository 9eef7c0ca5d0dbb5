"""``bp.compare``: every applicable mechanism at one ε or many, as a table and in words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, SupportsFloat

import numpy as np

from bipartite.answers.advise.candidates import ANCHORED, OPTIMAL, Candidate, asked, candidates, check_purpose
from bipartite.answers.advise.forecasting import check_n
from bipartite.answers.advise.measuring import COLUMNS, MEASURES, Question, Row, measure
from bipartite.answers.advise.picture import plot_comparison
from bipartite.answers.advise.recommending import recommendation
from bipartite.answers.estimation.showing import load_pandas
from bipartite.domains.base import as_real
from bipartite.errors import EpsilonError, InputError, Problems, is_one_of, shown
from bipartite.lottery import Epsilon
from bipartite.mechanisms import Anchored
from bipartite.mechanisms.base import check_mechanism
from bipartite.mechanisms.catalogue import Form, entry_of
from bipartite.mechanisms.checks import check_domain
from bipartite.mechanisms.design.m import check_prior
from bipartite.texts import Printed, Table, as_csv

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray
    from pandas import DataFrame

    from bipartite.answers.advise.candidates import Purpose
    from bipartite.answers.advise.measuring import Measured
    from bipartite.answers.advise.recommending import Recommendation
    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

LIMIT: Final = "limit for reported values"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison(Printed):
    """Every applicable mechanism at one ε or many, and which to take. ``print`` shows the table."""

    domain: Domain
    n: int | None
    """The number of people that the errors of statistics are for."""
    tolerance: float | None
    has_prior: bool
    """Whether a prior was given; otherwise all values are taken as equally likely."""
    rows: tuple[Row, ...]
    """One per mechanism and ε, and the reference lines after each ε."""
    advice: tuple[Recommendation, ...]
    """The recommendations, one per purpose and ε."""

    @property
    def epsilons(self) -> list[str]:
        """Every ε, ascending."""
        return list(dict.fromkeys(row.epsilon for row in self.rows))

    @property
    def recommendation(self) -> str:
        """Which mechanism to take for what, and why: a sentence per purpose; at several ε, equal ones are merged."""
        lines = []
        for _, some in itertools.groupby(self.advice, lambda each: each.purpose):
            here = list(some)
            if len(here) == 1:
                lines.append(str(here[0]))
                continue
            for (name, reason), run in itertools.groupby(here, lambda each: (each.name, each.reason)):
                where = _range([each.epsilon for each in run])
                lines.append(f"{here[0].to} at ε = {where}{'' if name is None else f', take {name}'}: {reason}.")
            for warning in dict.fromkeys(each.warning for each in here if each.warning):
                where = _range([each.epsilon for each in here if each.warning == warning])
                lines.append(f"  But at ε = {where}: {warning}.")
        return "\n".join(lines)

    def best(self, purpose: str | None = None, epsilon: object = None) -> Recommendation:
        """What to take for a purpose, where several were compared; and at which ε, where there are several."""
        found = [
            each
            for each in self.advice
            if purpose in {None, each.purpose} and (epsilon is None or _same(each.epsilon, epsilon))
        ]
        if len(found) == 1:
            return found[0]
        purposes = ", ".join(dict.fromkeys(repr(each.purpose) for each in self.advice))
        raise InputError(
            f"Expected a purpose, one of {purposes}, and one of ε = {', '.join(self.epsilons)}, got "
            f"{shown(purpose)} and {shown(epsilon)}; for example compared.best({purposes.split(', ')[0]}, "
            f"{self.epsilons[0]})."
        )

    def __getitem__(self, key: str | tuple[str, object]) -> Row:
        """The row of a mechanism; ``compared["GRR", 2]`` where there are several ε."""
        name, epsilon = key if isinstance(key, tuple) else (key, None)
        named = [row for row in self.rows if row.mechanism == name]
        found = [row for row in named if epsilon in {None, row.epsilon}]
        found = found or [row for row in named if _same(row.epsilon, epsilon)]
        if len(found) == 1:
            return found[0]
        if found:
            msg = f"There are {len(found)} ε; name one of them too, for example compared[{name!r}, {found[0].epsilon}]."
        else:
            names = ", ".join(dict.fromkeys(repr(row.mechanism) for row in self.rows))
            msg = f"Expected one of {names} and one of ε = {', '.join(self.epsilons)}, got {shown(key)}."
        raise InputError(msg)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, numbers and words; conforms to ``cli/schemas/design-compare.json``."""
        return {
            "domain": repr(self.domain),
            "values": len(self.domain),
            "users": self.n,
            "tolerance": self.tolerance,
            "prior": "given" if self.has_prior else "uniform",
            "rows": [row.to_dict() for row in self.rows],
            "advice": [each.to_dict() for each in self.advice],
            "recommendation": self.recommendation,
        }

    def to_csv(self) -> str:
        """The rows as CSV with a header; missing figures are empty, floats round-trip."""
        return as_csv(COLUMNS, (row.to_dict().values() for row in self.rows))

    def to_frame(self) -> DataFrame:
        """The rows as a pandas DataFrame."""
        rows = [row.to_dict() for row in self.rows]
        found: DataFrame = load_pandas(".rows and .to_csv()").DataFrame(rows, columns=list(COLUMNS))
        return found

    def plot(
        self,
        measure: str = "expected_loss",
        ax: Axes | None = None,
        mechanisms: Iterable[str] | None = None,
    ) -> Axes:
        """Draw one bar per mechanism at one ε, one curve per mechanism at several, and return the axes.

        ``measure`` is a column of the table: ``"expected_loss"``, ``"median_loss"``, ``"worst_loss"``,
        ``"share_within"``, ``"mean_error"``, ``"histogram_error"`` or ``"distribution_error"``. ``mechanisms`` are the
        names to draw; without them, all. Bars far beyond the better half are cut, and say so. Needs the extra
        ``plots``.
        """
        if not is_one_of(measure, tuple(MEASURES)):
            raise InputError(f"Expected measure as one of {', '.join(map(repr, MEASURES))}, got {shown(measure)}.")
        return plot_comparison(self.rows, measure, ax, mechanisms, n=self.n)

    def __str__(self) -> str:
        return "\n".join(self._parts())

    def _parts(self) -> list[str]:
        """The tables, the notes below them, and the advice."""
        tables = self._of_one_epsilon() if len(self.epsilons) == 1 else self._of_several()
        said: dict[str, dict[str, list[str]]] = {}  # by note: at which ε it is said of which mechanism
        for row in self.rows:
            if row.note and row.kind == "mechanism":
                said.setdefault(row.note, {}).setdefault(row.mechanism, []).append(row.epsilon)
        notes = [
            f"- {'; '.join(names)}{'' if len(where) == len(self.epsilons) else f' at ε = {_range(where)}'}: {note}"
            for note, about in said.items()
            for where, names in itertools.groupby(about, about.__getitem__)
        ]
        return [*tables, *(["", *notes] if notes else []), "", self.recommendation]

    def _of_one_epsilon(self) -> list[str]:
        """One table of everything. Rows without figures appear only in the notes."""
        shown = [column for column in MEASURES if any(getattr(row, column) is not None for row in self.rows)]
        names = {column: words.short for column, words in MEASURES.items()}
        if self.tolerance is not None:
            names["share_within"] += f" {self.tolerance:g}"
        lines = [[f"ε = {self.epsilons[0]}", "ε spent", *(names[column] for column in shown), "shares"]]
        for row in self.rows:
            if row.epsilon_spent is not None or row.expected_loss is not None:
                cells = [_cell(getattr(row, column), share=column == "share_within") for column in shown]
                identifiable = {None: "", True: "yes", False: "no"}[row.identifiable]
                lines.append([_marked(row.mechanism, [row]), _cell(row.epsilon_spent), *cells, identifiable])
        about = "expected, median, worst: the error of one release; "
        about += "shares: whether the share of each value can be estimated"
        people = [] if self.n is None else [f"±: standard errors of estimates from {self.n:,} people"]
        return [Table(lines), about, *people]

    def _of_several(self) -> list[str]:
        """One table per measure, with a column per ε."""
        by_name: dict[str, dict[str, Row]] = {}
        for row in self.rows:
            by_name.setdefault(row.mechanism, {})[row.epsilon] = row
        found: list[str] = []
        for column, words in MEASURES.items():
            lines = [[words.title, *(f"ε={epsilon}" for epsilon in self.epsilons)]]
            for name, rows in by_name.items():
                cells = [_cell(getattr(rows.get(epsilon), column, None)) for epsilon in self.epsilons]
                if any(cells):
                    lines.append([_marked(name, rows.values()), *cells])
            if len(lines) > 1 and column not in {"median_loss", "share_within"}:
                people = [f"for {self.n:,} people"] if self.n is not None and words.of else []
                found += [*people, Table(lines), ""]
        return found[:-1]

    def __repr__(self) -> str:
        several = self.epsilons
        which = several[0] if len(several) == 1 else f"{several[0]} … {several[-1]}"
        return f"<Comparison of {len({row.mechanism for row in self.rows})} lines on {self.domain!r}, ε = {which}>"


def _same(text: str, epsilon: object) -> bool:
    try:
        return isinstance(epsilon, (str, SupportsFloat)) and float(text) == float(epsilon)
    except (TypeError, ValueError):
        return False


def _range(epsilons: Sequence[str]) -> str:
    """Neighbouring ε by the first and the last of them."""
    return epsilons[0] if len(epsilons) == 1 else f"{epsilons[0]} to {epsilons[-1]}"


def _marked(name: str, rows: Iterable[Row]) -> str:
    """The name, marked where ε is not kept."""
    return name + (" (!)" if any(row.holds is False for row in rows) else "")


def _cell(value: float | None, *, share: bool = False) -> str:
    if value is None:
        return ""
    if share:
        return f"{value:.1%}"
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"  # noqa: PLR2004


def compare(  # noqa: PLR0913 (what people ask, each by its name)
    domain: Domain,
    epsilon: object,  # a decimal as everywhere, or several
    *,
    n: int | None = None,
    prior: Sequence[float] | NDArray[np.float64] | None = None,
    tolerance: float | None = None,
    purpose: Purpose | None = None,
    exact: bool = False,
    also: Mapping[str, Mechanism] | None = None,
) -> Comparison:
    """Every mechanism that applies to a domain, side by side at one ε or many, and which to take.

    Parameters
    ----------
    domain
        What may be reported.
    epsilon
        The privacy budget of one report, or a sequence of several.
    n
        The number of people who will report; adds the standard errors of the mean, of the shares and of the cumulative
        distribution that they give.
    prior
        Public probabilities of the values, None for uniform: what the expected losses, the best m and the anchors are
        for, and how the people who report are assumed to be distributed. Never estimate it from the private data.
    tolerance
        Adds the chance that a report is within this distance of the value.
    purpose
        What the reports are for, as in :func:`bipartite.recommend`; ``"statistics"`` stands for the mean and the
        distribution. None: all that apply.
    exact
        Solve linear programmes too: :class:`~bipartite.Optimal` (at most 400 values), and
        :class:`~bipartite.Minimax` for the value that fares worst; slow.
    also
        Mechanisms of yours on the same domain, such as :class:`~bipartite.Custom`, by the names of their rows; each
        stands beside the others at its own ε, which must be one of ``epsilon``. Taken where what is asked is an
        estimate and theirs is the least error; never for single releases, where theirs is a figure to compare with.

    Notes
    -----
    Losses and ε are exact, from the tickets. Errors of statistics are those of :func:`bipartite.forecast`. A mechanism
    that refuses this ε, or would take too long, is in the table with its reason. One that does not keep ε is marked and
    never recommended.

    Examples
    --------
    >>> import bipartite as bp
    >>> compared = compare(bp.Integers(18, 90), 1)
    >>> compared.best("release").name
    'Anchored'
    >>> compared["BRR, safe m"].expected_loss < compared["GRR"].expected_loss
    True
    """
    check_domain(domain)
    budgets = _budgets(epsilon)
    _check(n, tolerance, purpose, exact)
    weights = None if prior is None else check_prior(prior, len(domain))
    question = Question(domain, weights, None if n is None else int(n), tolerance, len(budgets))
    purposes = asked(domain, purpose, n)
    constant = question.single_answer()
    own = _own(also, domain, budgets)
    # Errors of statistics need a number of people; advice without one is for the default number.
    unknown: dict[str, Any] = {} if n is not None else {name: None for name, each in MEASURES.items() if each.of}
    rows, advice = [], []
    for budget in budgets:
        every = [*candidates(domain, exact=exact), *own.get(budget, [])]
        measured = [measure(each, budget, question, purposes, whole=True) for each in every]
        rows += [replace(each.row, **unknown) for each in measured]
        rows += [replace(constant, epsilon=budget), *_limit(budget, measured)]
        advice += [recommendation(each, budget, measured, question, constant) for each in purposes]
    return Comparison(
        domain=domain,
        n=question.given_n,
        tolerance=tolerance,
        has_prior=prior is not None,
        rows=tuple(rows),
        advice=tuple(sorted(advice, key=lambda each: purposes.index(each.purpose))),
    )


def _own(also: object, domain: Domain, budgets: list[str]) -> dict[str, list[Candidate]]:
    """The caller's own mechanisms, by ε."""
    if also is None:
        return {}
    if not isinstance(also, Mapping):
        raise InputError(
            f"Expected also as a dict of mechanisms by name, got {type(also).__name__}; pass {{'mine': mechanism}}."
        )
    taken = {each.name for each in candidates(domain, exact=True)} | {LIMIT}
    found: dict[str, list[Candidate]] = {}
    for name, mechanism in also.items():
        check_mechanism(mechanism)
        if not isinstance(name, str) or name in taken:
            raise InputError(f"Expected a name of its own for a mechanism in also, got {shown(name)}; call it 'mine'.")
        if mechanism.domain != domain:
            raise InputError(f"Expected {name!r} on {domain!r}, which is compared, got {mechanism!r}; build it there.")
        epsilon = format(mechanism.epsilon_decimal, "f")
        if epsilon not in budgets:
            raise InputError(
                f"Expected {name!r} at ε = {', '.join(budgets)}, got ε = {epsilon}; compare at that ε too."
            )
        found.setdefault(epsilon, []).append(Candidate(entry_of(type(mechanism)), Form(name), mechanism))
    return found


def _limit(epsilon: str, measured: Sequence[Measured]) -> list[Row]:
    """The least expected loss of any release of a value, where it is known: by linear programme or certified bound."""
    known = {each.candidate.name: each for each in measured}
    anchored = known[ANCHORED].mechanism
    limit, note = known[OPTIMAL].row.expected_loss if OPTIMAL in known else None, "linear programme"
    if limit is None and isinstance(anchored, Anchored):
        limit, note = anchored.lower_bound, "Anchored's certified lower bound"
    return [] if limit is None else [Row(LIMIT, epsilon, "reference", expected_loss=limit, note=note)]


def _budgets(epsilon: object) -> list[str]:
    """Each ε once, ascending, in its canonical form."""
    several: Iterable[object] = [epsilon]
    if isinstance(epsilon, (list, tuple, range, set, frozenset)) or (
        isinstance(epsilon, np.ndarray) and epsilon.ndim == 1
    ):
        several = epsilon
    given = [Epsilon.of(each) for each in several]
    if not given:
        raise EpsilonError("Expected epsilon as a decimal or several of them, got none; try [0.5, 1, 2].")
    return [budget.text for budget in sorted({each.text: each for each in given}.values(), key=lambda one: one.value)]


def _check(n: object, tolerance: object, purpose: object, exact: object) -> None:
    problems = Problems()
    for check, value in ((check_n, n), (check_purpose, purpose)):
        try:
            if value is not None:
                check(value)
        except InputError as error:
            problems.add(str(error))
    if tolerance is not None and not as_real(tolerance) >= 0:
        problems.add(f"Expected tolerance ≥ 0, got {shown(tolerance)}; distances are not negative.")
    if not isinstance(exact, bool):
        problems.add(f"Expected exact as True or False, got {shown(exact)}.")
    problems.raise_if_any(InputError)
