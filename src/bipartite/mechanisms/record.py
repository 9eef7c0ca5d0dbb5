"""Several attributes of one person, each with a mechanism of its own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from itertools import combinations, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, overload

import numpy as np

from bipartite.domains.containers import is_scalar
from bipartite.errors import DataError, InputError, Problems, of_attribute, shown
from bipartite.frozen import Frozen
from bipartite.lottery import SCALAR, source_of
from bipartite.lottery.budgets import most_spent
from bipartite.lottery.bulk import run_by_chunks
from bipartite.lottery.checks import is_whole
from bipartite.lottery.uniform import fill_below, ticket_below
from bipartite.lottery.words import CHUNK, redraw_if_forked
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.checks import check_options
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal
    from typing import TypeVar, Unpack

    from numpy.typing import NDArray

    from bipartite.domains import Outside
    from bipartite.domains.containers import Batch, Nulls
    from bipartite.lottery import Source, Stream
    from bipartite.mechanisms.base import Options, SeriesT

    T = TypeVar("T")

MOST_CHOICES: Final = 2**16
_MOST_SHOWN: Final = 4  # attributes in a repr


class Record(Frozen):
    r"""Reports several attributes of a person, one mechanism per attribute: all of them, or a random few.

    With ``sample=None`` a record (x₁, …, x_d) becomes (y₁, …, y_d), each y_i drawn independently by its own mechanism:
    Pr[y|x] = ∏ᵢ Pᵢ[yᵢ|xᵢ]. With ``sample=k`` a set S of k attributes is drawn uniformly for every person, independently
    of the values, and only (S, y_S) is reported: Pr[S, y|x] = 1/C(d, k) · ∏_{i∈S} Pᵢ[yᵢ|xᵢ].

    Parameters
    ----------
    mechanisms
        The name of each attribute and its mechanism: one whose report is a value, such as :class:`~bipartite.BRR`, or
        one for flat categories, such as :class:`~bipartite.OUE`. Random words are consumed in this order.
    sample
        None reports every attribute; an integer k below their number reports k of them for each person.

    Guarantee
    ---------
    ε-LDP for the whole report, for any two records, with ε = :attr:`epsilon_decimal`. If every attribute is reported,
    ε is the **sum** of all ε_i, because the ratio of the products is the product of the ratios, each at most
    e\ :sup:`ε_i`. If sampled, it is the sum of the k **largest** (for ``sample=1`` the largest ε_i), because the
    probability of S cancels and the ratio is a product over S alone. S is public, and independent of the values. Row i
    of every column must belong to one person. n reports about one person spend n·ε.

    Reference
    ---------
    Basic composition: Dwork, Roth: *The Algorithmic Foundations of Differential Privacy* (2014), section 3.5.

    Examples
    --------
    >>> from bipartite import BRR, Integers
    >>> parts = {"age": BRR(Integers(18, 90), epsilon=0.1), "rating": BRR(Integers(1, 5), epsilon=0.2)}
    >>> Record(parts).epsilon_decimal, Record(parts, sample=1).epsilon_decimal
    (Decimal('0.3'), Decimal('0.2'))
    >>> sorted(Record(parts).privatize({"age": 40, "rating": 4}))
    ['age', 'rating']
    """

    __slots__ = ("_attributes", "epsilon_decimal", "sample")

    sample: int | None
    """The number of attributes drawn for each person; None if all are reported."""
    epsilon_decimal: Decimal
    """ε of the whole report as an exact decimal: the sum of all, or of the ``sample`` largest."""
    _attributes: tuple[tuple[str, Mechanism], ...]

    def __init__(self, mechanisms: Mapping[str, Mechanism], sample: int | None = None) -> None:
        _check_arguments(mechanisms, sample)
        attributes = tuple(mechanisms.items())
        reported = len(attributes) if sample is None else int(sample)
        self._set(
            _attributes=attributes,
            sample=None if sample is None else reported,
            epsilon_decimal=most_spent([each.epsilon_decimal for _, each in attributes], reported),
        )

    @property
    def epsilon(self) -> float:
        """The privacy budget ε of the whole report."""
        return float(self.epsilon_decimal)

    @property
    def mechanisms(self) -> Mapping[str, Mechanism]:
        """The mechanism of each attribute, in order; read-only."""
        return MappingProxyType(dict(self._attributes))

    @overload
    def privatize(self, values: Mapping[str, NDArray[Any]], **options: Unpack[Options]) -> dict[str, NDArray[Any]]: ...

    @overload
    def privatize(self, values: Mapping[str, list[Any]], **options: Unpack[Options]) -> dict[str, list[Any]]: ...

    @overload
    def privatize(self, values: Mapping[str, SeriesT], **options: Unpack[Options]) -> dict[str, SeriesT]: ...

    @overload
    def privatize(self, values: Mapping[str, Any], **options: Unpack[Options]) -> dict[str, Any]: ...

    def privatize(
        self,
        values: Mapping[str, Any],
        *,
        rng: Source | None = None,
        outside: Outside = "error",
        nulls: Nulls = "error",
        threads: int = 1,
    ) -> dict[str, Any]:
        """Report one person, ``{"age": 40, …}``, or many, ``{"age": [40, 52], …}``; the result has the same shape.

        With ``sample``, the report of one person holds only the drawn attributes: ``{"income": 51000.0}``. For many
        people every attribute is returned as a column in its own container, with a null where it was not drawn:
        None in lists and among labels, a masked array for NumPy numbers, NaN in pandas floats, ``pd.NA`` in pandas
        integers (whose type becomes nullable), and the nulls of Arrow and Polars. The report of a flat category is a
        row of bits or numbers, as from its own ``privatize``: pass its values as a list, which returns a list of rows,
        or as a NumPy array, which returns an array, masked where not drawn.

        Every attribute of every person is drawn, and then dropped if it was not sampled, so that neither errors nor
        the number of random words depend on the sample. Words are consumed in this order: the choice of attributes of
        each person, if they are sampled; then for each attribute, in the order of ``mechanisms``, the report of each
        person.

        Parameters
        ----------
        values
            For every attribute a single value, or for every attribute a container with one value per person.
        rng, outside, nulls, threads
            As in ``privatize`` of a mechanism, for every attribute. ``nulls="keep"`` cannot be combined with
            ``sample``: a missing value and an attribute that was not drawn would look the same.
        """
        check_options(outside, nulls, threads)
        source = source_of(rng)
        if self.sample is not None and nulls == "keep":
            raise InputError(
                "Expected nulls='error' with sample, where a null means that an attribute was not drawn; "
                "remove missing values, or add a 'no answer' value to the domain."
            )
        _check_names(values, [name for name, _ in self._attributes])
        if _is_one_person(values, self.mechanisms):
            return redraw_if_forked(lambda: self._report_one(values, rng, outside, nulls))
        return self._report_many(values, source, outside, nulls, threads)

    def _report_one(
        self, values: Mapping[str, Any], rng: Source | None, outside: Outside, nulls: Nulls
    ) -> dict[str, Any]:
        drawn = tuple(name for name, _ in self._attributes)
        if self.sample is not None:
            sets = math.comb(len(drawn), self.sample)
            chosen = ticket_below(sets, SCALAR if rng is None else rng.streams().stream(0, 1))
            drawn = next(islice(combinations(drawn, self.sample), chosen, None))
        reports = {}
        for name, mechanism in self._attributes:
            report: Any = partial(mechanism.privatize, values[name], rng=rng, outside=outside, nulls=nulls)
            reports[name] = _name_errors(name, report)
        return {name: reports[name] for name in drawn}

    def _report_many(
        self, values: Mapping[str, Any], source: Source, outside: Outside, nulls: Nulls, threads: int
    ) -> dict[str, Any]:
        batches = {}
        for name, mechanism in self._attributes:
            batches[name] = _name_errors(name, partial(_open, mechanism, values[name], nulls))
        people = _number_of_people(values)
        hidden: Sequence[NDArray[np.bool_] | None] = [None] * len(batches)
        if self.sample is not None:
            sets = sets_of(len(batches), self.sample)
            drawn = sets[choose_many(len(sets), people, source)]
            hidden = [(drawn != attribute).all(axis=1) for attribute in range(len(batches))]
        columns = {}
        for (name, mechanism), hide in zip(self._attributes, hidden, strict=True):
            reports = _name_errors(name, partial(mechanism.report_batch, batches[name], source, outside, threads))
            if hide is not None:
                # A null only masks a number, so overwrite what was not drawn. If the mask of an array is dropped, rows
                # of ones appear, which most flat categories never report and the others rarely.
                reports[hide] = np.iinfo(reports.dtype).max if mechanism.flat else 0
            rows = _rows_like(values[name], reports, hide) if mechanism.flat else batches[name].rebuild(reports, hide)
            columns[name] = rows
        return columns

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and (self._attributes, self.sample) == (other._attributes, other.sample)

    def __hash__(self) -> int:
        return hash((self._attributes, self.sample))

    def __repr__(self) -> str:
        sample = "" if self.sample is None else f", sample={self.sample}"
        if len(self._attributes) > _MOST_SHOWN:
            return f"<Record of {len(self._attributes)} attributes{sample}>"
        return f"Record({dict(self._attributes)!r}{sample})"


def _open(mechanism: Mechanism, values: object, nulls: Nulls) -> Batch:
    if mechanism.domain.parts and not isinstance(values, list):
        raise InputError(
            f"Expected tuples as a list, got {type(values).__name__}; pass [(first, second), …], one tuple a person, "
            "such as list(zip(ages, genres))."
        )
    if mechanism.flat and not isinstance(values, (list, tuple, np.ndarray)):
        raise InputError(
            "Expected values of a flat category as a list or a NumPy array, because its reports are rows of bits or "
            f"numbers, got {type(values).__name__}; pass column.to_numpy()."
        )
    return mechanism.open_batch(values, nulls)


def _rows_like(values: object, reports: NDArray[Any], hide: NDArray[np.bool_] | None) -> object:
    """The reports of a flat category in the caller's type of container, with nulls where they were not drawn."""
    if isinstance(values, np.ndarray):
        if hide is None:
            return reports
        mask = hide if reports.ndim == 1 else np.broadcast_to(hide[:, None], reports.shape)
        return np.ma.MaskedArray(reports, mask)
    rows = list(reports) if hide is None else [None if gone else row for gone, row in zip(hide, reports, strict=True)]
    return tuple(rows) if isinstance(values, tuple) else rows


