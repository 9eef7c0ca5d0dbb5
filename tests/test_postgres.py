"""PostgreSQL under the ledger and the collector: parameters, errors without secrets, lost connections, forks."""

import gc
import logging
import os
import pickle
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from bipartite.errors import DatabaseError, InputError, MissingExtraError
from bipartite.lottery import current_process
from bipartite.postgres import Server, Url, is_url
from tests.postgresql import ESCAPED, PASSWORD, everything, in_a_child, shows_a_secret


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
        with pytest.raises(error), database.transaction() as connection:  # noqa: PT012
            connection.execute("INSERT INTO kept VALUES ('a', 1)")
            raise error
    with pytest.raises(DatabaseError, match="refused a statement"):
        add(database, "b", "b")
    assert kept(database) == []
    with database.transaction(read_only=True) as connection:
        connection.execute("INSERT INTO kept VALUES ('a', 1)")
    assert kept(database) == []


def test_a_commit_of_what_the_server_undid_is_an_error(database):
    said = "undid this transaction after an error in it; nothing is stored"
    with pytest.raises(DatabaseError, match=said), database.transaction() as connection:  # noqa: PT012
        connection.execute("INSERT INTO kept VALUES ('a', 1)")
        with pytest.raises(DatabaseError):
            connection.execute("SELECT 1 / 0")
    assert kept(database) == []


def test_a_long_result_is_read_in_blocks(database):
    with closing(database.connect()) as connection:
        connection.execute("BEGIN")
        assert [n for (n,) in connection.stream("SELECT generate_series(1, 2500)")] == list(range(1, 2501))


URLS = ["postgresql://ada:pw@host/db", "POSTGRES://host/db", "postgres:/ada:pw@host", "mysql://ada:pw@host/db"]


@pytest.mark.parametrize("url", URLS)
def test_a_url_is_not_a_file_however_it_is_spelt(url):
    assert is_url(url) and is_url(Path(url)) == url.lower().startswith("postgres")


@pytest.mark.parametrize("path", ["spent.db", "C:/spent.db", "/postgres/spent.db", "postgres", Path("a:/b"), 7])
def test_a_file_is_not_a_url(path):
    assert not is_url(path)


UNREADABLE = [
    *URLS[1:],
    "postgresql://ada:4/711@host/db",
    "postgresql://ada:s471",
    "postgresql://ada:471@1@host/db",
    "postgresql://ada:pw@host:471/db?471",
    "postgresql://ada:pw@host/db?pasword=471",
    "postgresql://ada:4%zz71@host/db",
]


@pytest.mark.parametrize("url", UNREADABLE)
def test_a_url_that_cannot_be_read_is_refused_without_a_part_of_it(url):
    with pytest.raises(InputError, match="got one that cannot be read .not shown, since it may hold a pass") as caught:
        Server(url)
    told = everything(caught.value)
    assert not [secret for secret in ("471", "711", "ada", "zz") if secret in told]


def test_a_name_is_host_port_and_database():
    names = {
        "postgresql://ada:pw@host:5433/spent?sslpassword=pw": "postgresql://host:5433/spent",
        "postgres://ada@host/spent?password=pw": "postgresql://host/spent",
        "postgresql://ada:pw@one:1,two:2/spent": "postgresql://one,two:1,2/spent",
        "postgresql://": "postgresql:///",
        "postgresql://ada:pw@[::1]/a%0Ab": "postgresql://::1/a\\nb",
    }
    assert {url: Url(url).name for url in names} == names
    with pytest.raises(TypeError, match="cannot be pickled, since it may hold a password"):
        pickle.dumps(Url("postgresql://ada:pw@host/db"))


def test_no_error_of_a_connection_tells_the_password(postgresql, postgresql_url, caplog):
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="psycopg")
    url, other = postgresql_url, postgresql_url.replace(ESCAPED, "another%20swordfish")
    ways = {
        other: "password authentication failed",
        url.replace(f":{postgresql.port}", ":1"): "Connection refused",
        f"{url}x": "does not exist",
        f"{url}?sslmode=require": "SSL",
        f"{url}?options=-c%20nonsense%3D1": "unrecognized configuration parameter",
        url: 'refused a statement .relation "kept" does not exist',
    }
    for way, said in ways.items():
        with closing(Server(way, wait=2)) as server, pytest.raises(DatabaseError, match=said) as caught:
            kept(server)
        assert str(caught.value).startswith(Url(way).name) and caught.value.__context__ is None
        assert not shows_a_secret(everything(caught.value)), said
        assert not shows_a_secret(repr(server) + repr(server.url) + str(pickle.loads(pickle.dumps(caught.value)).args))
    assert "connection failed" in caplog.text and not shows_a_secret(caplog.text)


