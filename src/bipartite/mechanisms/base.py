"""One mechanism: a domain, the reports, ε, a draw of integer tickets, and the facts that its spec states."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from dataclasses import replace
from decimal import Decimal
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, NoReturn, Self, cast, overload

import numpy as np

from bipartite.domains.containers import is_scalar, null_error, open_values
from bipartite.errors import BrokenPromiseError, InputError, OtherKindError, Problems
from bipartite.frozen import Frozen
from bipartite.lottery import SCALAR, Epsilon, ValuesRefusedError, draw_many, source_of
from bipartite.lottery.words import redraw_if_forked
from bipartite.mechanisms.catalogue import is_built_in, written_as
from bipartite.mechanisms.checks import check_options, list_problem
from bipartite.mechanisms.spec.fields import Fields
from bipartite.names import moved

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction
    from typing import Protocol, TypedDict, TypeVar, Unpack

    from numpy.typing import NDArray

    from bipartite.domains import Domain, Outside
    from bipartite.domains.containers import Batch, Nulls
    from bipartite.lottery import Deal, Source
    from bipartite.mechanisms.categories.draw import FlatDraw
    from bipartite.mechanisms.spec.fields import Field

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


class Mechanism(Frozen, ABC):
    """Replaces a value by a random report, drawn from integer tickets whose ε :func:`bipartite.verify` computes.

    It is immutable and holds only public parameters, never a private value. A constructor designs the *facts* of its
    spec (such as m and the tickets), and `law` turns the facts into reports and tickets; a spec, a pickle and a copy go
    the same way. So a new mechanism states: a ``schema`` of its facts, `law`, `check`, a constructor that designs, and
    an entry in the catalogue.
    """

    __slots__ = ("_budget", "_spec_json", "_spec_sha256", "domain", "draw", "facts", "known", "outputs")

    domain: Domain
    """The possible true values."""
    outputs: Domain
    """The possible reports; None where a report is a row of bits or numbers (`flat`)."""
    draw: Deal | FlatDraw
    """The tickets of every value, from which reports are drawn and certificates are computed."""
    facts: Mapping[str, Any]
    """What its spec states in addition to version, name, domain and ε; read-only."""
    known: Mapping[str, Any]
    """What its design found and its spec does not state, such as a certified gap; read-only."""
    _budget: Epsilon | None
    _spec_json: str
    """The canonical JSON of its spec and the SHA-256 of that, computed on first use."""
    _spec_sha256: str

    schema: ClassVar[Mapping[str, Field]]
    """How each fact is read from a spec and written."""
    checked_by_rows: ClassVar[bool] = False
    """Whether the facts are ticket counts of single reports, so that only all rows together show that ε is kept."""

    def __new__(cls, *given: object, **options: object) -> Self:  # noqa: ARG004 (those of its constructor)
        """Refuse labels in place of a domain before Python complains that ε is missing."""
        first = given[0] if given else None
        if isinstance(first, (list, tuple)) and first and all(isinstance(each, str) for each in first):
            raise InputError(list_problem(first))
        return super().__new__(cls)

    # --- What a mechanism states

    @classmethod
    @abstractmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:
        """(the possible reports, the tickets of every value) that these facts describe."""

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:
        """Refuse facts of a spec that no design gives, or whose tickets do not keep ε, before tickets are dealt."""

    @classmethod
    def fields_on(cls, domain: object) -> set[str]:  # noqa: ARG003 (BRR's depend on it)
        """The names of its facts in a spec with this domain, as the spec describes it."""
        return set(cls.schema)

    def _options(self) -> str:
        """The rest of its repr, such as ``, m=27``."""
        return ""

    # --- What follows from that

    def _hold(self, domain: Domain, budget: Epsilon | None, facts: Mapping[str, Any], **known: object) -> None:
        """Become the mechanism with these facts; the last step of every constructor."""
        _freeze([*facts.values()])
        outputs, draw = self.law(domain, facts)
        self._set(
            domain=domain,
            outputs=outputs,
            draw=draw,
            facts=MappingProxyType(dict(facts)),
            known=MappingProxyType(known),
            _budget=budget,
        )

    @classmethod
    def read(cls, domain: Domain, budget: Epsilon | None, facts: Mapping[str, Any], **known: object) -> Self:
        """The mechanism with these facts, checked; refused unless its tickets keep its promise."""
        cls.check(domain, cast("Epsilon", budget), facts)  # None for a constant, which does not look at it
        made = object.__new__(cls)
        made._hold(domain, budget, facts, **known)
        return made.checked() if cls.checked_by_rows else made

    @classmethod
    def restore(cls, fields: Fields, **known: object) -> Self:
        """The mechanism that these fields of a spec or a pickle state, refused unless they are understood."""
        facts = {name: field.read(fields, name) for name, field in cls.schema.items() if name in fields.spec}
        return cls.read(fields.domain, fields.budget, facts, **known)

    def checked(self) -> Self:
        """The mechanism itself; refused if its tickets do not keep its promise."""
        if not self.keeps_promise(self.largest_ratio()):
            raise BrokenPromiseError(
                f"The tickets exceed e^ε for ε={self.epsilon_decimal:f}; do not report with this spec."
            )
        return self

    def to_spec(self) -> dict[str, Any]:
        """The portable description: everything a client needs to report, as JSON values."""
        entry = written_as(type(self))
        head = {"bipartite": entry.version, "mechanism": entry.name, "domain": self.domain.to_spec()}
        return head | self._stated() | head  # facts never override the head

    def _stated(self) -> dict[str, Any]:
        """ε and the facts, as JSON values."""
        budget = {} if self._budget is None else {"epsilon": self._epsilon_text}
        return budget | {name: self.schema[name].write(fact) for name, fact in self.facts.items()} | budget

    if not TYPE_CHECKING:  # so that type checkers report unknown names

        def __getattr__(self, name: str) -> NoReturn:
            if isinstance(held := getattr(type(self), name, None), property):
                held.__get__(self)  # an AttributeError within a property, which Python dropped: raised again
            told = moved("bipartite.mechanisms.Mechanism", name)
            raise AttributeError(told or f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        # Read like a spec, but with the domain itself, because a spec does not store its losses.
        return _reread, (type(self), self.domain, self._stated(), dict(self.known))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mechanism) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        # Without the class: the Square Wave equals a padded BRR.
        return hash((len(self.domain), self.epsilon_decimal, tuple(sorted(self.facts))))

    def __repr__(self) -> str:
        budget = "" if self._budget is None else f", epsilon={self._epsilon_text}"
        return f"{type(self).__name__}({self.domain!r}{budget}{self._options()})"

    # --- Its promise

    @property
    def epsilon(self) -> float:
        """The privacy budget ε of one report, as requested. The certificate has the realised ε."""
        return 0.0 if self._budget is None else float(self._budget)

    @property
    def epsilon_decimal(self) -> Decimal:
        """ε as the exact decimal that the tickets are checked against."""
        return Decimal(0) if self._budget is None else self._budget.value

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words; :func:`bipartite.verify` checks whether the tickets keep it."""
        if self._budget is None:
            return "0-LDP: reports do not depend on the value"
        return f"ε-LDP of each report with ε = {self._epsilon_text}"

    @property
    def _epsilon_text(self) -> str:
        return "0" if self._budget is None else self._budget.text

    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x', exact, computed from the tickets."""
        if not self.flat and (self.lottery.inputs, self.lottery.outputs) != (len(self.domain), len(self.outputs)):
            raise AssertionError("the lottery of this mechanism does not belong to its domain")
        return self.draw.largest_ratio()

    def keeps_promise(self, ratio: Fraction) -> bool:
        """Whether tickets with this largest ratio keep ``guarantee``; never wrongly true.

        This is ratio ≤ e^ε, decided in integer arithmetic; ε = 0 requires that reports do not depend on the value.
        """
        return ratio == 1 if self._budget is None else self._budget.allows(*ratio.as_integer_ratio())

    def breaks_promise(self) -> bool:
        """Whether its tickets do not keep its promise: computed where a class from outside, or a table, holds them."""
        certain = is_built_in(type(self)) and not self.checked_by_rows
        return not certain and not self.keeps_promise(self.largest_ratio())

    # --- Its reports

    @property
    def flat(self) -> bool:
        """Whether a report is a row of bits or numbers that supports many values, from which shares are estimated."""
        return self.draw.flat

    @property
    def lottery(self) -> Deal:
        """The tickets of every report for every value; for mechanisms whose report is one of ``outputs``."""
        if self.flat:
            raise OtherKindError(
                f"The reports of {self!r} are rows of bits or numbers, too many to list; count says which values they "
                "support."
            )
        return cast("Deal", self.draw)

    @property
    def flat_draw(self) -> FlatDraw:
        """How flat reports are drawn and counted."""
        if not self.flat:
            raise OtherKindError(
                f"Expected a mechanism for flat categories, such as bp.OUE, got {self!r}; use bp.estimate."
            )
        return cast("FlatDraw", self.draw)

    @property
    def support(self) -> tuple[Fraction, Fraction]:
        """(p, q): what a flat report adds on average to the support of the true value, and to that of any other."""
        return self.flat_draw.support

    @property
    def report_shape(self) -> tuple[np.dtype[Any], int | None]:
        """(the type of the numbers in a flat report, the length of its row; None if it is a single number)."""
        return self.flat_draw.report_shape

    def count(self, reports: object) -> NDArray[np.int64]:
        """The support of every value by flat reports, in the order of the domain; exact, and additive over parts."""
        return self.flat_draw.count(reports)

    def variances(self, frequencies: object, people: int) -> NDArray[np.float64]:
        """The exact variance of each share from flat reports, if ``frequencies`` are the true shares of the people."""
        return self.flat_draw.variances(frequencies, people)

    @property
    def report_labels(self) -> tuple[Any, ...] | None:
        """The labels of its reports: those of the domain, or its own; None where reports are numbers."""
        return self.outputs.base.labels

    def matrix(self) -> NDArray[np.float64]:
        """P[x, y] = Pr[report y | value x] as a dense array, computed from the tickets; for small domains."""
        draw: Any = self.draw if self.draw.outputs else self.lottery
        rows, columns = len(self.domain), draw.outputs
        if rows * columns > _MATRIX_LIMIT:
            raise InputError(
                f"Expected a matrix of at most 2^26 numbers, got {rows} × {columns}; use a smaller domain."
            )
        dense: NDArray[np.float64] = draw.rows(0, rows) / draw.total
        return dense

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
        Each single report keeps the promise in ``guarantee``. n reports about one person spend n·ε.
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
        return replace(open_values(values, nulls, self.domain), labels=self.report_labels)

    def report_batch(self, batch: Batch, source: Source, outside: Outside, threads: int) -> NDArray[Any]:
        """The reports of a batch in order; for code built on mechanisms. Users call ``privatize``."""
        codec = self.domain.codec(self.outputs, outside)
        try:
            reports = draw_many(self.lottery, codec, batch.values, source, threads=operator.index(threads))
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
        deal: Any = self.draw  # not through `lottery`: this is the path of a single report
        drawn: int = deal.draw(self.domain.encode(value, outside=outside, stream=stream), stream)
        return drawn


def _reread(kind: type[Mechanism], domain: Domain, stated: dict[str, Any], known: dict[str, Any]) -> Mechanism:
    return kind.restore(Fields(stated, domain, Problems()), **known)


def _freeze(held: object) -> None:
    """Make all arrays read-only, also within tuples."""
    if isinstance(held, np.ndarray):
        held.flags.writeable = False
    elif isinstance(held, (list, tuple)):
        for each in held:
            _freeze(each)


def check_mechanism(mechanism: object) -> None:
    """Refuse anything but a mechanism."""
    if not isinstance(mechanism, Mechanism):
        raise InputError(
            f"Expected a mechanism, got {type(mechanism).__name__}; pass bp.BRR(…), or bp.from_spec(…) of its spec."
        )
