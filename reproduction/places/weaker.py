"""Releases that are not ε-LDP with the ε that they state, and say so.

None of them is a mechanism of the library: no ledger, record or plan takes one.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray

import bipartite as bp
from bipartite.domains import Domain, Points
from bipartite.errors import BrokenPromiseError, Problems, SpecError, is_one_of
from bipartite.lottery import Epsilon, Source, log_between
from bipartite.lottery.deal import largest_fraction
from bipartite.mechanisms import Mechanism
from bipartite.mechanisms.spec.fields import check_epsilon

# No two counts of at most 2^52 tickets differ by a larger factor.
_MOST: Final = "37"
_LEAST: Final = Decimal("1e-9")


class Weaker(ABC):
    """A release with a promise of its own, from tickets for every pair of places; immutable, as mechanisms are."""

    domain: Points
    epsilon: str
    """The ε that it states, as a decimal: not that of ε-LDP."""
    rows: Mechanism
    """A mechanism of the library with the same tickets, and the ε that they spend as plain ε-LDP."""
    head: ClassVar[dict[str, str]]
    """The fields of its spec that name it."""
    bound: ClassVar = "e^ε"

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{type(self).__name__} cannot change: build another one instead of setting {name!r}")
        super().__setattr__(name, value)

    def _hold(self, epsilon: str, rows: Mechanism) -> None:
        self.domain, self.epsilon, self.rows = rows.domain, epsilon, rows  # type: ignore[assignment]  # checked places

    @classmethod
    def check_domain(cls, domain: Domain) -> None:
        """Refuse the domain of a spec if this release is not for it."""
        if domain.metric != "haversine":
            raise SpecError("Expected domain as points with metric 'haversine'; ask for another spec.")

    @classmethod
    def read(cls, spec: Mapping[str, Any]) -> Self:
        """Read the rows by the library, as those of ``custom`` with any ε; then the promise is checked."""
        epsilon = read_epsilon(spec)
        custom = {name: value for name, value in spec.items() if name not in cls.head}
        rows = bp.from_spec(custom | {"mechanism": "custom", "epsilon": _MOST})
        cls.check_domain(rows.domain)
        if spec["outputs"] != list(range(len(rows.domain))):
            raise BrokenPromiseError("Expected outputs from 0 on, a ticket for every place; ask for another spec.")
        release = cls.__new__(cls)
        release._hold(epsilon, rows_of(rows.domain, rows.facts["rows"]))
        return release.checked()

    def checked(self) -> Self:
        """The release itself; refused if it was read from a spec and its tickets do not keep its promise."""
        if self.holds():
            return self
        raise BrokenPromiseError(f"The tickets exceed {self.bound} for ε={self.epsilon}; do not report with this spec.")

    @property
    def outputs(self) -> Points:
        """The possible reports: all places."""
        return self.domain

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """The promise of one report, in words."""

    def holds(self) -> bool:
        """Whether the tickets keep ``guarantee``, decided in integer arithmetic; never wrongly true."""
        return Epsilon.of(self.epsilon).allows(*self.largest_ratio().as_integer_ratio())

    def largest_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report that is finite, exact, from the tickets."""
        return self.rows.largest_ratio()

    @property
    def ldp_epsilon(self) -> Decimal:
        """The realised ε of plain ε-LDP on these places, rounded up; for fair comparisons."""
        return log_between(self.largest_ratio())[1]

    def matrix(self) -> NDArray[np.float64]:
        """P[x, y] = Pr[report y | place x]."""
        return self.rows.matrix()

    def privatize(self, values: Any, *, rng: Source | None = None) -> Any:  # noqa: ANN401 (as the library's)
        """The report of a place, or the list of reports of a list of places."""
        return self.rows.privatize(values, rng=rng)

    def to_spec(self) -> dict[str, Any]:
        """Its spec, in the form that the library once wrote."""
        return self.rows.to_spec() | {"epsilon": self.epsilon} | self.head

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weaker) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        return hash((type(self), len(self.domain), self.epsilon))


def from_spec(spec: object) -> Mechanism | Weaker:
    """The release that a spec describes; a weaker one is refused unless its tickets keep what it promises."""
    for kind in Weaker.__subclasses__() if isinstance(spec, Mapping) else ():
        if all(is_one_of(spec.get(name), (value,)) for name, value in kind.head.items()):  # type: ignore[attr-defined]
            return kind.read(spec)  # type: ignore[arg-type]
    return bp.from_spec(spec)


def spent(ratio: Fraction) -> str:
    """The least ε of nine digits that this ratio keeps."""
    return f"{max(log_between(ratio)[1].quantize(_LEAST, ROUND_CEILING), _LEAST).normalize():f}"


def rows_of(domain: Domain, tickets: NDArray[np.int64]) -> Mechanism:
    """The mechanism of the library with these tickets for every pair of places, and the ε that they spend."""
    budget = Epsilon.of(spent(largest_fraction(tickets.max(axis=0), tickets.min(axis=0))))
    return bp.Custom.read(domain, budget, {"outputs": domain, "rows": tickets})


def read_epsilon(spec: Mapping[str, Any]) -> str:
    """The ε of a spec, in its canonical form."""
    problems = Problems()
    check_epsilon(spec.get("epsilon"), problems)
    problems.raise_if_any(SpecError)
    return str(spec["epsilon"])
