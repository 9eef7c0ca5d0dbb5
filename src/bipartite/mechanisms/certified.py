"""What everything that reports has: a domain, an ε, a promise, and whole numbers that keep it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from bipartite.errors import BrokenPromiseError, InputError
from bipartite.frozen import Frozen
from bipartite.lottery import Epsilon
from bipartite.mechanisms.catalogue import is_built_in, written_as

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

    from bipartite.domains import Domain
    from bipartite.mechanisms.spec.parts import Fields


def list_problem(domain: object) -> str | None:
    """Why a list or a tuple cannot be a domain, if that is what was given."""
    if not isinstance(domain, (list, tuple)):
        return None
    return (
        f"Expected domain as bp.Items for labels, or bp.Integers for a range, got a {type(domain).__name__}; where "
        "every wrong answer is equally wrong, pass bp.Items(labels, loss=1 - np.eye(len(labels)))."
    )


class Certified(Frozen, ABC):
    """Something whose ε is computed from its tickets, by :func:`bipartite.verify`.

    Holds public parameters only, and never changes; no private value is ever stored in it.
    """

    __slots__ = ("_budget", "_spec_json", "_spec_sha256", "domain")

    domain: Domain
    """What may be true."""
    _budget: Epsilon
    _spec_json: str
    """Its portable description as text, and the name that follows from it, once somebody asked for them."""
    _spec_sha256: str

    def __new__(cls, *given: object, **options: object) -> Self:  # noqa: ARG004 (those of its constructor)
        """Refuse labels in place of a domain before Python asks for an ε that may be missing, too."""
        first = given[0] if given else None
        if isinstance(first, (list, tuple)) and first and all(isinstance(each, str) for each in first):
            raise InputError(list_problem(first))
        return super().__new__(cls)

    @property
    def epsilon(self) -> float:
        """The privacy budget ε of one report, as asked for. What is realised is in the certificate."""
        return float(self._budget)

    @property
    def epsilon_decimal(self) -> Decimal:
        """ε as the exact decimal that the tickets are checked against."""
        return self._budget.value

    @property
    def guarantee(self) -> str:
        """What one report promises, in words; whether it is kept, :func:`bipartite.verify` says."""
        return f"ε-LDP of each report with ε = {self._budget.text}"

    @property
    def keeps_epsilon(self) -> bool:
        """Whether its reports are ε-LDP with the ε it states: so for all but a rival shown as published.

        Known of the mechanisms of this package, and computed from the tickets of any other.
        """
        return is_built_in(type(self)) or self.keeps_promise(self.largest_ratio())

    @property
    def distance_unit(self) -> str | None:
        """The unit of distance that ε is per, as in :class:`~bipartite.PlanarLaplace`; None where it is plain ε-LDP."""
        return None

    @property
    def publishes(self) -> str | None:
        """What every report publishes beside what ε covers, as in :class:`~bipartite.locations.WithinRegion`.

        None for nothing: plain ε-LDP. Where it names something, ``largest_ratio`` is over values that share it only;
        over all others it is infinite.
        """
        return None

    @abstractmethod
    def largest_ratio(self) -> Fraction:
        """The largest Pr[y|x]/Pr[y|x'] over all reports y and values x, x', exactly, from the tickets."""

    def keeps_promise(self, ratio: Fraction) -> bool:
        """Whether the tickets keep what ``guarantee`` says, never wrongly yes; ``ratio`` is the largest of them.

        For ε-LDP that is ratio ≤ e^ε, in whole numbers; ε = 0 asks that reports do not depend on the value at all.
        """
        epsilon = self.epsilon_decimal
        return ratio == 1 if epsilon == 0 else Epsilon.of(epsilon).allows(*ratio.as_integer_ratio())

    bound: ClassVar[str] = "e^ε"
    """What no ratio of two tickets exceeds, in words."""

    def checked(self) -> Self:
        """Itself, from whole numbers that others wrote down; refused where these break its promise."""
        if not self.keeps_promise(self.largest_ratio()):
            msg = f"The tickets exceed {self.bound} for ε={self.epsilon_decimal:f}; do not report with this spec."
            raise BrokenPromiseError(msg)
        return self

    # What a mechanism says about its portable description.

    fields: ClassVar[frozenset[str]]
    """What its spec holds beside its version, its name, its domain and its ε."""

    @classmethod
    def fields_beside(cls, domain: object) -> frozenset[str]:  # noqa: ARG003 (BRR's depend on it)
        """What a spec with this domain must hold, beside what all hold."""
        return cls.fields

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """The fields of its spec beside those that all have, as JSON values."""

    @classmethod
    @abstractmethod
    def read(cls, fields: Fields) -> Self:
        """The mechanism of a spec, after checking everything that its promise rests on; `parts` backwards."""

    def to_spec(self) -> dict[str, Any]:
        """The portable description: everything that a client needs to report, as JSON values."""
        entry = written_as(type(self))
        head = {"bipartite": entry.version, "mechanism": entry.name, "domain": self.domain.to_spec()}
        head |= {"epsilon": self._budget.text} if entry.epsilon else {}
        return head | self.parts() | head  # what parts say never takes the place of the head

    @classmethod
    def _made(cls, *parts: Any, **options: Any) -> Self:  # noqa: ANN401 (those of its _assemble)
        """One of parts that were checked, in place of designed ones."""
        made = cls.__new__(cls)
        made._assemble(*parts, **options)
        return made

    def _assemble(self, *parts: Any, **options: Any) -> None:  # noqa: ANN401
        """Hold the parts that were designed or read."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r}, epsilon={self._budget.text}{self._options()})"

    def _options(self) -> str:
        """What else its repr shows, such as ``, m=27``."""
        return ""


def check_mechanism(mechanism: object) -> None:
    """Refuse what does not report."""
    if not isinstance(mechanism, Certified):
        msg = f"Expected a mechanism, got {type(mechanism).__name__}; pass bp.BRR(…), or bp.from_spec(…) of its spec."
        raise InputError(msg)
