"""Whether the adviser is right, and how long it takes.

    python bench/advisor.py [--repetitions 20] [--people 20000] [--only errors smoothing times] [--purposes mean map]
                            [--epsilons 0.5 1] [--sizes 10 20]

*Errors*: ages 18 to 90, and 60 cities for maps. For each purpose, ε and shape of the population: the error that the
adviser forecasts, the error of ``bp.estimate`` without options from simulated reports, and that of the best rival that
serves the purpose, all as root mean squares over the repetitions (40 times as many for a mean; of one release: the
exact expected loss). A person's report is distributed as fᵀP whoever the person was, so counts of outputs are drawn as
multinomial(n, fᵀP); flat categories report for themselves. The population is the prior that the adviser is told, except
for "unknown", where it is told nothing and the error is over all shapes.

*Smoothing*: whether the factor of ``forecasting.py`` is right. For every N, ε and n, and every padded window, GRR and
Subset Selection, the error of a cumulative share found for eleven shapes over the one forecast; and how far the least
forecast is above the least that was found.

*Times*: every purpose on 401 points, and the whole table there; twenty ε on 100 values. ``bench/locations.py --large``
has 66,767 places.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from typing import TYPE_CHECKING, Any, Final

import numpy as np

import bipartite as bp
from bipartite.answers.advise.candidates import candidates
from bipartite.answers.advise.measuring import shapes_of
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


def estimated(mechanism: Any, shares: Array, people: int, rng: np.random.Generator) -> Any:  # noqa: ANN401
    """The estimate from fresh reports."""
    if not mechanism.flat:
        return bp.estimate(mechanism, counts=rng.multinomial(people, shares @ mechanism.matrix()))
    domain = mechanism.domain
    values = [domain.decode(at) for at in rng.choice(len(shares), people, p=shares).tolist()]
    return bp.estimate(mechanism, mechanism.privatize(values, rng=bp.insecure_seed(int(rng.integers(2**32)))))


def simulated(mechanism: Any, purpose: str, shares: Array, people: int, rng: np.random.Generator) -> float:  # noqa: ANN401
    """The mean squared error of one answer from fresh reports."""
    names = np.array(CITIES.labels if purpose == "map" else AGES.to_numpy().tolist())
    found = estimated(mechanism, shares, people, rng)
    if purpose == "mean":
        return float((found.mean - shares @ AGES.to_numpy()) ** 2)
    if purpose == "distribution":
        return float(((found.cdf() - shares.cumsum()) ** 2)[:-1].mean())
    unbiased = [found.ask(("bin", value)).value for value in names[::6].tolist()]
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
                advice = bp.recommend(domain, epsilon, purpose, n=people, prior=prior)
                own = error(advice.mechanism, purpose, populations, people, repetitions)
                rivals = {}
                for each in candidates(domain):
                    # Only the best of flat categories, and none for a mean.
                    flat = each.form.reports == "flat" and (purpose == "mean" or each.name != "Subset Selection")
                    if each.serves(purpose) and each.name not in {advice.name, "Laplace, raw"} and not flat:
                        mechanism = each.build(domain, epsilon, prior)
                        if bp.verify(mechanism).holds:
                            rivals[each.name] = error(mechanism, purpose, populations, people, repetitions)
                best = min(rivals, key=rivals.__getitem__)
                forecast = advice.error or float("nan")
                taken = f"{advice.name:18} forecast {forecast:.4g} found {own:.4g} ({own / forecast:.2f})"
                rival = f"best rival {best} {rivals[best]:.4g} ({rivals[best] / own:.2f})"
                print(f"{purpose:12} ε={epsilon:3} {name:9} {taken}; {rival}", flush=True)


def more_shapes(domain: Any) -> dict[str, Array]:  # noqa: ANN401
    """The shapes of the adviser, and some that it does not try."""
    size = len(domain)
    x = (np.arange(size) + 0.5) / size
    inside = 0.6 * np.exp(-(((x - 0.4) / 0.2) ** 2) / 2) / np.exp(-(((x - 0.4) / 0.2) ** 2) / 2).sum()
    inside[size // 3] += 0.4
    others = {
        "spike inside": inside,
        "comb": np.where(np.arange(size) % 5 == 0, 3.0, 0.5),
        "gap": (np.abs(x - 0.525) > 0.275).astype(float),  # noqa: PLR2004
        "bell": np.exp(-(((x - 0.5) / 0.15) ** 2) / 2),
        "step": np.where(2 * x < 1, 3.0, 1.0),
    }
    return shapes_of(domain) | {name: each / each.sum() for name, each in others.items()}


def smoothing(repetitions: int, sizes: Sequence[int], epsilons: Sequence[str], people: Sequence[int]) -> None:
    """Print found and forecast errors of distributions, and the regret of choosing by the forecast."""
    regrets = []
    for size, epsilon, n in itertools.product(sizes, epsilons, people):
        domain = bp.Integers(0, size - 1)
        found: dict[str, tuple[float, float, float]] = {}
        for each in candidates(domain):
            if each.form.reports != "padded" and each.name not in {"GRR", "Subset Selection"}:
                continue
            mechanism = each.build(domain, epsilon, None)
            rng, by_shape = np.random.default_rng(1), []
            for shares in more_shapes(domain).values():
                off = [estimated(mechanism, shares, n, rng).cdf() - shares.cumsum() for _ in range(repetitions)]
                by_shape.append(float(np.sqrt(np.mean(np.square(off)))))
            typical = float(np.sqrt(np.mean(np.square(by_shape))))
            found[each.name] = bp.forecast(mechanism, n, "distribution"), typical, max(by_shape)
        taken = min(found, key=lambda name: found[name][0])
        regrets.append([found[taken][at] / min(each[at] for each in found.values()) for at in (1, 2)])
        print(
            f"N={size} ε={epsilon} n={n}: {taken} taken; forecast, found over shapes, found at the worst:", flush=True
        )
        for name, (told, typical, worst) in found.items():
            print(f"    {name:18} {told:.4f} {typical:.4f} {worst:.4f}", flush=True)
    print("above the least found, over shapes and at the worst: mean, largest", np.mean(regrets, 0), np.max(regrets, 0))


def timed(name: str, call: Callable[[], object]) -> None:
    """Print the time of a call, on the wall and of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    print(f"{name}: {time.perf_counter() - wall:.2f} s, of the processor {time.process_time() - cpu:.2f} s")