def test_a_password_may_come_from_the_environment_and_is_told_as_little(postgresql_url, monkeypatch):
    bare = postgresql_url.replace(f":{ESCAPED}@", "@")
    monkeypatch.setenv("PGPASSWORD", f"{PASSWORD}?")
    with pytest.raises(DatabaseError, match="password authentication failed") as caught:
        Server(bare).connect()
    assert not shows_a_secret(everything(caught.value))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    with closing(Server(bare)) as server, server.transaction() as connection:
        assert connection.execute("SELECT current_user").fetchone() == ("owner",)
        assert not shows_a_secret(repr(connection) + repr(vars(connection)) + repr(vars(server)))


def test_a_password_that_was_put_in_a_second_place_is_cut_out_of_what_is_said_there(postgresql_url):
    with pytest.raises(DatabaseError, match='invalid sslmode value: "…"') as caught:
        Server(f"{postgresql_url}?sslmode={ESCAPED}").connect()
    assert not shows_a_secret(str(caught.value))


def test_the_search_for_secrets_finds_one():
    class Leak:
        def __repr__(self):
            return f"host=here password={PASSWORD}"

    with pytest.raises(KeyError) as caught:
        {}[Leak()]
    assert shows_a_secret(everything(caught.value))


def test_an_error_quotes_nothing_of_a_row(database):
    for n, code in ((0, "23514"), ("swordfish", "22P02"), (10**30, "22003")):
        told = pytest.raises(DatabaseError, match=f"refused a statement .SQLSTATE {code}.")
        with told as caught, database.transaction() as connection:
            connection.execute("INSERT INTO kept VALUES (?, (?::text)::bigint)", ("swordfish", str(n)))
        assert "swordfish" not in str(caught.value) and caught.value.code == code
        assert caught.value.__context__ is None


HINTS = {
    "25006": "is read-only .said.; name the primary server",
    "40P01": "had another transaction in the way .said., and undid this one; try again",
    "53100": "has no room .said.; free some disk, memory or connections",
    "57014": "stopped the statement .said.; see its log, and try again",
    "P0001": "refused a statement .said.",
}


@pytest.mark.parametrize("code", HINTS)
def test_what_a_server_refuses_says_what_would_help(database, code):
    with pytest.raises(DatabaseError, match=rf"{HINTS[code]}\.$") as caught, database.transaction() as connection:
        connection.execute(f"DO $$ BEGIN RAISE EXCEPTION 'said' USING ERRCODE = '{code}'; END $$")
    assert (caught.value.code, caught.value.lost) == (code, False)


def test_a_server_that_was_started_again_is_found_again(postgresql, database):
    add(database, "a")
    postgresql.stop()
    with pytest.raises(DatabaseError, match="cannot be reached .*Connection refused"):
        kept(database)
    postgresql.start()
    add(database, "b")
    postgresql.kill()
    postgresql.start()
    assert kept(database) == [("a", 1), ("b", 1)]


def test_a_connection_that_is_lost_in_a_transaction_leaves_nothing(postgresql, database):
    said = "closed the connection .*nothing of this transaction is stored"
    with pytest.raises(DatabaseError, match=said) as caught, database.transaction() as connection:  # noqa: PT012
        connection.execute("INSERT INTO kept VALUES ('a', 1)")
        postgresql.kill()
        connection.execute("INSERT INTO kept VALUES ('b', 1)")
    assert caught.value.lost
    postgresql.start()
    assert kept(database) == []


def test_a_connection_that_is_lost_in_the_commit_says_that_nobody_knows(postgresql, database):
    said = "closed the connection while it was committing, and whether this was stored is not known; nothing was rel"
    with pytest.raises(DatabaseError, match=said), database.transaction() as connection:  # noqa: PT012
        connection.execute("INSERT INTO kept VALUES ('a', 1)")
        postgresql.kill()
    postgresql.start()
    assert kept(database) == []


