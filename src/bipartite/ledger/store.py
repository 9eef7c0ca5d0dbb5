"""What holds a ledger, a file or a server: how it is begun, and what is checked in every transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from bipartite.errors import InputError, LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.settings import Settings
from bipartite.ledger.versions import check_version, make_tables

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Self

    from bipartite.ledger.connection import Connection
    from bipartite.ledger.server import Tables


D = TypeVar("D", "Connection", "Tables")
"""The tables of a ledger within a transaction, in a file or on a server."""


class Store(ABC, Generic[D]):
    """A ledger's tables, wherever they are. Threads take turns; no connection crosses a fork."""

    def __init__(self, name: str, wait: float, *, read_only: bool) -> None:
        self.name, self._wait, self._read_only = name, wait, read_only
        self._held: dict[str, str] | None = None

    def prepare(self, wanted: Settings | None) -> Settings:
        """Create the ledger with these settings, or read the settings of an existing one."""
        with self.reading() if self._read_only else self.writing() as database:
            if database.is_empty():  # its creator may have died before this
                make_tables(database, self._require(wanted).constants())
            elif not self._read_only and database.version() < statements.VERSION:
                self._upgrade(database)
            held = dict(database.execute(statements.SETTINGS))
            try:
                settings = Settings.of(held)
            except (KeyError, ValueError):
                raise LedgerFileError(
                    f"{self.name} has no budget or no valid period: it is damaged; restore it from a backup."
                ) from None
            self._held = held
            return settings

    def writing(self) -> AbstractContextManager[D]:
        """One transaction with the write lock: committed to disk completely, or not at all."""
        if self._read_only:
            raise InputError(
                f"{self.name} was opened with read_only=True, but a report must be debited; open it without read_only."
            )
        return self._transaction(writing=True)

    def reading(self) -> AbstractContextManager[D]:
        """One snapshot of the ledger, whatever others write meanwhile."""
        return self._transaction(writing=False)

    @abstractmethod
    def stream(self, query: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, from one snapshot, a block at a time."""

    @abstractmethod
    def another(self) -> Self:
        """The same ledger with its own connection, for reading while this one stays in use."""

    @abstractmethod
    def back_up(self, target: str | os.PathLike[str]) -> None:
        """Copy a snapshot of the ledger into a new file."""

    @abstractmethod
    def close(self) -> None:
        """Close this process's connection; committed data is already on disk."""

    @abstractmethod
    def _transaction(self, *, writing: bool) -> AbstractContextManager[D]: ...

    @abstractmethod
    def _upgrade(self, database: D) -> None: ...

    def _require(self, wanted: Settings | None) -> Settings:
        """Refuse a new ledger without a budget."""
        if wanted is None:
            raise InputError(f"Expected budget= for a new ledger, and {self.name} does not exist yet; pass budget=4.")
        return wanted

    def _check_tables(self, database: D) -> None:
        """Refuse a ledger that is not the one that was first opened.

        It may have been replaced between two openings, as around a fork, or upgraded by a newer bipartite. A reader
        sees a ledger of version 2 as if it were upgraded, until the transaction ends.
        """
        if self._held is None and database.is_empty():
            return  # yet to be made
        older = database.version() != statements.VERSION
        if older:
            check_version(database, self.name)
            if self._read_only:
                database.view_as_current()
        if self._held is not None and (
            (older and not self._read_only) or dict(database.execute(statements.SETTINGS)) != self._held
        ):
            raise LedgerFileError(
                f"{self.name} was replaced by a ledger with other settings since it was first opened here; create "
                "a new bp.Ledger to use that one."
            )
