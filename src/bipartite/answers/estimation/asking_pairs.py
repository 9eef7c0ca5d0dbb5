"""Questions about two attributes: what is asked, and the weight of each pair of values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.answers.estimation.question import Question
from bipartite.answers.estimation.pair_answers import table_of, unit
from bipartite.errors import InputError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.answers.estimation.pair_answers import Weights
    from bipartite.domains import Domain

    Array = NDArray[np.float64]

_OF: Final = (
    "'covariance', 'correlation', ('cell', value, value), ('where', {name: value}), a table of weights, or two lists "
    "of weights"
)
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attributes: their names and their values."""

    names: tuple[str, str]
    domains: tuple[Domain, Domain]

    def at(self, name: object) -> int:
        """The index of an attribute, 0 or 1."""
        if name not in self.names:
            raise InputError(f"Expected {self.names[0]!r} or {self.names[1]!r}, got {shown(name)}.")
        return self.names.index(str(name))

    def numbers(self, at: int) -> tuple[Array, float]:
        """(the numbers of an attribute minus their middle, the middle)."""
        domain = self.domains[at]
        if not domain.has_ends:
            raise InputError(f"The values of {self.names[at]!r} are not numbers; ask for cells, or give weights.")
        numbers = domain.to_numpy().astype(np.float64)
        middle = float(numbers[0] / 2 + numbers[-1] / 2)
        return numbers - middle, middle

    def member(self, at: int, group: object) -> Array:
        """1 for the values of a group, 0 for others; a group is a value, a list, or ("range", first, last)."""
        domain = self.domains[at]
        if domain.has_ranges and isinstance(group, tuple) and group[:1] == ("range",):
            return Question.read(group, domain).weights
        values = list(group) if isinstance(group, (list, tuple, set, range, np.ndarray)) else [group]
        member = np.zeros(len(domain))
        for value in values:
            member += unit(len(domain), domain.encode(value))
        if not values or member.max() > 1:
            raise InputError(f"Expected one or more distinct values of {self.names[at]!r}, got {shown(group)}.")
        return member

    def where(self, groups: object) -> tuple[Array, Array]:
        """The group of each attribute; all values of an attribute that is not named."""
        if not isinstance(groups, dict) or not groups:
            raise InputError(f"Expected ('where', {{{self.names[0]!r}: value, …}}), got {shown(groups)}.")
        members = [np.ones(len(domain)) for domain in self.domains]
        for name, group in groups.items():
            at = self.at(name)
            members[at] = self.member(at, group)
        return members[0], members[1]

    def table(self, weights: object) -> Weights:
        """Check weights: a table of finite numbers, or two lists, whose outer product it is."""
        sizes = tuple(len(domain) for domain in self.domains)
        try:
            if isinstance(weights, tuple) and len(weights) == _TWO:  # one list for each attribute
                pair = tuple(np.asarray(each, dtype=np.float64) for each in weights)
                if tuple(each.shape for each in pair) == ((sizes[0],), (sizes[1],)) and all(
                    np.isfinite(each).all() for each in pair
                ):
                    return pair[0], pair[1]
            else:
                table = np.asarray(weights, dtype=np.float64)
                if table.shape == sizes and np.isfinite(table).all():
                    return table
        except (TypeError, ValueError):
            pass
        raise InputError(
            f"Expected {_OF}; weights are a table of {sizes[0]} × {sizes[1]} finite numbers, or two lists (w₁, w₂)."
        )


@dataclass(frozen=True, slots=True, eq=False)
class PairQuestion:
    """A question: its kind, and the weight of each pair of values."""

    kind: str
    """"covariance", "correlation", "cell", "where" or "linear"."""
    weights: Weights | None
    """None if the answer is not linear."""
    possible: tuple[float, float]
    """The smallest and largest possible answer."""
    cell: tuple[int, int] = (-1, -1)

    @classmethod
    def read(cls, of: object, pair: Pair) -> PairQuestion:
        """Parse a question: a name, a tuple, or weights."""
        if isinstance(of, str) and of == "correlation":
            return cls(of, None, (-1.0, 1.0))
        if isinstance(of, str) and of == "covariance":
            half = math.prod(float(np.ptp(pair.numbers(at)[0])) / 2 for at in (0, 1))
            return cls(of, None, (-half, half))
        if isinstance(of, tuple) and of and isinstance(of[0], str):
            return cls._share(of, pair)
        if isinstance(of, (str, bytes, dict, type(None))):
            raise _unknown(of)
        held = pair.table(of)
        table = table_of(held)
        return cls("linear", held, (float(table.min()), float(table.max())))

    @classmethod
    def _share(cls, of: tuple[Any, ...], pair: Pair) -> PairQuestion:
        """The share of one pair of values, or of all pairs of two groups."""
        kind, *what = of
        if kind == "where" and len(what) == 1:
            return cls(kind, pair.where(what[0]), (0.0, 1.0))
        if kind != "cell" or len(what) != _TWO:
            raise _unknown(of)
        first, second = (domain.encode(value) for domain, value in zip(pair.domains, what, strict=True))
        units = unit(len(pair.domains[0]), first), unit(len(pair.domains[1]), second)
        return cls(kind, units, (0.0, 1.0), (first, second))


def _unknown(of: object) -> InputError:
    return InputError(f"Expected {_OF}, got {shown(of)}.")


def names_of_two(names: object) -> tuple[str, str]:
    """Check two different names."""
    if isinstance(names, tuple) and len(names) == _TWO and all(isinstance(name, str) for name in names):
        first, second = names
        if first != second:
            return first, second
    raise InputError(f"Expected two different names such as ('age', 'income'), got {shown(names)}.")
