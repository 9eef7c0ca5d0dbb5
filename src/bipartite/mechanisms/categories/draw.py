"""How flat categories are drawn: a report is a row of bits or numbers that supports some of the values.

A call is divided into chunks of 2^16 people, each with its own stream of words, so that the reports depend on the words
and not on threads; the chunks are smaller than those of a line because a report may have many bytes. A chunk first
takes one word per person if values are rounded at random; then its people are processed in slabs whose words fit into
the cache. Each kind of draw defines the order in which a slab consumes its words.
"""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, Self, cast

import numpy as np

from bipartite.domains.containers import is_scalar, open_values
from bipartite.errors import BrokenPromiseError, DataError, InputError, NullError, SpecError
from bipartite.lottery import FixedWords, source_of
from bipartite.lottery.bulk import run_by_chunks
from bipartite.lottery.words import draw_from, take
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import NULL_HINT, check_options, refuse_nulls

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Batch, Nulls
    from bipartite.lottery import Deal, Epsilon, Source, Stream
    from bipartite.lottery.bulk import ChunkJob

CHUNK_PEOPLE: Final = 2**16
_KEEP_HINT: Final = " (nulls='keep' passes nulls through and publishes them)"


class FlatDraw(ABC):
    """Draws rows of bits or numbers, and counts which values they support.

    A report adds on average p to the support of the true value and q to that of any other, so (support/n − q)/(p − q)
    is an unbiased estimate of a share. p and q are exact fractions of integer tickets.
    """

    flat: ClassVar[bool] = True
    outputs: ClassVar[int | None] = None
    """The number of possible reports, where they are few enough to list."""
    slab: int
    """The number of people drawn together."""
    words_each: int
    """The approximate number of random words per report."""

    @property
    @abstractmethod
    def support(self) -> tuple[Fraction, Fraction]:
        """(p, q): what a report adds on average to the support of the true value, and to that of any other."""

    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """The largest ratio of the probabilities of one report for two values, exactly."""

    @abstractmethod
    def empty(self, people: int) -> NDArray[Any]:
        """An uninitialised array for the reports of this many people."""

    @abstractmethod
    def rows_of(self, indices: NDArray[np.int64], stream: Stream) -> NDArray[Any]:
        """The reports of at most ``slab`` people whose values have these indices."""

    @abstractmethod
    def count(self, reports: object) -> NDArray[np.int64]:
        """The support of every value, in the order of the domain; exact, and additive over parts of the reports."""

    def variances(self, frequencies: object, people: int) -> NDArray[np.float64]:  # numbers
        """The exact variance of each estimated share, if ``frequencies`` are the true shares of ``people`` people.

        [q(1 − q) + f·(p(1 − p) − q(1 − q))] / (n(p − q)²): over the randomness of the reports, with the people fixed.
        """
        p, q = self.support
        rare, gain = q * (1 - q), p * (1 - p) - q * (1 - q)
        scale = people * (p - q) ** 2
        variances: NDArray[np.float64] = np.asarray(frequencies, float) * float(gain / scale) + float(rare / scale)
        return variances

    @property
    def report_shape(self) -> tuple[np.dtype[Any], int | None]:
        """(the type of the numbers in a report, the length of its row; None if a report is a single number)."""
        none = self.empty(0)
        return none.dtype, none.shape[1] if none.ndim > 1 else None


