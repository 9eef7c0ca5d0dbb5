"""The versions of a ledger: which can be read, how a new one is made, and how one of version 2 is upgraded.

An upgrade is one transaction, after a checked copy. The write lock is held all the time, so that the copy has every
debit, two processes never upgrade one ledger, and a process that dies leaves a ledger of version 2. No copy is
replaced: after such a death the next one has a number.
"""

from __future__ import annotations

import os
from contextlib import closing
from itertools import chain, count
from typing import TYPE_CHECKING

from bipartite.errors import LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.audit import counted, findings
from bipartite.ledger.copying import back_up
from bipartite.ledger.statements import OLDEST, VERSION

if TYPE_CHECKING:
    from bipartite.ledger.connection import Connection
    from bipartite.ledger.file import LedgerFile
    from bipartite.ledger.server import Tables


def check_version(database: Connection | Tables, name: str) -> int:
    """The version of a ledger; refuse another program's database, and a ledger that cannot be read."""
    if not database.is_ledger():
        raise LedgerFileError(f"{name} is a database, but not a bipartite ledger; choose another path.")
    version = database.version()
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


def make_tables(database: Connection | Tables, constants: dict[str, str]) -> None:
    """Create the tables of a new ledger, which is one from then on."""
    for statement in database.making(int(constants["budget"])):
        database.execute(statement)
    database.executemany(statements.ADD_CONSTANT, constants.items())


def upgrade(database: Connection, file: LedgerFile) -> None:
    """Upgrade the ledger within the transaction of this connection, or raise an error and leave it as it is."""
    names = chain([f"{file.path}.version-{OLDEST}"], (f"{file.path}.version-{OLDEST}-{at}" for at in count(2)))
    with closing(file.another()) as other:  # sees what is committed
        back_up(other, next(name for name in names if not os.path.lexists(name)))
    budget = int(dict(database.execute(statements.CONSTANTS_2))["budget"])
    for statement in (*statements.SET_ASIDE, *statements.TABLES.values(), *statements.TAKE_OVER):
        database.execute(statement)
    wrong = counted(database, statements.LOST | statements.FINDINGS_2)
    for statement in (*statements.DROP_2, *statements.triggers(budget).values(), *statements.MARKS):
        database.execute(statement)
    wrong += findings(database)
    if wrong:
        raise LedgerFileError(
            f"{file.path.name} could not be upgraded to version {VERSION} ({'; '.join(wrong[:3])}), and "
            "stays as it was; run `bipartite ledger check`, and keep the bipartite that you used until then."
        )
