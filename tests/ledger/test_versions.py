"""Ledgers of version 2 are upgraded, whoever dies or comes along meanwhile; what cannot be is refused, and stays."""

import os
import signal
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

import bipartite as bp
from bipartite.errors import BudgetSpentError, LedgerFileError
from bipartite.ledger import statements
from bipartite.ledger.connection import Connection
from tests.ledger.conftest import AGE, change

HERE = Path(__file__).parent
OPTIONS = {"plain": {}, "keyed": {"person_key": b"a key of 16 byte"}}


@pytest.fixture(params=OPTIONS)
def kind(request, path):
    """A ledger of version 2, as the version before this one wrote it, in a file that lies still."""
    change(path, (HERE / f"version-2-{request.param}.sql").read_text(encoding="utf-8"))
    path.chmod(0o600)
    os.utime(path, (1, 1))
    return request.param


@pytest.fixture
def plain(path):
    change(path, (HERE / "version-2-plain.sql").read_text(encoding="utf-8"))
    return path


def held(path):
    """What matters, read by SQLite alone: the version, and all but how constants and balances are stored."""
    with closing(sqlite3.connect(path)) as database:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        rows = [list(database.execute(f"SELECT * FROM {name}")) for name in ("questions", "reports", "requests")]  # noqa: S608
        sums = list(database.execute("SELECT person, period, sum(epsilon) FROM reports GROUP BY person, period"))
        if version == 2:
            assert sums == list(database.execute("SELECT * FROM balances"))
    return version, rows, sums


def seen(ledger):
    return list(ledger.export()), ledger.summary(), ledger.questions(), ledger.specs(), ledger.budget, ledger.check()


def test_an_older_ledger_is_upgraded_when_it_is_first_opened_to_debit_and_keeps_what_it_held(make, kind, path):
    _, *before = held(path)
    ledger = make(**OPTIONS[kind])
    version, *after = held(path)
    assert (version, after) == (3, before) and ledger.check() == []
    copy = path.with_name("spent.db.version-2")
    assert held(copy) == (2, *before) and stat.S_IMODE(copy.stat().st_mode) == 0o600
    with bp.Ledger(copy, read_only=True) as reader:
        assert seen(reader) == seen(ledger)
    for person in ("ada", "k²", "bob"):
        assert ledger.spent_ever(person) > 0
    make().close()
    assert sorted(each.name for each in path.parent.glob("*version*")) == [copy.name]


def test_what_was_asked_before_the_upgrade_is_repeated_and_the_budget_stays_spent(make, plain, clock):
    with closing(sqlite3.connect(plain)) as database:
        report = database.execute("SELECT report FROM reports WHERE person = 'k²' AND question = 'age'").fetchone()[0]
    ledger = make()
    assert ledger.report("k²", "age", AGE, 18, request="r17age") == report  # a month later, by its key
    clock.go_on(days=40)
    assert ledger.report("k²", "age", AGE, 18) == report and ledger.spent("k²") == 1
    with pytest.raises(BudgetSpentError, match="budget 2, spent 1.723456789013, asked 1"):
        ledger.report("bob", "age", AGE, 37)


def test_a_reader_sees_an_older_ledger_and_leaves_it_as_it_is(make, kind, path, tmp_path):
    before = path.read_bytes()
    path.chmod(0o400)
    with bp.Ledger(path, read_only=True, **OPTIONS[kind]) as reader:
        found, spent = seen(reader), reader.spent_ever("ada")
        reader.backup(tmp_path / "copy.db")
    assert path.read_bytes() == before and found[-1] == []
    path.chmod(0o600)
    ledger = make(**OPTIONS[kind])
    assert seen(ledger) == found and ledger.spent_ever("ada") == spent
    with bp.Ledger(tmp_path / "copy.db", read_only=True) as reader:
        assert seen(reader) == found and held(tmp_path / "copy.db")[0] == 2


