"""Which shares of flat categories are nearest to the truth, from the same reports: unbiased, projected, most likely.

    python bench/flat_shares.py [--repetitions 4] [--people 300 3000 30000] [--sizes 4 16 64 256] [--no-em]

``unbiased`` is also what pure-ldp gives. ``cut`` sets negative shares to 0 and divides by the sum, as multi-freq-ldpy
does. Printed is the summed squared error over that of ``projected``, for six shapes that no rule was settled on, each
cell the ratio of means over the repetitions; and the same over all shapes together. The seed is 1.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np

import bipartite as bp
from reproduction.flat_em import most_likely

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from bipartite.mechanisms import Mechanism

    Array = NDArray[np.float64]

MECHANISMS: dict[str, Any] = {
    "OUE": bp.OUE,
    "OLH": bp.OLH,
    "SubsetSelection": bp.SubsetSelection,
    "HadamardResponse": bp.HadamardResponse,
}
EPSILONS = (0.5, 1.0, 2.0, 4.0)
METHODS = ("unbiased", "cut", "projected", "em")


def shapes(size: int) -> dict[str, Array]:
    """Populations: dense ones first, sparse ones last."""
    at = np.arange(size) + 0.5
    found = {
        "ramp": at,
        "two steps": np.where(at < size / 2, 3.0, 1.0),
        "one in two": np.where(at < 1, size - 1.0, 1.0),
        "steep zipf": at**-1.6,
        "random": np.random.default_rng(7).dirichlet(np.full(size, 0.3)),
        "a quarter": (at < size / 4).astype(np.float64),
    }
    return {name: f / f.sum() for name, f in found.items()}


def errors(mechanism: Mechanism, f: Array, people: int, repetition: int, *, em: bool) -> list[float]:
    """The squared error of each method, from the same reports."""
    rng = np.random.default_rng([1, len(f), people, repetition])
    reports = mechanism.privatize(rng.choice(len(f), people, p=f), rng=bp.insecure_seed(repetition + 1))
    unbiased = bp.estimate(mechanism, reports, method="inverse").shares
    cut = np.maximum(unbiased, 0.0)
    found = [
        unbiased,
        cut / cut.sum() if cut.any() else np.full(len(f), 1 / len(f)),
        bp.estimate(mechanism, reports, method="projected").shares,
    ]
    if em:
        found.append(most_likely(mechanism, reports)[0])
    return [float(((each - f) ** 2).sum()) for each in found]


def main() -> None:
    """A line for every mechanism, number of values, ε and number of people."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repetitions", type=int, default=4)
    parser.add_argument("--people", type=int, nargs="+", default=[300, 3_000, 30_000])
    parser.add_argument("--sizes", type=int, nargs="+", default=[4, 16, 64, 256])
    parser.add_argument("--mechanisms", nargs="+", default=list(MECHANISMS))
    parser.add_argument("--no-em", action="store_true")
    options = parser.parse_args()
    for name, size, people, epsilon in [
        (m, s, p, e) for p in options.people for m in options.mechanisms for s in options.sizes for e in EPSILONS
    ]:
        mechanism = MECHANISMS[name](bp.Integers(0, size - 1), epsilon)
        of_shape = {}
        for shape, f in shapes(size).items():
            held = [errors(mechanism, f, people, each, em=not options.no_em) for each in range(options.repetitions)]
            of_shape[shape] = np.mean(held, axis=0)
        total = np.sum(list(of_shape.values()), axis=0)
        print(f"{name}, N = {size}, ε = {epsilon:g}, n = {people:,}: 1000·error of projected {1000 * total[2] / 6:.3g}")
        for at, method in enumerate(METHODS[: len(total)]):
            if method != "projected":
                each = ", ".join(f"{shape} {found[at] / found[2]:.2f}" for shape, found in of_shape.items())
                print(f"  {method:8} {total[at] / total[2]:.2f} ({each})", flush=True)


if __name__ == "__main__":
    main()
