"""Claims about running times: appendix B.4."""

from __future__ import annotations

from typing import Final

from reproduction.claim import Claim

CLAIMS: Final[tuple[Claim, ...]] = ()
