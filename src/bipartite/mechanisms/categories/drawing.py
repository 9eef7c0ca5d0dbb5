"""Words for wide reports: people are taken in chunks and slabs, and a slab takes its words in stages.

A call is cut into chunks of 2^16 people, each with a stream of words of its own, so that the reports depend on the
words and not on threads; the chunks are smaller than those of a line because a report may be many bytes. A chunk
takes a word a person where values are rounded at random; then its people are taken in slabs whose words fit the
cache. Each mechanism says in which order a slab takes its words.
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
    """Do a job for every chunk of people, on this many threads."""
    if isinstance(source, FixedWords) and people > CHUNK_PEOPLE:
        msg = f"fixed_words serves calls of at most 2^16 = {CHUNK_PEOPLE} people here; call again with fewer at a time."
        raise InputError(msg)
    run_by_chunks(people, CHUNK_PEOPLE, words_each, source, threads, job)


def tickets_under(limit: int, total: int, count: int, stream: Stream) -> NDArray[np.bool_]:
    """Whether each of the next ``count`` tickets, as `draw_below` draws them, is below ``limit`` < ``total``."""
    # ⌊w·W/2^64⌋ < a just where w < ⌈a·2^64/W⌉.
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
