"""Random words for values that need two: a coin for random rounding, then the draw.

Each value takes one word as its coin, then words until one is not redrawn. Redraws are rare (below 2^−12), so the words
are split at the redraws and everything between two of them is handled at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bipartite.lottery.uniform import is_kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Words = NDArray[np.uint64]


def split_coins(words: Words, total: int, need: int) -> tuple[Words, Words, int]:
    """(coins, words for the draws, words used) for up to ``need`` values, as far as the words suffice."""
    redrawn = np.flatnonzero(~is_kept(words, total)).tolist()
    redrawn_set = set(redrawn)
    coins, draws = [], []
    at = 0  # the next coin
    end = len(words)
    for position in redrawn:
        if position < at or (position - at) % 2 == 0:
            continue  # already skipped, or a coin, and a coin is never redrawn
        kept = position + 1
        while kept in redrawn_set:
            kept += 1
        if kept >= end:
            end = position - 1  # the last coin has no draw yet: leave both for the next window
            break
        coins.append(np.arange(at, position, 2))
        draws.append(np.append(np.arange(at + 1, position, 2), kept))
        at = kept + 1
    tail = max(0, (end - at) // 2)
    coins.append(np.arange(at, at + 2 * tail, 2))
    draws.append(np.arange(at + 1, at + 1 + 2 * tail, 2))
    coin_at, draw_at = np.concatenate(coins)[:need], np.concatenate(draws)[:need]
    used = int(draw_at[-1]) + 1 if len(draw_at) else 0
    return words[coin_at], words[draw_at], used
