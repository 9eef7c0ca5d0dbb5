"""Clipping to whole numbers: what one person adds to a sum is bounded exactly, not up to rounding errors.

A gradient is scaled so that its norm is at most ``clip``, written in units of clip/steps, and cut towards zero to whole
numbers, which never lengthens it. Then its norm *in whole numbers* is compared with ``steps``; a row that fails (not a
number, infinite, or too long by a rounding error) counts as zero. So no row is ever longer than ``steps``: the
sensitivity that the noise is for, provided that the rows of others stay what they are when a person comes or goes.
``per_example.py`` says what is done for that, and ``independence.py`` measures it, which is not a proof.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import numpy as np
import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

Norm = Literal[1, 2]

MOST_STEPS: Final = 2**24
"""The finest grid: sums of squares stay below 2^53, so that doubles hold them exactly."""
# Scaled rows are this much shorter than they may be, so that rounding errors of the norm seldom cost a row.
_MARGIN: Final = 1 - 2.0**-30


def lengths(rows: torch.Tensor, norm: Norm) -> torch.Tensor:
    """The norm of each row, a column: the one rounded sum of clipping, which must not look at other rows either."""
    found: torch.Tensor = torch.linalg.vector_norm(rows, ord=norm, dim=1, keepdim=True)
    return found


def whole_rows(gradients: torch.Tensor, clip: float, steps: int, norm: Norm) -> torch.Tensor:
    """Each row clipped to ``clip`` in this norm, as whole numbers (in doubles) of norm at most ``steps``."""
    rows = gradients.double()
    rows = torch.trunc(rows * (steps * _MARGIN / torch.clamp(lengths(rows, norm), min=clip)))
    # Whole numbers whose powers add up to at most 2^53 are added without error; a sum beyond is found to be beyond.
    sums = rows.abs().sum(dim=1, keepdim=True) if norm == 1 else rows.square().sum(dim=1, keepdim=True)
    return torch.where(sums <= float(steps) ** norm, rows, torch.zeros_like(rows))


def whole_sum(rows: torch.Tensor) -> NDArray[np.int64]:
    """The sum of whole-numbered rows, exactly, whatever the order in which a device adds."""
    total: NDArray[np.int64] = rows.sum(dim=0).cpu().numpy().astype(np.int64)
    return total
