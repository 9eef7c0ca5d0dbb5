"""Numbers that the paper prints, which runs are compared with: each once, and without what measuring them needs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

BOOSTING_SHARES: Final[Mapping[str, float]] = MappingProxyType(
    {"bias-slope": 0.66, "abalone": 0.45, "superconduct": 0.67}
)
"""RMSE with BRR as a share of that with Laplace at ε = 5 (appendix B.1)."""
SGD_BUDGETS: Final = (0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
SGD_AHEAD: Final[Mapping[float, float]] = MappingProxyType({0.3: 0.28, 0.5: 0.21, 0.7: 0.12})
"""By how much BRR-SGD is ahead of Laplace DP-SGD, in accuracy, by ε (appendix B.2)."""
NETWORK_RANGE: Final = (0.25, 3.5)
"""The budgets of the networks' figure, from and to."""
NETWORK_GAINS: Final[Mapping[str, float]] = MappingProxyType({"mean": 0.0322, "at 0.25": 0.0529})
"""Accuracy of BRR above Laplace on Adult: on average over them, and at the least (appendix B.3)."""
