"""A collector's tables on PostgreSQL, for workers on more than one machine."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from bipartite.collect import statements
from bipartite.postgres import Server

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bipartite.postgres import Connection

_SCHEMA: Final = "bipartite_collect"
_WAIT: Final = 20.0  # seconds for other workers
# Whatever a role or a database was given as its default. All who write share one lock, and who makes, changes or
# rewrites tables, or closes a study, has it alone: locks are granted in turn, so nobody waits for ever, and it is the
# first that anybody takes, so nobody waits in a circle.
_WRITING: Final = (
    f"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock_shared({statements.APPLICATION_ID})"
)
_ALONE: Final = _WRITING.replace("_shared", "")
_READING: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY"
_SNAPSHOT: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_REWRITTEN: Final = ("seen", "bag", "arrivals")
_OURS: Final = (
    "SELECT count(*), sum(pg_total_relation_size(oid)) FROM pg_class "
    "WHERE oid = ANY(?::regclass[]) AND pg_has_role(relowner, 'USAGE')"
)
_SMALL: Final = 2**25
"""Bytes of tables that are written anew in a moment."""


class PostgresDatabase:
    """A database on a server; a session is opened when it is needed, and again after it was lost."""

    blob, rowless = "BYTEA", ""

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._server = Server(url, wait=_WAIT, schema=_SCHEMA)
        self._connection: Connection | None = None
        if create:
            with self.transaction(alone=True):
                # IF NOT EXISTS would ask for the right to make one, which those who only collect need not have.
                if self.execute("SELECT to_regnamespace(?)", (_SCHEMA,)).fetchone()[0] is None:
                    self.execute(f"CREATE SCHEMA {_SCHEMA}")

    @property
    def name(self) -> str:
        """Host, port and database, without user and password."""
        return self._server.url.name

    def tables(self) -> set[str]:
        """The names of all tables."""
        return {name for (name,) in self.execute("SELECT tablename FROM pg_tables WHERE schemaname = ?", (_SCHEMA,))}

    def mark(self) -> None:
        """Nothing: the schema is the mark."""

    def keep(self, name: str) -> None:
        """Copy the tables as they are into a schema beside their own; an earlier copy stays."""
        with self.transaction(alone=True):
            tables = self.tables()
            there = {each for (each,) in self.execute("SELECT nspname FROM pg_namespace")}
            named = (f"{_SCHEMA}_{name}{'' if number == 1 else f'-{number}'}" for number in count(1))
            schema = next(each for each in named if each not in there)
            self.execute(f'CREATE SCHEMA "{schema}"')
            for table in tables:
                self.execute(f'CREATE TABLE "{schema}".{table} AS SELECT * FROM {table}')  # noqa: S608 (our own names)

    def execute(self, statement: str, parameters: Iterable[Any] = ()) -> Any:  # noqa: ANN401 (a cursor of the driver)
        """Run one statement, by itself or in the transaction that was begun."""
        if self._connection is None:
            with self._within(_READING, read_only=True):
                return self.execute(statement, parameters)
        return self._connection.execute(statement, tuple(parameters))

    def executemany(self, statement: str, rows: Iterable[Iterable[Any]]) -> int:
        """Run a statement for each of these rows; how many rows of the table it wrote."""
        assert self._connection is not None  # noqa: S101 (only transactions write)
        held = [tuple(row) for row in rows]
        return self._connection.executemany(statement, held) if held else 0

    def add_keys(self, question: int, keys: Sequence[bytes]) -> list[bytes]:
        """Add these keys; return those that were not there. Of two who add one at once, one waits for the other."""
        found = self.execute(statements.ADD_KEYS, (question, list(keys))).fetchall() if keys else []
        return [bytes(key) for (key,) in found]

    def add_reports(self, question: int, reports: Sequence[tuple[str, int]]) -> None:
        """Count each of these reports so many times more."""
        if reports:
            texts, counts = map(list, zip(*reports, strict=True))
            self.execute(statements.ADD_REPORTS, (question, texts, counts))

    @contextmanager
    def transaction(self, *, alone: bool = False) -> Iterator[None]:
        """All or nothing, on the server's disk when it ends; if alone, while nobody else writes."""
        with self._within(_ALONE if alone else _WRITING, read_only=False):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One snapshot, whatever is written meanwhile."""
        with self._within(_SNAPSHOT, read_only=True):
            yield

    @contextmanager
    def _within(self, begin: str, *, read_only: bool) -> Iterator[None]:
        with self._server.transaction(begin, read_only=read_only) as connection:
            self._connection = connection
            try:
                yield
            finally:
                self._connection = None

    def tidy(self) -> None:
        """Nothing: the server keeps its own log."""

    def settle(self) -> None:
        """In a quiet minute, compact small tables, if they are ours and nobody reads them."""
        tables, size = self.execute(_OURS, (list(_REWRITTEN),)).fetchone()
        if tables == len(_REWRITTEN) and size <= _SMALL:
            self._compact(" NOWAIT")  # who waits for a reader holds up all who write

    def compact(self) -> None:
        """Write the tables anew in the order of their content: which rows one transaction wrote is then forgotten.

        Whoever reads meanwhile, pg_dump too, sees its snapshot, as it would not beside TRUNCATE.
        """
        self._compact()

    def _compact(self, nowait: str = "") -> None:
        lock = f"LOCK TABLE {', '.join(_REWRITTEN)} IN ACCESS EXCLUSIVE MODE{nowait}"
        with self.transaction(alone=True):
            self.execute(lock)
            for table in _REWRITTEN:
                self.execute(f"UPDATE {table} SET question = question")  # noqa: S608 (our own names)
        with self.transaction(alone=True):
            self.execute(lock)
            for table in _REWRITTEN:  # what was changed is left out, unless an older snapshot still sees it
                self.execute(f"CLUSTER {table} USING {table}_pkey")

    def damage(self) -> list[str]:
        """Nothing: the server checks its own files."""
        return []

    def close(self) -> None:
        """End the session."""
        self._server.close()
