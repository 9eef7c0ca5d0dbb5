"""The ledger: reports a second, one at a time (each on the disk before it is returned) and many in one transaction.

    python bench/ledger.py --people 200000
    python bench/ledger.py --processes 8

The same people are asked a second time, which repeats their reports. The disk decides the first figure.

With ``--processes`` as many processes debit one ledger, a report at a time, beside the least that SQLite itself can do
in the same folder: one INSERT a transaction, with a write-ahead log and ``synchronous=FULL``. One process and all of
them, SQLite and the ledger take turns; the figures are medians over the rounds.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sqlite3
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp

if TYPE_CHECKING:
    from collections.abc import Callable
    from threading import Barrier

AGE = bp.BRR(bp.Integers(18, 90), epsilon=1)
WAIT = 60.0


def main() -> None:
    """Measure, and print reports a second as JSON."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--people", type=int, default=200_000)
    options.add_argument("--alone", type=int, default=500, help="reports one at a time, of each process in each round")
    options.add_argument("--processes", type=int, help="debit one ledger from this many processes, beside bare SQLite")
    options.add_argument("--rounds", type=int, default=5, help="with --processes")
    options.add_argument("--folder", type=Path, help="where the files lie (default: among the temporary files)")
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        if given.processes is None:
            found = _people(Path(folder), given.people, given.alone)
        else:
            found = _processes(Path(folder), given.processes, given.rounds, given.alone)
    print(json.dumps(found))


def _people(folder: Path, count: int, alone: int) -> dict[str, int]:
    """Reports a second of one process."""
    people = [f"person {at}" for at in range(count)]
    values = np.arange(count) % 73 + 18
    found = {"people": count}
    with bp.Ledger(folder / "l.db", budget=10) as ledger:
        for name in ("many, first", "many, repeated"):
            began = time.perf_counter()
            ledger.report_many(people, "age", AGE, values)
            found[name] = round(count / (time.perf_counter() - began))
        for name in ("one, first", "one, repeated"):
            began = time.perf_counter()
            for at in range(alone):
                ledger.report(people[at], "other", AGE, 40)
            found[name] = round(alone / (time.perf_counter() - began))
    return found


def _processes(folder: Path, processes: int, rounds: int, debits: int) -> dict[str, Any]:
    """Debits a second of one process and of many, of SQLite alone and of the ledger, taking turns."""
    rates: dict[str, dict[int, list[float]]] = {
        kind: {count: [] for count in (1, processes)} for kind in ("sqlite", "ledger")
    }
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, spawn.Pool(processes) as pool:
        for turn in range(rounds):
            for count in (1, processes):
                for kind in ("sqlite", "ledger"):
                    path = folder / f"{kind}-{count}-{turn}.db"
                    _make(kind, path)
                    start = manager.Barrier(count)
                    times = pool.starmap(_debit, [(kind, path, at, debits, start) for at in range(count)], 1)
                    began, ended = (list(each) for each in zip(*times, strict=True))
                    rates[kind][count].append(count * debits / (max(ended) - min(began)))
    medians = {
        kind: {str(count): round(statistics.median(found)) for count, found in each.items()}
        for kind, each in rates.items()
    }
    shares = {
        str(count): round(statistics.median(map(float.__truediv__, rates["ledger"][count], rates["sqlite"][count])), 2)
        for count in (1, processes)
    }
    return {"rounds": rounds, "debits of each process": debits, "debits a second": medians, "ledger/sqlite": shares}


def _make(kind: str, path: Path) -> None:
    if kind == "ledger":
        bp.Ledger(path, budget=10).close()
    else:
        with _sqlite(path) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("CREATE TABLE debits (person TEXT PRIMARY KEY, report INTEGER) WITHOUT ROWID")
        database.close()


def _sqlite(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path, WAIT, isolation_level=None)
    database.execute("PRAGMA synchronous = FULL")
    return database


def _debit(kind: str, path: Path, worker: int, debits: int, start: Barrier) -> tuple[float, float]:
    """When this worker began and ended, by a clock that all processes share."""
    people = [f"person {at} of {worker}" for at in range(debits)]
    one: Callable[[str], object]
    if kind == "ledger":
        ledger = bp.Ledger(path, wait=WAIT)
        close = ledger.close

        def one(person: str) -> object:
            return ledger.report(person, "age", AGE, 40)
    else:
        database = _sqlite(path)
        close = database.close

        def one(person: str) -> object:
            return database.execute("INSERT INTO debits VALUES (?, 40)", (person,))

    start.wait()
    began = time.monotonic()
    for person in people:
        one(person)
    ended = time.monotonic()
    close()
    return began, ended


if __name__ == "__main__":
    main()