def times() -> None:
    """Print seconds."""
    income = bp.Interval(0, 200_000, points=401)
    bp.compare(bp.Integers(1, 50), 1, n=100)  # so that everything is loaded
    for purpose in PURPOSES[:4]:
        timed(f"recommend, {purpose}, 401 points", lambda purpose=purpose: bp.recommend(income, 1, purpose))
    timed("compare, 401 points, with people", lambda: bp.compare(income, 1, n=10_000, tolerance=5000))
    many = np.linspace(0.25, 5, 20).round(2)
    unit = bp.Interval(0, 1, points=100)
    timed("compare, 100 values, 20 ε, with people", lambda: bp.compare(unit, many, n=10_000, tolerance=0.1))
    print(f"load average {os.getloadavg()[0]:.1f}")


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--people", type=int, nargs="+", default=[20_000])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 20, 50, 100], help="of domains, for smoothing")
    parser.add_argument("--only", nargs="+", choices=["errors", "smoothing", "times"], default=["times", "errors"])
    parser.add_argument("--purposes", nargs="+", choices=PURPOSES, default=PURPOSES)
    parser.add_argument("--epsilons", nargs="+", default=EPSILONS)
    options = parser.parse_args()
    if "times" in options.only:
        times()
    if "smoothing" in options.only:
        smoothing(options.repetitions, options.sizes, options.epsilons, options.people)
    for people in options.people if "errors" in options.only else []:
        errors(people, options.repetitions, options.purposes, options.epsilons)


if __name__ == "__main__":
    main()
