"""A ledger of many machines: nobody overspends, and nothing is released that a server which fails does not hold."""

import fcntl
import json
import os
import pickle
import socket
import threading
from collections import Counter
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

import bipartite as bp
from bipartite.errors import BipartiteError, BudgetSpentError, InputError, LedgerFileError
from bipartite.postgres import Connection
from tests.ledger.conftest import AGE, on_server, refused_by
from tests.ledger.forking import Within
from tests.ledger.test_ledger import Unreadable
from tests.postgresql import everything, in_a_child, shows_a_secret

ENGINES = ("postgresql",)


def children(count, work):
    """Fork that many children; each does ``work(at)`` when all are there, and must succeed."""
    read, write = os.pipe()
    started = []
    for at in range(count):
        child = os.fork()
        if not child:
            code = 1
            try:
                os.close(write)
                os.read(read, 1)  # until the parent closes its end
                work(at)
                code = 0
            finally:
                os._exit(code)
        started.append(child)
    os.close(read)
    os.close(write)
    return started


def succeeded(started):
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in started] == [0] * len(started)


@pytest.mark.parametrize("on_change", ["fresh", "repeat"])
def test_twenty_processes_that_debit_one_person_at_once_do_not_overspend(make, path, on_change):
    ledger = make(budget=7)
    budget_spent, stored = b"-", b"+"
    read, write = os.pipe()

    def by_sql(at):
        import psycopg

        with closing(on_server(path)) as database:
            for number in (1, 2, 3):
                try:
                    database.execute(
                        "INSERT INTO reports VALUES ('ada', 'forever', %s, %s, 1000000000000, '2026', 'int;;40', 0)",
                        (f"sql {at}", number),
                    )
                except psycopg.errors.RaiseException:
                    os.write(write, budget_spent)
                else:
                    os.write(write, stored)

    def by_ledger(at):
        with bp.Ledger(path) as own:
            for number in range(3):
                try:
                    own.report("ada", f"{at} {number * (on_change == 'repeat')}", AGE, 37, on_change=on_change)
                except BudgetSpentError:
                    os.write(write, budget_spent)
                else:
                    os.write(write, stored)

    assert succeeded(children(20, lambda at: by_ledger(at) if at % 4 else by_sql(at)))
    assert Counter(os.read(read, 100)) == {stored[0]: 7, budget_spent[0]: 53}
    assert ledger.spent("ada") == 7 and ledger.summary()["reports"] == 7


DEBIT = "INSERT INTO reports VALUES ('ada', 'forever', '{}', 1, 1000000000000, '2026', 'int;;40', 0)"


@pytest.mark.parametrize("first", ["ledger", "sql"])
@pytest.mark.parametrize("second", ["ledger", "sql"])
def test_a_debit_waits_for_the_one_before_it_and_sees_it(path, make, first, second):
    said = []

    def debit_second():
        try:
            if second == "ledger":
                with bp.Ledger(path) as own:
                    own.report("ada", "second", AGE, 37)
            else:
                with closing(on_server(path)) as session:
                    session.execute(DEBIT.format("second"))
        except Exception as error:  # noqa: BLE001
            said.append(str(error))

    waiting = threading.Thread(target=debit_second)

    def while_the_first_is_not_committed():
        waiting.start()
        with closing(on_server(path)) as observer:
            query = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            while waiting.is_alive() and observer.execute(query).fetchone() == (0,):
                waiting.join(0.01)

    ledger = make(budget=1)
    if first == "ledger":
        ledger.report("ada", "first", AGE, 37, rng=Within(while_the_first_is_not_committed))
    else:
        with closing(on_server(path)) as session, session.transaction():
            session.execute(DEBIT.format("first"))
            while_the_first_is_not_committed()
    waiting.join()
    assert ledger.spent("ada") == 1 and len(said) == 1
    assert "does not allow this" in said[0]


