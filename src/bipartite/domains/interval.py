"""A continuous range discretised to equidistant nodes (the paper's Algorithm 4): incomes, gradients, temperatures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from bipartite.domains.base import (
    MAX_SIZE,
    LineDomain,
    Outside,
    as_double,
    finite_number,
    nearest_nodes,
    outside_error,
    real_scalar,
    whole_number,
)
from bipartite.errors import DesignError, DomainError, NotAValueError, Problems, is_one_of, shown

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.domains.base import Coins, Indices, Reals
    from bipartite.lottery import Stream

Rounding = Literal["nearest", "random"]
# Nodes must be distinguishable as doubles; eight units in the last place leave room for rounding in encode and decode.
_LEAST_STEP_IN_ULPS: Final = 8
# A fraction in [0, 1) as a double has 53 bits: the coin of random rounding compares that many.
_FRACTION_BITS: Final = 53


class Interval(LineDomain):
    r"""The range [low, high] on ``points`` equidistant nodes, with loss \|x − y\|.

    Parameters
    ----------
    low, high
        The public ends of the range. They must not be learned from private data.
    points
        The number of nodes, both ends included. A value is rounded to a node before it is randomized.
    rounding
        ``"nearest"``: to the nearest node, index ⌊t + 1/2⌋ with t = (v − low)·(points − 1)/(high − low).
        ``"random"``: to one of the two nodes around it, with probabilities that preserve the mean; takes one random
        word for every value, even one exactly on a node, so that the number of words reveals nothing.

    Examples
    --------
    >>> income = Interval(0, 200_000, points=401)
    >>> income.step, income.encode(50_240), income.decode(100)
    (500.0, 100, 50000.0)
    """

    __slots__ = ("_first", "_nodes", "high", "low", "rounding", "size")
    low: float
    high: float
    rounding: Rounding
    whole = False
    # Node 0 is low; the outputs of a padded mechanism start before it.
    _first: int
    _nodes: int

    def __init__(self, low: float, high: float, points: int, *, rounding: Rounding = "nearest") -> None:
        problems = Problems()
        # + 0.0 turns −0.0 into 0.0: one spec for one domain.
        low, high = finite_number("low", low, problems) + 0.0, finite_number("high", high, problems) + 0.0
        points = whole_number("points", points, problems)
        if not is_one_of(rounding, ("nearest", "random")):
            problems.add(f"Expected rounding='nearest' or 'random', got {shown(rounding)}.")
        self._set(low=low, high=high, size=points, _nodes=points, _first=0, rounding=rounding)
        if not problems:
            if not low < high:
                problems.add(f"Expected low < high, got low={low}, high={high}; swap them.")
            elif not 2 <= points <= MAX_SIZE:  # noqa: PLR2004
                problems.add(f"Expected points from 2 to 2^31, got {shown(points)}; a few hundred suit most ranges.")
            elif not math.isfinite((high - low) * (points - 1)):
                problems.add("Expected (high − low)·(points − 1) to be a finite double; rescale the values.")
            elif not self._has_distinct_nodes():
                problems.add(f"Expected nodes that are distinct doubles, got a step of {self.step}; use fewer points.")
        problems.raise_if_any(DomainError)

    def _has_distinct_nodes(self) -> bool:
        ends = self.decode(0), self.decode(self.size - 1)
        largest = max(map(abs, ends))
        return math.isfinite(largest) and self.step >= _LEAST_STEP_IN_ULPS * math.ulp(largest)

    @property
    def only_reports(self) -> bool:  # type: ignore[override]
        return self._first != 0

    @property
    def step(self) -> float:
        return (self.high - self.low) / (self._nodes - 1)

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:
        number = as_double(real_scalar(value))
        if math.isnan(number):
            raise NotAValueError("is not a number; remove it, or pass None with nulls='keep'.", shown=shown(value))
        if not self._least <= number <= self._most:
            if outside == "error":
                raise outside_error(value, self)
            number = min(max(number, self._least), self._most)
        node = (number - self.low) * (self._nodes - 1) / (self.high - self.low)
        if stream is not None and self.rounding == "random":
            index = math.floor(node)
            # The coin, in integers: its 53 high bits against the 53 bits of the fraction.
            index += stream.word() >> (64 - _FRACTION_BITS) < int((node - index) * 2.0**_FRACTION_BITS)
        else:
            index = math.floor(node + 0.5)
        return min(max(index - self._first, 0), self.size - 1)

    def decode(self, index: int) -> float:
        at = index + self._first
        return self.high if at == self._nodes - 1 else self.low + at * (self.high - self.low) / (self._nodes - 1)

    def decode_array(self, indices: Indices) -> Reals:
        at = indices + np.int64(self._first)
        values = self.low + at * (self.high - self.low) / (self._nodes - 1)
        values[at == self._nodes - 1] = self.high
        return values

    @property
    def _least(self) -> float:
        """The smallest value inside: the first node, or half a step before it if the range is padded."""
        return self.low if self._first == 0 else self.decode(0) - self.step / 2

    @property
    def _most(self) -> float:
        return self.high if self._first == 0 else self.decode(self.size - 1) + self.step / 2

    @property
    def coins(self) -> bool:  # type: ignore[override]
        return self.rounding == "random"

    def encode_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> Indices:
        with np.errstate(all="ignore"):
            numbers = values.astype(np.float64, copy=False)
        if outside == "clip":
            numbers = np.clip(numbers, self.low, self.high)
        # Two passes suffice for a block that is entirely inside (NaN fails both); only other blocks need masks.
        if len(numbers) and numbers.min() >= self.low and numbers.max() <= self.high:
            return self._nodes_of(numbers, coins)
        inside = (numbers >= self.low) & (numbers <= self.high)
        # Values that must not be reported get index −1, which every kernel refuses; low replaces them in the
        # arithmetic.
        return np.where(inside, self._nodes_of(np.where(inside, numbers, self.low), coins), -1)

    def _nodes_of(self, numbers: Reals, coins: Coins) -> Indices:
        """The nodes of numbers inside the range; t = (v − low)·(points − 1)/(high − low) in that order."""
        node = numbers - self.low
        node *= self.size - 1
        node /= self.high - self.low
        if coins is None:
            node += 0.5
            return node.astype(np.int64)  # truncation is the floor of non-negative numbers
        index = node.astype(np.int64)
        node -= index
        node *= 2.0**_FRACTION_BITS
        index += (coins >> np.uint64(64 - _FRACTION_BITS)) < node.astype(np.uint64)
        # t may exceed the last node by a rounding error, and a coin could then raise it further.
        return np.minimum(index, self.size - 1)

    def find(self, values: NDArray[Any]) -> Indices:
        with np.errstate(invalid="ignore"):
            at = np.rint((values.astype(np.float64) - self.decode(0)) / self.step)
        inside = (at >= 0) & (at < self.size)
        return np.where(inside, nearest_nodes(self.to_numpy(), np.where(inside, at, 0).astype(np.int64), values), -1)

    def padded(self, half_window: int) -> Interval:
        padded = object.__new__(Interval)
        padded._set(low=self.low, high=self.high, _nodes=self._nodes, rounding="nearest")
        padded._set(size=self.size + 2 * half_window, _first=-half_window)
        if not padded._has_distinct_nodes():
            raise DesignError("Expected padded reports that are distinct finite doubles; use a smaller m.")
        return padded

    def to_spec(self) -> dict[str, Any]:
        if self.only_reports:
            raise DomainError("The outputs of a padded mechanism have no spec; use that of mech.domain.")
        return {"interval": [self.low, self.high], "points": self._nodes, "rounding": self.rounding}

    def __str__(self) -> str:
        return f"{self.low:.12g}..{self.high:.12g}"

    def __repr__(self) -> str:
        padding = f" padded by {-self._first} nodes at both ends" if self._first else ""
        rounding = ", rounding='random'" if self.rounding == "random" else ""
        text = f"Interval({self.low!r}, {self.high!r}, points={self._nodes}{rounding})"
        return f"<{text}{padding}>" if padding else text