def test_commits_wait_for_the_disk_whatever_a_role_was_given(postgresql, postgresql_url):
    with closing(postgresql.connect()) as session:
        session.execute("ALTER ROLE owner SET synchronous_commit = off")
    try:
        with closing(Server(postgresql_url)) as server, server.transaction() as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
            assert connection.execute("SHOW lock_timeout").fetchone() == ("30s",)
    finally:
        with closing(postgresql.connect()) as session:
            session.execute("ALTER ROLE owner RESET synchronous_commit")


def test_a_server_that_does_not_flush_and_a_database_that_is_not_unicode_are_refused(postgresql, postgresql_url):
    with closing(postgresql.connect()) as session:
        session.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(DatabaseError, match="latin has encoding = LATIN1, .*use a database with encoding = UTF8"):
        Server(postgresql.url("latin")).connect()
    postgresql.stop()
    postgresql.start("fsync=off")
    try:
        with pytest.raises(DatabaseError, match="has fsync = off, with which not all that is stored would last"):
            Server(postgresql_url).connect()
    finally:
        postgresql.stop()


def sessions(database):
    """The sessions that the server sees in this database, and a session that asks."""
    with database.transaction(read_only=True) as connection:
        query = "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        return {pid for (pid,) in connection.execute(query)}


def test_a_child_has_a_session_of_its_own_and_leaves_the_parents_alone(database):
    add(database, "a")
    [ours] = sessions(database)
    socket = database._seats[current_process()].connection._session.fileno()

    def work():
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(socket)
        add(database, "b")
        assert len(sessions(database)) == 2
        gc.collect()
        database.close()

    in_a_child(work)
    add(database, "c")
    assert ours in sessions(database) and kept(database) == [("a", 1), ("b", 1), ("c", 1)]


def test_a_child_of_a_transaction_cannot_go_on_with_it_and_the_parent_can(database):
    def work():
        for use in (lambda: connection.execute("INSERT INTO kept VALUES ('child', 1)"), connection.commit):
            with pytest.raises(DatabaseError, match="when this process was forked.*fork between two transactions"):
                use()
        connection.roll_back()
        connection.close()

    with database.transaction() as connection:
        connection.execute("INSERT INTO kept VALUES ('parent', 1)")
        in_a_child(work)
        connection.execute("INSERT INTO kept VALUES ('and more', 1)")
    assert kept(database) == [("and more", 1), ("parent", 1)]


def test_a_session_whose_descriptor_was_closed_is_not_written_to(database, tmp_path):
    add(database, "a")
    socket = database._seats[current_process()].connection._session.fileno()

    def work():  # as daemons do
        other = Server(database.url)
        add(other, "b")
        connection = other._seats[current_process()].connection
        os.close(connection._session.fileno())
        with (tmp_path / "theirs").open("wb") as file:
            os.dup2(file.fileno(), connection._session.fileno())
            add(other, "c")
            connection.close()
            os.write(connection._session.fileno(), b"theirs")
        assert (tmp_path / "theirs").read_bytes() == b"theirs"

    in_a_child(work)
    assert socket == database._seats[current_process()].connection._session.fileno()
    assert [name for name, _ in kept(database)] == ["a", "b", "c"]


def test_a_server_is_not_used_within_its_own_transaction(database):
    with pytest.raises(DatabaseError, match="was used inside one of its own transactions"), database.transaction():
        kept(database)
    assert kept(database) == []


def test_a_programme_that_ends_without_closing_says_nothing(postgresql_url):
    program = (
        "import sys; from bipartite.postgres import Server; server = Server(sys.argv[1])\n"
        "with server.transaction() as connection: print(connection.execute('SELECT 1').fetchone())"
    )
    command = [sys.executable, "-W", "error", "-c", program, postgresql_url]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "(1,)\n", "")


def test_psycopg_is_asked_for_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match="PostgreSQL needs psycopg, which is not installed.*postgres") as caught:
        Server(URLS[0])
    assert URLS[0] not in everything(caught.value)
