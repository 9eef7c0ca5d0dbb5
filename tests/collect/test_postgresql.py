"""Workers at one database: whatever they do at once, nothing is lost, and nobody waits in a circle."""

import os
import threading
import time
from contextlib import closing, contextmanager
from datetime import date

import pytest

from bipartite.collect import statements
from bipartite.collect.store import Arrival, ClosedError, _migrations, begin, resume
from bipartite.collect.study import read_study
from bipartite.errors import DatabaseError
from tests.collect.conftest import STUDY
from tests.postgresql import ESCAPED

TODAY = date(2026, 11, 19)
DAY = TODAY.isoformat()


@pytest.fixture
def url(postgresql_url, study):
    """A database in which the study was begun."""
    begin(postgresql_url, study).close()
    return postgresql_url


@pytest.fixture
def other(url, tmp_path):
    """Another study in the same database."""
    path = tmp_path / "other.toml"
    path.write_text(STUDY)
    begin(url, read_study(path)).close()
    return "other"


def arrival(store, report="40"):
    return Arrival(store.numbers["age"], os.urandom(16), report)


class Meanwhile(threading.Thread):
    """Does something with a store of its own in a thread; ``result`` is what came of it."""

    def __init__(self, where, name, act):
        super().__init__(daemon=True)
        self.where, self.name_of_study, self.act, self.result = where, name, act, None
        self.start()

    def run(self):
        try:
            with resume(self.where, self.name_of_study) as store:
                self.result = self.act(store)
        except Exception as error:  # noqa: BLE001 (looked at by the test)
            self.result = error

    def done(self):
        self.join(30)
        assert not self.is_alive()
        return self.result


def until_waiting(postgresql, url, threads):
    """Return when so many sessions of this database wait for a lock, or the threads that should are done."""
    database = url.rpartition("/")[2]
    waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND wait_event_type = 'Lock'"
    with closing(postgresql.connect()) as session:
        until = time.monotonic() + 30
        while session.execute(waits, (database,)).fetchone()[0] < sum(each.is_alive() for each in threads):
            assert time.monotonic() < until
            time.sleep(0.01)


@contextmanager
def counting(store, *arrivals):
    """A transaction that has counted these, and is not committed yet."""
    with store._database.transaction():
        assert not store._is_over(DAY)
        store._count([arrivals], DAY)
        yield


def test_workers_may_begin_at_the_same_moment(where, study):
    for migrations in (_migrations, lambda: [*_migrations(), "ALTER TABLE links ADD COLUMN made INTEGER;\n"]):
        together, failures = threading.Barrier(4), []

        def work(migrations=migrations, together=together, failures=failures):
            together.wait()
            try:
                begin(where, study, migrations).close()
            except Exception as error:  # noqa: BLE001 (looked at below)
                failures.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        assert failures == []


def test_rewriting_the_tables_loses_no_report_of_another_study(postgresql, url, other):
    with resume(url, other) as store:
        mine = arrival(store)
        with counting(store, mine):
            closing_study = Meanwhile(url, "readers", lambda closed: closed.close_study())
            until_waiting(postgresql, url, [closing_study])
        assert closing_study.done() is None
        assert list(store.bag("age")) == [("40", 1)] and store.check() == []
        assert store.count([[mine]], TODAY)[0].known == 1


def test_a_snapshot_sees_what_was_there_when_tables_are_rewritten_meanwhile(postgresql, url, other):
    with resume(url, other) as store:
        store.count([[arrival(store)]], TODAY)
        with store._database.reading():
            store._database.execute(statements.STUDIES)
            closing_study = Meanwhile(url, "readers", lambda closed: closed.close_study())
            until_waiting(postgresql, url, [closing_study])
            assert len(store._database.execute("SELECT * FROM seen").fetchall()) == 1
        assert closing_study.done() is None
        assert list(store.bag("age")) == [("40", 1)]


def test_closing_has_its_turn_however_many_count(postgresql, url):
    with resume(url, "readers") as store:
        with counting(store, arrival(store)):
            closing_study = Meanwhile(url, "readers", lambda closed: closed.close_study())
            until_waiting(postgresql, url, [closing_study])
            later = Meanwhile(url, "readers", lambda late: late.count([[arrival(late)]], TODAY))
            until_waiting(postgresql, url, [closing_study, later])
        assert closing_study.done() is None
        assert isinstance(later.done(), ClosedError)
        assert list(store.bag("age")) == [("40", 1)] and store.check() == []


def test_a_probe_waits_for_nobody_who_counts_or_probes(url):
    with resume(url, "readers") as store, counting(store, arrival(store)):
        probing = Meanwhile(url, "readers", lambda idle: idle.probe(TODAY))
        probing.join(10)
        assert not probing.is_alive() and probing.result is None


def test_workers_count_the_same_report_whatever_isolation_is_the_default(postgresql, url):
    with closing(postgresql.connect()) as session:
        session.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET default_transaction_isolation = 'serializable'")
    with resume(url, "readers") as one, resume(url, "readers") as another:
        with one._database.transaction():
            assert not one._is_over(DAY)
            another.count([[arrival(another)]], TODAY)
            one._count([[arrival(one)]], DAY)
        assert list(one.bag("age")) == [("40", 2)]


def test_the_clock_of_one_study_does_not_end_another(where, study, tmp_path):
    with begin(where, study) as store:
        path = tmp_path / "other.toml"
        path.write_text(STUDY.replace("2026-12-31", "2031-12-31"))
        with begin(where, read_study(path)) as fast:
            fast.count([[arrival(fast)]], date(2031, 1, 1))
    with resume(where, "readers") as store:
        store.count([[arrival(store)]], TODAY)
        assert store.late is None and store.arrivals("age") == {DAY: 1}


def test_who_collects_needs_no_right_to_make_a_schema(postgresql, url, study):
    database = url.rpartition("/")[2]
    with closing(postgresql.connect(database)) as session:
        session.execute(f"CREATE ROLE {database}_worker LOGIN PASSWORD '{ESCAPED}'")
        session.execute(f"GRANT USAGE ON SCHEMA bipartite_collect TO {database}_worker")
        session.execute(f"GRANT ALL ON ALL TABLES IN SCHEMA bipartite_collect TO {database}_worker")
    worker = postgresql.url(database, user=f"{database}_worker", password=ESCAPED.replace("%", "%25"))
    with begin(worker, study) as store:
        store.count([[arrival(store)]], TODAY)
        assert store.check() == []
        before = written_by(store)
        store.settle()  # only the owner may order tables anew, and nobody changes all rows for nothing
        assert written_by(store) == before


def written_by(store):
    """Which transactions wrote the rows."""
    return store._database.execute("SELECT xmin::text FROM seen UNION ALL SELECT xmin::text FROM bag").fetchall()


def test_a_quiet_minute_holds_up_nobody_while_others_read(url):
    with resume(url, "readers") as store, resume(url, "readers") as reader:
        store.count([[arrival(store)]], TODAY)
        before = written_by(store)
        with reader._database.reading():
            assert len(reader._database.execute("SELECT * FROM seen").fetchall()) == 1
            began = time.monotonic()
            with pytest.raises(DatabaseError):
                store.settle()
            assert time.monotonic() < began + 10  # of the twenty seconds for which everybody else would wait
        assert written_by(store) == before
        store.settle()
        assert len(set(written_by(store))) == 1
