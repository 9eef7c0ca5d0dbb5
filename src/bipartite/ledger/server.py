"""A ledger on a PostgreSQL server, for programs on many machines: the tables and statements of the file.

**The budget is not overspent**, by whichever programs. Who debits holds one lock of the database until the commit is on
the disk and seen by all; the trigger on ``reports`` takes it, too, for programs that are not this one. After the lock
every statement has a snapshot of its own (READ COMMITTED, else the trigger refuses), hence sees the debits of all who
held the lock before. So debits happen one after another, each is added to the sum of those before it, and none that
does not fit is stored. SERIALIZABLE would promise that only where every program asks for it.

**Nothing is released that is not stored**: a report is returned after its commit was acknowledged. If the connection is
lost before that, nobody knows whether it was stored; nothing is returned, and the next request finds it, or does not.
"""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, Final, NoReturn

from bipartite.errors import DatabaseError, InputError, LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.offer import to_bytes
from bipartite.ledger.statements import VERSION
from bipartite.ledger.store import Store
from bipartite.postgres import Server

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from bipartite.postgres import Connection, Url

SCHEMA: Final = "bipartite_ledger"
_MARK: Final = "bipartite ledger "
_LOCK: Final = f"SELECT pg_advisory_xact_lock({statements.APPLICATION_ID})"
_WRITING: Final = f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {_LOCK}"
_READING: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Errors of names that are not there, of which those of rights are a part.
_NO_SUCH, _NO_RIGHTS = "42", "42501"

# As PostgreSQL prints them, so that the check can compare. Texts are compared as bytes, as SQLite does.
_COLUMNS: Final = {
    "constants": "name text, value text",
    "questions": ("period text, question text, on_change text, spec_sha256 text, epsilon bigint, insecure bigint"),
    "reports": (
        "person text, period text, question text, number bigint, epsilon bigint, time text, report bytea, "
        "insecure bigint"
    ),
    "requests": "person text, request text, period text, question text, number bigint",
}
_MARKED: Final = "CHECK (((insecure >= 0) AND (insecure <= 1)))"
_CONSTRAINTS: Final = {
    "constants": "PRIMARY KEY (name)",
    "questions": (
        f"{_MARKED}, CHECK ((epsilon >= 0)), FOREIGN KEY (spec_sha256) REFERENCES constants(name), "
        "PRIMARY KEY (period, question)"
    ),
    "reports": (
        f"{_MARKED}, CHECK ((epsilon >= 0)), CHECK ((number >= 1)), PRIMARY KEY (person, period, question, number)"
    ),
    "requests": "PRIMARY KEY (person, request)",
}
# TRUNCATE removes rows without a trigger for each.
_EVENTS: Final = {
    "INSERT": ("INSERT", "ROW"),
    "UPDATE": ("UPDATE", "STATEMENT"),
    "DELETE": ("DELETE OR TRUNCATE", "STATEMENT"),
}
_FIRST: Final = f"""  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'a debit needs a transaction that is READ COMMITTED';
  END IF;
  PERFORM pg_advisory_xact_lock({statements.APPLICATION_ID});
"""
_PATH: Final = f"{SCHEMA}, pg_temp"
_OF: Final = f"relnamespace = to_regnamespace('{SCHEMA}')"
_PARTS: Final = f"""
SELECT relname, concat((
  SELECT string_agg(concat(attname, ' ', format_type(atttypid, atttypmod), ' COLLATE "' || collname || '"',
    CASE WHEN attnotnull THEN ' NOT NULL' END), ', ' ORDER BY attnum)
  FROM pg_attribute LEFT JOIN pg_collation ON pg_collation.oid = attcollation
  WHERE attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
), ', ', (
  SELECT string_agg(pg_get_constraintdef(oid), ', ' ORDER BY pg_get_constraintdef(oid) COLLATE "C")
  FROM pg_constraint WHERE conrelid = pg_class.oid AND contype IN ('c', 'f', 'p', 'u', 'x')
), CASE WHEN relhasrules OR relrowsecurity OR relhassubclass THEN ', and rules' END)
FROM pg_class WHERE relkind = 'r' AND {_OF}
UNION ALL
SELECT tgname, concat(
  tgenabled, provolatile, ' ', pg_get_triggerdef(pg_trigger.oid), ' ', array_to_string(proconfig, ' '), prosrc)
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE NOT tgisinternal AND {_OF}
"""  # noqa: S608 (put together from constants)


def _tables() -> dict[str, str]:
    text, whole = 'text COLLATE "C" NOT NULL', "bigint NOT NULL"
    typed = {name: each.replace("text", text).replace("bigint", whole) for name, each in _COLUMNS.items()}
    return {name: f"{each.replace('bytea', 'bytea NOT NULL')}, {_CONSTRAINTS[name]}" for name, each in typed.items()}


