"""Claims about boosted trees: section 5.4, appendix B.1."""

from __future__ import annotations

from typing import Final

from reproduction.claim import Claim

CLAIMS: Final[tuple[Claim, ...]] = ()
