"""What is kept: every report once, in a bag without time or order, on either engine."""

import errno
import os
import sqlite3
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bipartite.collect.store import Arrival, ClosedError, begin, connect, migrate, resume
from bipartite.collect.study import read_study
from bipartite.errors import DatabaseError, InputError, MissingDataError
from tests.collect.conftest import is_file

TODAY = date(2026, 11, 19)


def arrival(report="40", question=1, key=None):
    return Arrival(question, key or os.urandom(16), report)


def told(counted):
    return [(each.counted, each.known) for each in counted]


def test_a_report_is_counted_once_however_often_it_comes(store):
    one, other = arrival("40"), arrival("41")
    assert told(store.count([[one, one], [one], [other]], TODAY)) == [(1, 1), (0, 1), (1, 0)]
    assert told(store.count([[other, one], [arrival("40")]], TODAY)) == [(0, 2), (1, 0)]
    assert list(store.bag("age")) == [("40", 2), ("41", 1)]
    assert store.counted() == {"age": 3, "section": 0, "person": 0}
    assert store.arrivals("age") == {"2026-11-19": 3}
    assert store.check() == []


def test_a_key_is_that_of_one_question(store):
    key = os.urandom(16)
    assert told(store.count([[arrival("40", 1, key), arrival('"news"', 2, key)]], TODAY)) == [(2, 0)]


def test_a_known_key_with_another_report_counts_nothing(store):
    key = os.urandom(16)
    store.count([[arrival("40", 1, key)]], TODAY)
    assert told(store.count([[arrival("90", 1, key)]], TODAY)) == [(0, 1)]
    assert list(store.bag("age")) == [("40", 1)]


KEYS = [bytes([at]) * 16 for at in range(6)]
ARRIVALS = st.builds(Arrival, st.integers(1, 2), st.sampled_from(KEYS), st.sampled_from(["18", "19"]))


@settings(max_examples=40, deadline=None)
@given(calls=st.lists(st.lists(st.lists(ARRIVALS, max_size=5), max_size=4), max_size=4))
def test_the_bag_is_that_of_a_dictionary(tmp_path_factory, calls):
    """The oracle is a dictionary of the first report of each key."""
    folder = tmp_path_factory.mktemp("bags")
    path = folder / "readers.toml"
    from tests.collect.conftest import STUDY

    path.write_text(STUDY)
    kept = {}
    with begin(folder / "readers.db", read_study(path)) as store:
        for posts in calls:
            expected = []
            for post in posts:
                new = 0
                for each in post:
                    if (each.question, each.key) not in kept:
                        kept[each.question, each.key] = each.report
                        new += 1
                expected.append((new, len(post) - new))
            assert told(store.count(posts, TODAY)) == expected
        for number, name in ((1, "age"), (2, "section")):
            bag = Counter(report for (question, _), report in kept.items() if question == number)
            assert dict(store.bag(name)) == bag
        assert store.check() == []


def test_after_the_last_day_nothing_is_counted_whatever_the_clock_says_later(store):
    late = date(2027, 1, 1)
    assert not store.is_closed(date(2026, 12, 31))
    assert store.is_closed(late)
    with pytest.raises(ClosedError, match="The study 'readers' takes no more reports"):
        store.count([[arrival()]], late)
    with pytest.raises(ClosedError):
        store.count([[arrival()]], TODAY)
    assert store.counted()["age"] == 0
    assert store.is_closed(TODAY)


def test_closing_forgets_the_keys_and_keeps_the_bag(store, where):
    keys = [os.urandom(16) for _ in range(3)]
    store.count([[arrival("40", key=key)] for key in keys], TODAY)
    store.close_study()
    assert list(store.bag("age")) == [("40", 3)]
    assert store.check() == []
    with pytest.raises(ClosedError):
        store.count([[arrival()]], TODAY)
    if is_file(where):
        held = where.read_bytes()
        assert not any(key in held for key in keys)


def test_a_server_holds_a_closed_study_in_the_order_of_its_content(postgresql_url, study):
    with begin(postgresql_url, study) as store:
        for report in ("90", "18", "40"):
            store.count([[arrival(report)]], TODAY)
        store.close_study()
        assert store._database.execute("SELECT report FROM bag ORDER BY ctid").fetchall() == [("18",), ("40",), ("90",)]
        assert len(store._database.execute("SELECT DISTINCT xmin::text FROM bag").fetchall()) == 1


def test_answers_are_published_in_steps(store):
    assert store.published("age") is None
    for n, expected in ((100, 100), (149, 100), (150, 150), (120, 150)):
        store.publish("age", n, f"answers of {n}")
        assert store.published("age") == (expected, f"answers of {expected}")


def test_a_link_is_used_once(store):
    store.add_link("a hash")
    assert [store.use_link(each) for each in ("another", "a hash", "a hash")] == [False, True, False]


def test_a_probe_changes_nothing(store):
    store.probe(TODAY)
    assert not store.is_closed(TODAY)
    store.close_study()
    store.probe(TODAY)
    assert store.is_closed(TODAY)


