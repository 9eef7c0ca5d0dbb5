"""Which versions of ledgers can be read, and what each becomes: tables, or a view for those who only read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bipartite.errors import LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.statements import APPLICATION_ID, OLDEST, VERSION

if TYPE_CHECKING:
    import sqlite3


def version_of(database: sqlite3.Connection) -> int:
    """The version of the tables; 0 if there are none."""
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def is_empty(database: sqlite3.Connection) -> bool:
    """Whether there are no tables yet."""
    return bool(database.execute("SELECT count(*) = 0 FROM sqlite_schema").fetchone()[0])


def check_version(database: sqlite3.Connection, name: str) -> int:
    """The version of a ledger; refuse another program's database, and a ledger that cannot be read."""
    if database.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise LedgerFileError(f"{name} is a SQLite database, but not a bipartite ledger; choose another path.")
    version = version_of(database)
    if version == 1 or (version == OLDEST and database.execute(statements.BEGUN_AS_1).fetchone()):
        raise LedgerFileError(
            f"{name} was begun as a ledger of version 1, which may have debited one person under several names, and "
            "this bipartite no longer adds those up; keep the bipartite that you used until its period has ended, then "
            "begin a new ledger."
        )
    if not OLDEST <= version <= VERSION:
        what = "update bipartite" if version > VERSION else "no bipartite writes that; restore it from a backup"
        raise LedgerFileError(f"{name} is a ledger of version {version}, expected {OLDEST} to {VERSION}; {what}.")
    return version


def make_tables(database: sqlite3.Connection, constants: dict[str, str]) -> None:
    """Create the tables of a new ledger, which is one from then on."""
    for statement in (*statements.schema(int(constants["budget"])).values(), *statements.MARKS):
        database.execute(statement)
    database.executemany(statements.ADD_CONSTANT, constants.items())


def view_as_current(database: sqlite3.Connection) -> None:
    """Let this connection read a ledger of version 2 as one of this version; the file stays unchanged."""
    if version_of(database) < VERSION:
        database.execute(statements.READ_2)
