"""How long the most likely distribution takes to find: 10^3, 10^4 and 10^5 values.

``python bench/em.py [--sizes 1000 10000 100000]``

Padded BRR at ε = 1, populations of three shapes, 10^5 and 10^6 reports, drawn as counts, multinomial(n, fᵀP), which is
exactly their law. The fit ends where its certified gap is at most a hundredth of a nat. A tilt is the same with large
values rewarded a little, from the fit without it: intervals ask for a dozen of these.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING

import numpy as np

import bipartite as bp
from bipartite.answers.estimation.em import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from bipartite.answers.estimation.em import Fit

LIMITS = {10**5: 5}  # seconds that a fit may take


def shapes(size: int) -> dict[str, np.ndarray]:
    """Populations by name."""
    t = (np.arange(size) + 0.5) / size
    spikes = np.zeros(size)
    spikes[[int(0.22 * size), int(0.81 * size)]] = 0.65, 0.35
    beta = t * (1 - t) ** 4
    return {"beta(2, 5)": beta / beta.sum(), "two spikes": spikes, "uniform": np.full(size, 1 / size)}


def timed(fit: Callable[..., Fit], *given: object, **options: object) -> tuple[Fit, float]:
    """(the fit, its seconds of computing: whoever else uses the machine does not count)."""
    began = time.process_time()
    found = fit(*given, **options)
    return found, time.process_time() - began


def main() -> None:
    """Print seconds, steps, the certified gap and the distance to the truth."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[10**3, 10**4, 10**5])
    options = parser.parse_args()
    print(f"padded BRR, ε = 1; gap in nats, seconds of computing; load average {os.getloadavg()[0]:.1f}")
    for size in options.sizes:
        operator = bp.BRR(bp.Integers(1, size), epsilon=1, edges="padded").lottery.channel()
        limit = f" (asked for: below {LIMITS[size]} s)" if size in LIMITS else ""
        for reports in (10**5, 10**6):
            for shape, f in shapes(size).items():
                counts = np.random.default_rng(1).multinomial(reports, operator.forward(f)).astype(np.float64)
                print(f"{size:,} values, {reports:,} reports, {shape}{limit}")
                problem = Problem(operator, counts)
                top, seconds = timed(problem.fit)
                fits = {"top": (top, seconds)}
                tilt = problem.largest(np.arange(size) / size / np.sqrt(reports))
                fits["tilt"] = timed(problem.fit, tilt=tilt, start=top.frequencies)
                for name, (fit, took) in fits.items():
                    off = np.abs((problem.of_values(fit.frequencies) - f).cumsum()).mean()
                    state = "" if fit.converged else "; ended before its rule"
                    print(
                        f"  {name:5} {took:8.4f} s, {fit.steps:5} steps, gap {fit.gap:9.4f}, "
                        f"Wasserstein/N {off:.5f}{state}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
