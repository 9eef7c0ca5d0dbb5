"""Releases that are not ε-LDP with the ε that they state, and say so.

None of them is a mechanism of the library: no ledger, record or plan takes one. What its tickets spend as plain ε-LDP,
where that is finite, is the ε of ``rows``, a mechanism of the library with the same tickets.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite import from_spec, verify
from bipartite.errors import BrokenPromiseError, EpsilonError, InputError, SpecError
from bipartite.lottery import Epsilon, log_between

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from bipartite.domains import Points
    from bipartite.lottery import Source
    from bipartite.mechanisms import Mechanism

# No two counts of at most 2^52 tickets differ by a larger factor.
_MOST: Final = "37"
_LEAST: Final = Decimal("1e-9")


@dataclass(frozen=True)
class Proof:
    """What is proved of a release: the fields of a certificate, about the promise in ``guarantee``."""

    ratio: Fraction
    epsilon_upper: Decimal
    """ln(ratio), rounded up; infinite if the region is published."""
    holds: bool
    guarantee: str
    spec_sha256: str
    words: tuple[str, str] = ("largest ratio of two probabilities of one report", "realised ε")

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "DOES NOT HOLD"
        ratio, realised = self.words
        spent = log_between(self.ratio)[1].quantize(_LEAST, ROUND_CEILING)
        return (
            f"{self.guarantee}: {verdict}\n  {ratio}: {self.ratio.numerator}/{self.ratio.denominator}\n"
            f"  {realised} ≤ {spent:f}\n  spec sha256: {self.spec_sha256}"
        )


class Weaker(ABC):
    """A release with a promise of its own; immutable, like the mechanisms of the library."""

    domain: Points
    epsilon: str
    """The ε that it states, as a decimal: not that of ε-LDP."""
    words = Proof.words

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__:
            raise AttributeError(f"{type(self).__name__} cannot change: build another one instead of setting {name!r}")
        super().__setattr__(name, value)

    @property
    def outputs(self) -> Points:
        """The possible reports: all places."""
        return self.domain

    @property
    @abstractmethod
    def guarantee(self) -> str:
        """The promise of one report, in words."""

    @property
    @abstractmethod
    def problem(self) -> str:
        """Why no ledger, record or plan can account for it; empty if its tickets happen to be ε-LDP with its ε."""

    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """The largest ratio of two probabilities of one report that is finite, exact, from the tickets."""

    @abstractmethod
    def holds(self) -> bool:
        """Whether the tickets keep ``guarantee``; never wrongly true."""

    @abstractmethod
    def matrix(self) -> NDArray[np.float64]:
        """P[x, y] = Pr[report y | place x]."""

    @abstractmethod
    def privatize(self, values: Any, *, rng: Source | None = None) -> Any:  # noqa: ANN401 (as the library's)
        """The report of a place, or the list of reports of a list of places."""

    @abstractmethod
    def to_spec(self) -> dict[str, Any]:
        """Its spec, in the form that the library once wrote."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Weaker) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        return hash((type(self), len(self.domain), self.epsilon))


class Tabled(Weaker):
    """A weaker release that holds a ticket for every pair of places."""

    rows: Mechanism
    """A mechanism of the library with the same tickets, and the ε that they spend as plain ε-LDP."""

    def largest_ratio(self) -> Fraction:
        return self.rows.largest_ratio()

    def matrix(self) -> NDArray[np.float64]:
        return self.rows.matrix()

    def privatize(self, values: Any, *, rng: Source | None = None) -> Any:  # noqa: ANN401
        return self.rows.privatize(values, rng=rng)

    @cached_property
    def ldp_epsilon(self) -> Decimal:
        """The realised ε of plain ε-LDP on these places, rounded up; for fair comparisons."""
        return log_between(self.largest_ratio())[1]


def proved(release: Weaker | Mechanism) -> Any:  # noqa: ANN401 (a certificate of the library, or a proof)
    """What is proved of a release: of a mechanism its certificate, of a weaker one whether its own promise holds."""
    if not isinstance(release, Weaker):
        return verify(release)
    ratio = release.largest_ratio()
    upper = log_between(ratio)[1] if isinstance(release, Tabled) else Decimal("Infinity")
    # Specs hold whole numbers and texts with plain keys, so that this is their canonical JSON.
    text = json.dumps(release.to_spec(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Proof(ratio, upper, release.holds(), release.guarantee, sha256, release.words)


def accountable(release: Weaker | Mechanism) -> Mechanism:
    """The mechanism that a ledger, record or plan can account for; refused unless it is ε-LDP with its ε."""
    if not isinstance(release, Weaker):
        return release
    if not release.problem and isinstance(release, Tabled):
        return release.rows
    raise InputError(
        f"Expected an ε-LDP mechanism to account for, got {release!r}, which {release.problem}; use bp.BRR instead."
    )


def spent(ratio: Fraction) -> str:
    """The least ε of nine digits that this ratio keeps."""
    return f"{max(log_between(ratio)[1].quantize(_LEAST, ROUND_CEILING), _LEAST).normalize():f}"


def rows_of(domain: Points, tickets: NDArray[np.int64]) -> Mechanism:
    """The mechanism of the library with these tickets for every pair of places, and the ε that they spend."""
    ratio = max(map(Fraction, tickets.max(axis=0).tolist(), tickets.min(axis=0).tolist()))
    return _custom(domain.to_spec(), spent(ratio), [[str(count) for count in row] for row in tickets.tolist()])


def _custom(domain: dict[str, Any], epsilon: str, rows: list[list[str]]) -> Mechanism:
    head = {"bipartite": 2, "mechanism": "custom", "domain": domain, "epsilon": epsilon}
    return from_spec(head | {"outputs": list(range(len(rows[0]))), "rows": rows})


def read_rows(spec: Mapping[str, Any]) -> tuple[Mechanism, NDArray[np.int64]]:
    """The rows of a spec, read by the library as those of ``custom`` with the ε that they spend; and its tickets."""
    outputs = spec.get("outputs")
    loose = from_spec({**spec, "mechanism": "custom", "epsilon": _MOST})
    if not isinstance(outputs, list) or not all(type(each) is int for each in outputs):
        raise SpecError(
            f"Expected outputs as ascending indices from 0 to {len(loose.domain) - 1}; ask for another spec."
        )
    rows = from_spec(loose.to_spec() | {"epsilon": spent(loose.largest_ratio())})
    return rows, np.array([[int(count) for count in row] for row in spec["rows"]], dtype=np.int64)


def read_epsilon(spec: Mapping[str, Any]) -> str:
    """The ε of a spec, in its canonical form."""
    given = spec.get("epsilon")
    try:
        canonical = Epsilon.of(given).text if isinstance(given, str) else None
    except EpsilonError as error:
        raise SpecError(str(error)) from None
    if given is None or given != canonical:
        raise SpecError(f"Expected epsilon as a decimal string in its canonical form, such as '1', got {given!r}.")
    return str(given)


def checked(release: Weaker, bound: str) -> None:
    """Refuse a release that was read from a spec if its tickets do not keep its promise."""
    if not release.holds():
        raise BrokenPromiseError(f"The tickets exceed {bound} for ε={release.epsilon}; do not report with this spec.")
