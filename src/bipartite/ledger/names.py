"""One person, one question, one request: which texts are names, and which are the same name.

The rule is Unicode's *canonical equivalence*: texts that Unicode defines to be the same, and that look the same, are
one name, kept in composed form (NFC). So ``"é"`` as one character and as ``e`` with an accent are one. Nothing more is
folded: upper and lower case, ``"k²"`` and ``"k2"``, a space at the end make different names, because they may be those
of different people, and one must not be handed the report of the other. A member of a ``str`` enumeration, or of any
other kind of ``str``, is the text that it holds.

Ledgers of version 1 kept texts as they were given, and people under ``str(person)``. What was debited under such a name
still counts: the names that a ledger held when it was upgraded stand in its table ``spellings``; where names are keyed,
and for enumerations, the older forms of the name that is asked for are looked up as well, and noted there when found.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, Literal

from bipartite.errors import InputError, Problems

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

Kind = Literal["person", "question"]
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


def canonical(text: str) -> str:
    """The one form of a name."""
    return unicodedata.normalize("NFC", str.__str__(text))


def older_forms(text: str) -> tuple[str, ...]:
    """Under which other texts version 1 may have stored this name."""
    forms = dict.fromkeys((str.__str__(text), str.__str__(str(text)), unicodedata.normalize("NFD", text)))
    forms.pop(canonical(text), None)
    return tuple(forms)


def stored_forms(database: sqlite3.Connection, kind: Kind, name: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """The name itself, then every other text under which the ledger has, or may have, this name."""
    known = database.execute("SELECT stored FROM spellings WHERE kind = ? AND name = ?", (kind, name))
    return tuple(dict.fromkeys((name, *(stored for (stored,) in known), *others)))


def not_noted(database: sqlite3.Connection) -> list[tuple[Kind, str]]:
    """Every name that is neither in its one form nor noted as another (those of keyed ledgers are all ASCII)."""
    beyond_ascii = f"*[^{chr(1)}-{chr(127)}]*"
    found: list[tuple[Kind, str]] = []
    kinds: tuple[tuple[Kind, str], ...] = (("person", "balances"), ("question", "questions"))
    for kind, table in kinds:
        names = database.execute(
            f"SELECT DISTINCT {kind} FROM {table} WHERE {kind} GLOB ? AND typeof({kind}) = 'text' "  # noqa: S608
            f"AND {kind} NOT IN (SELECT stored FROM spellings WHERE kind = ?)",
            (beyond_ascii, kind),
        )
        found += ((kind, stored) for (stored,) in names if stored != canonical(stored))
    return found


def note_spellings(database: sqlite3.Connection) -> None:
    """Note every name in a ledger of version 1 that is not in its one form."""
    forms = [(kind, stored, canonical(stored)) for kind, stored in not_noted(database)]
    database.executemany("INSERT INTO spellings VALUES (?, ?, ?)", forms)
