"""The base class of everything that reports: a domain, an ε, a guarantee, and integer tickets that keep it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from bipartite.errors import BrokenPromiseError, InputError
from bipartite.frozen import Frozen
from bipartite.lottery import Epsilon
from bipartite.mechanisms.catalogue import written_as

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields


def list_problem(domain: object) -> str | None:
    """Why a list or a tuple cannot be a domain; None for anything else."""
    if not isinstance(domain, (list, tuple)):
        return None
    return (
        f"Expected domain as bp.Items for labels, or bp.Integers for a range, got a {type(domain).__name__}; if all "
        "wrong answers are equally wrong, pass bp.Items(labels)."
    )


class Certified(Frozen, ABC):
    """A mechanism whose ε :func:`bipartite.verify` computes from its tickets.

    It is immutable and holds only public parameters, never a private value.
    """

    __slots__ = ("_budget", "_spec_json", "_spec_sha256", "domain")

    domain: Domain
    """The possible true values."""
    _budget: Epsilon
    _spec_json: str
    """The canonical JSON of its spec and the SHA-256 of that, computed on first use."""
    _spec_sha256: str

    def __new__(cls, *given: object, **options: object) -> Self:  # noqa: ARG004 (those of its constructor)
        """Refuse labels in place of a domain before Python complains that ε is missing."""
        first = given[0] if given else None
        if isinstance(first, (list, tuple)) and first and all(isinstance(each, str) for each in first):
            raise InputError(list_problem(first))
        return super().__new__(cls)

    @property
    def epsilon(self) -> float:
        """The privacy budget ε of one report, as requested. The certificate has the realised ε."""
        return float(self._budget)

    @property
    def epsilon_decimal(self) -> Decimal:
        """ε as the exact decimal that the tickets are checked against."""
        return self._budget.value

    @property
    def guarantee(self) -> str:
        """The promise of one report, in words; :func:`bipartite.verify` checks whether the tickets keep it."""
        return f"ε-LDP of each report with ε = {self._budget.text}"

    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x', exact, computed from the tickets."""

    def keeps_promise(self, ratio: Fraction) -> bool:
        """Whether tickets with this largest ratio keep ``guarantee``; never wrongly true.

        For ε-LDP this is ratio ≤ e^ε, decided in integer arithmetic; ε = 0 requires that reports do not depend on the
        value at all.
        """
        epsilon = self.epsilon_decimal
        return ratio == 1 if epsilon == 0 else Epsilon.of(epsilon).allows(*ratio.as_integer_ratio())

    def checked(self) -> Self:
        """The mechanism itself, read from a spec; refused if its tickets do not keep its promise."""
        if not self.keeps_promise(self.largest_ratio()):
            raise BrokenPromiseError(
                f"The tickets exceed e^ε for ε={self.epsilon_decimal:f}; do not report with this spec."
            )
        return self

    fields: ClassVar[frozenset[str]]
    """The fields of its spec in addition to version, name, domain and ε."""

    @classmethod
    def fields_beside(cls, domain: object) -> frozenset[str]:  # noqa: ARG003 (BRR's depend on it)
        """The additional fields of a spec with this domain."""
        return cls.fields

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """The additional fields of its spec, as JSON values."""

    @classmethod
    @abstractmethod
    def read(cls, fields: Fields) -> Self:
        """The mechanism of a spec, after checking everything its guarantee rests on; the inverse of `parts`."""

    def to_spec(self) -> dict[str, Any]:
        """The portable description: everything a client needs to report, as JSON values."""
        entry = written_as(type(self))
        head = {"bipartite": entry.version, "mechanism": entry.name, "domain": self.domain.to_spec()}
        head |= {"epsilon": self._budget.text} if entry.epsilon else {}
        return head | self.parts() | head  # parts never override the head

    @classmethod
    def _made(cls, *parts: Any, **options: Any) -> Self:  # noqa: ANN401 (those of its _assemble)
        """A mechanism from parts that were checked, instead of designed ones."""
        made = cls.__new__(cls)
        made._assemble(*parts, **options)
        return made

    def _assemble(self, *parts: Any, **options: Any) -> None:  # noqa: ANN401
        """Store the parts that were designed or read."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, epsilon={self._budget.text}{self._options()})"

    def _options(self) -> str:
        """The rest of its repr, such as ``, m=27``."""
        return ""


def check_mechanism(mechanism: object) -> None:
    """Refuse anything but a mechanism."""
    if not isinstance(mechanism, Certified):
        raise InputError(
            f"Expected a mechanism, got {type(mechanism).__name__}; pass bp.BRR(…), or bp.from_spec(…) of its spec."
        )
