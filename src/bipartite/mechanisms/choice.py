"""Exactly uniform choices, drawn from the same random words as reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.bulk import run_by_chunks
from bipartite.lottery.uniform import fill_below
from bipartite.lottery.words import CHUNK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Source, Stream

MOST_CHOICES: Final = 2**16


def choose_many(choices: int, people: int, source: Source) -> NDArray[np.int64]:
    """One number below ``choices`` for each person, with a stream for each chunk of 2^20 people."""
    chosen = np.empty(people, dtype=np.int64)

    def choose(start: int, stop: int, stream: Stream) -> None:
        fill_below(choices, chosen[start:stop].view(np.uint64), stream)

    run_by_chunks(people, CHUNK, 1, source, 1, choose)
    return chosen
