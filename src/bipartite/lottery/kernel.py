"""The interface of bulk draws, compiled or NumPy; every implementation gives the same reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Whole = NDArray[np.int64]
    Words = NDArray[np.uint64]
    Drawn = tuple[int, int, bool]
    """(values done, words used, all codes inside the domain)."""


class Kernel(Protocol):
    """Draws blocks of reports from random words."""

    def draw(self, codes: Whole, reports: Whole, words: Words, code_offset: int, report_offset: int) -> Drawn:
        """Draw until the codes or the words run out; (values done, words used, all codes inside the domain)."""


def all_inside(index: Whole, inputs: int) -> bool:
    """Whether all indices are valid; viewed as unsigned, negative ones are too large."""
    return bool((index.view(np.uint64) < np.uint64(inputs)).all())