def test_a_study_goes_on_where_it_was(store, where, study):
    one = arrival()
    store.count([[one]], TODAY)
    for again in (begin(where, study), resume(where, "readers")):
        with again:
            assert again.study == study
            assert again.secret == store.secret
            assert told(again.count([[one]], TODAY)) == [(0, 1)]


@pytest.mark.usefixtures("store")
def test_a_changed_study_is_refused(where, study_file):
    study_file.write_text(study_file.read_text().replace("18, 90", "18, 99"))
    with pytest.raises(InputError, match=r"^questions\.age\.domain: changed since .* under a new name\.$"):
        begin(where, read_study(study_file))


@pytest.mark.usefixtures("store")
def test_a_study_that_is_over_goes_on_but_none_begins(where, study_file, tmp_path):
    begin(where, read_study(study_file), today=date(2999, 1, 1)).close()
    late = tmp_path / "late.toml"
    late.write_text(study_file.read_text())
    with pytest.raises(InputError, match=r"^Expected ends = a day to come, got 2026-12-31, which is over\.$"):
        begin(where, read_study(late), today=date(2027, 1, 1))
    begin(where, read_study(late), today=date(2026, 12, 31)).close()  # the last day; and nothing of it was there before


def test_a_file_that_cannot_be_made_is_told(study, tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(
        DatabaseError, match=r"^new\.db cannot be made here \(Read-only file system\); name another file"
    ):
        begin(tmp_path / "new.db", study)


@pytest.mark.usefixtures("store")
def test_an_unknown_study_is_named_with_those_there(where):
    with pytest.raises(MissingDataError, match="has no study 'others', but readers; name one of these"):
        resume(where, "others")


def test_a_backup_has_everything_and_replaces_nothing(store, tmp_path):
    one = arrival()
    store.count([[one, arrival('"news"', 2)]], TODAY)
    store.publish("age", 50, "answers")
    copy = tmp_path / "copy.db"
    store.backup(copy)
    assert copy.stat().st_mode & 0o077 == 0
    with resume(copy, "readers") as found:
        assert list(found.bag("age")) == [("40", 1)]
        assert found.published("age") == (50, "answers")
        assert found.check() == []
        # What came before the backup is known, what came after it counts.
        assert told(found.count([[one], [arrival()]], TODAY)) == [(0, 1), (1, 0)]
    with pytest.raises(InputError, match=r"copy\.db exists, and backups replace nothing; choose another name"):
        store.backup(copy)


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("UPDATE bag SET n = 7", "1 questions whose reports are not as many as their keys"),
        ("DELETE FROM arrivals", "1 questions whose reports are not as many as their arrivals"),
        ("INSERT INTO seen VALUES (9, 'k')", "1 keys of no question"),
        ("INSERT INTO bag VALUES (9, '1', 1)", "1 reports of no question"),
        ("UPDATE arrivals SET day = '2026-11-19T10:30'", "1 arrivals whose day is none"),
        ("UPDATE seen SET key = 'short'", "1 keys that are not of 16 bytes"),
    ],
)
def test_what_does_not_add_up_is_found(store, damage, finding):
    store.count([[arrival()]], TODAY)
    with store._database.transaction():
        store._database.execute(damage)
    assert finding in store.check()


def test_tables_of_a_later_version_are_refused(store, where):
    with store._database.transaction():
        store._database.execute("INSERT INTO collector VALUES (9)")
    with pytest.raises(DatabaseError, match="is of version 9, and this bipartite knows 1; update it"):
        resume(where, "readers")


def test_each_migration_runs_once(store):
    ran = ["CREATE TABLE one (a BLOB) WITHOUT ROWID", "CREATE TABLE two (a BLOB PRIMARY KEY) WITHOUT ROWID;\n"]
    with store._database.transaction():
        migrate(store._database, 1, lambda: ran)
    assert "two" in store._database.tables()
    assert "one" not in store._database.tables()


def test_other_files_are_refused(tmp_path, study):
    path = tmp_path / "readers.db"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE t (a)")
    other.close()
    with pytest.raises(DatabaseError, match=r"readers\.db is a SQLite database, but not a collector's"):
        begin(path, study)
    path.write_text("text " * 1000)
    with pytest.raises(DatabaseError, match=r"readers\.db is not a SQLite database; choose another file"):
        begin(path, study)
    with pytest.raises(MissingDataError, match=r"gone\.db not found; begin with: bipartite collect gone\.toml"):
        resume(tmp_path / "gone.db", "gone")


def test_other_databases_are_refused(postgresql_url):
    with pytest.raises(DatabaseError, match="is not a collector's database; choose another"):
        resume(postgresql_url, "readers")


def test_a_file_is_its_owners_and_leaves_no_log(tmp_path, study):
    path = tmp_path / "readers.db"
    with begin(path, study) as store:
        store.count([[arrival()]], TODAY)
        assert path.stat().st_mode & 0o077 == 0
        assert (tmp_path / "readers.db-wal").stat().st_size
        store.tidy()
        assert not (tmp_path / "readers.db-wal").stat().st_size
    assert not (tmp_path / "readers.db-wal").exists()


