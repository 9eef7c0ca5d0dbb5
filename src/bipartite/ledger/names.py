"""Names of people, questions and requests: which texts are valid, which are the same, and how people are stored.

Names are compared by Unicode *canonical equivalence* and stored in composed form (NFC): ``"é"`` as one character and as
``e`` with a combining accent are one name. Nothing else is folded: upper and lower case, ``"k²"`` and ``"k2"`` or a
trailing space make different names, because they may belong to different people, and one must not get the report of
the other. A member of a ``str`` enumeration, or of any other subclass of ``str``, is the text it holds.
"""

from __future__ import annotations

import hashlib
import hmac
import unicodedata
from dataclasses import dataclass
from typing import Final

from bipartite.errors import InputError, Problems

_LONGEST_NAME: Final = 1000
_LEAST_KEY_BYTES: Final = 16
_KEY_CHECK: Final = b"bipartite ledger: is this the key?"


def name_of(what: str, given: object) -> str:
    """The canonical form of a name, or an error that says why it is none."""
    text = str.__str__(given) if isinstance(given, str) else ""  # the text of any subclass of str
    kinds = set() if text.isascii() else set(map(unicodedata.category, text))
    if not 1 <= len(text) <= _LONGEST_NAME or "\0" in text or "Cs" in kinds:  # lone surrogates cannot be encoded
        got = "" if isinstance(given, str) else f", got {type(given).__name__}"
        raise InputError(f"Expected {what} as text of 1 to {_LONGEST_NAME} characters{got}; pass a str.")
    if "Cn" in kinds:  # Unicode guarantees stable normalisation only for assigned characters
        raise InputError(
            f"Expected {what} of characters assigned in Unicode {unicodedata.unidata_version}, the version of this "
            "Python: the normal form of others may still change; use a newer Python, or other characters."
        )
    return canonical(text)


def canonical(text: str) -> str:
    """The canonical form (NFC) of a text."""
    return unicodedata.normalize("NFC", str.__str__(text))


@dataclass(frozen=True, slots=True, repr=False)
class People:
    """Converts names of people to their stored form: the names themselves, or keyed hashes of them."""

    key: bytes | None
    """The secret of the ledger, if it has one."""

    @classmethod
    def of(cls, key: object) -> People:
        """Check a key."""
        if key is not None and (not isinstance(key, bytes) or len(key) < _LEAST_KEY_BYTES):
            raise InputError(
                f"Expected person_key as at least {_LEAST_KEY_BYTES} secret bytes; make one with "
                "secrets.token_bytes(32)."
            )
        return cls(key)

    @property
    def check(self) -> str | None:
        """A check value that identifies the secret."""
        return None if self.key is None else _keyed(self.key, _KEY_CHECK)

    def stored(self, person: str, *, keyed: bool) -> str:
        """The stored form of a person, in a ledger whose names are keyed or not."""
        problems = Problems()
        with problems.noting():
            name = name_of("person", person)
        if keyed and self.key is None:
            problems.add("Expected person_key=, the secret under which this ledger stores people; open it with that.")
        problems.raise_if_any(InputError)
        return name if self.key is None else _keyed(self.key, name.encode())


def _keyed(key: bytes, text: bytes) -> str:
    return hmac.new(key, text, hashlib.sha256).hexdigest()
