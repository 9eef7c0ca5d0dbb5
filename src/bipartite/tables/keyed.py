"""Reports that a recomputation repeats: each row's random words are a keyed function of the row.

Word t of a row is word t of BLAKE2b (RFC 7693, keyed, 64 bytes per block) of (encoded value, block number, row id)
under a key of the column, which is HMAC-SHA-256 of (spec, column) under the key of the release: 32 secret bytes, fresh
for every release. Without the key, a pseudo-random function of distinct inputs is indistinguishable from independent
words.

The words never depend on a partition or an offset: those change when a cluster recomputes a row, and the row would get
a second report. The **value** is one of the inputs because a row may be recomputed from another value (its source
changed): with the same words, two reports would be the same function of two values, and for near values they would
differ by exactly as much as the values. With the value among the inputs, the second report has independent words.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError
from bipartite.lottery.uniform import ticket_below
from bipartite.lottery.words import CHUNK
from bipartite.mechanisms.spec import spec_sha256
from bipartite.tables.drawing import Release
from bipartite.tables.extras import pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism
    from bipartite.tables.cells import Opened
    from bipartite.tables.plan import Plan
    from bipartite.tables.reports import Reports

KEY_BYTES: Final = 32
_BLOCK_WORDS: Final = 8
_BLOCK_BYTES: Final = 8 * _BLOCK_WORDS


class KeyedRelease(Release):
    """Draws the reports of a table whose rows have ids; the same rows under the same key get the same reports."""

    __slots__ = ("_choice_key", "_ids", "_keys")

    def __init__(self, plan: Plan, key: bytes) -> None:
        super().__init__(plan)
        check_keyed(plan)
        self._keys = {name: column_key(key, mechanism, name) for name, mechanism in plan.mechanisms().items()}
        self._choice_key = hmac.new(key, b"sample", hashlib.sha256).digest()  # a column's is of 32 bytes and a name
        self._ids: Sequence[bytes] = ()

    def privatize_rows(self, batch: pa.RecordBatch, ids: pa.Array) -> pa.RecordBatch:
        """Draw the reports of these rows; ``ids`` holds the id of each."""
        self._ids = id_bytes(ids)
        return self.privatize(batch)

    def _draw_column(self, name: str, reports: Reports, opened: Opened) -> NDArray[Any] | None:
        ids = self._ids
        if opened.missing is not None:
            ids = [ids[at] for at in np.flatnonzero(~opened.missing).tolist()]
        values, domain = opened.there, reports.mechanism.domain
        indices = domain.index_array(values, reports.outside)
        if indices is None:
            return None
        cuts = [slice(start, start + CHUNK) for start in range(0, max(len(values), 1), CHUNK)]
        words = (RowWords(self._keys[name], indices[cut], ids[cut]) for cut in cuts)
        return np.concatenate([reports.draw_keyed(values[cut], each) for cut, each in zip(cuts, words, strict=True)])

    def _choose(self, sets: int, rows: int) -> NDArray[np.int64]:
        words = RowWords(self._choice_key, np.zeros(rows, dtype=np.int64), self._ids)  # of the ids, of no value
        return np.array([ticket_below(sets, words.of(at)) for at in range(rows)], dtype=np.int64)


def check_keyed(plan: Plan) -> None:
    """Refuse columns whose encoding takes random words, because the words depend on the encoded value."""
    for name, mechanism in plan.mechanisms().items():
        if getattr(mechanism.domain, "rounding", "nearest") == "random":
            raise InputError(
                f"column {name!r}: Expected rounding='nearest' with row_id, got 'random', which takes a random word "
                "before the value is encoded; use 'nearest', or leave row_id out."
            )


def column_key(key: bytes, mechanism: Mechanism, name: str) -> bytes:
    """The key of a column, from the release's key, the spec and the name."""
    return hmac.new(key, bytes.fromhex(spec_sha256(mechanism)) + name.encode(), hashlib.sha256).digest()


def id_bytes(ids: pa.Array) -> list[bytes]:
    """Each row's id as distinct bytes: integers, text or bytes, prefixed with a letter for the type."""
    if ids.null_count:
        raise InputError("Expected an id for every row, got a row without one; fill it in, or leave row_id out.")
    if pa.types.is_integer(ids.type):
        held = ids.cast(pa.int64()).to_numpy(zero_copy_only=False).astype("<i8", copy=False).tobytes()
        return [b"i" + held[at : at + 8] for at in range(0, len(held), 8)]
    if pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type):
        return [b"s" + each.encode() for each in ids.to_pylist()]
    if pa.types.is_binary(ids.type) or pa.types.is_large_binary(ids.type):
        return [b"b" + each for each in ids.to_pylist()]
    raise InputError(f"Expected row ids as whole numbers, text or bytes, got {ids.type}; cast the column first.")


class RowWords:
    """The random words of some rows, from the key of their column."""

    __slots__ = ("_base", "_ids", "indices")

    def __init__(self, key: bytes, indices: NDArray[np.int64], ids: Sequence[bytes]) -> None:
        self._base = hashlib.blake2b(key=key, digest_size=_BLOCK_BYTES)
        self.indices, self._ids = indices, ids

    def first(self) -> NDArray[np.uint64]:
        """The first word of each row."""
        held = self.indices.astype("<i8", copy=False).tobytes()
        blocks = [_block(self._base, held[8 * at : 8 * at + 8], 0, row) for at, row in enumerate(self._ids)]
        return np.frombuffer(b"".join(blocks), dtype="<u8").reshape(-1, _BLOCK_WORDS)[:, 0].astype(np.uint64)

    def of(self, at: int) -> _OneRow:
        """The stream of one row."""
        return _OneRow(self._base, int(self.indices[at]), self._ids[at])


class _OneRow:
    """The stream of random words of one row."""

    __slots__ = ("_base", "_blocks", "_index", "_row", "_words")

    def __init__(self, base: hashlib.blake2b, index: int, row: bytes) -> None:
        self._base, self._index, self._row = base, index.to_bytes(8, "little"), row
        self._blocks = 0
        self._words = np.empty(0, dtype=np.uint64)

    def window(self, least: int = 1) -> NDArray[np.uint64]:
        """The next words, at least ``least`` of them, without consuming any."""
        missing = -(-max(0, least - len(self._words)) // _BLOCK_WORDS)
        if missing:
            blocks = range(self._blocks, self._blocks + missing)
            fresh = b"".join(_block(self._base, self._index, block, self._row) for block in blocks)
            self._blocks += missing
            self._words = np.concatenate([self._words, np.frombuffer(fresh, dtype="<u8").astype(np.uint64)])
        return self._words.copy()  # kernels may modify the words they are given

    def advance(self, used: int) -> None:
        """Consume the first words of the window."""
        self._words = self._words[used:]

    def word(self) -> int:
        """The next word."""
        word = int(self.window()[0])
        self.advance(1)
        return word

    def erase(self) -> None:
        """Erase the buffered words."""
        self._words = np.empty(0, dtype=np.uint64)


def _block(base: hashlib.blake2b, index: bytes, block: int, row: bytes) -> bytes:
    """Eight words; the id comes last, so that distinct inputs give distinct messages."""
    state = base.copy()
    state.update(index + block.to_bytes(4, "little") + row)
    return state.digest()