def test_a_reader_goes_on_while_another_upgrades(make, plain):
    with closing(sqlite3.connect(plain)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("SELECT * FROM settings").fetchone()  # the version before this one has it open, log and all
        with bp.Ledger(plain, read_only=True) as reader:
            before = seen(reader)
            rows = reader.export()
            first = next(rows)
            ledger = make()
            assert seen(reader) == seen(ledger) == before and [first, *rows] == before[0]
            ledger.report("new", "age", AGE, 37)
            assert reader.summary() == ledger.summary() != before[1]


def killed_at(path, number):
    """Open the ledger in another process, killed before its n-th statement; whether it lived to the end."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    left, execute = [number], Connection.execute

    def counting(self, *given):
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(self, *given)

    Connection.execute = counting
    try:
        bp.Ledger(path)
    finally:
        os._exit(0)


@pytest.mark.filterwarnings("ignore:removed .* the unfinished output of a run")
def test_an_upgrade_that_is_killed_at_any_statement_leaves_the_ledger_as_it_was_or_done(plain, tmp_path):
    _, *before = held(plain)
    versions = []
    for number in range(1, 200):
        path = tmp_path / f"{number}.db"
        change(path, (HERE / "version-2-plain.sql").read_text(encoding="utf-8"))
        done = killed_at(path, number)
        version, *after = held(path)
        assert after == before
        versions.append(version)
        with bp.Ledger(path) as ledger:  # the next one upgrades it, whatever the dead one left
            assert ledger.check() == []
        assert held(path) == (3, *before)
        if done:
            break
    # Before the upgrade, while the copy is made and the tables are filled; and, without a death, after it.
    assert done and versions == sorted(versions) and versions.count(2) > 40 and versions[-1] == 3


def test_a_copy_that_is_there_already_is_not_replaced(make, plain):
    for name in ("spent.db.version-2", "spent.db.version-2-2"):
        plain.with_name(name).write_text("precious")
    make()
    assert plain.with_name("spent.db.version-2-2").read_text() == "precious"
    assert held(plain.with_name("spent.db.version-2-3"))[0] == 2 and held(plain)[0] == 3


def test_two_who_upgrade_at_once_make_one_ledger_and_one_copy(plain, tmp_path):
    _, *before = held(plain)
    for turn in range(10):
        path = tmp_path / f"two-{turn}.db"
        change(path, (HERE / "version-2-plain.sql").read_text(encoding="utf-8"))
        start, go = os.pipe()
        children = []
        for _ in range(2):
            children.append(os.fork())
            if not children[-1]:
                code = 1
                try:
                    os.read(start, 1)
                    with bp.Ledger(path) as ledger:
                        code = len(ledger.check())
                finally:
                    os._exit(code)
        os.write(go, b"xx")
        assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0]
        os.close(start)
        os.close(go)
        assert held(path) == (3, *before)
        assert [each.name for each in tmp_path.glob(f"two-{turn}.db.*")] == [f"two-{turn}.db.version-2"]


def test_one_that_is_upgraded_while_its_version_is_read_is_opened_all_the_same(plain, monkeypatch):
    change(plain, "PRAGMA journal_mode = WAL")  # as every ledger that was ever debited
    version = Connection.version

    def upgraded_meanwhile(database):
        found = version(database)
        monkeypatch.setattr(Connection, "version", version)
        bp.Ledger(plain).close()
        return found

    monkeypatch.setattr(Connection, "version", upgraded_meanwhile)
    with bp.Ledger(plain) as ledger:
        assert ledger.check() == [] and ledger.summary()["reports"] > 0
    assert held(plain)[0] == 3


BEGUN_AS_1 = [
    "UPDATE settings SET older_names = 1",
    "INSERT INTO spellings VALUES ('person', 'e\u0301', 'é')",
    "UPDATE questions SET insecure = NULL WHERE question = 'age'",
    "UPDATE reports SET insecure = NULL WHERE question = 'age'",
]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("script", ["PRAGMA user_version = 1", *BEGUN_AS_1])
def test_a_ledger_that_version_1_began_is_refused_and_left_alone(make, plain, script, read_only):
    change(plain, script)
    before = plain.read_bytes()
    with pytest.raises(
        LedgerFileError,
        match="spent.db was begun as a ledger of version 1, which may .*; keep the bipartite that you used until its",
    ):
        make(budget=2, period="month", read_only=read_only)
    assert plain.read_bytes() == before and [each.name for each in plain.parent.iterdir()] == ["spent.db"]


@pytest.mark.parametrize("read_only", [False, True])
def test_a_ledger_of_version_1_itself_is_refused(make, path, read_only):
    change(path, (HERE / "version-1-plain.sql").read_text(encoding="utf-8"))
    with pytest.raises(LedgerFileError, match="was begun as a ledger of version 1"):
        make(budget=2, read_only=read_only)


INCONSISTENT = {
    "UPDATE balances SET spent = 0 WHERE person = 'bob'": "1 balances that are not the sum of their debits",
    "DELETE FROM balances WHERE person = 'bob'": "1 balances that are not the sum of their debits",
    "DELETE FROM reports WHERE person = 'eve ' AND period = '2026-11'": "1 balances without a debit",
    "UPDATE settings SET budget = 3000000000000": "1 budgets that differ from the limit enforced on balances",
}


@pytest.mark.parametrize("script", INCONSISTENT)
def test_an_older_ledger_that_does_not_add_up_is_not_upgraded(make, plain, script):
    change(plain, script)
    with pytest.raises(LedgerFileError, match=r"is inconsistent \(.*\), and no copy was made; run `bipartite ledger"):
        make()
    with make(read_only=True) as reader:
        assert INCONSISTENT[script] in reader.check()
    with closing(sqlite3.connect(plain)) as database:
        assert database.execute("PRAGMA user_version").fetchone() == (2,)
    assert not list(plain.parent.glob("*version*"))


def test_an_upgrade_that_loses_something_is_undone(make, plain, monkeypatch):
    before = held(plain)
    lossy = tuple(
        f"{each} WHERE question <> 'age'" if "INTO reports" in each else each for each in statements.TAKE_OVER
    )
    monkeypatch.setattr(statements, "TAKE_OVER", lossy)
    with pytest.raises(
        LedgerFileError,
        match=r"spent.db could not be upgraded to version 3 \(1 questions, reports or requests that were not copied; "
        r".*, and stays as it was; run `bipartite ledger check`",
    ):
        make()
    assert held(plain) == before
    monkeypatch.undo()
    assert make().check() == []


def test_an_older_ledger_that_comes_in_the_place_of_an_open_one_is_refused(make, path):
    ledger = make(budget=2, period="month")
    ledger.close()  # as before a fork
    path.unlink()
    change(path, (HERE / "version-2-plain.sql").read_text(encoding="utf-8"))
    with pytest.raises(LedgerFileError, match="was replaced by a ledger with other settings since it was first opened"):
        ledger.report("ada", "age", AGE, 37)
    assert held(path)[0] == 2
