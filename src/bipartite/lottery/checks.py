"""Which arguments count as whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeGuard


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a Python or NumPy integer, but not a bool or timedelta64."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.timedelta64))