class Cut:
    """A way to the server that is cut at the commit: before it gets there, or before its answer comes back."""

    def __init__(self, port):
        self.port, self.cut = port, None
        self.door = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self.open, daemon=True).start()

    def open(self):
        with suppress(OSError):
            while True:
                client, _ = self.door.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self.carry, args=ends, daemon=True).start()

    def carry(self, source, target):
        with suppress(OSError):
            while said := source.recv(65536):
                to_server = target.getpeername()[1] == self.port
                if b"COMMIT\0" in said and self.cut == ("before" if to_server else "after"):
                    break  # the server says COMMIT, too, when it is done
                target.sendall(said)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


@pytest.mark.parametrize("cut", ["before", "after"])
@pytest.mark.parametrize("ask", [{}, {"request": "r"}, {"request": "r", "on_change": "fresh"}])
def test_a_connection_that_is_cut_at_the_commit_releases_nothing_and_the_next_try_is_debited_once(
    postgresql, path, make, cut, ask
):
    way = Cut(postgresql.port)
    url = path.replace(f":{postgresql.port}/", f":{way.door.getsockname()[1]}/")
    with way.door, bp.Ledger(url, budget=1) as ledger:
        way.cut = cut
        with pytest.raises(LedgerFileError, match="while it was committing, and whether this was stored is not known"):
            ledger.report("ada", "age", AGE, 37, **ask)
        way.cut = None
        stored = make().summary()["reports"]
        assert stored == (cut == "after")
        report = ledger.report("ada", "age", AGE, 37, **ask)
        assert make().report("ada", "age", AGE, Unreadable(), **ask) == report
        assert ledger.spent("ada") == 1 and ledger.summary()["reports"] == 1 and ledger.check() == []


@contextmanager
def in_line(path, how):
    with path.open() as file:
        fcntl.flock(file, how)
        yield


@pytest.mark.slow
def test_a_server_that_is_killed_again_and_again_has_every_report_that_was_released(postgresql, path, make, tmp_path):
    """Six kills and stops; each of four processes asks for 200 reports, again under the same key where it got none."""
    ledger = make(budget=1000)
    read, write = os.pipe()
    (tmp_path / "down").touch()

    def work(at):
        with bp.Ledger(path, wait=5) as own, (tmp_path / f"released {at}").open("a") as log:
            for number in range(200):
                released = None
                while released is None:
                    try:
                        released = own.report("ada", f"q{at}", AGE, 37, on_change="fresh", request=f"{at} {number}")
                    except LedgerFileError:
                        with in_line(tmp_path / "down", fcntl.LOCK_SH):
                            pass  # the server is up again
                print(json.dumps([f"{at} {number}", released]), file=log, flush=True)
                os.write(write, b"x")

    started = children(4, work)
    for at in range(6):
        for _ in range(90):
            os.read(read, 1)
        with in_line(tmp_path / "down", fcntl.LOCK_EX):
            if at % 2:
                postgresql.stop("immediate")
            else:
                postgresql.kill()
            postgresql.start()
    threading.Thread(target=lambda: [os.read(read, 1) for _ in range(800 - 540)], daemon=True).start()
    assert succeeded(started)
    logs = [(tmp_path / f"released {at}").read_text() for at in range(4)]
    released = dict(json.loads(line) for log in logs for line in log.splitlines())
    assert len(released) == 800 and ledger.check() == []
    assert ledger.spent("ada") == ledger.summary()["reports"] == 800
    for key, report in released.items():
        assert ledger.report("ada", f"q{key[0]}", AGE, Unreadable(), on_change="fresh", request=key) == report


def test_a_server_that_is_out_of_reach_costs_neither_budget_nor_random_words(postgresql, path, make):
    ledger = make(budget=5)
    first = [AGE.privatize(37, rng=bp.insecure_seed(7))]
    words = bp.insecure_seed(7)
    postgresql.stop()
    for use in (
        lambda: ledger.report("ada", "age", AGE, Unreadable(), rng=words),
        lambda: ledger.report_many(["ada", "bob"], "age", AGE, [Unreadable()] * 2, rng=words),
        lambda: bp.Ledger(path, budget=5, wait=2),
        ledger.check,
        lambda: next(ledger.export()),
    ):
        with pytest.raises(LedgerFileError, match="cannot be reached") as caught:
            use()
        assert not shows_a_secret(everything(caught.value))
    postgresql.start()
    assert ledger.summary()["reports"] == 0
    assert [ledger.report("ada", "age", AGE, 37, rng=words)] == first


