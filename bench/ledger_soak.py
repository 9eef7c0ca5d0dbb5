"""Kill processes that use one ledger, again and again, and look whether it lost, doubled or overspent anything.

    python bench/ledger_soak.py --kills 200 --processes 8

Every process asks in a loop: two questions, one that repeats its report and one that draws a fresh one, about few
people whose budget soon ends and many who have some left. Before it asks it notes the request in a file of its own;
after the ledger answered it notes the report there, which stands for releasing it. Now and then it forks, with the
ledger open: the child asks a few times too, either may close the ledger, and the child ends in one of several ways. The
parent kills one process with SIGKILL at a random moment, starts another, and after each kill checks, while the others
go on:

1. every released report is in the ledger, the same;
2. no balance is beyond the budget, and every balance is the sum of its debits;
3. a request whose answer never came is asked again with its key, twice: the report is the same both times, is the one
   in the ledger where the kill came after the commit, and is debited once.

A killed process tells nothing about a power cut: that rests on SQLite's synchronous=FULL and on the disk.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import multiprocessing
import os
import random
import secrets
import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import bipartite as bp
from bipartite.errors import BudgetSpentError

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Request = tuple[str, str, str]
"""Person, question and key."""

QUESTIONS: dict[str, tuple[Any, Any, int]] = {
    "age": (bp.BRR(bp.Integers(18, 90), epsilon=1), "repeat", 40),
    "rating": (bp.GRR(bp.Integers(1, 5), epsilon="0.3"), "fresh", 4),
}
BUDGET = 4
MANY = 5000
WAIT = 120.0
FORKS = 0.03
"""How often a process forks before it asks."""


def ask(ledger: bp.Ledger, person: str, question: str, request: str) -> int | None:
    """The report, or None where the budget is spent."""
    mech, rule, value = QUESTIONS[question]
    try:
        report: int = ledger.report(person, question, mech, value, request=request, on_change=rule)
    except BudgetSpentError:
        return None
    return report


def work(path: Path, log: Path, seed: int, people: int) -> None:
    """Ask for ever; each line of the log is written at once, so that a kill loses none."""
    chance = random.Random(seed)  # noqa: S311 (who is asked, not what is reported)
    out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    # Held by this process and its children: whoever gets it alone knows that they have ended.
    fcntl.flock(os.open(path.with_suffix(".alive"), os.O_RDWR | os.O_CREAT, 0o600), fcntl.LOCK_SH)
    ledger = bp.Ledger(path, budget=BUDGET, wait=WAIT)
    children, left = [], -1  # a child has so many asks left; the process itself goes on for ever
    while left:
        left -= left > 0
        if left < 0 and chance.random() < FORKS:
            children = [child for child in children if os.waitpid(child, os.WNOHANG) == (0, 0)]
            child = os.fork()
            if child:
                children.append(child)
            else:
                left = 20
                chance.seed(os.getpid())
            if chance.random() < 0.5:  # noqa: PLR2004
                ledger.close()
        # Half of the time one of few, whose budget everybody fights for; else one of many, who have some left.
        person = f"p{chance.randrange(people if chance.random() < 0.5 else MANY)}"  # noqa: PLR2004
        question = chance.choice(list(QUESTIONS))
        request = secrets.token_hex(8)
        note = {"person": person, "question": question, "request": request}
        os.write(out, (json.dumps(note) + "\n").encode())
        report = ask(ledger, person, question, request)
        os.write(out, (json.dumps(note | {"report": report}) + "\n").encode())
    if chance.random() < 0.5:  # noqa: PLR2004
        os._exit(0)  # else as programs end, tidying up


@dataclass
class Log:
    """What one process noted."""

    released: dict[Request, int] = field(default_factory=dict)
    refused: int = 0
    unanswered: list[Request] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Log:
        """Read it, while it may still grow."""
        found, waiting = cls(), dict[Request, None]()
        # The last line may be half written; everything before it is whole.
        for line in path.read_text().split("\n")[:-1] if path.exists() else []:
            note = json.loads(line)
            key = (note["person"], note["question"], note["request"])
            if "report" not in note:
                waiting[key] = None
                continue
            waiting.pop(key, None)
            if note["report"] is None:
                found.refused += 1
            else:
                found.released[key] = note["report"]
        found.unanswered = list(waiting)
        return found


def stored_requests(path: Path) -> dict[Request, int]:
    """The report of each request as it stands in the file, read without bipartite."""
    with closing(sqlite3.connect(path, timeout=WAIT)) as database:
        rows = database.execute(
            "SELECT requests.person, requests.question, request, report FROM requests "
            "LEFT JOIN reports USING (person, period, question, number)"
        )
        return {(person, question, request): report for person, question, request, report in rows}


def problems_of(path: Path, released: dict[Request, int]) -> list[str]:
    """What is wrong with the ledger, given what was released; empty when nothing is."""
    stored = stored_requests(path)
    found = [f"lost: {key}" for key in released if key not in stored]
    found += [f"changed: {key}" for key, report in released.items() if key in stored and stored[key] != report]
    with closing(sqlite3.connect(path, timeout=WAIT)) as database:
        # Independent of what the ledger itself adds up: straight from the debits.
        over = database.execute(
            "SELECT count(*) FROM (SELECT sum(epsilon) AS s FROM reports GROUP BY person, period) WHERE s > ?",
            (BUDGET * 10**12,),
        ).fetchone()[0]
    if over:
        found.append(f"overspent: {over} people")
    with bp.Ledger(path, wait=WAIT) as ledger:
        found += ledger.check()
    return found


def retry(path: Path, unanswered: list[Request]) -> tuple[list[str], int]:
    """Ask again what was never answered; (problems, how many the ledger had stored before the kill)."""
    stored = stored_requests(path)
    found, kept = [], 0
    with bp.Ledger(path, wait=WAIT) as ledger:
        for person, question, request in unanswered:
            before = stored.get((person, question, request))
            first = ask(ledger, person, question, request)
            second = ask(ledger, person, question, request)
            kept += before is not None
            if before is not None and first != before:
                found.append(f"a retry gave another report than the stored one: {request}")
            if first is not None and first != second:
                found.append(f"two retries differ: {request}")
    return found, kept


class Soak:
    """The processes, their logs, and what was found so far."""

    def __init__(self, folder: str, processes: int, people: int, seed: int) -> None:
        self.folder, self.path, self.people, self.seed = Path(folder), Path(folder) / "soak.db", people, seed
        # A server that has loaded everything once forks the processes: quick to start, and free of threads.
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload(["bipartite.ledger", "bipartite.mechanisms"])
        self.problems: list[str] = []
        self.released: dict[Request, int] = {}
        """By processes that were killed."""
        self.figures = {"processes": processes, "kills": 0, "refused": 0, "in_doubt": 0, "in_doubt_and_stored": 0}
        self.logs = 0
        self.running: list[tuple[BaseProcess, Path]] = [self.start() for _ in range(processes)]

    def start(self) -> tuple[BaseProcess, Path]:
        """Another process with a log of its own."""
        self.logs += 1
        log = self.folder / f"log-{self.logs}.jsonl"
        arguments = (self.path, log, self.seed + self.logs, self.people + self.logs)
        process = self.context.Process(target=work, args=arguments, daemon=True)
        process.start()
        return process, log

    def kill(self, at: int) -> None:
        """Kill a process, and check everything while the others go on."""
        process, log = self.running[at]
        process.kill()  # SIGKILL
        process.join()
        self.figures["kills"] += 1
        # It may have died before the ledger was made.
        bp.Ledger(self.path, budget=BUDGET, wait=WAIT).close()
        ended = Log.read(log)
        self.released |= ended.released
        self.figures["refused"] += ended.refused
        others = [Log.read(other).released for _, other in self.running]
        self.problems += problems_of(self.path, self.released | {k: v for each in others for k, v in each.items()})
        problems, kept = retry(self.path, ended.unanswered)
        self.problems += problems
        self.figures["in_doubt"] += len(ended.unanswered)
        self.figures["in_doubt_and_stored"] += kept

    def finish(self) -> dict[str, Any]:
        """Kill what is left and ask for every released report once more: the same, and not debited."""
        for at in range(len(self.running)):
            self.kill(at)
        with open(self.path.with_suffix(".alive"), "w") as alive:  # noqa: PTH123
            fcntl.flock(alive, fcntl.LOCK_EX)  # their children have ended too
        for at in range(1, self.logs + 1):
            self.released |= Log.read(self.folder / f"log-{at}.jsonl").released
        self.problems += problems_of(self.path, self.released)
        with bp.Ledger(self.path, wait=WAIT) as ledger:
            held = ledger.summary()
            again = {key: ask(ledger, *key) for key in self.released}
            self.problems += [f"a retry of {key} differs" for key in again if again[key] != self.released[key]]
            if ledger.summary() != held:
                self.problems.append("retries of released reports were debited")
        counted = {"released": len(self.released), "reports": held["reports"]}
        return self.figures | counted | {"most_spent": str(held["most_spent_in_a_period"]), "problems": self.problems}


def soak(kills: int, processes: int, people: int, seed: int, folder: str) -> dict[str, Any]:
    """Run it; the figures, and every problem found."""
    chance = random.Random(seed)  # noqa: S311 (when to kill, and whom)
    began = time.monotonic()
    run = Soak(folder, processes, people, seed)
    while run.figures["kills"] < kills - processes and not run.problems:
        time.sleep(chance.uniform(0.0, 0.15))
        at = chance.randrange(processes)
        if run.running[at][1].exists():  # it has begun
            run.kill(at)
            run.running[at] = run.start()
    return run.finish() | {"seconds": round(time.monotonic() - began, 1)}


def main() -> int:
    """Read the options, run, print the figures as JSON; exit code 1 when anything is wrong."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--kills", type=int, default=200)
    options.add_argument("--processes", type=int, default=8)
    options.add_argument("--people", type=int, default=20)
    options.add_argument("--seed", type=int, default=int(time.time()))
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = soak(given.kills, given.processes, given.people, given.seed, folder)
    print(json.dumps(figures))
    return 1 if figures["problems"] else 0


if __name__ == "__main__":
    sys.exit(main())
