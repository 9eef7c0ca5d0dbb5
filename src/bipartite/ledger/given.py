"""What a ledger is given: names, and columns of people and values."""

from __future__ import annotations

import unicodedata
from typing import Any, Final

from bipartite.errors import InputError, Problems

_LONGEST_NAME: Final = 1000


def check_texts(**given: object) -> None:
    """Refuse what is no name, with all that is wrong."""
    problems = Problems()
    for name, value in given.items():
        note_text(name, value, problems)
    problems.raise_if_any(InputError)


def note_text(name: str, value: object, problems: Problems) -> None:
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


def as_list(given: object) -> list[Any]:
    """A container of one value a person as a list of plain values."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(given, method):
            return list(getattr(given, method)())
    if isinstance(given, (list, tuple)):
        return list(given)
    msg = f"Expected persons and values as lists, arrays or columns, got {type(given).__name__}; pass lists."
    raise InputError(msg)
