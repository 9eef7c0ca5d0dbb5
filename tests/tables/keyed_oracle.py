"""The keyed words once more, from the standard library alone and one row at a time: the oracle of tables/drawing.py."""

import hashlib
import hmac
from functools import cache

import rfc8785


@cache
def column_key(key, mech, column):
    spec = hashlib.sha256(rfc8785.dumps(mech.to_spec())).digest()
    return hmac.digest(key, spec + column.encode(), "sha256")


class Words:
    """Words t = 0, 1, … of one row."""

    def __init__(self, key, mech, column, row, index):
        self.key = column_key(key, mech, column)
        tag = b"i" + row.to_bytes(8, "little", signed=True) if isinstance(row, int) else b"s" + row.encode()
        self.message = lambda block: index.to_bytes(8, "little") + block.to_bytes(4, "little") + tag
        self.taken = 0

    def word(self):
        block, at = divmod(self.taken, 8)
        self.taken += 1
        digest = hashlib.blake2b(self.message(block), key=self.key, digest_size=64).digest()
        return int.from_bytes(digest[8 * at : 8 * at + 8], "little")


def report(key, mech, column, row, value):
    """(the report, how many words it took)."""
    index = mech.domain.encode(value)
    words = Words(key, mech, column, row, index)
    return mech.outputs.decode(mech.lottery.draw(index, words)), words.taken
