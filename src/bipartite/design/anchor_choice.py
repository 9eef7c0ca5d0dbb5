"""What a search for anchors gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class AnchorChoice:
    """Anchors, the loss they have, and how much better anything else could be."""

    anchors: NDArray[np.int64]
    """Their indices, in increasing order."""
    loss: float
    """The loss of randomized response on these anchors."""
    lower: float
    """No ε-LDP release has a loss below this: certified, with an allowance for rounding."""
