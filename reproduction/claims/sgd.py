"""Claims about stochastic gradient descent: appendix B.2."""

from __future__ import annotations

from typing import Final

from reproduction.claim import Claim

CLAIMS: Final[tuple[Claim, ...]] = ()
