"""What a ledger is given: keys, names, and columns of people and values."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import InputError

if TYPE_CHECKING:
    from bipartite.errors import Problems

_LONGEST_NAME: Final = 1000
_LEAST_KEY_BYTES: Final = 16


def check_key(key: object) -> bytes | None:
    """The secret under which people are stored, or None."""
    if key is not None and (not isinstance(key, bytes) or len(key) < _LEAST_KEY_BYTES):
        msg = f"Expected person_key as at least {_LEAST_KEY_BYTES} secret bytes; make one with secrets.token_bytes(32)."
        raise InputError(msg)
    return key


def check_text(name: str, value: object, problems: Problems) -> None:
    """Note what keeps this from being a name."""
    text = str.__str__(value) if isinstance(value, str) else ""  # what it holds, whatever kind of str it is
    if not 1 <= len(text) <= _LONGEST_NAME or "\0" in text or not _is_unicode(text):
        what = "" if isinstance(value, str) else f", got {type(value).__name__}"
        problems.add(f"Expected {name} as a text of 1 to {_LONGEST_NAME} characters{what}; pass a str.")
    elif not text.isascii() and "Cn" in map(unicodedata.category, text):
        # Unicode promises to keep the form of a text only once all its characters are defined.
        problems.add(
            f"Expected {name} of characters that Unicode {unicodedata.unidata_version} defines, as this Python does; "
            "others may yet become forms of one name; use a newer Python, or other characters."
        )


def _is_unicode(text: str) -> bool:
    """Whether the text is Unicode that a file can hold: half of a surrogate pair is not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def as_list(given: Any) -> list[Any]:  # noqa: ANN401
    """A container of one value a person as a list of plain values."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(given, method):
            return list(getattr(given, method)())
    if isinstance(given, (list, tuple)):
        return list(given)
    msg = f"Expected persons and values as lists, arrays or columns, got {type(given).__name__}; pass lists."
    raise InputError(msg)