class Flat(Mechanism):
    """Reports a value of a domain in which all wrong answers are equally wrong, as a row of bits or numbers.

    ``count`` turns reports into an integer for each value, its *support*; the counts of parts add up to the count of
    the whole, so collectors can merge them.
    """

    __slots__ = ()

    chosen: ClassVar[tuple[str, ...]] = ()
    """The facts that its constructor takes under the same names; all others follow from them, the domain and ε."""
    draw: FlatDraw

    @classmethod
    @abstractmethod
    def draw_of(cls, size: int, facts: Mapping[str, Any]) -> FlatDraw:
        """The draw on ``size`` values that these facts describe."""

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        return None, cls.draw_of(len(domain), facts)  # type: ignore[return-value]  # see `Mechanism.outputs`

    @classmethod
    def read(cls, domain: Domain, budget: Epsilon | None, facts: Mapping[str, Any], **known: object) -> Self:  # noqa: ARG003
        """The mechanism of a spec: built again from domain, ε and the chosen numbers, and compared with the spec."""
        given = cast("Epsilon", budget)
        try:
            mechanism = cls._rebuilt(domain, given, facts)
        except InputError as error:
            raise SpecError(str(error)) from None
        if (mechanism.facts, mechanism.epsilon_decimal) != (facts, given.value):
            raise BrokenPromiseError(
                f"Expected the numbers that follow from ε={given.text}; do not report with this spec."
            )
        return mechanism

    @classmethod
    def _rebuilt(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> Self:
        make: Callable[..., Self] = cls
        return make(domain, budget.value, **{name: facts[name] for name in cls.chosen})

    def privatize(  # type: ignore[override]  # rows, whatever the container
        self,
        values: object,
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
            A private value of the domain, or any container of them that other mechanisms take.
        rng, outside, threads
            As in ``privatize`` of other mechanisms: :meth:`bipartite.mechanisms.Mechanism.privatize`.
        nulls
            ``"error"`` only: there is no null report.

        Guarantee
        ---------
        Each single report is ε-LDP. n reports about one person spend n·ε.
        """
        check_options(outside, "error", threads)
        refuse_nulls(nulls)
        source = source_of(rng)
        self.domain.check_outside(outside)
        if is_scalar(values, self.domain):
            return self._report_one(values, source, outside)
        return self.report_batch(self.open_batch(values, "error"), source, outside, threads)

    def open_batch(self, values: object, nulls: Nulls) -> Batch:
        refuse_nulls(nulls)
        dimensions = getattr(values, "ndim", 1)
        if dimensions != 1 and not self.domain.parts:
            raise InputError(
                f"Expected one value a person, got {dimensions} dimensions; pass a column, for example values.ravel()."
            )
        try:
            return open_values(values, "error", self.domain)
        except NullError as error:
            refusal = NullError(f"{str(error).split(';', maxsplit=1)[0]}; {NULL_HINT}")
        raise refusal  # outside the handler, so that no inner exception travels with it

    def report_batch(self, batch: Batch, source: Source, outside: Outside, threads: int) -> NDArray[Any]:
        reports = self.draw_values(batch.values, source, outside, threads)
        if reports is None:
            refusal = self.domain.explain(batch.values, outside, batch.place)
            raise type(refusal)(str(refusal).replace(_KEEP_HINT, ""))
        return reports

    def draw_values(
        self, values: NDArray[Any], source: Source, outside: Outside, threads: int = 1
    ) -> NDArray[Any] | None:
        """The reports of an array of values; None if one of them is refused."""
        reports: NDArray[Any] = self.draw.empty(len(values))
        slab = self.draw.slab
        refused: list[int] = []

        def job(start: int, stop: int, stream: Stream) -> None:
            coins = take(stream, stop - start) if self.domain.coins else None
            indices = self.domain.index_array(values[start:stop], outside, coins)
            if indices is None:
                refused.append(start)
            if indices is None or refused:
                return
            for first in range(0, len(indices), slab):
                some = indices[first : first + slab]
                reports[start + first : start + first + len(some)] = self.draw.rows_of(some, stream)

        by_people(len(reports), self.draw.words_each + self.domain.coins, source, operator.index(threads), job)
        return None if refused else reports

    def _report_one(self, value: object, source: Source, outside: Outside) -> NDArray[Any]:
        if value is None:
            raise NullError(f"The value is missing; {NULL_HINT}")

        def drawn(stream: Stream) -> NDArray[Any]:
            index = self.domain.encode(value, outside=outside, stream=stream)
            row: NDArray[Any] = self.draw.rows_of(np.array([index], dtype=np.int64), stream)[0]
            return row

        return draw_from(source, self.draw.words_each + 1, drawn)


def by_people(people: int, words_each: int, source: Source, threads: int, job: ChunkJob) -> None:
    """Run a job for every chunk of people, on this many threads."""
    if isinstance(source, FixedWords) and people > CHUNK_PEOPLE:
        raise InputError(
            f"Expected at most 2^16 people with fixed_words, got {people}; make several calls of {CHUNK_PEOPLE} people."
        )
    run_by_chunks(people, CHUNK_PEOPLE, words_each, source, threads, job)


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
