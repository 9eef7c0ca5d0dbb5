"""Clipping to whole numbers: what one person adds to a sum is bounded exactly, not up to rounding errors.

A gradient is scaled so that its norm is at most ``clip``, written in units of clip/steps, and cut towards zero to whole
numbers, which never lengthens it. Then its norm *in whole numbers* is compared with ``steps``; a row that fails (not a
number, infinite, or too long by a rounding error) counts as zero. So no row is ever longer than ``steps``, the
sensitivity that the noise is for. The rounded norm is a sum by halves of that row alone: elementwise additions, which
no other row can change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import torch

from bipartite.learn.gradients.exact_numbers import by_halves, square_root

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MARGIN: Final = 1 - 2.0**-30
"""Clipped rows are this much shorter than they may be, so that rounding errors of the norm seldom cost a row."""
MOST_STEPS: Final = 2**24
"""The finest grid: sums of squares stay below 2^53, so that doubles hold them exactly."""


def whole_rows(gradients: torch.Tensor, clip: float, steps: int) -> torch.Tensor:
    """Each row clipped to ``clip`` in L2, as whole numbers (in doubles) of norm at most ``steps``."""
    rows = gradients.double()
    lengths = square_root(by_halves(rows * rows))[:, None]
    rows = torch.trunc(rows * (steps * _MARGIN / torch.clamp(lengths, min=clip)))
    # Whole numbers whose squares add up to at most 2^53 are added without error; a sum beyond is found to be beyond.
    squares = rows.square().sum(dim=1, keepdim=True)
    return torch.where(squares <= float(steps) ** 2, rows, torch.zeros_like(rows))


def whole_sum(rows: torch.Tensor) -> NDArray[np.int64]:
    """The sum of whole-numbered rows, exactly, whatever the order in which a device adds."""
    total: NDArray[np.int64] = rows.sum(dim=0).cpu().numpy().astype(np.int64)
    return total