def test_a_child_reports_by_itself_and_its_parent_goes_on(make):
    ledger = make(budget=2)
    first = ledger.report("ada", "age", AGE, 37)

    def work():
        assert ledger.report("ada", "age", AGE, Unreadable()) == first
        ledger.report("bob", "age", AGE, 37)
        in_a_child(lambda: ledger.report("eve", "age", AGE, 37))
        ledger.close()

    in_a_child(work)
    ledger.report("dan", "age", AGE, 37)
    assert [debit.person for debit in ledger.export()] == ["ada", "bob", "dan", "eve"] and ledger.check() == []


def test_a_child_of_a_draw_releases_nothing_and_its_parent_does(make):
    ledger = make(budget=2)

    def work():
        numbers = []
        try:
            report = ledger.report("ada", "age", AGE, 37, rng=Within(lambda: numbers or numbers.append(os.fork())))
        except LedgerFileError as error:
            if numbers != [0]:
                raise
            # Its next transaction is its own.
            refused = "was in use when this process was forked" in str(error) and ledger.spent("ada") <= 1
            os._exit(0 if refused else 3)
        assert numbers != [0] and os.waitstatus_to_exitcode(os.waitpid(numbers[0], 0)[1]) == 0
        assert ledger.report("ada", "age", AGE, Unreadable()) == report and ledger.spent("ada") == 1

    in_a_child(work)


def test_threads_that_report_while_others_fork_lose_nothing(make):
    ledger = make(budget=1)
    names = [f"p{at}" for at in range(60)]
    reporting = threading.Thread(target=lambda: [ledger.report(name, "age", AGE, 37) for name in names])
    reporting.start()
    for at in range(6):
        in_a_child(lambda at=at: ledger.report(f"child {at}", "age", AGE, 37))
    reporting.join()
    assert ledger.summary()["reports"] == 66 and ledger.check() == []


def test_a_ledger_tells_its_password_nowhere(path, make, caplog):
    caplog.set_level(0)
    ledger = make(budget=2)
    ledger.report("ada", "age", AGE, 37)
    told = [ledger, ledger.name, ledger.certificate("age"), ledger.questions(), ledger.summary(), list(ledger.export())]
    for use in (
        lambda: ledger.report("ada", "often", AGE, 37, on_change="fresh", now=0),
        lambda: ledger.report_many(["ada"] * 3, "often", AGE, [1, 2, 3]),
        lambda: make(budget=3),
        lambda: ledger.backup("copy.db"),
        lambda: pickle.dumps(ledger),
        lambda: bp.Ledger(path.replace("postgresql://", "postgresql+psycopg://"), budget=1),
        lambda: bp.Ledger(Path(path), budget=1),
    ):
        with pytest.raises((BipartiteError, TypeError)) as caught:
            use()
        told += [str(caught.value), repr(caught.value)]
    assert not shows_a_secret(" ".join(map(str, told)) + repr(told) + caplog.text)


