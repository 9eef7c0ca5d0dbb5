"""What processes that fork do with one ledger: ``python -m tests.ledger.forking`` reads lines of SCENARIO FILE.

Every report that is released is noted in a log beside the ledger. In the end SQLite alone reads the file: what was
released must be there, and nobody may have two reports to one question.

Each scenario has a process of its own, forked before any ledger was opened: to import everything anew for each would
take most of the time.
"""

import ctypes
import inspect
import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import bipartite as bp
from bipartite.errors import BudgetSpentError, LedgerFileError
from bipartite.ledger import connection
from bipartite.ledger.file import LedgerFile
from bipartite.lottery import InsecureSeed

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
PEOPLE = ["ada", "bob", "eve", *(f"p{at}" for at in range(20))]


class Desk:
    """A ledger, and the log of what was released."""

    def __init__(self, path):
        self.path, self.log = path, path.with_suffix(".log")
        self.ledger = bp.Ledger(path, budget=1)
        self.ask("zoe")  # the connection is open, and so is its log

    def ask(self, *people):
        for person in people:
            self.note(person, self.ledger.report(person, "age", AGE, 37))

    def note(self, person, report):
        out = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(out, (json.dumps([person, report]) + "\n").encode())
        os.close(out)

    def problems(self):
        released = [tuple(json.loads(line)) for line in self.log.read_text().splitlines()]
        with closing(sqlite3.connect(self.path)) as database:
            stored = set(database.execute("SELECT person, report FROM reports"))
        found = [f"lost: {each}" for each in sorted(set(released) - stored)]
        people = [person for person, _ in set(released)]
        return found + [f"twice: {each}" for each in sorted(set(people)) if people.count(each) > 1]


def child(work, fork=os.fork):
    """Fork a child that does this; its number."""
    number = fork()
    if number:
        return number
    code = 1
    try:
        work()
        code = 0
    finally:
        os._exit(code)


def ended(number):
    """Wait for a child that must have done all it was to do."""
    assert os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]) == 0


class Turns:
    """Processes that wait for each other, through a pipe each."""

    def __init__(self, count):
        self.pipes = [os.pipe() for _ in range(count)]

    def go(self, which):
        os.write(self.pipes[which][1], b"x")

    def wait(self, which):
        os.read(self.pipes[which][0], 1)


class Auditor:
    """A process that knows nothing of the ledger until it opens, checks and leaves it: forked before it was made."""

    def __init__(self, path):
        self.path, self.turns = path, Turns(2)
        child(self.wait_for_calls)

    def __call__(self):
        self.turns.go(0)
        self.turns.wait(1)

    def wait_for_calls(self):
        while True:
            self.turns.wait(0)
            if os.waitpid(child(self.check), 0)[1]:
                os.killpg(0, signal.SIGKILL)  # nobody is to wait for an answer
            self.turns.go(1)

    def check(self):
        with bp.Ledger(self.path) as ledger:
            assert ledger.check() == []


def closed_under_a_child(desk, meanwhile):
    """The child reports, then the parent closes the ledger and does this, then the child reports again."""
    turns = Turns(2)

    def work():
        desk.ask("bob")
        turns.go(0)
        turns.wait(1)
        desk.ask("ada")

    number = child(work)
    turns.wait(0)
    desk.ledger.close()
    meanwhile()
    turns.go(1)
    ended(number)


def parent_closes_under_the_child(desk):
    closed_under_a_child(desk, lambda: None)
    desk.ask("ada", "bob")


def child_closes_under_the_parent(desk):
    def work():
        desk.ask("bob")
        desk.ledger.close()

    ended(child(work))
    desk.ask("ada")
    desk.audit()
    ended(child(lambda: desk.ask("ada", "eve")))
    desk.ask("eve", "ada", "bob")
    desk.ledger.close()


