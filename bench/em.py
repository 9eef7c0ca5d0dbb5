"""How long the most likely distribution takes to find: EM and EMS to their stopping rules, 10^5 and 10^6 values.

``python bench/em.py [--sizes 100000 1000000]``

Padded BRR at ε = 1 and a million reports of a population of shape beta(2, 5). The reports are drawn as counts,
multinomial(n, fᵀP), which is exactly their law. A step is one product with P in each direction, O(N + M); how many are
needed is the data's affair. EMS stops early by design, but not early on so many values: neighbours of neighbours take
a step each to hear of one another. At 10^6 it is ended after a while, and the line says so.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import bipartite as bp
from bipartite.answers.estimation.em import fit_ems
from bipartite.answers.estimation.operator import operator_of

REPORTS = 10**6
LIMITS = {10**5: 10, 10**6: 120}  # seconds that EM may take
EMS_WORK = 2 * 10**9  # values times steps: 20,000 steps on 10^5 values, 2,000 on 10^6


def main() -> None:
    """Print seconds, steps, the last gain, the certified gap and the distance to the truth."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(LIMITS))
    options = parser.parse_args()
    print(f"padded BRR, ε = 1, {REPORTS:,} reports of beta(2, 5); gain and gap in log-likelihood")
    for size in options.sizes:
        mechanism = bp.BRR(bp.Integers(1, size), epsilon=1, edges="padded")
        operator = operator_of(mechanism)
        t = (np.arange(size) + 0.5) / size
        f = t * (1 - t) ** 4
        f /= f.sum()
        counts = np.random.default_rng(1).multinomial(REPORTS, operator.forward(f))
        for name in ("EM", "EMS"):
            began, used = time.perf_counter(), time.process_time()
            if name == "EM":
                fit = bp.estimate(mechanism, counts=counts, method="em").fit
            else:
                fit = fit_ems(operator, counts.astype(np.float64), most_steps=EMS_WORK // size)
            seconds, used = time.perf_counter() - began, time.process_time() - used
            off = np.abs((fit.frequencies - f).cumsum()).mean()
            state = "" if fit.converged else "  ended before its rule"
            limit = f" (asked for: below {LIMITS[size]})" if name == "EM" and size in LIMITS else ""
            print(
                f"  {size:>9,} values  {name:3} {seconds:7.1f} s{limit}, {used:.1f} s of them computing, "
                f"{fit.steps} steps, gain {fit.gain:.2g}, gap {fit.gap:.4g}, Wasserstein/N {off:.5f}{state}; "
                f"load average {os.getloadavg()[0]:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
