"""The common protocol of flat categories: privatize, count, estimate."""

from __future__ import annotations

import operator
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self

import numpy as np

from bipartite.domains.containers import is_scalar, open_values
from bipartite.errors import BrokenPromiseError, DataError, DesignError, InputError, NullError, SpecError, shown
from bipartite.lottery import source_of
from bipartite.lottery.checks import is_whole
from bipartite.lottery.words import draw_from, take
from bipartite.mechanisms.base import check_domain, check_options
from bipartite.mechanisms.categories.drawing import by_people
from bipartite.mechanisms.categories.estimates import CategoryEstimate
from bipartite.mechanisms.certified import Certified

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Batch
    from bipartite.lottery import Source, Stream
    from bipartite.mechanisms.spec.parts import Fields

    Draw = Callable[[NDArray[np.int64], Stream], NDArray[Any]]

_NULL_HINT: Final = "remove it, or add a 'no answer' value to the domain."
_KEEP_HINT: Final = " (nulls='keep' passes nulls through and publishes them)"


class CategoryMechanism(Certified):
    """Reports a value of a domain in which all wrong answers are equally wrong.

    A report may be wide (one bit per value) or narrow (one number). ``count`` turns reports into an integer for each
    value, its *support*; the counts of parts add up to the count of the whole, so collectors can merge them. A report
    adds on average p to the support of the true value and q to that of any other, so (support/n − q)/(p − q) is an
    unbiased estimate of a share. p and q are exact fractions of integer tickets.
    """

    __slots__ = ()

    chosen: ClassVar[tuple[str, ...]] = ()
    """The integer parameters in addition to domain and ε, under the same names in its spec and its constructor."""

    @property
    @abstractmethod
    def support(self) -> tuple[Fraction, Fraction]:
        """(p, q): what a report adds on average to the support of the true value, and to that of any other."""

    @abstractmethod
    def count(self, reports: object) -> NDArray[np.int64]:  # an array of reports; anything else is refused
        """The support of every value, in the order of the domain; exact, and additive over parts of the reports."""

    @classmethod
    def read(cls, fields: Fields) -> Self:
        """The mechanism of a spec: rebuilt from domain, ε and a few numbers, and compared with the spec."""
        try:
            mechanism = cls._rebuilt(fields)
        except InputError as error:
            raise SpecError(str(error)) from None
        if mechanism.to_spec() != dict(fields.spec):
            raise BrokenPromiseError(
                f"Expected the numbers that follow from ε={fields['epsilon']}; do not report with this spec."
            )
        return mechanism

    @classmethod
    def _rebuilt(cls, fields: Fields) -> Self:
        """The mechanism built from the domain, ε and the chosen numbers of a spec."""
        make: Callable[..., Self] = cls
        chosen = {name: fields.whole(name) for name in cls.chosen}
        return make(fields.domain, fields["epsilon"], **chosen)

    @property
    @abstractmethod
    def _slab(self) -> int:
        """The number of people drawn together."""

    @property
    @abstractmethod
    def _words_each(self) -> int:
        """The approximate number of random words per report."""

    @abstractmethod
    def _empty(self, people: int) -> NDArray[Any]:
        """An uninitialised array for the reports of this many people."""

    @abstractmethod
    def _draw(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[Any]:
        """The reports of at most ``_slab`` people whose values have these indices."""

    def privatize(
        self,
        values: object,  # a value, or any container of values
        *,
        rng: Source | None = None,
        outside: Outside = "error",
        nulls: Literal["error"] = "error",
        threads: int = 1,
    ) -> NDArray[Any]:
        """Report each value: a NumPy array with one row per person, or a single row for a single value.

        Parameters
        ----------
        values
            A private value of the domain, or a list, tuple, NumPy array, pandas or Polars Series, Arrow array of them.
        rng
            None for the secure source; ``bp.insecure_seed(…)`` for reproducible experiments.
        outside
            ``"error"`` refuses values outside the domain (the error itself reveals that there was one);
            ``"clip"`` moves them to the nearest end first, and is private.
        nulls
            ``"error"`` only: there is no null report.
        threads
            Number of threads for large arrays. The reports do not depend on it.

        Guarantee
        ---------
        Each single report is ε-LDP. n reports about one person spend n·ε.
        """
        return self._privatize(self._draw, values, rng, outside, nulls, threads)

    def _privatize(
        self,
        draw: Draw,
        values: object,
        rng: Source | None,
        outside: Outside,
        nulls: str,
        threads: int,
    ) -> NDArray[Any]:
        check_options(outside, "error", threads)
        refuse_nulls(nulls)
        source = source_of(rng)
        self.domain.check_outside(outside)
        if is_scalar(values, self.domain):
            return self._privatize_one(draw, values, source, outside)
        return self._report(draw, self.open_batch(values, nulls), source, outside, threads)

    def open_batch(self, values: object, nulls: str) -> Batch:
        """The values of a container; for code built on mechanisms. Users call ``privatize``."""
        refuse_nulls(nulls)
        return _open(self.domain, values)

    def report_batch(self, batch: Batch, source: Source, outside: Outside, threads: int) -> NDArray[Any]:
        """The reports of a batch in order; for code built on mechanisms. Users call ``privatize``."""
        return self._report(self._draw, batch, source, outside, threads)

    @property
    def report_shape(self) -> tuple[np.dtype[Any], int | None]:
        """(the type of the numbers in a report, the length of its row; None if a report is a single number)."""
        none = self._empty(0)
        return none.dtype, none.shape[1] if none.ndim > 1 else None

    def draw_values(self, values: NDArray[Any], source: Source, outside: Outside) -> NDArray[Any] | None:
        """The reports of an array of values in order, or None if a value is refused; for tables."""
        return self._draw_array(self._draw, values, source, outside, 1)

    def draw_index(self, index: int, stream: Stream) -> NDArray[Any]:
        """The report of the value with this index, as an array of one row; for tables with a stream per row."""
        return self._draw(np.array([index], dtype=np.int64), stream)

    def _report(self, draw: Draw, batch: Batch, source: Source, outside: Outside, threads: int) -> NDArray[Any]:
        reports = self._draw_array(draw, batch.values, source, outside, threads)
        if reports is None:
            refusal = self.domain.explain(batch.values, outside, batch.place)
            raise type(refusal)(str(refusal).replace(_KEEP_HINT, ""))
        return reports

    def _draw_array(
        self, draw: Draw, values: NDArray[Any], source: Source, outside: Outside, threads: int
    ) -> NDArray[Any] | None:
        reports: NDArray[Any] = self._empty(len(values))
        refused: list[int] = []

        def job(start: int, stop: int, stream: Stream) -> None:
            coins = take(stream, stop - start) if self.domain.coins else None
            indices = self.domain.index_array(values[start:stop], outside, coins)
            if indices is None:
                refused.append(start)
            if indices is None or refused:
                return
            for first in range(0, len(indices), self._slab):
                some = indices[first : first + self._slab]
                reports[start + first : start + first + len(some)] = draw(some, stream)

        by_people(len(reports), self._words_each + self.domain.coins, source, operator.index(threads), job)
        return None if refused else reports

    def _privatize_one(self, draw: Draw, value: object, source: Source, outside: Outside) -> NDArray[Any]:
        if value is None:
            raise NullError(f"The value is missing; {_NULL_HINT}")

        def drawn(stream: Stream) -> NDArray[Any]:
            index = self.domain.encode(value, outside=outside, stream=stream)
            row: NDArray[Any] = draw(np.array([index], dtype=np.int64), stream)[0]
            return row

        return draw_from(source, self._words_each + 1, drawn)

    def estimate(
        self,
        reports: NDArray[Any] | None = None,
        *,
        counts: ArrayLike | None = None,
        people: int | None = None,
    ) -> CategoryEstimate:
        """Unbiased shares of every value, from reports or from (merged) counts and the number of people.

        frequency = (support/n − q)/(p − q) with the exact p and q of :attr:`support`.
        """
        if (reports is None) == (counts is None) or (counts is None) != (people is None):
            raise InputError(
                "Expected reports, or counts= and people=; pass mech.estimate(reports), or both of the others."
            )
        if reports is not None:
            counts, people = self.count(reports), len(reports)
        held = _check_counts(counts, len(self.domain))
        if not is_whole(people) or people < 1:
            raise InputError(
                f"Expected people as a whole number of at least 1, got {shown(people)}; pass the number of reports."
            )
        n = int(people)
        p, q = self.support
        # The factors are exact, and each is rounded once.
        frequencies = held.astype(np.float64) * float(1 / (n * (p - q))) - float(q / (p - q))
        shares = np.clip(frequencies, 0.0, 1.0)
        return CategoryEstimate(
            frequencies=frequencies,
            standard_errors=np.sqrt(self.variances(shares, n)),
            standard_errors_of_rare=np.sqrt(self._rare_variances(shares, n)),
            people=n,
        )

    def variances(self, frequencies: object, people: int) -> NDArray[np.float64]:  # numbers
        """The exact variance of each estimated share, if ``frequencies`` are the true shares of ``people`` people.

        [q(1 − q) + f·(p(1 − p) − q(1 − q))] / (n(p − q)²): over the randomness of the reports, with the people fixed.
        """
        p, q = self.support
        rare, gain = q * (1 - q), p * (1 - p) - q * (1 - q)
        scale = people * (p - q) ** 2
        variances: NDArray[np.float64] = np.asarray(frequencies, float) * float(gain / scale) + float(rare / scale)
        return variances

    def _rare_variances(self, frequencies: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """The variance of the estimated share of a value with true share 0, for each value."""
        return self.variances(np.zeros(len(frequencies)), people)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CategoryMechanism) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        return hash((type(self), len(self.domain), self.epsilon_decimal))


def check_size(domain: Domain, most: int, instead: str) -> None:
    """Refuse anything but a domain of at most this many values."""
    check_domain(domain)
    if len(domain) > most:
        raise DesignError(f"Expected at most {most} values, got {len(domain)}; {instead}.")


def check_choice(name: str, value: object, least: int, most: int) -> int:
    """A given integer parameter, refused outside its range."""
    if is_whole(value) and least <= value <= most:
        return int(value)
    raise InputError(
        f"Expected {name} as a whole number from {least} to {most}, got {shown(value)}; leave it out for the best."
    )


def round_exactly(guess: int, reaches: Callable[[int], bool]) -> int:
    """The integer nearest to x, at least 1, starting from a guess; ``reaches(k)`` says exactly whether x ≥ k − 1/2."""
    while guess > 1 and not reaches(guess):
        guess -= 1
    while reaches(guess + 1):
        guess += 1
    return guess


def refuse_rows(bad: NDArray[np.bool_] | np.bool_, expected: str) -> None:
    """Refuse reports if some cannot have come from this mechanism; ``expected`` describes valid ones."""
    rows = np.flatnonzero(bad)
    if len(rows):
        raise DataError(
            f"Expected {expected}, got {len(rows)} others, the first in row {int(rows[0])}; "
            "count them with the mechanism that sampled them."
        )


def refuse_nulls(nulls: str) -> None:
    """Refuse to pass missing values through: flat categories have no null report."""
    if nulls != "error":
        raise InputError(f"Expected nulls='error', got {shown(nulls)}; {_NULL_HINT}")


def _open(domain: Domain, values: object) -> Batch:
    dimensions = getattr(values, "ndim", 1)
    if dimensions != 1 and not domain.parts:
        raise InputError(
            f"Expected one value a person, got {dimensions} dimensions; pass a column, for example values.ravel()."
        )
    try:
        return open_values(values, "error", domain)
    except NullError as error:
        refusal = NullError(f"{str(error).split(';', maxsplit=1)[0]}; {_NULL_HINT}")
    raise refusal  # outside the handler, so that no inner exception travels with it


def _check_counts(counts: object, size: int) -> NDArray[np.int64]:
    array = np.asarray(counts)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise InputError(
            f"Expected counts as {size} whole numbers, one per value, got shape {array.shape} of {array.dtype}; "
            "pass the result of count, or a sum of such results."
        )
    return array.astype(np.int64)


def check_reports(reports: object, dtype: type[np.generic], width: int | None) -> NDArray[Any]:
    """Reports as an array of this type: rows of ``width``, or single numbers if it is None."""
    found = reports if isinstance(reports, np.ndarray) else None
    shape = "one number per person" if width is None else f"one row of {width} per person"
    fits = found is not None and found.dtype == dtype and found.ndim == (1 if width is None else 2)
    if found is None or not fits or (width is not None and found.shape[1] != width):
        got = f"shape {found.shape} of {found.dtype}" if found is not None else type(reports).__name__
        raise InputError(
            f"Expected reports as a NumPy array of {np.dtype(dtype)}, {shape}, got {got}; "
            "pass the result of privatize for a container, or np.stack of single reports."
        )
    return np.ascontiguousarray(found)