def several_children_close_in_every_order(desk):
    turns = Turns(6)

    def work(at):
        desk.ask(PEOPLE[at], "ada")
        turns.go(at)
        turns.wait(3 + at)
        desk.ask(PEOPLE[5 + at], PEOPLE[10])
        desk.ledger.close()

    for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
        numbers = [child(lambda at=at: work(at)) for at in range(3)]
        for at in range(3):
            turns.wait(at)
        desk.ask("ada", PEOPLE[11 + order[0]])
        desk.ledger.close()
        for at in order:
            turns.go(3 + at)
            ended(numbers[at])
            desk.ask(PEOPLE[14 + at])
        desk.ledger.close()


def an_auditor_comes_and_goes(desk):
    closed_under_a_child(desk, desk.audit)
    desk.audit()
    desk.ask("ada")


def a_service_becomes_a_daemon(desk):
    turns = Turns(2)

    def middle():
        def daemon():
            desk.ask("eve")
            turns.go(0)
            turns.wait(1)
            desk.ask("ada", "bob")
            turns.go(0)

        child(daemon)

    ended(child(middle))
    turns.wait(0)
    desk.ledger.close()
    turns.go(1)
    turns.wait(0)
    desk.ask("ada", "eve")


def a_server_forks_its_workers_before_they_work(desk):
    def work(at):
        desk.ask(*PEOPLE[at:], *PEOPLE[:at])

    numbers = [child(lambda at=at: work(at)) for at in range(4)]
    desk.ledger.close()  # the server itself needs none
    for number in numbers:
        ended(number)


def multiprocessing_forks_its_workers(desk):
    context = multiprocessing.get_context("fork")
    first, closed = context.Event(), context.Event()

    def work(at):
        desk.ask(PEOPLE[at])
        first.set()
        closed.wait()
        desk.ask(*PEOPLE)

    workers = [context.Process(target=work, args=(at,)) for at in range(3)]
    for each in workers:
        each.start()
    first.wait()
    desk.ledger.close()
    closed.set()
    for each in workers:
        each.join()
        assert each.exitcode == 0
    desk.ask(*PEOPLE)


def threads_report_while_another_forks(desk):
    other = bp.Ledger(desk.path.with_name("other.db"), budget=100)
    stop, failed = threading.Event(), []

    def spend(which):
        try:
            at = 0
            while not stop.is_set():
                desk.ask(f"t{which}-{at}")
                other.report(f"t{which}-{at}", "age", AGE, 37)
                at += 1
        except BaseException as error:  # noqa: BLE001
            failed.append(repr(error))

    threads = [threading.Thread(target=spend, args=(which,)) for which in range(3)]
    for each in threads:
        each.start()
    for at in range(8):

        def work(at=at):
            desk.ask(f"c{at}", "ada")
            other.report("ada", f"q{at}", AGE, 37)

        ended(child(work))
    stop.set()
    for each in threads:
        each.join()
    assert failed == []
    assert other.spent("ada") == 8
    assert not other.check()


def an_export_goes_on_in_both(desk):
    desk.ask(*PEOPLE)
    expected = sorted(["zoe", *PEOPLE])
    rows = desk.ledger.export()
    seen = [next(rows).person]

    def work():
        desk.ask("new in the child")
        assert seen + [debit.person for debit in rows] == expected

    number = child(work)
    desk.ask("new in the parent")
    ended(number)
    assert seen + [debit.person for debit in rows] == expected


class Within(InsecureSeed):
    """Words of a source that does something first: within the transaction, as a handler of a signal might."""

    def __init__(self, what):
        super().__init__(1)
        self.what = what

    def streams(self):
        self.what()
        return super().streams()