def _name_errors(name: str, report: Callable[[], T]) -> T:
    """The result of ``report``, or its error with the name of the attribute added."""
    try:
        return report()
    except (InputError, DataError) as error:
        refusal = of_attribute(error, name)
    raise refusal  # outside the handler, so that no inner exception is attached to it


def _check_arguments(mechanisms: object, sample: object) -> None:
    if not isinstance(mechanisms, Mapping) or not mechanisms:
        what = "an empty one" if isinstance(mechanisms, Mapping) else type(mechanisms).__name__
        raise InputError(f"Expected mechanisms as a dict of at least one attribute, got {what}; pass {{'age': mech}}.")
    problems = Problems()
    for name, mechanism in mechanisms.items():
        if not isinstance(name, str):
            problems.add(f"Expected names of attributes as strings, got {shown(name)}; use 'age'.")
        problem = composition_problem(shown(name), mechanism, flat=True)
        if problem is not None:
            problems.add(problem)
    problem = sample_problem(sample, len(mechanisms))
    if problem is not None:
        problems.add(problem)
    problems.raise_if_any(InputError)


def sample_problem(sample: object, count: int, what: str = "attributes") -> str | None:
    """Why this many attributes cannot be drawn out of ``count``, or None."""
    if sample is None:
        return None
    if not is_whole(sample):
        return f"Expected sample as None or a whole number, got {shown(sample)}; use sample=1."
    if not 1 <= sample < count:
        return (
            f"Expected 1 ≤ sample < {count}, the number of {what}, got {shown(sample)}; "
            "leave sample out to report all of them."
        )
    if math.comb(count, int(sample)) > MOST_CHOICES:
        return (
            f"Expected at most 2^16 sets of {what} to draw from, got {math.comb(count, int(sample))}; "
            f"use a smaller sample, or fewer {what}."
        )
    return None


