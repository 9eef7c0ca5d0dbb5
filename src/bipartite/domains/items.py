"""Sets of items, with any loss or similarity or with none: genres, products, browsers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from bipartite.domains.sets import SetDomain, check_labels
from bipartite.errors import DomainError, Problems
from bipartite.lottery.order import RankOrder, ranks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

_TWO = 2


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
    _losses: NDArray[np.float64] | None

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
            if labels is None or len(labels) < _TWO:
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
        matrix = cast("NDArray[np.float64]", matrix)
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

    def losses(self, x: int) -> NDArray[np.float64]:
        """The loss of reporting each item when item number x is true, or minus the similarity."""
        if self._losses is None:
            raise DomainError(
                "Expected items with a loss, got items from a spec, which carries only ranks; build them with loss=."
            )
        row: NDArray[np.float64] = self._losses[x]
        return row

    @property
    def is_flat(self) -> bool:  # type: ignore[override]
        right, wrong = (float(each) for each in self.losses(0)[:2])
        if not wrong > right:
            return False
        # Row by row: most sets fail at the first.
        for x in range(self.size):
            row = np.full(self.size, wrong)
            row[x] = right
            if not np.array_equal(self.losses(x), row):
                return False
        return True

    def _domain_spec(self) -> dict[str, Any]:
        return {"items": {"ranks": self._order.ranks.tolist()}}

    def __repr__(self) -> str:
        return f"<{self.size} items>"


def _square(given: ArrayLike, name: str, problems: Problems) -> NDArray[np.float64] | None:
    try:
        matrix = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        problems.add(f"Expected {name} as a square matrix of numbers; pass a list of rows or a 2-d array.")
        return None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < _TWO:  # noqa: PLR2004
        problems.add(f"Expected {name} as a square matrix of at least two rows, got shape {matrix.shape}.")
        return None
    if not np.isfinite(matrix).all():
        problems.add(f"Expected {name} without NaN or infinity; replace them by a large loss.")
        return None
    return matrix + 0.0  # turns −0.0 into 0.0
