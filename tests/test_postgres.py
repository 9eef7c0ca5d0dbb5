"""PostgreSQL under the ledger and the collector: parameters, errors without secrets, lost connections, forks."""

import logging
import os
import signal
import traceback
from contextlib import closing
from pathlib import Path

import pytest

from bipartite.errors import DatabaseError, InputError
from bipartite.postgres import Connection, Server, Url, is_url
from tests.postgresql import ESCAPED, PASSWORD


@pytest.fixture
def database(postgresql_url):
    with closing(Server(postgresql_url, wait=5)) as server:
        with server.transaction() as connection:
            connection.execute("CREATE TABLE kept (name text PRIMARY KEY, n bigint CHECK (n > 0), body bytea)")
        yield server


def kept(server):
    with server.transaction(read_only=True) as connection:
        return connection.execute("SELECT name, n FROM kept ORDER BY name").fetchall()


def add(server, *names):
    with server.transaction() as connection:
        connection.executemany("INSERT INTO kept VALUES (?, ?, ?)", [(name, 1, b"\0\xff") for name in names])


def test_statements_are_those_of_sqlite(database):
    add(database, "100 %", "why?")
    with database.transaction(read_only=True) as connection:
        query = "SELECT name, body FROM kept WHERE name LIKE '%?' AND n = ?"
        assert connection.execute(query, (1,)).fetchone() == ("why?", b"\0\xff")
        [total] = connection.execute("SELECT sum(n) FROM kept WHERE name <> '%s?'").fetchone()
        assert (total, type(total)) == (2, int)
        assert [name for name, _ in connection.execute("SELECT name, n FROM kept ORDER BY name")] == ["100 %", "why?"]


def test_an_error_undoes_the_whole_transaction(database):
    for error in (KeyError, KeyboardInterrupt):
        with pytest.raises(error), database.transaction() as connection:
            connection.execute("INSERT INTO kept VALUES ('a', 1)")
            raise error
    with pytest.raises(DatabaseError, match="refused a statement"):
        add(database, "b", "b")
    assert kept(database) == []
    with database.transaction(read_only=True) as connection:
        connection.execute("INSERT INTO kept VALUES ('a', 1)")
    assert kept(database) == []


def test_a_commit_of_what_the_server_undid_is_an_error(database):
    with pytest.raises(DatabaseError, match="undid this transaction after an error in it; nothing is stored"):
        with database.transaction() as connection:
            connection.execute("INSERT INTO kept VALUES ('a', 1)")
            with pytest.raises(DatabaseError):
                connection.execute("SELECT 1 / 0")
    assert kept(database) == []
