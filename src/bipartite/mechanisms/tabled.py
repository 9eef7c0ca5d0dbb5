"""Mechanisms that store a ticket count for every pair of a value and a report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bipartite.domains.outputs import Outputs
from bipartite.domains.sets import check_labels
from bipartite.errors import BrokenPromiseError, DomainError, Problems
from bipartite.lottery import Table, totals_of
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.spec.fields import AGAIN, Field, written_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.lottery import Deal, Epsilon
    from bipartite.mechanisms.spec.fields import Fields


def chosen_values(domain: Domain, indices: Sequence[int] | NDArray[np.int64]) -> Domain:
    """The values with these indices; the domain itself if they are all."""
    return domain if len(indices) == len(domain) else Outputs(domain, indices)


def _write_outputs(outputs: Domain) -> list[int] | dict[str, list[Any]]:
    """The outputs as a spec writes them: indices of values, ``{"numbers": …}`` or ``{"labels": …}``."""
    if outputs.own_numbers or outputs.own_labels:
        return {"numbers" if outputs.own_numbers else "labels": list(outputs)}
    indices: list[int] = list(range(len(outputs))) if outputs.indices is None else outputs.indices.tolist()
    return indices


def outputs_field(*own: str) -> Field:
    """The outputs of a table: values of the domain and, if named here, its own ``"numbers"`` or ``"labels"``."""

    def read(fields: Fields, name: str) -> Domain:
        given = fields[name]
        if isinstance(given, Mapping) and len(given) == 1 and set(given) <= set(own):
            return (
                _read_numbers(fields, given["numbers"]) if "numbers" in given else _read_labels(fields, given["labels"])
            )
        return chosen_values(fields.domain, fields.indices(name))

    return Field(read, _write_outputs)


def _read_numbers(fields: Fields, held: object) -> Outputs:
    if not fields.domain.has_ends:
        fields.refuse(f"Expected numbers as outputs on a line only; {AGAIN}")
    try:
        return Outputs.of_numbers(held if isinstance(held, list) and all(map(_is_double, held)) else [])
    except DomainError:
        fields.refuse(f"Expected outputs as {{'numbers': […]}}, finite and ascending; {AGAIN}")


def _is_double(number: object) -> bool:
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        return False
    try:
        return math.isfinite(number) and float(number) == number
    except OverflowError:
        return False


def _read_labels(fields: Fields, held: object) -> Outputs:
    if fields.domain.parts:
        fields.refuse(f"Expected outputs of a product as indices of its values; {AGAIN}")
    problems = Problems()
    names = check_labels(held if isinstance(held, list) else 0, None, problems)
    if problems or not names:
        fields.refuse(f"Expected outputs as {{'labels': […]}}, distinct strings or whole numbers; {AGAIN}")
    return Outputs.of_labels(names)


def _read_rows(fields: Fields, name: str) -> NDArray[np.int64]:
    rows, size = fields[name], len(fields.domain)
    if not isinstance(rows, list) or len(rows) != size:
        fields.refuse(f"Expected rows as a list of {size} lists, one per value; {AGAIN}")
    outputs = fields["outputs"]  # read before: a list, or one list by name
    width = len(outputs if isinstance(outputs, list) else next(iter(outputs.values())))
    return np.array([fields.row(name, row, width) for row in rows])


class Tabled(Mechanism):
    """A mechanism given by its rows of tickets; an output without tickets is never reported."""

    __slots__ = ()
    schema: ClassVar[Mapping[str, Field]] = {
        "outputs": outputs_field(),
        "rows": Field(_read_rows, lambda rows: [written_row(row) for row in rows]),
    }
    checked_by_rows = True

    def _table(
        self,
        domain: Domain,
        budget: Epsilon,
        tickets: NDArray[np.int64],
        outputs: Domain | None = None,
        *,
        known: Mapping[str, Any] | None = None,
        **facts: object,
    ) -> None:
        """Hold these tickets, with a column for every value of the domain, or for every one of ``outputs``."""
        if outputs is None:
            reported = np.flatnonzero(tickets.any(axis=0)).tolist()
            outputs, tickets = chosen_values(domain, reported), np.ascontiguousarray(tickets[:, reported])
        self._hold(domain, budget, {**facts, "outputs": outputs, "rows": tickets}, **(known or {}))

    @classmethod
    def check(cls, domain: Domain, budget: Epsilon, facts: Mapping[str, Any]) -> None:  # noqa: ARG003
        rows = facts["rows"]
        totals = totals_of(rows)
        if rows.shape[1] != len(facts["outputs"]) or totals is None or (totals != totals[0]).any():
            raise BrokenPromiseError(
                f"Expected rows with one total of at most 2^52, and a ticket for every report; {AGAIN}"
            )

    @classmethod
    def law(cls, domain: Domain, facts: Mapping[str, Any]) -> tuple[Domain, Deal]:  # noqa: ARG003
        return facts["outputs"], Table(np.ascontiguousarray(facts["rows"]))

    def __reduce__(self) -> tuple[Any, ...]:
        # As arrays: the counts as text would take ten times as long.
        return _reread, (type(self), self.domain, self._budget, dict(self.facts), dict(self.known))

    @property
    def variant(self) -> str | None:
        """How the rows were designed, where a mechanism has variants."""
        return self.facts.get("variant")

    def _options(self) -> str:
        return "" if self.variant is None else f", variant={self.variant!r}"


def _reread(
    kind: type[Tabled], domain: Domain, budget: Epsilon, facts: dict[str, Any], known: dict[str, Any]
) -> Tabled:
    return kind.read(domain, budget, facts, **known)
