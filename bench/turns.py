"""How fast one checkout draws and starts beside another: speed of the new over the old, medians of five rounds.

``python bench/turns.py ../old .`` runs the Python in the ``.venv`` of each, in fresh processes every round, with warm
caches, on the same specs, which the old one writes. They take turns job by job, and CPU seconds count, so that a busy
machine tells little. Above 1 the new one is faster; a star marks what is below the bound of its kind. Nothing fails.
"""

from __future__ import annotations

import itertools
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROUNDS = 5
BEST_OF = 9
JOBS = (("bulk", 1000, 0.01), ("scalar", 100, 0.005))  # of a kind: how many are timed first, seconds of a job
BOUNDS = {"bulk": 0.95, "scalar": 0.85, "start": 0.97}  # twice the same checkout: 0.97 to 1.04
STARTS = {"import bipartite": ["-c", "import bipartite"], "bipartite --help": ["-m", "bipartite", "--help"]}


def specs() -> dict[str, Any]:
    """A mechanism of each family, as specs."""
    import numpy as np

    import bipartite as bp

    ages, income = bp.Integers(18, 90), bp.Interval(0, 200_000, points=401)
    places = np.random.default_rng(1).uniform([-60, -180], [70, 180], (1_000, 2))
    kinds = {kind.__name__: kind(bp.Integers(1, 100), 1) for kind in (bp.OUE, bp.SUE, bp.OLH)}
    kinds |= {kind.__name__: kind(bp.Integers(1, 100), 1) for kind in (bp.SubsetSelection, bp.HadamardResponse)}
    found = {
        "BRR, integers": bp.BRR(ages, 1),
        "BRR, 100,000 integers": bp.BRR(bp.Integers(1, 10**5), 1),
        "BRR, padded": bp.BRR(ages, 1, edges="padded"),
        "BRR, interval": bp.BRR(income, 1),
        "BRR, random rounding": bp.BRR(bp.Interval(0, 1, points=401, rounding="random"), 1),
        "BRR, circle": bp.BRR(bp.Cyclic(24), 1),
        "BRR, labelled circle": bp.BRR(bp.Cyclic(4, labels=["N", "E", "S", "W"]), 1),
        "BRR, 1,000 places": bp.BRR(bp.Points(places, metric="haversine"), 1),
        "BRR, items": bp.BRR(bp.Items.tanimoto(range(1, 200)), 4),
        "BRR, pairs": bp.BRR(bp.Product(bp.Integers(0, 9), bp.Integers(0, 9)), 1),
        "GRR": bp.GRR(ages, 1),
        "Anchored": bp.Anchored(ages, 1),
        "Minimax": bp.Minimax(bp.Integers(1, 30), 1),
        "AnchoredMeans": bp.AnchoredMeans(ages, 1),
        "Geometric": bp.Geometric(ages, 1),
        "Laplace": bp.Laplace(income, 1),
        "Exponential (a table)": bp.Exponential(ages, 1),
        "Piecewise": bp.Piecewise(income, 1),
        "Hybrid": bp.Hybrid(income, 1),
        **kinds,
        "RAPPOR": bp.RAPPOR(bp.Integers(1, 100), epsilon_permanent=1, p="0.2", q="0.7"),
    }
    return {name: mechanism.to_spec() for name, mechanism in found.items()}


def serve() -> None:
    """Answer each line (name, spec, kind, how many) with the seconds of one such job; the first of a name warms up."""
    import numpy as np

    import bipartite as bp

    known: dict[str, Any] = {}
    for line in sys.stdin:
        name, spec, kind, count = json.loads(line)
        if name not in known:
            mechanism = bp.from_spec(spec)
            some = [
                mechanism.domain[int(at)] for at in np.random.default_rng(1).integers(0, len(mechanism.domain), 1000)
            ]
            known[name] = mechanism, some
            mechanism.privatize(np.array(some) if not isinstance(some[0], tuple) else some)
        mechanism, some = known[name]
        values: Any = (some * (count // 1000 + 1))[:count]
        many = values if kind == "scalar" or isinstance(some[0], tuple) else np.array(values)
        began = time.process_time()
        if kind == "bulk":
            mechanism.privatize(many)
        else:
            for value in many:
                mechanism.privatize(value)
        print(time.process_time() - began, flush=True)


def python_of(checkout: Path, *words: str) -> subprocess.Popen[str]:
    """A fresh Python of a checkout."""
    command = [str(checkout / ".venv" / "bin" / "python"), *words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=checkout)  # noqa: S603


def ask(server: Any, *job: object) -> float:  # noqa: ANN401 (its pipes are there)
    """The seconds of one job."""
    server.stdin.write(json.dumps(job) + "\n")
    server.stdin.flush()
    return float(server.stdout.readline())


def start(checkout: Path, words: list[str]) -> float:
    """The seconds of a whole process."""
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    python_of(checkout, *words).communicate()
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def main(old: Path, new: Path) -> None:
    """Let both take turns, job by job, and print the medians of the rounds."""
    here = str(Path(__file__).resolve())
    written = json.loads(python_of(old, here, "specs").communicate()[0])
    counts: dict[tuple[str, str], int] = {}
    ratios: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS + 1):  # the first fills the caches
        servers = [python_of(each, here, "serve") for each in (old, new)]
        for (name, spec), (kind, few, wanted) in itertools.product(written.items(), JOBS):
            if (kind, name) not in counts:  # as many as take the old one so long
                taken = min(ask(servers[0], name, spec, kind, few) for _ in range(3))
                counts[kind, name] = max(few // 10, int(few * wanted / taken))
            job = (name, spec, kind, counts[kind, name])
            least = [
                min(each)
                for each in zip(*([ask(server, *job) for server in servers] for _ in range(BEST_OF)), strict=True)
            ]
            ratios.setdefault((kind, name), []).append(least[0] / least[1])
        for server in servers:
            server.communicate()
        for name, words in STARTS.items():
            least = [
                min(each)
                for each in zip(*([start(each, words) for each in (old, new)] for _ in range(BEST_OF)), strict=True)
            ]
            ratios.setdefault(("start", name), []).append(least[0] / least[1])
        print(".", end="", file=sys.stderr, flush=True)
    medians = {job: statistics.median(each[1:]) for job, each in ratios.items()}
    for (kind, name), middle in sorted(medians.items()):
        low, high = min(ratios[kind, name][1:]), max(ratios[kind, name][1:])
        print(f"{kind:7} {name:24} {middle:5.2f}   {low:5.2f} to {high:5.2f}{' *' if middle < BOUNDS[kind] else ''}")
    for kind, bound in BOUNDS.items():
        each = [middle for (of, _), middle in medians.items() if of == kind]
        print(f"{kind}: median {statistics.median(each):.2f}, least {min(each):.2f}, wanted {bound}")


if __name__ == "__main__":
    if sys.argv[1] == "specs":
        print(json.dumps(specs()))
    elif sys.argv[1] == "serve":
        serve()
    else:
        main(*(Path(each).resolve() for each in sys.argv[1:]))
