"""The page of the answers from a million reports, in a worker that has just been started and in one that has counted.

    python bench/collect_answers.py
    python bench/collect_answers.py --reports 100000 --only olh-200

Each study has one question, whose reports are drawn and put into the collector's own SQLite file. In a new process the
operator's page is asked for (``cold``: the bag is read, and compiled code is loaded), again after one more report
(``grown``: all is counted again), and once more (``kept``: nothing has changed). Times are seconds from the request to
the bytes of the page, without starting Python; those of the CPU beside them, for machines that do something else too.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sqlite3
import statistics
import tempfile
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import bipartite as bp
from bipartite.collect.answering import Answering
from bipartite.collect.serving import ONE_THREAD
from bipartite.collect.store import begin, resume
from bipartite.collect.study import Part, Question, Study
from bipartite.mechanisms.categories.cells import to_cells

AGE = bp.BRR(bp.Integers(18, 90), 1, edges="padded", m="cdf")
DAY = "2026-11-19"


def names(count: int) -> bp.Items:
    """So many labels."""
    return bp.Items([f"name {at}" for at in range(count)])


MECHANISMS: dict[str, dict[str, bp.Mechanism]] = {
    "brr": {"age": AGE},
    "grr-3": {"section": bp.GRR(names(3), 1)},
    "oue-20": {"town": bp.OUE(names(20), 1)},
    "subsets-40": {"town": bp.SubsetSelection(names(40), 1)},
    "oue-40": {"town": bp.OUE(names(40), 1)},
    "olh-200": {"town": bp.OLH(names(200), 1)},
    "income": {"income": bp.BRR(bp.Interval(0, 200_000, points=401), 1, edges="padded", m="cdf")},
    "thousand": {"number": bp.BRR(bp.Integers(0, 1000), 1, edges="padded", m="cdf")},
    "record": {"age": AGE, "section": bp.GRR(names(3), 1)},
    "record-subsets": {"age": AGE, "town": bp.SubsetSelection(names(40), 1)},
}


def study_of(name: str) -> Study:
    """A study of one question."""
    parts = tuple(Part(part, f"Your {part}?", mechanism) for part, mechanism in MECHANISMS[name].items())
    question = Question("asked", "About you", parts, is_record=len(parts) > 1)
    return Study("bench", "Bench", "", date(2030, 1, 1), None, public=False, questions=(question,))


def fill(path: Path, name: str, count: int) -> int:
    """Put the reports of so many people into a new database; the number of distinct ones."""
    study, rng = study_of(name), np.random.default_rng(1)
    begin(path, study).close()
    columns = [_drawn(part.mechanism, count, rng) for part in study.questions[0].parts]
    parts = list(MECHANISMS[name])
    texts = (
        columns[0]
        if len(columns) == 1
        else [dict(zip(parts, each, strict=True)) for each in zip(*columns, strict=True)]
    )
    bag = Counter(json.dumps(each, separators=(",", ":")) for each in texts)
    with sqlite3.connect(path) as database:
        database.executemany("INSERT INTO bag VALUES (1, ?, ?)", sorted(bag.items()))
        database.execute("INSERT INTO arrivals VALUES (1, ?, ?)", (DAY, count))
    database.close()
    return len(bag)


def _drawn(mechanism: bp.Mechanism, count: int, rng: np.random.Generator) -> list[Any]:
    values = [mechanism.domain[at] for at in range(len(mechanism.domain))]
    at = (len(values) * rng.beta(2, 4, count)).astype(int)
    held = np.array(values, dtype=object if isinstance(values[0], str) else None)[at]
    reports = mechanism.privatize(held if mechanism.flat or mechanism.domain.has_ends else held.tolist())
    if mechanism.flat:
        return [each.decode() if isinstance(each, bytes) else each for each in to_cells(reports).tolist()]
    return reports if isinstance(reports, list) else reports.tolist()


def times(path: Path) -> dict[str, float]:
    """Seconds of the page, in a process that has computed no answer before."""
    found = {}
    with resume(path, "bench") as store:
        shown = Answering(store)
        for name in ("cold", "grown", "kept"):
            if name == "grown":
                with sqlite3.connect(path) as database:
                    database.execute("UPDATE bag SET n = n + 1 WHERE report = (SELECT min(report) FROM bag)")
                    database.execute("UPDATE arrivals SET n = n + 1")
                database.close()
            began, used = time.perf_counter(), time.process_time()
            page = shown.page(public=False, closed=False, as_json=False)
            found[name] = round(time.perf_counter() - began, 3)
            found[f"{name}, CPU"] = round(time.process_time() - used, 3)
            assert b"95 %" in page.html  # there is an answer
    return found


def main() -> None:
    """Measure, and print seconds as JSON: medians over the rounds."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--reports", type=int, default=1_000_000)
    options.add_argument("--only", choices=list(MECHANISMS))
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    os.environ |= ONE_THREAD  # as workers have it
    new = multiprocessing.get_context("spawn")
    for name in [given.only] if given.only else list(MECHANISMS):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "bench.db"
            distinct = fill(path, name, given.reports)
            rounds = []
            for _ in range(given.rounds):
                with new.Pool(1) as pool:
                    rounds.append(pool.apply(times, (path,)))
        seconds = {each: statistics.median(one[each] for one in rounds) for each in rounds[0]}
        print(json.dumps({"asked": name, "reports": given.reports, "distinct": distinct, **seconds}), flush=True)


if __name__ == "__main__":
    main()
