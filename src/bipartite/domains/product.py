"""Several attributes of a person as one value, reported together at the full ε."""

from __future__ import annotations

import json
import math
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains.base import MAX_SIZE, Domain, LineDomain, Outside, as_real
from bipartite.domains.integers import Integers
from bipartite.domains.interval import Interval
from bipartite.domains.sets import SetDomain
from bipartite.errors import DataError, DomainError, NotAValueError, OutsideDomainError, Problems, shown
from bipartite.lottery.order import RankOrder, VectorOrder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from bipartite.domains.base import Coins, Indices, Mask, Reals
    from bipartite.lottery import Stream
    from bipartite.lottery.order import Order

    Steps = tuple[int | Indices, ...]

MOST_ON_LINES: Final = 2**17
"""The most values with an order of neighbours if all parts are lines: one vector per value."""
MOST_IN_A_TABLE: Final = 2**13
"""The most values with an order of neighbours if a part is a set: one rank per pair, 256 MiB."""
MAX_TABLE_LOSS: Final = 2**31 - 1
"""The largest loss in integer units that fits the ranks of a table."""
# Losses stay below 2^30 units, which leaves room for rounding.
_LARGEST_BITS: Final = 30


class Product(SetDomain):
    r"""Values of several domains together: (age, genre) as one value, reported at the full ε.

    A value is a tuple with one value of each part; indices are in row-major order, i·len(b) + j for two parts. The loss
    is a weighted sum of the losses of the parts: L((i, j), (k, l)) = w₁·ℓ₁(i, k) + w₂·ℓ₂(j, l).

    Parameters
    ----------
    parts
        At least two domains: :class:`~bipartite.Integers`, :class:`~bipartite.Interval`, :class:`~bipartite.Cyclic`,
        :class:`~bipartite.Points`, :class:`~bipartite.Items`.
    weights
        The weight of each part's loss; positive. None: the inverse of the part's mean loss between two values drawn
        uniformly, so that a uniform guess has loss 1 in every part. Public: they must not be learned from private
        data.

    Notes
    -----
    Nearness is decided in integers: the constructor rounds losses to multiples of 2\ :sup:`−bits`, the finest unit for
    which the largest loss stays below 2\ :sup:`30` units. The spec carries these integers, and ``losses`` is computed
    from them. Within a part, losses are measured from that of the best report for the same value, so that a part may be
    defined by a similarity.

    The number of values is the product over the parts, at most 2\ :sup:`31`. GRR and the mechanisms for flat
    categories accept all of them. Mechanisms with neighbours compare all pairs: at most 131,072 values if all parts are
    lines, and 8,192 otherwise. An N × N table (Exponential, Optimal, ``matrix``) has its own limits.

    Examples
    --------
    >>> from bipartite import Integers, Items
    >>> genres = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    >>> people = Product(Integers(18, 90), genres)
    >>> len(people), people.shape, people.encode((20, "metal")), people.decode(8)
    (219, (73, 3), 8, (20, 'metal'))
    >>> Product(Integers(0, 3), Integers(0, 9), weights=(1, 0.5)).losses(0)[:3].tolist()
    [0.0, 0.5, 1.0]
    """

    __slots__ = ("_steps", "bits", "parts", "weights")
    parts: tuple[Domain, ...]
    """The domains of the parts."""
    weights: tuple[float, ...]
    """The weight of each part's loss."""
    bits: int
    """Losses are integer multiples of 2^−bits."""
    _steps: Steps
    """For each part, in units of 2^−bits: the loss of one step on a line, or the loss table of a set."""

    def __init__(self, *parts: Domain, weights: Sequence[float] | None = None) -> None:
        problems = Problems()
        check_parts(parts, problems)
        given = None if weights is None else _weights(weights, len(parts), problems)
        problems.raise_if_any(DomainError)
        losses = [_losses(part) for part in parts]
        if given is None:
            given = tuple(1 / mean if mean > 0 else 1.0 for _, mean, _ in losses)
        largest = sum(weight * most for weight, (_, _, most) in zip(given, losses, strict=True))
        if not math.isfinite(largest):
            raise DomainError("Expected weights and losses with finite sums; rescale them.")
        bits = _LARGEST_BITS - math.frexp(largest)[1]
        steps = tuple(_whole(np.ldexp(weight * own, bits)) for weight, (own, _, _) in zip(given, losses, strict=True))
        self._make(parts, given, bits, steps)

    @classmethod
    def restore(cls, parts: tuple[Domain, ...], weights: tuple[float, ...], bits: int, steps: Steps) -> Product:
        """Rebuild the product of a spec from its integers."""
        product = cls.__new__(cls)
        product._make(parts, weights, bits, steps)
        return product

    def _make(self, parts: tuple[Domain, ...], weights: tuple[float, ...], bits: int, steps: Steps) -> None:
        size = math.prod(map(len, parts))
        self._set(parts=parts, weights=weights, bits=bits, size=size, labels=None)
        self._set(_steps=steps, _order=None, numbers=Integers(0, size - 1), _index={})
        self._freeze()

    def _arrays(self) -> Iterable[NDArray[Any] | None]:
        return [*super()._arrays(), *(held for held in self._steps if isinstance(held, np.ndarray))]

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each part."""
        return tuple(map(len, self.parts))

    @property
    def metric(self) -> str:  # type: ignore[override]
        """How losses are stored: as distances of vectors if all parts are lines, otherwise as a table."""
        return "manhattan" if self.on_lines else "callable"

    @property
    def on_lines(self) -> bool:
        """Whether all parts are lines, so that losses are distances of vectors."""
        return not any(isinstance(held, np.ndarray) for held in self._steps)

    @property
    def order(self) -> Order:
        """The order of neighbours, in integers; built on first use."""
        if self._order is None:
            self._check_size()
            self._set(_order=self._built_order())
            self._freeze()
        order: Order = self._order
        return order

    def _check_size(self) -> None:
        """Refuse to compare all pairs of too many values."""
        most = MOST_ON_LINES if self.on_lines else MOST_IN_A_TABLE
        if self.size > most:
            kinds = "lines" if self.on_lines else "sets, or lines and sets"
            raise DomainError(
                f"Expected at most {most} values of {kinds} to compare all pairs, got {self.size}; use "
                "fewer points, or a mechanism without neighbours such as bp.GRR, bp.SubsetSelection or bp.OLH."
            )

    def _built_order(self) -> Order:
        if self.on_lines:
            units = np.array(self._steps, dtype=np.int64)
            return VectorOrder(np.stack(self.split(np.arange(self.size)), axis=1) * units, "manhattan")
        return RankOrder(np.array([self._whole_losses(x) for x in range(self.size)], dtype=np.int32))

    def _whole_losses(self, x: int) -> Indices:
        """The loss of reporting each value when value number x is true, in units of 2^−bits."""
        total = np.zeros(1, dtype=np.int64)
        for part, step, at in zip(self.parts, self._steps, np.unravel_index(x, self.shape), strict=True):
            own = step[at] if isinstance(step, np.ndarray) else step * np.abs(np.arange(len(part)) - at)
            total = (total[:, None] + own).ravel()
        return total

    def losses(self, x: int) -> Reals:
        """The loss of reporting each value when value number x is true."""
        self._check_size()
        losses: Reals = np.ldexp(self._whole_losses(x).astype(np.float64), -self.bits)
        return losses

    def join(self, indices: Sequence[Indices]) -> Indices:
        """The indices of values from the indices of their parts."""
        joined: Indices = np.ravel_multi_index(tuple(indices), self.shape).astype(np.int64)
        return joined

    def split(self, indices: Indices) -> tuple[Indices, ...]:
        """The indices of the parts from the indices of values."""
        return tuple(each.astype(np.int64) for each in np.unravel_index(indices, self.shape))

    def to_spec(self) -> dict[str, Any]:
        losses = [held.tolist() if isinstance(held, np.ndarray) else held for held in self._steps]
        parts = [part.to_spec() for part in self.parts]
        return {"product": {"parts": parts, "weights": list(self.weights), "bits": self.bits, "losses": losses}}

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:  # noqa: ARG002
        self.check_outside(outside)
        if not isinstance(value, tuple) or len(value) != len(self.parts):
            raise NotAValueError(
                f"is not a tuple of {len(self.parts)}, one value for each part of {self}; pass (first, second).",
                shown=shown(value),
            )
        index = 0
        for number, (part, own) in enumerate(zip(self.parts, value, strict=True)):
            try:
                index = index * len(part) + part.encode(own, outside=for_part(part, outside))
            except DataError as error:
                kind, problem = type(error), f"is invalid: part {number} {error.args[0]}"
                break
        else:
            return index
        raise kind(problem, shown=shown(value))

    def decode(self, index: int) -> tuple[Any, ...]:
        where = np.unravel_index(index, self.shape)
        return tuple(part.decode(int(at)) for part, at in zip(self.parts, where, strict=True))

    def decode_array(self, indices: Indices) -> NDArray[Any]:
        """The values with these indices, as a structured array with fields f0, f1, …, one per part."""
        return in_fields([part.decode_array(at) for part, at in zip(self.parts, self.split(indices), strict=True)])

    def report_array(self, indices: Indices) -> NDArray[Any]:
        return in_fields([part.report_array(at) for part, at in zip(self.parts, self.split(indices), strict=True)])

    @property
    def report_offset(self) -> None:  # type: ignore[override]
        return None

    def encode_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> Indices:
        self.check_outside(outside)
        indices = [
            part.encode_array(values[f"f{number}"], for_part(part, outside), coins) - np.int64(part.code_offset)
            for number, part in enumerate(self.parts)
        ]
        return self._joined(indices)

    def find(self, values: NDArray[Any]) -> Indices:
        return self._joined([part.find(values[f"f{number}"]) for number, part in enumerate(self.parts)])

    def _joined(self, indices: list[Indices]) -> Indices:
        """The indices of tuples; −1, which every kernel refuses, if a part must not be reported."""
        joined, inside = np.zeros(len(indices[0]), dtype=np.int64), np.ones(len(indices[0]), dtype=np.bool_)
        for part, index in zip(self.parts, indices, strict=True):
            inside &= (index >= 0) & (index < len(part))
            joined = joined * len(part) + index
        return np.where(inside, joined, -1)

    def check_outside(self, outside: Outside) -> None:
        if not any(part.has_ends for part in self.parts):
            super().check_outside(outside)

    def explain(self, values: NDArray[Any], outside: Outside, place: Callable[[int], str]) -> DataError:
        def place_of(number: int, at: int) -> str:
            return f"part {number} of {place(at)}"

        refusals = []
        for number, part in enumerate(self.parts):
            own, option = values[f"f{number}"], for_part(part, outside)
            if part.refusals(own, option):
                refusals.append(part.explain(own, option, partial(place_of, number)))
        kind = NotAValueError if any(isinstance(each, NotAValueError) for each in refusals) else OutsideDomainError
        return kind(" ".join(map(str, refusals)))

    def refusals(self, values: NDArray[Any], outside: Outside) -> dict[str, Mask]:
        found: dict[str, Mask] = {}
        for number, part in enumerate(self.parts):
            for reason, bad in part.refusals(values[f"f{number}"], for_part(part, outside)).items():
                found[reason] = found.get(reason, False) | bad
        return found

    def __repr__(self) -> str:
        return f"Product({', '.join(map(repr, self.parts))})"


def check_parts(parts: tuple[object, ...], problems: Problems) -> None:
    """Record what cannot be a part of a product."""
    if len(parts) < 2:  # noqa: PLR2004
        problems.add(f"Expected at least two domains, got {len(parts)}; pass bp.Product(a, b).")
    for number, part in enumerate(parts):
        padded = isinstance(part, LineDomain) and part.only_reports
        if not isinstance(part, (LineDomain, SetDomain)) or isinstance(part, Product) or padded:
            problems.add(
                f"Expected part {number} as bp.Integers, bp.Interval, bp.Cyclic, bp.Points or bp.Items, got "
                f"{type(part).__name__ if not padded else 'the outputs of a mechanism'}; "
                "name all parts at once: bp.Product(a, b, c)."
            )
        elif isinstance(part, Interval) and part.rounding == "random":
            problems.add(f"Expected rounding='nearest' in part {number}, got 'random'; build the interval without it.")
        elif isinstance(part, SetDomain) and len(part) > MOST_IN_A_TABLE:
            problems.add(f"Expected at most {MOST_IN_A_TABLE} values in part {number}, got {len(part)}; merge some.")
    sizes = [len(part) for part in parts if isinstance(part, Domain)]
    if math.prod(sizes) > MAX_SIZE:
        problems.add(f"Expected at most 2^31 values, got {' × '.join(map(str, sizes))}; use fewer points.")


def _weights(weights: object, count: int, problems: Problems) -> tuple[float, ...]:
    given = [as_real(each) for each in weights] if isinstance(weights, (list, tuple, np.ndarray)) else []
    if len(given) != count or not all(math.isfinite(each) and each > 0 for each in given):
        problems.add(f"Expected weights as {count} positive numbers, one per part, got {shown(weights)}.")
    return tuple(given)


def _losses(part: Domain) -> tuple[Any, float, float]:
    """(the loss of one step of a line, or the loss table of a set; the mean loss of two values; the largest loss)."""
    size = len(part)
    if isinstance(part, LineDomain):
        return part.step, part.step * (size * size - 1) / (3 * size), part.step * (size - 1)
    matrix = cast("SetDomain", part).loss_matrix()
    matrix = matrix - matrix.min(axis=1, keepdims=True)
    return matrix, float(matrix.mean()), float(matrix.max())


def _whole(losses: Any) -> int | Indices:  # noqa: ANN401 (a number, or a table of them)
    """Round losses to integer units; a step is at least one."""
    if isinstance(losses, np.ndarray):
        return np.rint(losses).astype(np.int64)
    return max(1, round(float(losses)))


def in_fields(columns: Sequence[NDArray[Any]], names: Sequence[str] | None = None) -> NDArray[Any]:
    """Join columns into a structured array, with fields f0, f1, … unless named."""
    names = [f"f{number}" for number in range(len(columns))] if names is None else names
    joined = np.empty(len(columns[0]), dtype=[(name, each.dtype) for name, each in zip(names, columns, strict=True)])
    for name, each in zip(names, columns, strict=True):
        joined[name] = each
    return joined


def for_part(part: Domain, outside: Outside) -> Outside:
    """The option for a part: sets have no ends to clamp to."""
    return outside if part.has_ends else "error"


def tuple_text(value: tuple[Any, ...]) -> str:
    """Write a tuple for one cell of a table, as a JSON array."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tuple_of(text: str) -> tuple[Any, ...]:
    """Read a tuple from a cell of a table; empty if the cell does not hold one."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    return tuple(read) if isinstance(read, list) else ()