def _triggers(budget: int) -> dict[str, tuple[str, str]]:
    """For each trigger the statement that makes it, and the body of its function."""
    made = {}
    for name, (event, refused, said) in statements.REFUSALS.items():
        what, each = _EVENTS[event]
        first, when = (_FIRST, refused.format(budget=budget)) if refused else ("", "TRUE")
        trigger = f"CREATE TRIGGER {name} BEFORE {what} ON {SCHEMA}.reports FOR EACH {each} EXECUTE FUNCTION {name}()"
        body = f"\nBEGIN\n{first}  IF {when} THEN\n    RAISE EXCEPTION '{said}';\n  END IF;\n  RETURN NEW;\nEND\n"
        made[name] = trigger, body
    return made


class Tables:
    """The tables of a ledger within a transaction; what is asked of them is what a connection to SQLite is asked."""

    stored = staticmethod(to_bytes)

    def __init__(self, connection: Connection) -> None:
        self.execute: Callable[..., Any] = connection.execute
        self.executemany = connection.executemany

    def version(self) -> int:  # noqa: D102
        query = f"SELECT obj_description(to_regnamespace('{SCHEMA}'), 'pg_namespace')"
        found = str(self.execute(query).fetchone()[0]).removeprefix(_MARK)
        return int(found) if found.isdecimal() else 0

    def is_ledger(self) -> bool:  # noqa: D102
        return self.version() > 0

    def is_empty(self) -> bool:  # noqa: D102
        return bool(self.execute(f"SELECT count(*) = 0 FROM pg_class WHERE {_OF}").fetchone()[0])  # noqa: S608

    def damage(self) -> list[str]:  # noqa: D102
        return []  # to look for damage of its files is the server's own task

    def making(self, budget: int) -> Iterator[str]:  # noqa: D102
        if self.execute(f"SELECT to_regnamespace('{SCHEMA}')").fetchone()[0] is None:
            yield f"CREATE SCHEMA {SCHEMA}"
        yield from (f"CREATE TABLE {name} ({made})" for name, made in _tables().items())
        for name, (trigger, body) in _triggers(budget).items():
            yield (
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path = {_PATH} AS $${body}$$; "
                f"{trigger}"
            )
        yield f"COMMENT ON SCHEMA {SCHEMA} IS '{_MARK}{VERSION}'"

    def parts(self, budget: int) -> tuple[dict[str, str], dict[str, str]]:  # noqa: D102
        triggers = {name: f"Ov {made} search_path={_PATH}{body}" for name, (made, body) in _triggers(budget).items()}
        return _tables() | triggers, dict(self.execute(_PARTS).fetchall())

    def view_as_current(self) -> None:
        """Versions before this one were never on a server."""


class LedgerServer(Store[Tables]):
    """A ledger in a database of a PostgreSQL server: one a database, in a schema of its own."""

    def __init__(self, url: str | os.PathLike[str] | Url, wait: float, *, read_only: bool = False) -> None:
        self._server = Server(url, wait=wait, schema=SCHEMA)
        super().__init__(self._server.name, wait, read_only=read_only)

    @contextmanager
    def _transaction(self, *, writing: bool) -> Iterator[Tables]:
        with (
            _refusing(),
            self._server.transaction(_WRITING if writing else _READING, read_only=not writing) as connection,
        ):
            tables = Tables(connection)
            self._check_tables(tables)
            if self._read_only and self._held is None and tables.is_empty():
                raise LedgerFileError(
                    f"{self.name} is empty: nothing has been debited yet, so there is no ledger to read."
                )
            yield tables

    def _upgrade(self, database: Tables) -> None:
        pass  # as above

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:  # noqa: D102
        with _refusing(), closing(self._server.connect()) as connection:
            connection.execute(_READING)
            self._check_tables(Tables(connection))
            yield from connection.stream(query)

    def another(self) -> LedgerServer:  # noqa: D102
        server = LedgerServer(self._server.url, self._wait, read_only=self._read_only)
        server._held = self._held
        return server

    def back_up(self, target: str | os.PathLike[str]) -> NoReturn:  # noqa: ARG002, D102
        raise InputError(
            f"Expected a ledger in a file, and {self.name} is on a server, whose own tool copies it while it is in "
            f"use: run pg_dump -n {SCHEMA}."
        )

    def close(self) -> None:  # noqa: D102
        self._server.close()


@contextmanager
def _refusing() -> Iterator[None]:
    """Turn what PostgreSQL refuses into the error of a ledger."""
    try:
        yield
    except DatabaseError as error:
        why = str(error)
        if error.code[:2] == _NO_SUCH and error.code != _NO_RIGHTS:
            why = f"{why} This is no whole ledger; restore it from a backup, and debit nothing until then."
    else:
        return
    raise LedgerFileError(why) from None
