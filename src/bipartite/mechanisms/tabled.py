"""Mechanisms that hold a ticket count for every value and report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bipartite.domains.subset import Subset
from bipartite.errors import BrokenPromiseError
from bipartite.lottery import Epsilon, RowLottery, totals_of
from bipartite.mechanisms.base import Mechanism

if TYPE_CHECKING:
    from typing import ClassVar, Self

    from numpy.typing import NDArray

    from bipartite.domains import Domain


class Tabled(Mechanism):
    """A mechanism given by its rows of tickets; a column without any is an output that is never reported."""

    __slots__ = ("variant",)

    name: ClassVar[str]
    """What its spec calls it."""
    variants: ClassVar[tuple[str, ...]] = ()
    """The variants that its spec may name; empty where there is only one."""
    variant: str | None
    _lottery: RowLottery

    def _assemble(self, domain: Domain, budget: Epsilon, tickets: NDArray[np.int64], variant: str | None) -> None:
        """From tickets for every value and report."""
        reported = np.flatnonzero(tickets.any(axis=0))
        self._hold(domain, budget, reported.tolist(), tickets[:, reported], variant)

    def _hold(
        self, domain: Domain, budget: Epsilon, reported: list[int], tickets: NDArray[np.int64], variant: str | None
    ) -> None:
        """From tickets for the values that are ever reported, given by index; the tickets are copied."""
        outputs: Domain = domain if len(reported) == len(domain) else Subset(domain, reported)
        lottery = RowLottery(np.array(tickets, order="C"))
        self._set(domain=domain, outputs=outputs, _budget=budget, _lottery=lottery, variant=variant)

    @classmethod
    def restore(
        cls, domain: Domain, epsilon: str, outputs: list[int], tickets: NDArray[np.int64], variant: str | None
    ) -> Self:
        """The mechanism of a spec, after checking everything that its promise rests on."""
        budget = Epsilon.of(epsilon)
        totals = totals_of(tickets)
        if tickets.min() < 1 or totals is None or (totals != totals[0]).any():
            msg = "Expected rows of at least one ticket a report with one total of at most 2^52; ask for another spec."
            raise BrokenPromiseError(msg)
        mechanism = cls._unchecked(domain, budget, outputs, tickets, variant)
        if not mechanism.keeps_epsilon:
            msg = f"The tickets exceed e^ε for ε={budget.text}; do not report with this spec."
            raise BrokenPromiseError(msg)
        return mechanism

    @classmethod
    def _unchecked(
        cls, domain: Domain, budget: Epsilon, outputs: list[int], tickets: NDArray[np.int64], variant: str | None
    ) -> Self:
        mechanism = cls.__new__(cls)
        mechanism._hold(domain, budget, outputs, tickets, variant)
        return mechanism

    @property
    def keeps_epsilon(self) -> bool:
        """Whether the rows keep ε, decided from the tickets in whole numbers."""
        ratio = self._lottery.largest_ratio()
        return self._budget.allows(ratio.numerator, ratio.denominator)

    def _reported(self) -> list[int]:
        """The indices of the values that are ever reported."""
        chosen: list[int] = self.outputs.indices.tolist() if isinstance(self.outputs, Subset) else []
        return chosen or list(range(len(self.domain)))

    def to_spec(self) -> dict[str, Any]:
        spec = {
            "bipartite": 2,
            "mechanism": self.name,
            "domain": self.domain.to_spec(),
            "epsilon": self._budget.text,
            "outputs": self._reported(),
            "rows": [[str(count) for count in row] for row in self._lottery.tickets.tolist()],
        }
        if self.variants:
            spec["variant"] = self.variant
        return spec

    def __reduce__(self) -> tuple[Any, ...]:
        # Not `restore`: a rival as published may break its ε, and is known to.
        parts = (self.domain, self._budget, self._reported(), np.array(self._lottery.tickets), self.variant)
        return type(self)._unchecked, parts

    def __repr__(self) -> str:
        variant = "" if self.variant is None else f", variant={self.variant!r}"
        return f"{type(self).__name__}({self.domain!r}, epsilon={self._budget.text}{variant})"
