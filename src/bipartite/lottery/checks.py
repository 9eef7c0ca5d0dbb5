"""What counts as a whole number among the arguments of this library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeGuard


def is_whole(value: object) -> TypeGuard[int]:
    """Whether something is a whole number of Python or NumPy; a truth value or a span of time is none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))
