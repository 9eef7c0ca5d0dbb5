"""One of a few choices, exactly uniform, from the same words as a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.lottery.bulk import by_chunks
from bipartite.lottery.words import CHUNK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Source, Stream

MOST_CHOICES: Final = 2**16
_WORDS: Final = 2**64
_HALF: Final = np.uint64(32)
_LOW_HALF: Final = np.uint64(2**32 - 1)


def choose_one(choices: int, stream: Stream) -> int:
    """A number below ``choices``, in plain Python: ⌊w·choices/2^64⌋, redrawn as a ticket is (Lemire 2019)."""
    while True:
        product = stream.word() * choices
        if product % _WORDS >= _WORDS % choices:
            return product // _WORDS


def choose_many(choices: int, people: int, source: Source) -> NDArray[np.int64]:
    """One number below ``choices`` for each person, with a stream for each chunk of 2^20 people."""
    chosen = np.empty(people, dtype=np.int64)

    def choose(start: int, stop: int, stream: Stream) -> None:
        _choose_chunk(choices, chosen[start:stop], stream)

    by_chunks(people, CHUNK, 1, source, 1, choose)
    return chosen


def _choose_chunk(choices: int, chosen: NDArray[np.int64], stream: Stream) -> None:
    factor, redraw_below = np.uint64(choices), np.uint64(_WORDS % choices)
    done = 0
    while done < len(chosen):
        words = stream.window()
        # The product has 80 bits at most: its low 64 come by wrapping, its high ones from the two halves of the word.
        kept = np.flatnonzero(words * factor >= redraw_below)[: len(chosen) - done]
        last = len(chosen) - done == len(kept)
        words_used = int(kept[-1]) + 1 if last else len(words)
        words = words[kept]
        high = ((words >> _HALF) * factor + (((words & _LOW_HALF) * factor) >> _HALF)) >> _HALF
        chosen[done : done + len(kept)] = high
        stream.advance(words_used)
        done += len(kept)
