"""The random words that each column draws from, so that the same words give the same reports in every engine.

Every private column has its own stream, and its rows take words from it in order, however the table is split into
batches: a frame at once and a file in batches of any size give the same reports.

==========================  ==========================================================================================
``None``                    the secure source, a fresh key for every batch of every column
``bp.insecure_seed(7)``     one word w of it begins a release; the column named c continues
                            ``insecure_seed(SHA-256("bipartite column {w} {c}"))``, of which the first 8 bytes count
``{"age": fixed_words(…)}`` given words, a stream for each private column
==========================  ==========================================================================================
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError, shown
from bipartite.lottery import FixedWords, InsecureSeed, insecure_seed, source_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bipartite.lottery import Source

_SEED_BYTES: Final = 8


def column_sources(rng: object, columns: Iterable[str]) -> dict[str, Source]:
    """A source for each private column."""
    names = list(columns)
    if isinstance(rng, Mapping):
        if set(rng) != set(names):
            raise InputError(
                f"Expected words for the columns {', '.join(map(shown, names))}; pass a source for each, no others."
            )
        return {name: source_of(rng[name]) for name in names}
    source = source_of(rng)
    if isinstance(source, InsecureSeed):
        first = source.streams().stream(0, 1).word()
        return {name: insecure_seed(_seed(first, name)) for name in names}
    if isinstance(source, FixedWords) and len(names) > 1:
        raise InputError(
            "Expected fixed words for each column, because rows come in batches and every column has its own stream; "
            f"pass a dict: {{{names[0]!r}: bp.fixed_words(…), …}}."
        )
    return dict.fromkeys(names, source)


def _seed(first: int, name: str) -> int:
    digest = hashlib.sha256(f"bipartite column {first} {name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:_SEED_BYTES], "big")
