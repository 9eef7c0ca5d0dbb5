"""PostgreSQL for the ledger and the collector: SQLite's placeholders, errors without secrets, sessions that stay home.

- **Durable.** A commit returns when it is on the server's disk (and on a synchronous standby's, if there is one),
  whatever default a role or a database was given. A server that was set not to flush is refused.
- **No secrets.** The driver's errors, which hold the connection and with it the password, end here: what is raised has
  no cause and no context, names host, port and database only, and quotes nothing of a row.
- **Forks.** A session belongs to the process that opened it. A forked child gives up its copy of the socket without a
  word to the server, and opens a session of its own when it next needs one; inside a transaction it is refused.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from bipartite.errors import DatabaseError, InputError, missing_library
from bipartite.lottery import current_process
from bipartite.texts import escaped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import psycopg

# Any scheme, and one slash will do (pathlib keeps one): a mistyped URL must not become a file that is named after a
# password. The letter of a Windows drive is no scheme.
_URL: Final = re.compile(r"[a-z][a-z0-9+.-]+://|postgres(ql)?:/", re.IGNORECASE)
_SCHEMES: Final = ("postgresql://", "postgres://")
# Half a minute until a silent network is noticed, on both sides; without these it takes the server two hours to let go
# of what a machine held that lost its power.
_KEEPALIVES: Final = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
_LEAST_CONNECT_SECONDS: Final = 2
_SESSION: Final = "SET synchronous_commit = on; " + " ".join(
    f"SET tcp_{name} = {value};" for name, value in _KEEPALIVES.items()
)
_HINTS: Final = {
    "55P03": "stayed busy for {wait:g} s; try again, or pass a longer wait=",
    "25006": "is read-only ({said}); name the primary server",
    "42501": "does not allow this ({said}); have the owner of the database grant it",
    "40": "had another transaction in the way ({said}), and undid this one; try again",
    "53": "has no room ({said}); free some disk, memory or connections",
    "57": "stopped the statement ({said}); see its log, and try again",
}
# What the server says of an error of these classes quotes what it was given: reports, names.
_TELLING: Final = ("22", "23")
_ROWS: Final = 1000


def is_url(path: object) -> bool:
    """Whether this names a server and not a file."""
    return isinstance(path, (str, os.PathLike)) and _URL.match(os.fsdecode(path)) is not None


def _driver() -> Any:  # noqa: ANN401 (a module)
    try:
        import psycopg  # noqa: PLC0415 (loaded only where it is used)
        import psycopg.types.numeric  # noqa: PLC0415
    except ImportError:
        problem = missing_library(what="PostgreSQL needs", library="psycopg", extra="postgres")
    else:
        return psycopg
    raise problem


class Url:
    """The address of a database. Its password is in no name, repr, message or pickle."""

    name = "postgresql://"

    def __init__(self, url: str | os.PathLike[str]) -> None:
        text, psycopg = os.fsdecode(url), _driver()
        parts: dict[str, Any] | None = None
        if text.startswith(_SCHEMES):
            with suppress(psycopg.Error):
                parts = psycopg.conninfo.conninfo_to_dict(text)
        named = {key: str((parts or {}).get(key, "")) for key in ("host", "port", "dbname")}
        # A password with an unescaped "/" or "@", or without a host after it, would be read as one of these.
        if parts is None or "@" in "".join(named.values()) or not re.fullmatch("[0-9,]*", named["port"]):
            raise InputError(
                "Expected a URL such as postgresql://user@host:5432/database, got one that cannot be read (not shown, "
                "since it may hold a password); write special characters as %40 for @, %2F for /."
            )
        port = named["port"] and f":{named['port']}"
        self.name = escaped(f"postgresql://{named['host']}{port}/{named['dbname']}")
        self._parts = parts

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __reduce__(self) -> str:
        raise TypeError("The address of a database cannot be pickled, since it may hold a password.")

    def parameters(self, wait: float) -> dict[str, Any]:
        """What the driver needs to connect; what the URL says comes before what is said here."""
        waiting = {"connect_timeout": max(_LEAST_CONNECT_SECONDS, round(wait)), **_KEEPALIVES}
        return {"application_name": "bipartite", **waiting, "client_encoding": "utf8", **self._parts}

    def refusal(self, error: psycopg.Error, wait: float, *, lost: bool | None) -> DatabaseError:
        """What a caller is told of an error of the driver; ``lost`` is None where there was no session yet."""
        code = error.sqlstate or ""
        said = error.diag.message_primary or str(error)
        for secret in ("password", "sslpassword"):  # no message is known to have it
            if held := self._parts.get(secret):
                said = said.replace(str(held), "…")
        said = f"SQLSTATE {code}" if code.startswith(_TELLING) else escaped(" ".join(said.split()))
        if lost is None:
            why = f"cannot be reached ({said}); check address, server, and the password in PGPASSWORD or ~/.pgpass"
        elif lost:
            why = f"closed the connection ({said}), and nothing of this transaction is stored; try again"
        else:
            hint = next((text for key, text in _HINTS.items() if code.startswith(key)), "refused a statement ({said})")
            why = hint.format(said=said, wait=wait)
        return DatabaseError(f"{self.name} {why}.", code=code, lost=bool(lost))


class Connection:
    """One session with the server, for the process that opened it; statements have SQLite's ``?`` for parameters."""

    def __init__(self, url: Url, wait: float, schema: str) -> None:
        self._url, self._wait = url, wait
        self._errors: type[psycopg.Error] = _driver().Error
        self._process = current_process()
        self._session = self._opened()
        self._socket = os.fstat(self._session.fileno()) if hasattr(os, "fork") else None
        _OPEN.add(self)
        # Sums of whole numbers are "numeric" in PostgreSQL.
        self._session.adapters.register_loader("numeric", _driver().types.numeric.IntLoader)
        try:
            self._prepare(schema)
        except BaseException:
            self.close()
            raise

    def _opened(self) -> psycopg.Connection[Any]:
        try:
            session: psycopg.Connection[Any] = _driver().connect(**self._url.parameters(self._wait), autocommit=True)
        except self._errors as error:
            refusal = self._url.refusal(error, self._wait, lost=None)
        else:
            return session
        raise refusal

    def _prepare(self, schema: str) -> None:
        quoted = '"' + schema.replace('"', '""') + '"'
        # pg_temp last, so that no temporary table stands before one of ours.
        path = f"SET search_path = {quoted}, pg_temp"
        self.execute(f"{_SESSION} SET lock_timeout = {max(1, round(1000 * self._wait))}; {path}")
        held = self.execute("SELECT current_setting('fsync'), current_setting('server_encoding')").fetchone()
        for name, value, wanted in zip(("fsync", "encoding"), held or (), ("on", "UTF8"), strict=True):
            if value != wanted:
                raise DatabaseError(
                    f"{self._url.name} has {name} = {value}, with which not all that is stored would last as it is; "
                    f"use a database with {name} = {wanted}."
                )

    @property
    def is_ours(self) -> bool:
        """Whether this process opened it, and its descriptor is still that of its socket."""
        try:
            return self._process is current_process() and (
                self._socket is None or os.path.samestat(os.fstat(self._session.fileno()), self._socket)
            )
        except (OSError, self._errors):
            return self._process is current_process() and self._session.closed

    def execute(self, statement: str, parameters: Sequence[object] = ()) -> psycopg.Cursor[Any]:
        """Run a statement; the rows that it gives are in the cursor."""
        self._check_ours()
        try:
            # Without parameters several statements in one text are allowed.
            return self._session.execute(
                _in_driver(statement) if parameters else statement.encode(), parameters or None
            )
        except self._errors as error:
            refusal = self._refusal(error)
        raise refusal

    def executemany(self, statement: str, rows: Iterable[Sequence[object]]) -> int:
        """Run a statement once for each of these rows of parameters; how many rows of the table it wrote."""
        self._check_ours()
        try:
            with self._session.cursor() as cursor:
                cursor.executemany(_in_driver(statement), rows)
                return cursor.rowcount
        except self._errors as error:
            refusal = self._refusal(error)
        raise refusal

    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, a block at a time, within a transaction."""
        self.execute(f"DECLARE rows NO SCROLL CURSOR FOR {query}")
        while block := self.execute(f"FETCH {_ROWS} FROM rows").fetchall():
            yield from block
        self.execute("CLOSE rows")

    def commit(self) -> None:
        """End the transaction, and return once it is on the disk; an error says whether that is known."""
        try:
            said = self.execute("COMMIT").statusmessage
        except DatabaseError as error:
            if not error.lost:
                raise
        else:
            if said == "COMMIT":
                return
            # An error in it was passed over by somebody, and PostgreSQL says no more than this.
            raise DatabaseError(f"{self._url.name} undid this transaction after an error in it; nothing is stored.")
        raise DatabaseError(
            f"{self._url.name} closed the connection while it was committing, and whether this was stored is not "
            "known; nothing was released: try the same again.",
            lost=True,
        )

    def roll_back(self) -> None:
        """End the transaction without a trace; a session that cannot even do that is closed, which does it, too."""
        if not self.is_ours:
            return
        try:
            if self._session.info.transaction_status:  # 0: none
                self._session.execute(b"ROLLBACK")
        except BaseException as error:
            self._session.close()
            if not isinstance(error, self._errors):
                raise

    def close(self) -> None:
        """End the session; one that another process opened is left alone."""
        if self.is_ours:
            self._session.close()
        else:
            _INHERITED.append(self._session)
        _OPEN.discard(self)

    def close_in_child(self) -> None:
        """Give up a forked child's copy of the socket, so that the server sees the parent's end when that ends."""
        _INHERITED.append(self._session)
        with suppress(OSError, self._errors):
            os.close(self._session.fileno())

    def __del__(self) -> None:
        if hasattr(self, "_session"):
            self.close()

    def _check_ours(self) -> None:
        if not self.is_ours:
            raise DatabaseError(
                f"{self._url.name} was in use when this process was forked, or when it closed all descriptors, and the "
                "transaction belongs to the other process; fork between two transactions."
            )

    def _refusal(self, error: psycopg.Error) -> DatabaseError:
        """The error to raise, outside of the handler, so that it has no context."""
        lost = self._session.closed or error.diag.severity_nonlocalized in {"FATAL", "PANIC"}
        if lost:
            self._session.close()
        return self._url.refusal(error, self._wait, lost=lost)


_OPEN: Final = weakref.WeakSet[Connection]()
# Kept for ever, and so never finalised: that would speak to the server in the name of the other process.
_INHERITED: Final[list[object]] = []


def _after_in_child() -> None:
    for each in list(_OPEN):
        each.close_in_child()


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_after_in_child)


class _Seat:
    """What a process has of a server: its one connection, and the turns that its threads take."""

    def __init__(self) -> None:
        self.turn = threading.RLock()
        self.is_taken = False
        self.connection: Connection | None = None


class Server:
    """A database on a PostgreSQL server. Threads take turns; every process opens its own session when it needs one.

    Parameters
    ----------
    url
        As libpq reads it: ``postgresql://user@host:5432/database``. What is not in it comes from the environment.
    wait
        Seconds to wait for a connection, and for the locks of others.
    schema
        The schema in which tables are found; it need not exist yet.
    """

    def __init__(self, url: str | os.PathLike[str] | Url, *, wait: float = 30.0, schema: str = "public") -> None:
        self.url: Final = url if isinstance(url, Url) else Url(url)
        self._wait, self._schema = wait, schema
        self._seats: dict[object, _Seat] = {}

    @property
    def name(self) -> str:
        """Host, port and database."""
        return self.url.name

    @contextmanager
    def transaction(self, begin: str = "BEGIN", *, read_only: bool = False) -> Iterator[Connection]:
        """One transaction, committed or, after any error, undone; one that only reads is always undone."""
        seat = self._seat()
        with seat.turn:
            if seat.is_taken:
                raise DatabaseError(
                    f"{self.name} was used inside one of its own transactions, by a source of random words or a "
                    "signal handler; use it before or afterwards."
                )
            seat.is_taken = True
            try:
                connection = self._begin(seat, begin)
                yield connection
                if not read_only:
                    connection.commit()
            finally:
                seat.is_taken = False
                if seat.connection is not None:
                    seat.connection.roll_back()

    def connect(self) -> Connection:
        """A session of its own, for the caller to close: for long reading while others take turns."""
        return Connection(self.url, self._wait, self._schema)

    def close(self) -> None:
        """End this process's session."""
        seat = self._seat()
        with seat.turn:
            if seat.connection is not None:
                seat.connection.close()
            seat.connection = None

    def _seat(self) -> _Seat:
        # No lock, which a forked child could find held for ever; setdefault is atomic.
        process = current_process()
        return self._seats.get(process) or self._seats.setdefault(process, _Seat())

    def _begin(self, seat: _Seat, begin: str) -> Connection:
        """Begin; if the server went away since the last transaction, with a new session."""
        if seat.connection is not None and seat.connection.is_ours:
            try:
                seat.connection.execute(begin)
            except DatabaseError as error:
                if not error.lost:
                    raise
            else:
                return seat.connection
        if seat.connection is not None:
            seat.connection.close()
        seat.connection = self.connect()
        seat.connection.execute(begin)
        return seat.connection


@lru_cache(maxsize=256)
def _in_driver(statement: str) -> bytes:
    """A statement with the driver's placeholders for SQLite's, which text in quotes does not have."""
    doubled = statement.replace("%", "%%")
    return re.sub(r"'[^']*'|\?", lambda found: "%s" if found[0] == "?" else found[0], doubled).encode()
