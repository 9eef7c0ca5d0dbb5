"""Questions about two attributes: the weight of each pair of values, as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.answers.estimation.question import Question
from bipartite.errors import InputError, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains import Domain

    Array = NDArray[np.float64]

_OF: Final = (
    "'covariance', 'correlation', ('cell', value, value), ('where', {name: value}), ('mean', name, {other: value}), a "
    "table of weights, or two lists of weights"
)
_TWO: Final = 2


@dataclass(frozen=True, slots=True)
class Pair:
    """Two attributes: their names and their values."""

    names: tuple[str, str]
    domains: tuple[Domain, Domain]

    def weights(self, of: object) -> Array:
        """The weights of an average: the share of one pair of values, or of pairs of two groups, or given weights."""
        if isinstance(of, tuple) and of and isinstance(of[0], str):
            match of:
                case ("cell", first, second):
                    return np.outer(self._unit(0, first), self._unit(1, second))
                case ("where", groups):
                    return self._where(groups)
        elif not isinstance(of, (str, bytes, dict, type(None))):
            return self._table(of)
        raise InputError(f"Expected {_OF}, got {shown(of)}.")

    def ratio(self, name: object, where: object) -> tuple[Array, Array, float]:
        """The weights of both averages whose ratio is the mean in a group, minus the middle of numbers; the middle."""
        at = self.at(name)
        other = self.names[1 - at]
        if not isinstance(where, dict) or list(where) != [other]:
            raise InputError(f"Expected ('mean', {name!r}, {{{other!r}: value}}), got {shown(where)}.")
        numbers, middle = self.numbers(at)
        member = self._member(1 - at, where[other])
        first, second = (
            np.outer(w, member) if at == 0 else np.outer(member, w) for w in (numbers, np.ones_like(numbers))
        )
        return first, second, middle

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

    def _where(self, groups: object) -> Array:
        """1 for the pairs of values in the group of each attribute; of one that is not named, all values."""
        if not isinstance(groups, dict) or not groups:
            raise InputError(f"Expected ('where', {{{self.names[0]!r}: value, …}}), got {shown(groups)}.")
        members = [np.ones(len(domain)) for domain in self.domains]
        for name, group in groups.items():
            at = self.at(name)
            members[at] = self._member(at, group)
        return np.outer(*members)

    def _member(self, at: int, group: object) -> Array:
        """1 for the values of a group, 0 for others; a group is a value, a list, or ("range", first, last)."""
        domain = self.domains[at]
        if domain.has_ranges and isinstance(group, tuple) and group[:1] == ("range",):
            asked = Question.read(group, domain)  # perhaps about all others
            return asked.shift + asked.scale * asked.weights
        values = list(group) if isinstance(group, (list, tuple, set, range, np.ndarray)) else [group]
        member = np.asarray(sum(self._unit(at, value) for value in values), dtype=np.float64)
        if not values or member.max() > 1:
            raise InputError(f"Expected one or more distinct values of {self.names[at]!r}, got {shown(group)}.")
        return member

    def _unit(self, at: int, value: object) -> Array:
        """1 for one value, 0 for others."""
        found: Array = np.eye(1, len(self.domains[at]), self.domains[at].encode(value))[0]
        return found

    def _table(self, weights: object) -> Array:
        """Check weights: a table of finite numbers, or two lists, whose outer product it is."""
        sizes = len(self.domains[0]), len(self.domains[1])
        try:
            if isinstance(weights, tuple) and len(weights) == _TWO:
                table = np.multiply.outer(*(np.asarray(each, dtype=np.float64) for each in weights))
            else:
                table = np.asarray(weights, dtype=np.float64)
        except (TypeError, ValueError):
            table = np.empty(0)
        if table.shape == sizes and np.isfinite(table).all():
            return table
        raise InputError(
            f"Expected {_OF}; weights are a table of {sizes[0]} × {sizes[1]} finite numbers, or two lists (w₁, w₂)."
        )
