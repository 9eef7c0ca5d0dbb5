"""Whether the adviser is right, and how long it takes.

    python bench/advisor.py [--repetitions 20] [--people 20000] [--only errors times] [--purposes mean map]
                            [--epsilons 0.5 1]

*Errors*: ages 18 to 90, and 60 cities for maps. For each purpose, ε and shape of the population: the error that the
adviser forecasts, the error of ``bp.estimate`` without options from simulated reports, and that of the best rival that
serves the purpose, all as root mean squares over the repetitions (40 times as many for a mean; of one release: the
exact expected loss). A person's report is distributed as fᵀP whoever the person was, so counts of outputs are drawn as
multinomial(n, fᵀP); flat categories report for themselves. The population is the prior that the adviser is told, except
for "unknown", where it is told nothing and the error is over all shapes.

*Times*: every purpose on 401 points, and the whole table there; twenty ε on 100 values. ``bench/locations.py --large``
has 66,767 places.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import bipartite as bp
from bipartite.answers.advise.candidates import candidates
from bipartite.answers.advise.shapes import shapes_of
from bipartite.locations.atlas import cities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

AGES: Final = bp.Integers(18, 90)
EPSILONS: Final = ("0.5", "1", "3", "5")
PURPOSES: Final = ("release", "mean", "distribution", "categories", "map")
CITIES: Final = bp.Points(cities().coordinates[:60], metric="haversine", labels=list(cities().names[:60]))


def domain_of(purpose: str) -> Any:  # noqa: ANN401
    """Places for maps, else ages."""
    return CITIES if purpose == "map" else AGES


def simulated(mechanism: Any, purpose: str, shares: Array, people: int, rng: np.random.Generator) -> float:  # noqa: ANN401
    """The mean squared error of one answer from fresh reports."""
    names = np.array(CITIES.labels if purpose == "map" else AGES.to_numpy().tolist())
    if mechanism.flat:
        values = names[rng.choice(len(shares), people, p=shares)].tolist()
        found = bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(int(rng.integers(2**32)))))
    else:
        found = bp.estimate(mechanism, counts=rng.multinomial(people, shares @ mechanism.matrix()))
    if purpose == "mean":
        return float((found.mean - shares @ AGES.to_numpy()) ** 2)
    if purpose == "distribution":
        return float(((found.cdf() - shares.cumsum()) ** 2)[:-1].mean())
    unbiased = [found.unbiased(("bin", value)).value for value in names[::6].tolist()]
    return float(((np.array(unbiased) - shares[::6]) ** 2).mean())


def error(mechanism: Any, purpose: str, populations: list[Array], people: int, repetitions: int) -> float:  # noqa: ANN401
    """The root mean squared error over populations and repetitions; of one release the expected loss."""
    if purpose == "release":
        return float(np.mean([bp.loss(mechanism, shares).mean for shares in populations]))
    rng = np.random.default_rng(21)
    times = repetitions * (40 if purpose == "mean" else 1)
    squares = [simulated(mechanism, purpose, shares, people, rng) for shares in populations for _ in range(times)]
    return float(np.sqrt(np.mean(squares)))


def errors(people: int, repetitions: int, purposes: Sequence[str], epsilons: Sequence[str]) -> None:
    """Print what was forecast and found for each purpose."""
    print(f"{people:,} people, {repetitions} repetitions a shape; (found/forecast), (rival/found)", flush=True)
    for purpose in purposes:
        domain = domain_of(purpose)
        shapes = shapes_of(domain)
        known = "Zipf" if purpose == "map" else "two humps"
        for epsilon in epsilons:
            for name, prior in [("uniform", None), (known, shapes[known]), ("unknown", None)]:
                populations = list(shapes.values()) if name == "unknown" else [shapes[name]]
                advice = bp.recommend(domain, epsilon, purpose, users=people, prior=prior)
                own = error(advice.mechanism, purpose, populations, people, repetitions)
                rivals = {}
                for each in candidates(domain):
                    # Only the best of flat categories, and none for a mean.
                    flat = each.form.reports == "flat" and (purpose == "mean" or each.name != "Subset Selection")
                    if each.serves(purpose) and each.name not in {advice.advice.mechanism, "Laplace, raw"} and not flat:
                        mechanism = each.build(domain, epsilon, prior)
                        if bp.verify(mechanism).holds:
                            rivals[each.name] = error(mechanism, purpose, populations, people, repetitions)
                best = min(rivals, key=rivals.__getitem__)
                forecast = advice.advice.error or float("nan")
                taken = f"{advice.advice.mechanism:18} forecast {forecast:.4g} found {own:.4g} ({own / forecast:.2f})"
                rival = f"best rival {best} {rivals[best]:.4g} ({rivals[best] / own:.2f})"
                print(f"{purpose:12} ε={epsilon:3} {name:9} {taken}; {rival}", flush=True)


def timed(name: str, call: Callable[[], object]) -> None:
    """Print the time of a call, on the wall and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    print(f"{name}: {time.perf_counter() - wall:.2f} s, of the processor {time.process_time() - cpu:.2f} s")


def times() -> None:
    """Print seconds."""
    income = bp.Interval(0, 200_000, points=401)
    bp.compare(bp.Integers(1, 50), 1, users=100)  # so that everything is loaded
    for purpose in PURPOSES[:4]:
        timed(f"recommend, {purpose}, 401 points", lambda purpose=purpose: bp.recommend(income, 1, purpose))
    timed("compare, 401 points, with users", lambda: bp.compare(income, 1, users=10_000, tolerance=5000))
    many = np.linspace(0.25, 5, 20).round(2)
    unit = bp.Interval(0, 1, points=100)
    timed("compare, 100 values, 20 ε, with users", lambda: bp.compare(unit, many, users=10_000, tolerance=0.1))
    print(f"load average {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--people", type=int, default=20_000)
    parser.add_argument("--only", nargs="+", choices=["errors", "times"], default=["times", "errors"])
    parser.add_argument("--purposes", nargs="+", choices=PURPOSES, default=PURPOSES)
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS)
    options = parser.parse_args()
    if "times" in options.only:
        times()
    if "errors" in options.only:
        errors(options.people, options.repetitions, options.purposes, options.epsilons)


if __name__ == "__main__":
    main()
