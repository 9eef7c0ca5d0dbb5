"""How fast one checkout draws and starts beside another: speed of the new over the old, medians of five rounds.

``python bench/turns.py ../old .`` runs the Python in the ``.venv`` of each in turns, every time in a fresh process with
warm caches, on the same specs, which the old one writes. Above 1 the new one is faster; a star marks what is below the
bound of its kind. Nothing fails here, because a busy machine is no mistake.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS = 5
BEST_OF = 5
JOB_SECONDS = 0.02
SCALARS = 3_000
BOUNDS = {"bulk": 0.95, "scalar": 0.85, "start": 1.0}
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


def seconds(job: Callable[[], object], times: int = BEST_OF) -> float:
    """The least of a few times."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        job()
        taken.append(time.perf_counter() - began)
    return min(taken)


def measure(families: dict[str, Any]) -> dict[str, Any]:
    """Seconds of each family; ``people`` says how many report in bulk, and is chosen here where it is missing."""
    import numpy as np

    import bipartite as bp

    found = {}
    for name, (spec, people) in families.items():
        mechanism = bp.from_spec(spec)
        some = [mechanism.domain[int(at)] for at in np.random.default_rng(1).integers(0, len(mechanism.domain), 1000)]
        values: Any = some if isinstance(some[0], tuple) else np.array(some)
        mechanism.privatize(values)  # warm
        if people is None:
            people = (
                int(1000 * JOB_SECONDS / seconds(lambda m=mechanism, v=values: m.privatize(v))) // 1000 * 1000 + 1000
            )
        many = values * (people // 1000) if isinstance(values, list) else np.tile(values, people // 1000)
        found[name] = {
            "people": people,
            "bulk": seconds(lambda m=mechanism, v=many: m.privatize(v)),
            "scalar": seconds(lambda m=mechanism, v=some: [m.privatize(each) for each in v * (SCALARS // 1000)], 3),
        }
    return found


def in_turn(checkout: Path, *words: str, given: object = None) -> str:
    """The output of a fresh Python of a checkout."""
    command = [str(checkout / ".venv" / "bin" / "python"), *words]
    done = subprocess.run(command, input=json.dumps(given), check=True, capture_output=True, text=True, cwd=checkout)  # noqa: S603
    return done.stdout


def main(old: Path, new: Path) -> None:
    """Let both take turns, and print the medians."""
    here = str(Path(__file__).resolve())
    written = json.loads(in_turn(old, here, "specs"))
    first = json.loads(in_turn(old, here, "measure", given={name: (spec, None) for name, spec in written.items()}))
    families = {name: (spec, first[name]["people"]) for name, spec in written.items()}
    ratios: dict[tuple[str, str], list[float]] = {}
    for turn in range(-1, ROUNDS):  # the first fills the caches
        both = [old, new] if turn % 2 else [new, old]
        taken = {each: json.loads(in_turn(each, here, "measure", given=families)) for each in both}
        for name in families:
            for kind in ("bulk", "scalar"):
                ratios.setdefault((kind, name), []).append(taken[old][name][kind] / taken[new][name][kind])
        for name, words in STARTS.items():
            start = {each: seconds(lambda each=each, words=words: in_turn(each, *words)) for each in both}
            ratios.setdefault(("start", name), []).append(start[old] / start[new])
    for (kind, name), each in sorted(ratios.items()):
        middle = statistics.median(each[1:])
        star = " *" if middle < BOUNDS[kind] else ""
        print(f"{kind:7} {name:24} {middle:5.2f}   {min(each[1:]):5.2f} to {max(each[1:]):5.2f}{star}")
    for kind in BOUNDS:
        middle = statistics.median(statistics.median(each[1:]) for (of, _), each in ratios.items() if of == kind)
        print(f"{kind}: median {middle:.2f}, wanted {BOUNDS[kind]}")


if __name__ == "__main__":
    if sys.argv[1] == "specs":
        print(json.dumps(specs()))
    elif sys.argv[1] == "measure":
        print(json.dumps(measure(json.load(sys.stdin))))
    else:
        main(*(Path(each).resolve() for each in sys.argv[1:]))
