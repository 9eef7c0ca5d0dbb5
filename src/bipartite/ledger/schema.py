"""The tables of a ledger, and how an older version is upgraded.

====  ====================================================================================================
1     the first version
2     reports and questions record whether they were drawn from insecure words (NULL: older than this),
      and names are canonical (``names.py``)
====  ====================================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.ledger.names import record_spellings

if TYPE_CHECKING:
    import sqlite3

# "bpld": marks the database as a ledger in the header of the file.
APPLICATION_ID: Final = 0x62706C64
VERSION: Final = 2

# `report` has no type, so that SQLite stores it unchanged. The budget is enforced by a CHECK, so that no program, this
# one included, can write a balance beyond it.
_FIRST: Final = (
    (
        "CREATE TABLE settings (one INTEGER PRIMARY KEY CHECK (one = 1), budget INTEGER NOT NULL, "
        "period TEXT NOT NULL, person_key TEXT)"
    ),
    "CREATE TABLE specs (sha256 TEXT PRIMARY KEY, spec TEXT NOT NULL) WITHOUT ROWID",
    (
        "CREATE TABLE questions (period TEXT NOT NULL, question TEXT NOT NULL, on_change TEXT NOT NULL, "
        "spec_sha256 TEXT NOT NULL REFERENCES specs, epsilon INTEGER NOT NULL CHECK (epsilon >= 0), "
        "PRIMARY KEY (period, question)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE reports (person TEXT NOT NULL, period TEXT NOT NULL, question TEXT NOT NULL, "
        "number INTEGER NOT NULL CHECK (number >= 1), epsilon INTEGER NOT NULL CHECK (epsilon >= 0), "
        "time TEXT NOT NULL, report NOT NULL, PRIMARY KEY (person, period, question, number)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE requests (person TEXT NOT NULL, request TEXT NOT NULL, period TEXT NOT NULL, "
        "question TEXT NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (person, request)) WITHOUT ROWID"
    ),
    (
        "CREATE TABLE balances (person TEXT NOT NULL, period TEXT NOT NULL, "
        "spent INTEGER NOT NULL CHECK (spent BETWEEN 0 AND {budget}), PRIMARY KEY (person, period)) WITHOUT ROWID"
    ),
    f"PRAGMA application_id = {APPLICATION_ID}",
)
_SPELLINGS: Final = (
    "TABLE spellings (kind TEXT NOT NULL, stored TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, stored, name)) "
    "WITHOUT ROWID"
)
_SECOND: Final = (
    "ALTER TABLE reports ADD COLUMN insecure INTEGER CHECK (insecure IN (0, 1))",
    "ALTER TABLE questions ADD COLUMN insecure INTEGER CHECK (insecure IN (0, 1))",
    "ALTER TABLE settings ADD COLUMN older_names INTEGER NOT NULL DEFAULT 0",
    f"CREATE {_SPELLINGS}",
    "CREATE INDEX spellings_by_name ON spellings (kind, name)",
    f"PRAGMA user_version = {VERSION}",
)
# How a reader without write permission sees version 1: temporary views and a temporary table.
_SECOND_TO_READ: Final = (
    "CREATE TEMP VIEW reports AS SELECT *, NULL AS insecure FROM main.reports",
    "CREATE TEMP VIEW questions AS SELECT *, NULL AS insecure FROM main.questions",
    "CREATE TEMP VIEW settings AS SELECT *, 1 AS older_names FROM main.settings",
    f"CREATE TEMP {_SPELLINGS}",
    "CREATE INDEX temp.spellings_by_name ON spellings (kind, name)",
)


def version_of(database: sqlite3.Connection) -> int:
    """The version of the tables; 0 if there are none."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def make_tables(database: sqlite3.Connection, budget: int) -> None:
    """Create the tables of a new ledger."""
    for statement in _FIRST + _SECOND:
        database.execute(statement.format(budget=budget))


def upgrade(database: sqlite3.Connection) -> None:
    """Upgrade a ledger of version 1 inside a transaction, without changing its contents."""
    for statement in _SECOND:
        database.execute(statement)
    database.execute("UPDATE settings SET older_names = 1")
    record_spellings(database)


def read_as_current(database: sqlite3.Connection) -> None:
    """Let this connection read a ledger of version 1 as one of this version; the file stays unchanged."""
    for statement in _SECOND_TO_READ:
        database.execute(statement)
    record_spellings(database)