def test_reading_goes_on_beside_writing(store, where):
    store.count([[arrival("40"), arrival("41")]], TODAY)
    with resume(where, "readers") as writer:
        rows = store.bag("age")
        first = next(rows)
        writer.count([[arrival("42")]], TODAY)
        assert [first, *rows] == [("40", 1), ("41", 1)]


def test_reading_goes_on_beside_closing(store, where):
    """Who began to read before a study was closed sees all that was there: a backup is not cut in half."""
    store.count([[arrival("40")]], TODAY)
    with closing(connect(where)) as reader, reader.reading():
        reader.execute("SELECT count(*) FROM questions").fetchone()
        store.close_study()
        counting = [f"SELECT count(*) FROM {table}" for table in ("seen", "bag", "arrivals")]  # noqa: S608
        rows = [reader.execute(each).fetchone() for each in counting]
    assert rows == [(1,)] * 3


def test_closing_loses_no_report_of_another_study(postgresql, postgresql_url, study, study_file):
    """Tables are shared: what another study counts while one is closed stays counted."""
    other = study_file.with_name("others.toml")
    other.write_text(study_file.read_text())
    key = os.urandom(16)
    with (
        begin(postgresql_url, study) as store,
        begin(postgresql_url, read_study(other)) as open_still,
        ThreadPoolExecutor(1) as pool,
        closing(postgresql.connect(postgresql_url.rpartition("/")[2])) as counting,
    ):
        store.count([[arrival("40")]], TODAY)
        number = open_still.numbers["age"]
        with counting.transaction():
            counting.execute("SET search_path = bipartite_collect")
            counting.execute("INSERT INTO seen VALUES (%s, %s)", (number, key))
            counting.execute("INSERT INTO bag VALUES (%s, '18', 1)", (number,))
            counting.execute("INSERT INTO arrivals VALUES (%s, '2026-11-19', 1)", (number,))
            closed = pool.submit(store.close_study)
            until = time.monotonic() + 60
            waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            with closing(postgresql.connect()) as watching:
                while not watching.execute(waits).fetchone()[0]:
                    assert not closed.done() and time.monotonic() < until
                    time.sleep(0.01)
        closed.result(60)
        assert list(open_still.bag("age")) == [("18", 1)]
        assert told(open_still.count([[arrival("18", number, key)]], TODAY)) == [(0, 1)]
        assert open_still.check() == []


def second_version():
    """The tables of this version, and a made-up one that adds a column."""
    from bipartite.collect.store import _migrations

    return [*_migrations(), "ALTER TABLE links ADD COLUMN made INTEGER;\n"]


def kept_before(where):
    """The bags in the copies that were made before the tables changed."""
    if is_file(where):
        found = sorted(where.parent.glob("readers.before-*.db"))
        assert all(path.stat().st_mode & 0o077 == 0 for path in found)
        rows = []
        for path in found:
            with closing(sqlite3.connect(path)) as copy:
                rows.append(copy.execute("SELECT * FROM bag").fetchall())
        return [path.name for path in found], rows
    with closing(connect(where)) as database:
        found = [name for (name,) in database.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%before%'")]
        rows = [database.execute(f'SELECT * FROM "{name}".bag').fetchall() for name in sorted(found)]  # noqa: S608
        return sorted(found), rows


def test_tables_of_an_earlier_version_are_copied_and_then_brought_up_to_date(where, study):
    with begin(where, study) as store:
        store.count([[arrival("40")]], TODAY)
    with pytest.raises(DatabaseError, match=r"is of version 1, and this bipartite writes 2; run bipartite collect "):
        resume(where, "readers", second_version)
    with begin(where, study, second_version) as store:
        store.count([[arrival("40")]], TODAY)
        assert list(store.bag("age")) == [("40", 2)] and store.check() == []
    names, rows = kept_before(where)
    assert len(names) == 1 and names[0].removesuffix(".db").endswith("before-0002") and rows == [[(1, "40", 1)]]
    resume(where, "readers", second_version).close()
    begin(where, study, second_version).close()
    assert len(kept_before(where)[0]) == 1  # nothing is copied twice
    with pytest.raises(DatabaseError, match="is of version 2, and this bipartite knows 1; update it"):
        begin(where, study)


def test_a_migration_that_fails_changes_nothing_and_its_copy_stays(where, study):
    with begin(where, study) as store:
        store.count([[arrival("40")]], TODAY)

    def broken():
        return [*second_version()[:-1], "ALTER TABLE links ADD COLUMN made INTEGER;\nSELECT nothing FROM nowhere;\n"]

    for _ in range(2):
        with pytest.raises(DatabaseError):
            begin(where, study, broken)
    assert len(kept_before(where)[0]) == 2
    with begin(where, study, second_version) as store:
        assert list(store.bag("age")) == [("40", 1)]
    assert [len(rows) for rows in kept_before(where)[1]] == [1, 1, 1]
