"""Claims that are about others' work or about what the paper ships: nothing here can measure them."""

from __future__ import annotations

from typing import Final

from reproduction.claim import Claim

CLAIMS: Final[tuple[Claim, ...]] = ()
