"""Names of people, questions and requests: which texts are valid names, and which are the same name.

Names are compared by Unicode *canonical equivalence* and stored in composed form (NFC): ``"é"`` as one character and as
``e`` with a combining accent are one name. Nothing else is folded: upper and lower case, ``"k²"`` and ``"k2"`` or a
trailing space make different names, because they may belong to different people, and one must not get the report of
the other. A member of a ``str`` enumeration, or of any other subclass of ``str``, is the text it holds.

Ledgers of version 1 stored text as given, and people under ``str(person)``. Debits under such a name still count: the
table ``spellings`` lists the names a ledger held when it was upgraded; for keyed names and enumerations the older forms
of a requested name are looked up as well, and recorded there when found.
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
    """Refuse invalid names, listing every problem."""
    problems = Problems()
    for name, value in given.items():
        note_text(name, value, problems)
    problems.raise_if_any(InputError)


def note_text(name: str, value: object, problems: Problems) -> None:
    """Record why this is not a valid name."""
    text = str.__str__(value) if isinstance(value, str) else ""  # the text of any subclass of str
    if not 1 <= len(text) <= _LONGEST_NAME or "\0" in text or not _is_unicode(text):
        what = "" if isinstance(value, str) else f", got {type(value).__name__}"
        problems.add(f"Expected {name} as text of 1 to {_LONGEST_NAME} characters{what}; pass a str.")
    elif not text.isascii() and "Cn" in map(unicodedata.category, text):
        # Unicode guarantees stable normalisation only for assigned characters.
        problems.add(
            f"Expected {name} of characters assigned in Unicode {unicodedata.unidata_version}, the version of this "
            "Python: the normal form of others may still change; use a newer Python, or other characters."
        )


def _is_unicode(text: str) -> bool:
    """Whether the text can be encoded, which rules out lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def canonical(text: str) -> str:
    """The canonical form (NFC) of a name."""
    return unicodedata.normalize("NFC", str.__str__(text))


def older_forms(text: str) -> tuple[str, ...]:
    """Other texts under which version 1 may have stored this name."""
    forms = dict.fromkeys((str.__str__(text), str.__str__(str(text)), unicodedata.normalize("NFD", text)))
    forms.pop(canonical(text), None)
    return tuple(forms)


def stored_forms(database: sqlite3.Connection, kind: Kind, name: str, others: Iterable[str] = ()) -> tuple[str, ...]:
    """The name itself, then every other text under which the ledger has or may have stored it."""
    known = database.execute("SELECT stored FROM spellings WHERE kind = ? AND name = ?", (kind, name))
    return tuple(dict.fromkeys((name, *(stored for (stored,) in known), *others)))


def unrecorded_names(database: sqlite3.Connection) -> list[tuple[Kind, str]]:
    """Names that are neither canonical nor recorded in ``spellings`` (those of keyed ledgers are all ASCII)."""
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


def record_spellings(database: sqlite3.Connection) -> None:
    """Record every name in a ledger of version 1 that is not canonical."""
    forms = [(kind, stored, canonical(stored)) for kind, stored in unrecorded_names(database)]
    database.executemany("INSERT INTO spellings VALUES (?, ?, ?)", forms)
