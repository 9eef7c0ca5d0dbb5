"""How long a report of a place takes: the paper's runtime appendix, and a million people over thousands of places.

``python bench/locations.py`` needs BIPARTITE_DATA. It times, on the authors' 1000 Gowalla places and on 3000 places of
Foursquare in New York, the report of one person (median and 99th percentile), and of as many people as 10 % to 100 % of
the places, as the paper does (4 s for 3000 people, 0.03 s for one; its machine and language differ). The design and the
division into regions are made ahead and timed apart. Then a million positions, from coordinates to reports, over 3000
places; ``--large`` also over all 66,797 places of Gowalla (BRR is designed there too with ``--brr``: minutes).
"""

from __future__ import annotations

import csv
import gzip
import importlib
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

import bipartite as bp
from reproduction import places as laboratory

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

PEOPLE = 1_000_000
SINGLE_REPORTS = 2_000
ROUNDS = 5
EPSILON = 1
# A person stands a few hundred metres from the place that they visit.
SCATTER_DEGREES = 0.003


def read(name: str, folder: Path) -> NDArray[np.float64]:
    """The columns lat and lon of a table."""
    with gzip.open(folder / name, "rt", encoding="utf-8") as file:
        return np.array([(float(row["lat"]), float(row["lon"])) for row in csv.DictReader(file)])


def seconds(call: Callable[[], Any]) -> tuple[Any, float]:
    """What a call gives, and how long it took."""
    began = time.perf_counter()
    given = call()
    return given, time.perf_counter() - began


def peak() -> str:
    """The most memory so far."""
    return "" if resource is None else f", peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def best_of(mechanism: Mechanism, values: NDArray[np.int64], rounds: int = ROUNDS) -> float:
    """The least time of some rounds of reports."""
    return min(seconds(lambda: mechanism.privatize(values))[1] for _ in range(rounds))


def designed(places: bp.Points, names: tuple[str, ...]) -> dict[str, Mechanism]:
    """Mechanisms of these names, each with the time of its design."""
    regions, took = seconds(lambda: laboratory.Regions.by_prefix(places))
    print(f"  {len(regions)} regions of {regions.sizes.min()} to {regions.sizes.max()} places: {took:.2f} s")
    makers: dict[str, Callable[[], Mechanism]] = {
        "GRR": lambda: bp.GRR(places, EPSILON),
        "BRR": lambda: bp.BRR(places, EPSILON),
        "L-SRR calibrated": lambda: laboratory.lsrr(places, EPSILON),
        "Anchored": lambda: bp.Anchored(places, EPSILON),
        "Region-weighted": lambda: laboratory.region_weighted(regions, EPSILON),
        "Two-level": lambda: laboratory.two_level(regions, EPSILON),
    }
    made = {}
    for name in names:
        if len(regions) == 1 and name in {"Region-weighted", "Two-level"}:
            print(f"  {name}: one region only, left out")
            continue
        try:
            made[name], took = seconds(makers[name])
        except bp.errors.DesignError as refusal:
            print(f"  design of {name}: refused: {refusal}")
            continue
        print(f"  design of {name}: {took:.2f} s{peak()}")
    return made


def appendix(title: str, places: bp.Points) -> None:
    """One person's report, and those of 10 % to 100 % of the places' number of people."""
    print(f"{title}: {len(places)} places, ε = {EPSILON}")
    names = ("GRR", "BRR", "L-SRR calibrated", "Anchored", "Region-weighted", "Two-level")
    generator = np.random.default_rng(3)
    for name, mechanism in designed(places, names).items():
        singles = []
        for value in generator.integers(0, len(places), SINGLE_REPORTS).tolist():
            began = time.perf_counter()
            mechanism.privatize(value)
            singles.append(time.perf_counter() - began)
        median, late = np.quantile(singles, [0.5, 0.99]) * 1e6
        print(f"  {name}: one report {median:.0f} µs, 99th percentile {late:.0f} µs")
        shares = []
        for share in range(1, 11):
            people = generator.integers(0, len(places), max(1, len(places) * share // 10))
            shares.append(best_of(mechanism, people))
        print("    10 % … 100 % of people, ms: " + " ".join(f"{each * 1e3:.2f}" for each in shares))


def million(title: str, places: bp.Points, names: tuple[str, ...]) -> None:
    """A million positions, from coordinates to reports, after the design."""
    print(f"{title}: a million people over {len(places):,} places")
    made = designed(places, names)
    generator = np.random.default_rng(4)
    positions = places.coordinates[generator.integers(0, len(places), PEOPLE)]
    positions = positions + generator.normal(0, SCATTER_DEGREES, positions.shape)
    positions = np.clip(positions, [-90, -180], [90, 180])
    bp.locations.encode(places, positions[:1000])
    values, took = seconds(lambda: bp.locations.encode(places, positions))
    encoding = min(took, *(seconds(lambda: bp.locations.encode(places, positions))[1] for _ in range(ROUNDS - 1)))
    print(f"  encoding: {encoding:.2f} s{peak()}")
    for name, mechanism in made.items():
        first, drawn = best_of(mechanism, values, 1), best_of(mechanism, values)
        both = encoding + drawn
        print(f"  {name}: {drawn:.2f} s (first {first:.2f}), encoded and reported {both:.2f} s{peak()}")


def main() -> None:
    """Run the parts asked for."""
    folder = Path(os.environ.get("BIPARTITE_DATA", ""))
    if not (folder / "gowalla_authors_1000.txt").exists():
        sys.exit("BIPARTITE_DATA names no folder with gowalla_authors_1000.txt")
    gowalla = bp.locations.places(np.loadtxt(folder / "gowalla_authors_1000.txt", delimiter=","))
    visits = read("foursquare_NYC_filtered_checkins.csv.gz", folder)
    foursquare = bp.locations.from_checkins(visits, source="public", places=3000, seed=1)
    # Python puts this folder first, and numba would take a file there for a package of that name.
    sys.path[:] = [each for each in sys.path if Path(each).resolve() != Path(__file__).resolve().parent]
    _, took = seconds(lambda: importlib.import_module("bipartite.lottery.compiled_points"))
    print(f"loading or compiling the kernels: {took:.2f} s (excluded below)")
    appendix("Gowalla, the authors' places", gowalla)
    appendix("Foursquare, New York", foursquare)
    million("Foursquare, New York", foursquare, ("GRR", "BRR", "Anchored", "Region-weighted"))
    if "--large" in sys.argv:
        union = bp.locations.places(read("gowalla_locations_union.csv.gz", folder), merge_within=0.2)
        million("Gowalla, all", union, ("GRR", "Region-weighted", *(["BRR"] if "--brr" in sys.argv else [])))


if __name__ == "__main__":
    main()