def sets_of(count: int, sample: int) -> NDArray[np.int64]:
    """Every set of ``sample`` out of ``count`` attributes by their positions, a row for each."""
    return np.array(list(combinations(range(count), sample)))


def composition_problem(name: str, mechanism: object, *, flat: bool = False) -> str | None:
    """Why the ε of a mechanism cannot be added to others, or None; ``flat`` also allows reports that are rows."""
    if not isinstance(mechanism, Mechanism) or (mechanism.flat and not flat):
        what = "" if flat else " whose report is one value"
        kind = type(mechanism).__name__
        return f"Expected a mechanism for {name}{what}, got {kind}; pass one such as bp.BRR or bp.GRR."
    if mechanism.breaks_promise():
        return (
            f"Expected a mechanism for {name} that keeps its ε, got {mechanism!r}, which spends more; verify() says "
            "how much."
        )
    return None


def _check_names(values: object, names: list[str]) -> None:
    if not isinstance(values, Mapping):
        column = f"frame[{names[0]!r}], …" if hasattr(values, "columns") else "…"
        raise InputError(
            f"Expected values as a dict of attributes, got {type(values).__name__}; pass {{{names[0]!r}: {column}}}."
        )
    problems = Problems()
    for name in names:
        if name not in values:
            problems.add(f"Expected a value for {name!r}, got none; add it.")
    for name in values:
        if name not in names:
            problems.add(f"Expected no {shown(name)}, which has no mechanism; remove it, or add it to the Record.")
    problems.raise_if_any(InputError)


