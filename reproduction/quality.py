"""The paper's measures of single reports, on :func:`bipartite.loss`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import bipartite as bp
from bipartite.domains.losses import Loss, check_loss, largest_loss
from bipartite.errors import InputError
from bipartite.mechanisms import Mechanism
from reproduction.inference import inference_error
from reproduction.local_bound import local_bound

if TYPE_CHECKING:
    from bipartite.answers.quality.losses import Prior

__all__ = ["expected_loss", "inference_error", "local_bound", "local_loss", "qloss", "worst_loss"]


def local_loss(mechanism: Mechanism, *, loss: Loss = None) -> NDArray[np.float64]:
    """Q^(x) for every x: the expected loss of the report when x is true."""
    return bp.loss(mechanism, loss=loss).by_value


def expected_loss(mechanism: Mechanism, prior: Prior = None, *, loss: Loss = None) -> float:
    """Q_g: the expected loss between a value and its report."""
    return bp.loss(mechanism, prior, loss=loss).mean


def qloss(mechanism: Mechanism, prior: Prior = None, *, loss: Loss = None) -> float:
    """The paper's QLoss: the expected loss divided by the largest one, Q_g/(N−1) on whole numbers. 0 is best.

    >>> round(qloss(bp.GRR(bp.Integers(1, 100), epsilon=1)), 3)
    0.331
    """
    found = bp.loss(mechanism, prior, loss=loss).mean
    matrix = check_loss(loss, len(mechanism.domain), len(mechanism.outputs))
    largest = largest_loss(mechanism.domain, loss) if matrix is None else float(matrix.max())
    if largest <= 0:
        raise InputError(
            "Expected a loss with positive values, which QLoss divides by; use bp.loss(…).mean with a similarity."
        )
    return found / largest


def worst_loss(mechanism: Mechanism, *, loss: Loss = None) -> float:
    """The largest Q^(x)."""
    return bp.loss(mechanism, loss=loss).worst