@pytest.mark.parametrize("word", ["BEGIN", "COMMIT"])
def test_a_request_to_stop_that_is_heard_just_after_waiting_leaves_the_server_free(make, monkeypatch, word):
    ledger, other = make(budget=2, wait=1), make(wait=1)
    execute = Connection.execute

    def interrupted(self, statement, *given):
        done = execute(self, statement, *given)
        if statement.startswith(word):
            raise KeyboardInterrupt
        return done

    with monkeypatch.context() as patched:
        patched.setattr(Connection, "execute", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.report("ada", "age", AGE, 37)
    other.report("bob", "age", AGE, 37)
    assert ledger.summary()["reports"] == (1 if word == "BEGIN" else 2) and ledger.spent("ada") <= 1


@contextmanager
def role(postgresql, path, *rights):
    """The URL of a ledger for another role, with these rights to its tables."""
    with closing(on_server(path)) as session:
        session.execute("CREATE ROLE clerk LOGIN PASSWORD 'read'; GRANT USAGE ON SCHEMA bipartite_ledger TO clerk")
        for each in rights:
            session.execute(f"GRANT {each} TO clerk")
        try:
            yield postgresql.url(path.rpartition("/")[2], user="clerk", password="read")  # noqa: S106
        finally:
            session.execute("DROP OWNED BY clerk; DROP ROLE clerk")


def test_an_auditor_needs_to_read_only(postgresql, path, make):
    make(budget=2).report("ada", "age", AGE, 37)
    with role(postgresql, path, "SELECT ON ALL TABLES IN SCHEMA bipartite_ledger") as url:
        with bp.Ledger(url, read_only=True) as ledger:
            assert ledger.check() == [] and ledger.spent("ada") == 1 and len(list(ledger.export())) == 1
            with pytest.raises(InputError, match="was opened with read_only=True, but a report must be debited"):
                ledger.report("ada", "age", AGE, 37)
        with bp.Ledger(url) as ledger:
            assert ledger.report("ada", "age", AGE, Unreadable()) is not None
            with pytest.raises(LedgerFileError, match="does not allow this .permission denied .*have the owner"):
                ledger.report("bob", "age", AGE, 37)


def test_who_debits_needs_no_right_to_change_a_debit(postgresql, path, make):
    make(budget=2).report("ada", "age", AGE, 37)
    tables = "SELECT, INSERT ON ALL TABLES IN SCHEMA bipartite_ledger"
    with role(postgresql, path, tables, "UPDATE (insecure) ON bipartite_ledger.questions") as url:
        with bp.Ledger(url) as ledger:
            ledger.report("bob", "age", AGE, 37, request="r")
            ledger.report("bob", "other", AGE, 37, rng=bp.insecure_seed(1))
            assert ledger.spent("bob") == 2 and ledger.check() == []
        with closing(on_server(url)) as session, pytest.raises(refused_by("postgresql"), match="must be owner of"):
            session.execute("ALTER TABLE reports DISABLE TRIGGER ALL")


def test_what_is_no_ledger_yet_or_another_programs_is_refused(path, make, called):
    with pytest.raises(InputError, match=f"Expected budget= for a new ledger, and {called} does not exist yet; pass"):
        make()
    with pytest.raises(LedgerFileError, match=f"{called} is empty: nothing has been debited yet"):
        make(read_only=True)
    with closing(on_server(path)) as session:
        session.execute("CREATE SCHEMA bipartite_ledger; CREATE TABLE theirs (x int)")
    with pytest.raises(LedgerFileError, match=f"{called} is a database, but not a bipartite ledger; choose another"):
        make(budget=1)
    with closing(on_server(path)) as session:
        session.execute("DROP TABLE theirs")
    assert make(budget=1).check() == []  # a schema that somebody made for it


def test_two_who_begin_a_ledger_at_once_make_one(path):
    def work(at):
        with bp.Ledger(path, budget=1) as own:
            own.report(f"p{at}", "age", AGE, 37)

    assert succeeded(children(6, work))
    with bp.Ledger(path) as ledger:
        assert ledger.summary()["reports"] == 6 and ledger.check() == []


def test_a_ledger_that_was_dropped_and_begun_anew_is_refused_by_those_who_had_it_open(path, make):
    ledger = make(budget=1)
    with closing(on_server(path)) as session:
        session.execute("DROP SCHEMA bipartite_ledger CASCADE")
    with pytest.raises(LedgerFileError, match="is a database, but not a bipartite ledger"):
        ledger.report("ada", "age", AGE, 37)
    make(budget=1, period="day").close()
    with pytest.raises(LedgerFileError, match="was replaced by a ledger with other settings"):
        ledger.report("ada", "age", AGE, 37)
