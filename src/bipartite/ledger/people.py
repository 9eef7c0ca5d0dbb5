"""How people are stored: under their names, or under keyed hashes of them."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.errors import InputError, Problems
from bipartite.ledger.names import canonical, note_text, older_forms

if TYPE_CHECKING:
    from bipartite.ledger.file import Settings

_LEAST_KEY_BYTES: Final = 16
_KEY_CHECK: Final = b"bipartite ledger: is this the key?"


@dataclass(frozen=True, slots=True, repr=False)
class People:
    """Converts names of people to their stored form."""

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

    def stored(self, person: str, settings: Settings) -> tuple[str, tuple[str, ...]]:
        """The stored form of a person, and other forms that version 1 may have stored."""
        problems = Problems()
        note_text("person", person, problems)
        if (self.key is None) != (settings.person_key is None):
            problems.add("Expected person_key=, the secret under which this ledger stores people; open it with that.")
        problems.raise_if_any(InputError)
        name, older = canonical(person), older_forms(person) if settings.older_names else ()
        if self.key is None:
            return name, older
        return _keyed(self.key, name.encode()), tuple(_keyed(self.key, each.encode()) for each in older)


def _keyed(key: bytes, text: bytes) -> str:
    return hmac.new(key, text, hashlib.sha256).hexdigest()