def a_fork_within_a_transaction_is_refused_in_the_child(desk):
    numbers = []
    try:
        report = desk.ledger.report("ada", "age", AGE, 37, rng=Within(lambda: numbers or numbers.append(os.fork())))
    except LedgerFileError as error:
        if numbers != [0]:
            raise
        uses = (desk.ledger.check, lambda: bp.Ledger(desk.path), lambda: desk.ask("bob"))
        refused = "was open when this process was forked" in str(error) and not any(map(refuses, uses))
        os._exit(0 if refused else 3)
    if numbers == [0]:
        os._exit(4)
    desk.note("ada", report)
    ended(numbers[0])
    desk.ask("bob", "ada")


def a_signal_that_forks_while_the_file_is_opened_is_refused_in_the_child(desk):
    turns = Turns(1)
    for step in ("_use_log", "_check_ours", "_begin"):
        desk.ledger.close()
        numbers, original = [], getattr(LedgerFile, step)

        def forks_first(*given, numbers=numbers, original=original):
            if not numbers:
                numbers.append(os.fork())
            return original(*given)

        setattr(LedgerFile, step, forks_first)
        try:
            desk.ask("ada")
        except LedgerFileError as error:
            if numbers != [0]:
                raise
            turns.wait(0)  # having taken no lock that the parent needs
            os._exit(0 if "was open when this process was forked" in str(error) else 3)
        if numbers == [0]:
            os._exit(4)
        setattr(LedgerFile, step, original)
        desk.ask(f"after {step}")
        turns.go(0)
        ended(numbers[0])


def refuses(use):
    """0 where this is refused as it must be."""
    try:
        use()
    except LedgerFileError as error:
        return 0 if "was open when this process was forked" in str(error) else 5
    return 6


def a_fork_behind_the_back_of_python_is_refused_in_the_child(desk):
    rows = desk.ledger.export()
    next(rows)

    def work():
        uses = [lambda: desk.ask("bob"), desk.ledger.check, lambda: bp.Ledger(desk.path), lambda: list(rows)]
        assert [refuses(use) for use in uses] == [0] * 4
        del rows_held[:]
        desk.ledger.close()
        assert refuses(lambda: bp.Ledger(desk.path)) == 0
        with bp.Ledger(desk.path.with_name("another.db"), budget=1) as another:  # nobody had this one open
            another.report("ada", "age", AGE, 37)
        ended(child(lambda: another.report("bob", "age", AGE, 37)))
        desk.__dict__.clear()  # whatever is collected here closes nothing of the parent's

    rows_held = [rows]
    number = child(work, ctypes.PyDLL(None).fork)
    ended(number)
    desk.ask("ada")
    # With no connection open there is nothing to inherit, hook or no hook.
    rows.close()
    desk.ledger.close()
    ended(child(lambda: desk.ask("bob", "ada"), ctypes.PyDLL(None).fork))
    desk.ask("bob")


def a_number_that_comes_back_is_no_disguise(desk):
    def work():
        assert refuses(lambda: desk.ask("bob")) == 0

    if sys.platform == "linux":
        number = os.getpid()
        os.getpid = lambda: number  # as if the child had got the number of the process that opened the ledger
        ended(child(work, ctypes.PyDLL(None).fork))
    desk.ask("ada")


def a_daemon_that_closes_all_descriptors_is_refused_its_open_ledger(desk):
    def work():
        desk.ask("bob")
        os.closerange(3, 256)
        # They get the numbers of the descriptors that SQLite goes on to write to.
        logs = [desk.path.with_name(f"{at}.txt") for at in range(8)]
        for each in logs:
            os.open(each, os.O_RDWR | os.O_CREAT, 0o600)
        with bp.Ledger(desk.path.with_name("another.db"), budget=1) as another:
            another.report("ada", "age", AGE, 37)
        uses = [lambda: bp.Ledger(desk.path), lambda: desk.ask("ada"), desk.ledger.check]
        assert [refuses(use) for use in uses] == [0] * 3
        desk.ledger.close()
        desk.__dict__.clear()  # whatever is collected here closes nothing of others
        assert [each.stat().st_size for each in logs] == [0] * 8

    ended(child(work))
    desk.ask("ada", "bob")


