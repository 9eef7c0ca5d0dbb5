"""A set of anchors, what it costs, and how far from the best release it can be at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class AnchorChoice:
    """Anchors and their certificate: no ε-LDP release that reports items of the domain costs less than ``lower``.

    Parameters
    ----------
    anchors : NDArray[np.int64]
        The indices of the anchors in increasing order: an input is sent to its nearest anchor, then GRR runs on them.
    loss : float
        What this release costs (expected, or in the worst case: the function that made the choice says which).
    lower : float
        A proved lower bound of that cost over all ε-LDP releases with reports in the domain, up to rounding of floats.
    """

    anchors: NDArray[np.int64]
    loss: float
    lower: float
