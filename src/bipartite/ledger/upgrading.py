"""Upgrading a ledger of version 2: in one transaction, after a checked copy.

The write lock is held all the time, so that the copy has every debit, two processes never upgrade one ledger, and a
process that dies leaves a ledger of version 2. No copy is replaced: after such a death the next one has a number.
"""

from __future__ import annotations

import os
from contextlib import closing
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING

from bipartite.errors import LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.checking import counted, findings
from bipartite.ledger.copying import back_up

if TYPE_CHECKING:
    import sqlite3

    from bipartite.ledger.file import LedgerFile


def upgrade(database: sqlite3.Connection, file: LedgerFile) -> None:
    """Upgrade the ledger within the transaction of this connection, or raise an error and leave it as it is."""
    with closing(file.another()) as other:  # sees what is committed
        back_up(other, _free_name(file.path))
    budget = int(dict(database.execute(statements.CONSTANTS_2))["budget"])
    for statement in (*statements.SET_ASIDE, *statements.TABLES.values(), *statements.TAKE_OVER):
        database.execute(statement)
    wrong = counted(database, statements.LOST | statements.FINDINGS_2)
    triggers = [text for name, text in statements.schema(budget).items() if name not in statements.TABLES]
    for statement in (*statements.DROP_2, *triggers, *statements.MARKS):
        database.execute(statement)
    wrong += findings(database)
    if wrong:
        raise LedgerFileError(
            f"{file.path.name} could not be upgraded to version {statements.VERSION} ({'; '.join(wrong[:3])}), and "
            "stays as it was; run `bipartite ledger check`, and keep the bipartite that you used until then."
        )


def _free_name(path: Path) -> Path:
    name = f"{path}.version-{statements.OLDEST}"
    return Path(next(each for each in chain([name], (f"{name}-{at}" for at in count(2))) if not os.path.lexists(each)))
