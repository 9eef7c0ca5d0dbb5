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
from bipartite.lottery.bulk import by_chunks
from bipartite.lottery.uniform import tickets_below
from bipartite.lottery.words import BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.lottery import Source, Stream
    from bipartite.lottery.bulk import ChunkJob

    Words = NDArray[np.uint64]

CHUNK_PEOPLE: Final = 2**16
# A few more words than tickets, for redraws, which happen less than once in 2^12.
_SPARE: Final = 8


def by_people(people: int, words_each: int, source: Source, threads: int, job: ChunkJob) -> None:
    """Do a job for every chunk of people, on this many threads."""
    if isinstance(source, FixedWords) and people > CHUNK_PEOPLE:
        msg = f"fixed_words serves calls of at most 2^16 = {CHUNK_PEOPLE} people here; call again with fewer at a time."
        raise InputError(msg)
    by_chunks(people, CHUNK_PEOPLE, words_each, source, threads, job)


def take(stream: Stream, count: int) -> Words:
    """The next ``count`` words, to be used before the stream is asked for more."""
    if count == 0:
        return np.empty(0, dtype=np.uint64)
    window = stream.window(min(count, BLOCK))
    if len(window) >= count:
        stream.advance(count)
        return window[:count]
    words = np.empty(count, dtype=np.uint64)
    done = 0
    while done < count:
        window = stream.window()[: count - done]
        words[done : done + len(window)] = window
        stream.advance(len(window))
        done += len(window)
    return words


def tickets_under(limit: int, total: int, count: int, stream: Stream) -> NDArray[np.bool_]:
    """Whether each of the next ``count`` tickets, as `tickets` draws them, is below ``limit`` < ``total``."""
    # ⌊w·W/2^64⌋ < a just where w < ⌈a·2^64/W⌉.
    words_below = np.uint64(-(-limit * 2**64 // total))
    factor, redraw_below = np.uint64(total), np.uint64(2**64 % total)
    under = np.empty(count, dtype=np.bool_)
    done = 0
    while done < count:
        words = stream.window()[: count - done]
        kept = words * factor >= redraw_below
        some = words < words_below
        if not kept.all():
            some = some[kept]
        under[done : done + len(some)] = some
        stream.advance(len(words))
        done += len(some)
    return under


def tickets(total: int, count: int, stream: Stream) -> Words:
    """``count`` whole numbers below ``total`` ≤ 2^52, each exactly uniform, from the words in order."""
    drawn = np.empty(count, dtype=np.uint64)
    done = 0
    while done < count:
        words = stream.window()[: count - done + _SPARE]
        some, used = tickets_below(total, words, count - done)
        drawn[done : done + len(some)] = some
        stream.advance(used)
        done += len(some)
    return drawn
