"""The one protocol of every mechanism: encode, draw, decode."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from bipartite.domains import Cyclic, Domain, LineDomain
from bipartite.domains.base import ReportsOnly
from bipartite.domains.containers import Nulls, is_scalar, null_error, open_values
from bipartite.domains.labelled import Names
from bipartite.domains.subset import codec_between
from bipartite.errors import BrokenPromiseError, DesignError, InputError, Problems, is_one_of, shown
from bipartite.lottery import MAX_TOTAL, SCALAR, TooFewTickets, ValuesRefusedError, draw_many, issue_tickets, source_of
from bipartite.lottery.checks import is_whole
from bipartite.lottery.words import redraw_if_forked
from bipartite.mechanisms.certified import Certified, list_problem
from bipartite.mechanisms.spec.parts import Fields

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction
    from typing import Protocol, TypedDict, TypeVar, Unpack

    from numpy.typing import NDArray

    from bipartite.domains import Outside
    from bipartite.domains.containers import Batch
    from bipartite.lottery import Epsilon, Lottery, Source, Tickets

    class Series(Protocol):
        """A pandas or Polars Series, or an Arrow array, recognised by its method so that none of them is imported."""

        @property
        def to_numpy(self) -> Callable[..., Any]: ...

    class Options(TypedDict, total=False):
        """The options of ``privatize``."""

        rng: Source | None
        outside: Outside
        nulls: Nulls
        threads: int

    SeriesT = TypeVar("SeriesT", bound=Series)
    # The report has the same type, except that integers given to bp.Interval are reported as floats.
    Given = TypeVar("Given", bound="float | str | bytes | list[Any] | Series | None")

_MATRIX_LIMIT: Final = 2**26


class Mechanism(Certified):
    """Replaces a value by a random report, drawn from a lottery of integer tickets."""

    __slots__ = ("_lottery", "outputs")

    outputs: Domain
    """The possible reports."""
    _lottery: Lottery

    @property
    def lottery(self) -> Lottery:
        """The tickets of every input, from which reports are drawn and certificates are computed."""
        return self._lottery

    @property
    def report_labels(self) -> tuple[Any, ...] | None:
        """The labels of its reports: those of the domain, or its own; None where reports are numbers."""
        return self.outputs.labels if isinstance(self.outputs, Names) else self.domain.labels

    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x', exact, computed from the tickets."""
        lottery = self._lottery
        if (lottery.inputs, lottery.outputs) != (len(self.domain), len(self.outputs)):
            raise AssertionError("the lottery of this mechanism does not belong to its domain")
        return lottery.largest_ratio()

    @overload
    def privatize(self, values: NDArray[Any], **options: Unpack[Options]) -> NDArray[Any]: ...

    @overload
    def privatize(self, values: tuple[Any, ...], **options: Unpack[Options]) -> tuple[Any, ...]: ...

    @overload
    def privatize(self, values: np.number[Any], **options: Unpack[Options]) -> np.number[Any]: ...

    @overload
    def privatize(self, values: Given, **options: Unpack[Options]) -> Given: ...

    def privatize(
        self,
        values: object,
        *,
        rng: Source | None = None,
        outside: Outside = "error",
        nulls: Nulls = "error",
        threads: int = 1,
    ) -> object:
        """Report each value: a single value or a container goes in, and the same kind comes out.

        Containers are lists, tuples, NumPy arrays, pandas and Polars Series, Arrow arrays and chunked arrays. Names and
        indexes are passed through unchanged, so keep private information out of them; they never influence a report.

        The type of the reports depends only on ``outputs`` and ``nulls``, because the type of the values may reveal a
        missing or infinite value: 64-bit integers (``int`` in lists) where the outputs are integers, 64-bit floats
        where they are not, and labels as the labels are.

        Parameters
        ----------
        values
            Private values of the domain.
        rng
            None for the secure source; ``bp.insecure_seed(…)`` for reproducible experiments.
        outside
            ``"error"`` refuses values outside the domain (the error itself reveals that there was one);
            ``"clip"`` moves them to the nearest end first, and is private.
        nulls
            ``"error"`` refuses missing values; ``"keep"`` passes them through, which publishes that the value is
            missing: as None in lists and among labels, NaN in NumPy arrays (whose integers then always become floats)
            and the container's own null elsewhere (pandas then reports integers as ``Int64``).
        threads
            Number of threads for large arrays. The reports do not depend on it.

        Guarantee
        ---------
        Each single report is ε-LDP. n reports about one person spend n·ε.
        """
        check_options(outside, nulls, threads)
        source = source_of(rng)
        self.domain.check_outside(outside)
        if is_scalar(values, self.domain):
            return self._privatize_one(values, None if rng is None else source, outside, nulls)
        batch = self.open_batch(values, nulls)
        return batch.rebuild(self.report_batch(batch, source, outside, threads), None)

    def open_batch(self, values: object, nulls: Nulls) -> Batch:
        """The values of a container; for code built on mechanisms. Users call ``privatize``."""
        batch = open_values(values, nulls, self.domain)
        return replace(batch, labels=self.report_labels) if isinstance(self.outputs, Names) else batch

    def report_batch(self, batch: Batch, source: Source, outside: Outside, threads: int) -> NDArray[Any]:
        """The reports of a batch in order; for code built on mechanisms. Users call ``privatize``."""
        codec = codec_between(self.domain, self.outputs, batch.values.dtype, outside)
        try:
            reports = draw_many(self._lottery, codec, batch.values, source, threads=operator.index(threads))
        except ValuesRefusedError:
            refusal = self.domain.explain(batch.values, outside, batch.place)
        else:
            return reports
        raise refusal  # outside the handler, so that no inner exception is attached to it

    def _privatize_one(self, value: object, source: Source | None, outside: Outside, nulls: Nulls) -> object:
        if value is None:
            if nulls == "keep":
                return None
            raise null_error()
        if isinstance(value, tuple) and any(each is None for each in value):
            return self._privatize_one(None, source, outside, nulls)  # a part of it is missing
        # NaN counts as missing, as it would in an array.
        if nulls == "keep" and isinstance(value, (float, np.floating)) and value != value:  # noqa: PLR0124
            return value
        report = self.outputs.decode(redraw_if_forked(lambda: self._draw_one(value, source, outside)))
        if isinstance(value, np.generic) and self.outputs.labels is None:
            return (np.int64 if self.outputs.whole else np.float64)(report)
        return report

    def _draw_one(self, value: object, source: Source | None, outside: Outside) -> int:
        stream = SCALAR if source is None else source.streams().stream(0, 1)
        return self._lottery.draw(self.domain.encode(value, outside=outside, stream=stream), stream)

    def matrix(self) -> NDArray[np.float64]:
        """P[x, y] = Pr[report y | value x] as a dense array, computed from the tickets; for small domains."""
        rows, columns = len(self.domain), len(self.outputs)
        if rows * columns > _MATRIX_LIMIT:
            raise InputError(
                f"Expected a matrix of at most 2^26 numbers, got {rows} × {columns}; use a smaller domain."
            )
        dense: NDArray[np.float64] = self._lottery.rows(0, rows) / self._lottery.total
        return dense

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickles and copies are read like a spec, but hold the domain itself, because a spec does not store its losses.
        return _reread, (type(self), self.domain, {"epsilon": self.epsilon_decimal, **self.parts()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        # Without the class: Randomized Response equals GRR, and the Square Wave equals a padded BRR.
        return hash((len(self.domain), len(self.outputs), self.epsilon_decimal))


def _reread(kind: type[Mechanism], domain: Domain, spec: dict[str, Any]) -> Mechanism:
    return kind.read(Fields(spec, domain, Problems()))


def domain_problem(domain: object) -> str | None:
    """Why this cannot be a domain of values; None if it can."""
    if not isinstance(domain, Domain):
        return list_problem(domain) or (
            "Expected domain as bp.Integers, bp.Interval, bp.Cyclic, bp.Points, bp.Items or bp.Product, got "
            f"{type(domain).__name__}; try bp.Integers(18, 90)."
        )
    if isinstance(domain, ReportsOnly) or (isinstance(domain, LineDomain) and domain.is_padded):
        return "Expected domain as values, got the outputs of another mechanism; pass its domain."
    return None


def check_domain(domain: object, *, on_a_line: bool = False) -> None:
    """Refuse anything but a domain of values and, if asked, anything but a line."""
    problem = domain_problem(domain)
    if problem is not None:
        raise InputError(problem)
    if on_a_line and isinstance(domain, Cyclic):
        raise not_a_line(domain)
    if on_a_line and not isinstance(domain, LineDomain):
        raise DesignError(
            f"Expected domain as bp.Integers or bp.Interval, got {type(domain).__name__}, which has no low and high; "
            "use bp.BRR, bp.GRR, bp.Exponential or bp.Anchored there."
        )


def not_a_line(circle: Cyclic) -> DesignError:
    """The error for a circle where the domain must have a low end, a high end and a mean."""
    return DesignError(
        f"Expected domain as a range of numbers, got {circle!r}, which wraps around and has no ends; use bp.BRR, "
        "bp.GRR, bp.Exponential or bp.Anchored there."
    )


def tickets_for(budget: Epsilon, near: int, outputs: int, what: str) -> Tickets:
    """The tickets of ``near`` likely outputs among ``outputs``; refused if 2^52 tickets cannot keep ε."""
    tickets = issue_tickets(budget, near, outputs)
    if isinstance(tickets, TooFewTickets):
        raise too_few_tickets(budget, tickets, outputs, what)
    return tickets


def too_few_tickets(budget: Epsilon, why: TooFewTickets, count: int, what: str) -> DesignError:
    """The error for an ε that 2^52 tickets cannot keep for this many values, or whatever ``what`` names."""
    which, other = ("small", "larger") if why is TooFewTickets.EPSILON_TOO_SMALL else ("large", "smaller")
    return DesignError(
        f"ε={budget.text} is too {which} for N={count} {what}: 2^52 tickets cannot keep it exactly; "
        f"use a {other} ε, or fewer {what}."
    )


def check_tickets(budget: Epsilon, tickets: Tickets, m: int, outputs: int) -> None:
    """Refuse tickets of a spec that do not keep its ε."""
    near, far = tickets.near, tickets.far
    problems = Problems()
    if not near > far >= 1 or far & (far - 1):
        problems.add(
            f"Expected near > far ≥ 1 with far a power of two, got near={near}, far={far}; ask for another spec."
        )
    elif (total := tickets.total(m, outputs)) > MAX_TOTAL:
        problems.add(f"Expected at most 2^52 tickets per row, got {total}; ask for another spec.")
    if not budget.allows(near, far):
        problems.add(f"Tickets near={near}, far={far} exceed e^ε for ε={budget.text}; do not report with this spec.")
    problems.raise_if_any(BrokenPromiseError)


def check_one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Refuse an option that is not one of these choices."""
    if not is_one_of(value, choices):
        *others, last = map(repr, choices)
        raise InputError(f"Expected {name}={', '.join(others)} or {last}, got {shown(value)}.")


def check_options(outside: object, nulls: object, threads: object) -> None:
    """Refuse invalid options of ``privatize``, all in one error."""
    problems = Problems()
    if not is_one_of(outside, ("error", "clip")):
        problems.add(f"Expected outside='error' or 'clip', got {shown(outside)}.")
    if not is_one_of(nulls, ("error", "keep")):
        problems.add(f"Expected nulls='error' or 'keep', got {shown(nulls)}.")
    if not is_whole(threads) or threads < 1:
        problems.add(f"Expected threads as a whole number of at least 1, got {shown(threads)}.")
    problems.raise_if_any(InputError)
