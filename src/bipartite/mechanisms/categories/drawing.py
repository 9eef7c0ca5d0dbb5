"""Random words for wide reports: people are processed in chunks and slabs.

A call is divided into chunks of 2^16 people, each with its own stream of words, so that the reports depend on the words
and not on threads; the chunks are smaller than those of a line because a report may have many bytes. A chunk first
takes one word per person if values are rounded at random; then its people are processed in slabs whose words fit into
the cache. Each mechanism defines the order in which a slab consumes its words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bipartite.errors import InputError
from bipartite.lottery import FixedWords
from bipartite.lottery.bulk import run_by_chunks
from bipartite.lottery.uniform import is_kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Source, Stream
    from bipartite.lottery.bulk import ChunkJob

CHUNK_PEOPLE: Final = 2**16


def by_people(people: int, words_each: int, source: Source, threads: int, job: ChunkJob) -> None:
    """Run a job for every chunk of people, on this many threads."""
    if isinstance(source, FixedWords) and people > CHUNK_PEOPLE:
        raise InputError(
            f"Expected at most 2^16 people with fixed_words, got {people}; make several calls of {CHUNK_PEOPLE} people."
        )
    run_by_chunks(people, CHUNK_PEOPLE, words_each, source, threads, job)


def tickets_under(limit: int, total: int, count: int, stream: Stream) -> NDArray[np.bool_]:
    """Whether each of the next ``count`` tickets, as `draw_below` draws them, is below ``limit`` < ``total``."""
    # ⌊w·W/2^64⌋ < a exactly if w < ⌈a·2^64/W⌉.
    words_below = np.uint64(-(-limit * 2**64 // total))
    under = np.empty(count, dtype=np.bool_)
    done = 0
    while done < count:
        words = stream.window()[: count - done]
        kept = is_kept(words, total)
        some = words < words_below
        if not kept.all():
            some = some[kept]
        under[done : done + len(some)] = some
        stream.advance(len(words))
        done += len(some)
    return under
