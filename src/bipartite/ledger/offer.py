"""Mechanisms that a ledger can account for, and what a report costs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bipartite.errors import DataError, InputError
from bipartite.ledger.amounts import debit_units
from bipartite.ledger.stored import plain
from bipartite.mechanisms import Mechanism, Record
from bipartite.mechanisms.spec import spec_json
from bipartite.verification import verify

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from bipartite.domains import Outside
    from bipartite.ledger.stored import Report
    from bipartite.lottery import Source


@dataclass(frozen=True, slots=True)
class Offer:
    """A verified ε-LDP mechanism, its spec, and the debit for one report."""

    mechanism: Mechanism
    spec: str
    spec_sha256: str
    units: int

    @classmethod
    def of(cls, mechanism: object) -> Offer:
        """Verify a mechanism; refuse one that no finite ε covers.

        The debit is the ε that the mechanism states, verified in integers to be at least the ε its tickets realise.
        """
        if not isinstance(mechanism, Mechanism):
            hint = "make each attribute a separate question" if isinstance(mechanism, Record) else "pass bp.BRR(…)"
            raise InputError(f"Expected mech as a mechanism, got {type(mechanism).__name__}; {hint}.")
        certificate = verify(mechanism)
        if not certificate.holds:
            raise InputError(
                f"Expected an ε-LDP mechanism to account for, got {mechanism!r}, which spends more than the ε it "
                "states (bp.verify says how much); use bp.BRR instead."
            )
        return cls(
            mechanism,
            spec_json(mechanism),
            certificate.spec_sha256,
            debit_units(mechanism.epsilon_decimal),
        )

    def draw(
        self, value: float | str | tuple[Any, ...] | np.number[Any], rng: Source | None, outside: Outside
    ) -> Report:
        """Draw one report, as it is stored and returned."""
        return self._plain(self.mechanism.privatize(value, rng=rng, outside=outside))

    def draw_many(
        self, values: Sequence[Any], positions: Sequence[int], rng: Source | None, outside: Outside
    ) -> list[Report]:
        """Draw the reports of the values at these positions; errors name positions in ``values``, never a value."""
        try:
            reports = self.mechanism.privatize([values[at] for at in positions], rng=rng, outside=outside)
        except DataError as error:
            refusal = type(error)(_renumber(str(error), positions))
        else:
            return [self._plain(report) for report in reports]
        raise refusal  # outside the handler, so that it carries no inner exception

    def _plain(self, report: object) -> Report:
        return plain(report, None if self.mechanism.flat else self.mechanism.outputs)


def _renumber(message: str, positions: Sequence[int]) -> str:
    """Replace positions within a selection of the values by positions among all values."""
    return re.sub(r"values\[(\d+)\]", lambda found: f"values[{positions[int(found[1])]}]", message)