def other_programs_are_started(desk):
    for options in ({}, {"close_fds": False}, {"preexec_fn": os.getpid}):
        subprocess.run(["true"], check=True, **options)
        desk.ask(*PEOPLE[: 2 + len(options)])
    os.waitpid(os.posix_spawnp("true", ["true"], os.environ), 0)
    desk.ask("eve")


def ledgers_used_within_each_other_do_not_stop_a_fork(desk):
    other = bp.Ledger(desk.path.with_name("other.db"), budget=100)
    inside, stop = threading.Event(), threading.Event()

    def look():
        inside.set()
        desk.ledger.spent("ada")

    def cross():
        at = 0
        while not stop.is_set():
            other.report(f"x{at}", "crossed", AGE, 37, rng=Within(look))
            at += 1

    thread = threading.Thread(target=cross)
    thread.start()
    inside.wait()
    for _ in range(5):
        ended(child(lambda: desk.ask("ada")))
    stop.set()
    thread.join()


def a_thread_that_never_ends_its_transaction_keeps_the_file(desk):
    connection.PATIENCE = 0.01
    inside, leave = threading.Event(), threading.Event()

    def slow():
        inside.set()
        leave.wait()

    def spend():
        desk.note("bob", desk.ledger.report("bob", "age", AGE, 37, rng=Within(slow)))

    thread = threading.Thread(target=spend)
    thread.start()
    inside.wait()

    def work():
        assert refuses(lambda: desk.ask("ada")) == 0

    ended(child(work))
    leave.set()
    thread.join()
    desk.ask("ada")


def collected_ledgers_are_forgotten(desk):
    before = len(connection.FILES), len(connection._OPEN)
    for _ in range(5):
        with bp.Ledger(desk.path) as one:
            one.check()
        del one
    assert (len(connection.FILES), len(connection._OPEN)) == before
    ended(child(lambda: desk.ask("ada")))


def a_child_that_ends_like_any_program_tidies_nothing_of_its_parents(desk):
    number = os.fork()
    if number == 0:
        desk.ask("bob")
        sys.exit(0)
    ended(number)
    desk.ask("ada")
    number = ctypes.PyDLL(None).fork()
    if number == 0:
        sys.exit(0)
    ended(number)
    assert desk.path.with_name(desk.path.name + "-wal").exists()
    desk.ask("eve")


def a_spent_budget_is_refused_on_both_sides(desk):
    def work():
        for person in ("ada", "zoe"):
            desk.ask(person)
            try:
                desk.ledger.report(person, "other", AGE, 37)
            except BudgetSpentError:
                continue
            os._exit(7)

    desk.ask("ada")
    numbers = [child(work) for _ in range(3)]
    work()
    for number in numbers:
        ended(number)


SCENARIOS = [
    name
    for name, each in list(globals().items())
    if inspect.isfunction(each) and list(inspect.signature(each).parameters) == ["desk"]
]


def run(scenario, path):
    """Play a scenario in this process, the first of a group of its own; all that it says goes to a file."""
    os.setsid()
    said = os.open(path.with_suffix(".said"), os.O_WRONLY | os.O_CREAT, 0o600)
    for stream in (1, 2):
        os.dup2(said, stream)
    auditor = Auditor(path)
    desk = Desk(path)
    desk.audit = auditor
    globals()[scenario](desk)
    sys.stdout.write(json.dumps(desk.problems()))


def serve():
    """Play what is asked for; answer with the number of its process, and when it has ended with its exit code."""
    for line in iter(sys.stdin.readline, ""):
        scenario, _, path = line.rstrip("\n").partition(" ")
        number = os.fork()
        if number == 0:
            run(scenario, Path(path))
            return
        print(number, flush=True)  # noqa: T201
        print(os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]), flush=True)  # noqa: T201


if __name__ == "__main__":
    serve()
