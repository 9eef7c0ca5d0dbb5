"""Seconds of answers, new over old: two checkouts take turns, job by job.

    python bench/answers/times.py OLD NEW [--rounds 3] [--seconds 900] [--out times.json]

Each checkout runs with the Python of its ``.venv``, or else with this one and its ``src``, in a fresh process every
round. CPU seconds count, on one thread: the first time in a process, and the best of later ones. Medians of rounds;
above 1.2 the new one is too slow, and a star says so. Writes the JSON and, beside it, the table.
"""

# ruff: noqa: ANN401 (classes of two versions)

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Job = Callable[[], Any]

AGAIN = 3
LONG = 5.0  # seconds: what takes longer is not done again in a round
ALLOWED = 1.2


def jobs() -> dict[str, Callable[[], Job]]:  # noqa: C901, PLR0915 (a list)
    """What is timed: each makes its reports and returns what is to be timed."""
    import numpy as np
    from asked import ask, ask_joint, counts_of, forged, frame_of_means, joint_of, shares_of, subtract

    import bipartite as bp

    if find_spec("pandas"):
        import_module("pandas")  # which the first frame would otherwise wait for
    rng = np.random.default_rng(35)
    words: Callable[[int], Any] = bp.insecure_seed
    ages: Any = bp.BRR(bp.Integers(18, 90), 1, edges="padded")

    def line(size: int) -> Job:
        mechanism: Any = bp.BRR(bp.Integers(1, size), 1, edges="padded")
        values = np.clip(rng.normal(0.4 * size, 0.15 * size, 100_000), 1, size).astype(int)
        reports = mechanism.privatize(values, rng=words(1))

        def job() -> None:
            est = bp.estimate(mechanism, reports)
            ask(est, "mean")
            est.summary()

        return job

    def categories(*, counted: bool) -> Job:
        mechanism: Any = bp.OUE(bp.Integers(1, 5_000), 1)
        people = rng.multinomial(20_000, 1 / np.arange(1, 5_001) / (1 / np.arange(1, 5_001)).sum())
        if counted:
            p, q = (float(each) for each in mechanism.draw.support)
            counts = counts_of(mechanism, rng.binomial(people, p) + rng.binomial(20_000 - people, q), 20_000)
            given: dict[str, Any] = {"counts": counts}
        else:
            given = {"reports": mechanism.privatize(np.repeat(np.arange(1, 5_001), people), rng=words(2))}

        def job() -> None:
            est = bp.estimate(mechanism, **given)
            shares_of(est)
            ask(est, "mean")
            est.summary()

        return job

    def groups(count: int, each: int, *, ranges: bool) -> Job:
        labels = np.repeat(np.arange(count), each)
        reports = ages.privatize(rng.integers(18, 91, count * each), rng=words(3))
        edges = [18, 25, 35, 45, 55, 65, 75, 91]

        def job() -> None:
            found = bp.estimate(ages, reports, by=labels)
            if not ranges:
                frame_of_means(found)
                return
            for est in found.values():
                for first, after in pairwise(edges):
                    ask(est, ("range", first, after - 1))

        return job

    def many() -> Job:
        reports = ages.privatize(rng.integers(18, 91, 10**7), rng=words(4))

        def job() -> None:
            est = bp.estimate(ages, reports)
            ask(est, "mean")
            est.summary()

        return job

    def joint(*, flat: bool) -> Job:
        first: Any = bp.OUE(bp.Integers(18, 90), 1) if flat else ages
        record: Any = bp.Record({"a": first, "b": bp.GRR(bp.Integers(0, 9), 1)})
        columns = {"a": rng.integers(18, 91, 50_000), "b": rng.integers(0, 10, 50_000)}
        reports = record.privatize(columns, rng=words(5))

        def job() -> None:
            both = joint_of(record, reports, ("a", "b"))
            for of in (
                "covariance",
                "correlation",
                ("where", {"a": ("range", 18, 30), "b": 3}),
                ("mean", "a", {"b": 3}),
            ):
                ask_joint(both, of)
            shares_of(both)

        return job

    def two(of: Any) -> Job:
        pair = [ages.privatize(rng.integers(18, 91 - 9 * at, 20_000), rng=words(6 + at)) for at in (0, 1)]
        return lambda: subtract(*(bp.estimate(ages, each) for each in pair), of)

    def attacked(mechanism: Any, n: int) -> Job:
        reports = mechanism.privatize(rng.integers(18, 91, n), rng=words(8))
        return lambda: forged(bp.estimate(mechanism, reports), n // 100)

    def around() -> Job:
        mechanism: Any = bp.BRR(bp.Cyclic(24), 1)
        reports = mechanism.privatize(rng.integers(0, 24, 10_000), rng=words(9))

        def job() -> None:
            est = bp.estimate(mechanism, reports)
            for of in ("circular_mean", "resultant_length", ("range", 22, 3)):
                ask(est, of)

        return job

    return {
        "73 values, 100,000 reports": lambda: line(73),
        "1,000 values, 100,000 reports": lambda: line(1_000),
        "100,000 values, 100,000 reports": lambda: line(100_000),
        "OUE, 5,000 categories, counts": lambda: categories(counted=True),
        "OUE, 5,000 categories, 20,000 reports": lambda: categories(counted=False),
        "means of 500 groups of 200": lambda: groups(500, 200, ranges=False),
        "7 ranges of 60 groups of 1,000": lambda: groups(60, 1_000, ranges=True),
        "73 values, 10,000,000 reports": many,
        "joint of 73 × 10, 50,000 people": lambda: joint(flat=False),
        "joint of OUE 73 × 10, 50,000 people": lambda: joint(flat=True),
        "difference of means": lambda: two("mean"),
        "difference of ranges": lambda: two(("range", 18, 40)),
        "forged mean, 100,000 reports": lambda: attacked(ages, 100_000),
        "forged mean, OUE, 20,000 reports": lambda: attacked(bp.OUE(bp.Integers(18, 90), 1), 20_000),
        "a circle of 24": around,
    }


def serve() -> None:
    """Answer each line (name of a job) with its seconds: the first time, and the best of later ones."""
    known = jobs()
    print(json.dumps(list(known)), flush=True)
    for line in sys.stdin:
        job = known[json.loads(line)]()
        taken = []
        for _ in range(1 + AGAIN):
            began = time.process_time()
            job()
            taken.append(time.process_time() - began)
            if sum(taken) > LONG:
                break
        print(json.dumps([taken[0], min(taken[1:], default=taken[0])]), flush=True)


class Server:
    """A fresh Python of a checkout."""

    def __init__(self, checkout: Path) -> None:
        own = checkout / ".venv" / "bin" / "python"
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        environment |= {} if own.exists() else {"PYTHONPATH": str(checkout / "src")}
        command = [str(own) if own.exists() else sys.executable, str(Path(__file__).resolve()), "serve"]
        self._process: Any = subprocess.Popen(  # noqa: S603
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=checkout, env=environment
        )
        self.names = json.loads(self._process.stdout.readline())

    def ask(self, name: str) -> list[float] | None:
        """The seconds of a job; None if the process broke."""
        self._process.stdin.write(json.dumps(name) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        return json.loads(line) if line else None

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def main() -> None:
    """Let both take turns, and print the medians of the rounds."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--out", type=Path, default=Path("times.json"))
    options = parser.parse_args()
    checkouts = [options.old.resolve(), options.new.resolve()]
    end = time.time() + options.seconds
    taken: dict[str, list[list[list[float]]]] = {}
    for _ in range(options.rounds):
        servers = [Server(each) for each in checkouts]
        for name in servers[0].names:
            if time.time() > end:
                break
            both = [server.ask(name) for server in servers]
            for at, found in enumerate(both):
                if found is None:  # a job that breaks ends its process
                    servers[at] = Server(checkouts[at])
            print(name, both, file=sys.stderr, flush=True)
            if None not in both:
                taken.setdefault(name, []).append([each for each in both if each])
        for server in servers:
            server.close()
    lines = ["| CPU seconds | first: old | new | new / old | again: old | new | new / old |",
             "|---|--:|--:|--:|--:|--:|--:|"]  # fmt: skip
    for name, rounds in taken.items():
        parts = []
        for when in (0, 1):
            old, new = (statistics.median(each[which][when] for each in rounds) for which in (0, 1))
            ratio = statistics.median(each[1][when] / max(each[0][when], 1e-9) for each in rounds)
            parts += [f"{old:.4f}", f"{new:.4f}", f"{ratio:.2f}{'*' if ratio > ALLOWED else ''}"]
        lines.append(f"| {name} | {' | '.join(parts)} |")
    options.out.write_text(json.dumps({"old": str(checkouts[0]), "new": str(checkouts[1]), "seconds": taken}))
    options.out.with_suffix(".md").write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else main()
