"""Sets: numbers or labels as values, and an integer order of neighbours; items with any loss or none."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from bipartite.domains.base import MAX_SIZE, MAX_SPEC_INTEGER, Domain, Outside, is_label
from bipartite.domains.integers import Integers
from bipartite.errors import DataError, DomainError, InputError, OutsideDomainError, Problems, shown
from bipartite.lottery.order import RankOrder, VectorOrder, ranks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from bipartite.domains.base import Coins, Indices, Reals
    from bipartite.lottery import Stream
    from bipartite.lottery.order import Order

_FEWEST: Final = 2


class SetDomain(Domain):
    """A set whose elements may be nearer to or farther from each other."""

    __slots__ = ("_index", "_order", "labels", "numbers", "size")
    whole = True
    bits: int = 0
    labels: tuple[Any, ...] | None
    _order: Any
    numbers: Integers

    def _finish(
        self, order: Order, labels: Sequence[Any] | None, *, numbers: Integers | None = None, **own: object
    ) -> None:
        """Set the common attributes and those of the subclass, at the end of a constructor."""
        names = None if labels is None else tuple(labels)
        index = {name: at for at, name in enumerate(names or ())}
        rows = Integers(0, len(order) - 1) if numbers is None else numbers
        self._set(size=len(order), _order=order, numbers=rows, labels=names, _index=index, **own)
        self._freeze()

    def _arrays(self) -> Iterable[NDArray[Any] | None]:
        held = [getattr(self._order, name, None) for name in ("vectors", "ranks")]
        return held + [getattr(self, name, None) for name in ("coordinates", "_losses")]

    @property
    def order(self) -> Order:
        """The order of neighbours, in integers."""
        order: Order = self._order
        return order

    @property
    def vectors(self) -> Indices | None:
        """Vectors of whole numbers whose distances decide nearness; None if ranks do."""
        order = self.order if self.metric not in {None, "callable"} else None
        return order.vectors if isinstance(order, VectorOrder) else None

    def nearest_of(self, anchors: Indices) -> Indices:
        return self.order.nearest_of(anchors)

    @abstractmethod
    def losses(self, x: int) -> Reals:
        """The loss of reporting each value when value number x is true."""

    def loss_matrix(self) -> Reals:
        """The N × N matrix of losses, for small sets."""
        return np.array([self.losses(x) for x in range(self.size)])

    def _spec(self, kind: str, **described: object) -> dict[str, Any]:
        """The description of the set, with its labels."""
        return {kind: described if self.labels is None else {**described, "labels": list(self.labels)}}

    def check_outside(self, outside: Outside) -> None:
        if outside == "clip":
            raise InputError(
                "outside='clip' has no meaning on a set; use domain.nearest for positions, or drop the value."
            )

    def encode(self, value: object, *, outside: Outside = "error", stream: Stream | None = None) -> int:  # noqa: ARG002
        self.check_outside(outside)
        if self.labels is None:
            try:
                return self.numbers.encode(value)
            except DataError as error:
                outside_text, no_number, _ = self._remedies()
                problem = outside_text if isinstance(error, OutsideDomainError) else no_number
                raise type(error)(problem, shown=shown(value)) from None
        if not is_label(value) or value not in self._index:
            raise OutsideDomainError(
                "is not one of the labels; use domain.labels to see them, or domain.nearest for positions.",
                shown=shown(value),
            )
        return self._index[value]

    def _remedies(self) -> tuple[str, str, str]:
        """What to do about numbers that are no values: one outside, one that is no whole number, some of an array."""
        rows = f"0..{self.size - 1}"
        return (
            f"is outside {rows}, the row numbers; use domain.nearest to report a position.",
            f"is not a row number in {rows}; use domain.nearest to report a position.",
            "values are row numbers, use domain.nearest to report positions.",
        )

    def decode(self, index: int) -> Any:  # noqa: ANN401 (a number or a label)
        return self.numbers.decode(index) if self.labels is None else self.labels[index]

    def decode_array(self, indices: Indices) -> NDArray[Any]:
        return self.numbers.decode_array(indices) if self.labels is None else np.array(self.labels)[indices]

    def report_array(self, indices: Indices) -> Indices:
        return self.numbers.decode_array(indices)

    @property
    def code_offset(self) -> int:  # type: ignore[override]
        return self.numbers.low

    report_offset = code_offset

    def encode_array(self, values: NDArray[Any], outside: Outside = "error", coins: Coins = None) -> Indices:
        self.check_outside(outside)
        return self.numbers.encode_array(values, outside, coins)

    def explain(self, values: NDArray[Any], outside: Outside, place: Callable[[int], str]) -> DataError:
        refusal = self.numbers.explain(values, outside, place)
        return type(refusal)(f"{str(refusal).split('; ')[0]}; {self._remedies()[2]}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_spec() == other.to_spec()

    def __hash__(self) -> int:
        return hash((type(self), self.size, self.labels))


class Items(SetDomain):
    """A set of items; ``loss[x, y]`` is the loss of reporting y when x is true, 1 for all others unless you say.

    Values and reports are the labels, or row numbers 0 … N−1 where ``labels`` is None.

    Parameters
    ----------
    labels
        Names of the items, all distinct, or None. Without ``loss`` and ``similarity`` they are flat categories: no
        item is nearer than another, and every wrong answer has loss 1.
    loss
        A square matrix, not necessarily symmetric. Each row must have its smallest loss on the diagonal, unless
        ``allow_off_diagonal=True``.
    similarity
        Instead of ``loss``: larger is better. Every function takes −similarity as the loss.

    Notes
    -----
    Nearness is decided by the integer ranks of each row; the spec carries the ranks, not the losses.

    Examples
    --------
    >>> genres = Items(["jazz", "blues", "metal"], loss=[[0, 1, 5], [1, 0, 4], [5, 4, 0]])
    >>> genres.losses(0).tolist()
    [0.0, 1.0, 5.0]
    >>> Items(["firefox", "safari", "other"]).losses(0).tolist()
    [0.0, 1.0, 1.0]
    """

    __slots__ = ("_losses",)
    by_row = True
    _losses: Reals | None

    def __init__(
        self,
        labels: Sequence[Any] | None,
        *,
        loss: ArrayLike | None = None,
        similarity: ArrayLike | None = None,
        allow_off_diagonal: bool = False,
    ) -> None:
        problems = Problems()
        if loss is not None and similarity is not None:
            problems.add(
                "Expected loss= or similarity=, got both; a loss is small, a similarity large, for near items."
            )
        if loss is None and similarity is None:
            labels = check_labels(labels, None, problems)
            if labels is None or len(labels) < _FEWEST:
                problems.add("Expected at least two labels, or loss= or similarity=; labels alone are flat categories.")
            problems.raise_if_any(DomainError)
            loss = 1.0 - np.eye(len(labels or ()))
        given = loss if loss is not None else similarity
        matrix = None if given is None else _square(given, "loss" if loss is not None else "similarity", problems)
        if matrix is not None and loss is None:
            matrix = -matrix
        if matrix is not None and not allow_off_diagonal:
            worse = np.flatnonzero(matrix.diagonal() > matrix.min(axis=1))
            if len(worse):
                problems.add(
                    f"Expected each item to be its own best report, got {len(worse)} rows whose best is elsewhere, the "
                    f"first row {int(worse[0])}; check the matrix, or pass allow_off_diagonal=True."
                )
        names = check_labels(labels, None if matrix is None else len(matrix), problems)
        problems.raise_if_any(DomainError)
        matrix = cast("Reals", matrix)
        self._finish(RankOrder(ranks_of(matrix)), names, _losses=matrix)

    @classmethod
    def tanimoto(cls, vectors: ArrayLike, *, labels: Sequence[Any] | None = None) -> Items:
        """Items with the paper's generalised Jaccard (Tanimoto) similarity x·y/(x·x + y·y − x·y) of their vectors.

        One row per item; rows of zeros and ones give the Jaccard similarity of sets, single positive numbers the
        setting of the paper's section 5.2.
        """
        try:
            array = np.atleast_1d(np.asarray(vectors, dtype=np.float64))
        except (TypeError, ValueError):
            array = np.full((1, 1), np.nan)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or not np.isfinite(array).all():  # noqa: PLR2004
            raise DomainError(
                "Expected vectors as finite numbers, one row per item; pass a list of rows or a 2-d array."
            )
        # The similarity is scale-free, and a power of two changes no digit.
        array = np.ldexp(array, -math.frexp(float(np.abs(array).max(initial=0.0)))[1])
        product = array @ array.T
        square = product.diagonal()
        below = square[:, None] + square[None, :] - product
        if not (below > 0).all():
            raise DomainError("Expected non-zero vectors of comparable size; give every item some weight.")
        # Rounding must not raise the similarity of two similar items above that of an item with itself.
        return cls(labels, similarity=np.minimum(product / below, 1.0))

    @classmethod
    def restore(cls, ranks: NDArray[np.int32], labels: Sequence[Any] | None) -> Items:
        """Rebuild the items of a spec: their order without their losses."""
        items = cls.__new__(cls)
        items._finish(RankOrder(ranks), labels, _losses=None)
        return items

    def losses(self, x: int) -> Reals:
        """The loss of reporting each item when item number x is true, or minus the similarity."""
        if self._losses is None:
            raise DomainError(
                "Expected items with a loss, got items from a spec, which carries only ranks; build them with loss=."
            )
        row: Reals = self._losses[x]
        return row

    @property
    def is_flat(self) -> bool:  # type: ignore[override]
        right, wrong = self.losses(0)[:2]
        at = np.arange(self.size)
        # Row by row: most sets fail at the first.
        rows = (np.array_equal(self.losses(x), np.where(at == x, right, wrong)) for x in range(self.size))
        return bool(wrong > right) and all(rows)

    def to_spec(self) -> dict[str, Any]:
        return self._spec("items", ranks=self._order.ranks.tolist())

    def __repr__(self) -> str:
        return f"<{self.size} items>"


def _square(given: ArrayLike, name: str, problems: Problems) -> Reals | None:
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        problems.add(f"Expected {name} as a square matrix of numbers; pass a list of rows or a 2-d array.")
        return None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < _FEWEST:  # noqa: PLR2004
        problems.add(f"Expected {name} as a square matrix of at least two rows, got shape {matrix.shape}.")
        return None
    if not np.isfinite(matrix).all():
        problems.add(f"Expected {name} without NaN or infinity; replace them by a large loss.")
        return None
    return matrix + 0.0  # turns −0.0 into 0.0


def check_labels(labels: object, size: int | None, problems: Problems) -> tuple[Any, ...] | None:
    """Read labels as a tuple of distinct strings or integers, one per value."""
    if size is not None and size > MAX_SIZE:
        problems.add(f"Expected at most 2^31 values, got {size}.")
    if labels is None:
        return None
    # Sets are refused because their order may differ between runs.
    if isinstance(labels, (str, bytes, set, frozenset)) or not isinstance(labels, Iterable):
        problems.add(f"Expected labels as a list, one per value, got {type(labels).__name__}.")
        return None
    names = tuple(label.item() if isinstance(label, np.generic) else label for label in labels)
    if size is not None and len(names) != size:
        problems.add(f"Expected {size} labels, one per value, got {len(names)}.")
    kinds = {type(name) for name in names}
    if kinds not in ({str}, {int}):
        problems.add("Expected labels that are all strings or all whole numbers; convert them with str.")
    elif any(not _fits_json(name) for name in names):
        problems.add("Expected labels that JSON can carry: whole numbers below 2^53, text without lone surrogates.")
    elif len(set(names)) != len(names):
        problems.add(f"Expected distinct labels, got {len(names) - len(set(names))} duplicates; rename them.")
    return names


def _fits_json(name: str | int) -> bool:
    """Whether a label survives a round trip through JSON."""
    if isinstance(name, int):
        return abs(name) <= MAX_SPEC_INTEGER
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