def _is_one_person(values: Mapping[str, Any], mechanisms: Mapping[str, Mechanism]) -> bool:
    scalars = [name for name, value in values.items() if is_scalar(value, mechanisms[name].domain)]
    if scalars and len(scalars) < len(values):
        one, many = (", ".join(escaped(name) for name in values if (name in scalars) is one) for one in (True, False))
        raise InputError(
            "Expected numbers for one person or containers for many, got both: "
            f"one value for {one}, a container for {many}; pass one kind for all."
        )
    return bool(scalars)


def _number_of_people(values: Mapping[str, Any]) -> int:
    problems = Problems()
    for name, column in values.items():
        if getattr(column, "ndim", 1) != 1:
            problems.add(f"Expected one value a person for {name!r}, got {column.ndim} dimensions; pass a column.")
    problems.raise_if_any(InputError)
    indexes = [column.index for column in values.values() if type(column).__module__.partition(".")[0] == "pandas"]
    if any(not index.equals(indexes[0]) for index in indexes):
        # Rows are people: with different indexes a table of the reports would mix people, and add up their ε.
        raise InputError("Expected pandas columns with the same index, got different ones; pass columns of one frame.")
    sizes = {name: len(column) for name, column in values.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{escaped(name)}: {size}" for name, size in sizes.items())
        raise InputError(
            f"Expected the same number of people for every attribute, got {found}; pass columns of one table."
        )
    return next(iter(sizes.values()))


def choose_many(choices: int, people: int, source: Source) -> NDArray[np.int64]:
    """One number below ``choices`` for each person, with a stream for each chunk of 2^20 people."""
    chosen = np.empty(people, dtype=np.int64)

    def choose(start: int, stop: int, stream: Stream) -> None:
        fill_below(choices, chosen[start:stop].view(np.uint64), stream)

    run_by_chunks(people, CHUNK, 1, source, 1, choose)
    return chosen
