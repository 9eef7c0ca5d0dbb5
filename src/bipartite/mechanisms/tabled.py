"""Mechanisms that store a ticket count for every pair of a value and a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.errors import BrokenPromiseError
from bipartite.lottery import Epsilon, RowLottery, totals_of
from bipartite.mechanisms.base import Mechanism
from bipartite.mechanisms.spec.reports import chosen_values, read_reports, written_reports

if TYPE_CHECKING:
    from typing import ClassVar, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields


class Tabled(Mechanism):
    """A mechanism given by its rows of tickets; an output without tickets is never reported."""

    __slots__ = ("variant",)

    fields = frozenset({"outputs", "rows"})
    variants: ClassVar[tuple[str, ...]] = ()
    """The variants that its spec may name; empty if there is only one."""
    own_reports: ClassVar[frozenset[str]] = frozenset()
    """What it may report apart from values of the domain: ``"numbers"``, ``"labels"``."""
    variant: str | None
    _lottery: RowLottery

    def _assemble(
        self,
        domain: Domain,
        budget: Epsilon,
        tickets: NDArray[np.int64],
        variant: str | None = None,
        outputs: Domain | None = None,
    ) -> None:
        """Copies ``tickets``, which has a column for every value of the domain, or for every one of ``outputs``."""
        if outputs is None:
            reported = np.flatnonzero(tickets.any(axis=0)).tolist()
            outputs, tickets = chosen_values(domain, reported), tickets[:, reported]
        lottery = RowLottery(np.array(tickets, order="C"))
        self._set(domain=domain, outputs=outputs, _budget=budget, _lottery=lottery, variant=variant)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        variant = fields.choice("variant", cls.variants) if cls.variants else None
        outputs, rows = read_reports(fields, cls.own_reports), fields["rows"]
        domain, budget = fields.domain, fields.budget
        if not isinstance(rows, list) or len(rows) != len(domain):
            fields.refuse(f"Expected rows as a list of {len(domain)} lists, one per value; ask for another spec.")
        tickets = np.array([fields.row("rows", row, len(outputs)) for row in rows])
        totals = totals_of(tickets)
        if totals is None or (totals != totals[0]).any():
            raise BrokenPromiseError(
                "Expected rows with one total of at most 2^52, and a ticket for every report; ask for another spec."
            )
        return cls._made(domain, budget, tickets, variant, outputs).checked()

    def parts(self) -> dict[str, Any]:
        rows = [[str(count) for count in row] for row in self._lottery.tickets.tolist()]
        variant = {"variant": self.variant} if self.variants else {}
        return {"outputs": written_reports(self.outputs), "rows": rows, **variant}

    def __reduce__(self) -> tuple[Any, ...]:
        # Not read as a spec: a rival in its published form may exceed its ε, and says so.
        parts = (self.domain, self._budget, np.array(self._lottery.tickets), self.variant, self.outputs)
        return type(self)._made, parts

    def _options(self) -> str:
        return "" if self.variant is None else f", variant={self.variant!r}"
