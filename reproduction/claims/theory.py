"""Claims about algorithms, theorems and sentences that are theorems: sections 2 and 3, appendix A."""

from __future__ import annotations

from typing import Final

from reproduction.claim import Claim

CLAIMS: Final[tuple[Claim, ...]] = ()
