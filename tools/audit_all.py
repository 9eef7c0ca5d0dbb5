"""Audits and law-tests every mechanism of the package with many trials: a command for a quiet hour, not for CI.

``python tools/audit_all.py [trials] [seconds]``: so many trials (10^7 unless said) for each of two inputs and each
mechanism, and as many reports in all for its law test; no mechanism is begun after so many seconds. Each is audited
against the ε that its tickets realise, on the two inputs of its matrix that are told apart best. The false-alarm rate
is 1 % over all audits and tests of a run together; words are secure, so every run is a new one.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import numpy as np

import bipartite as bp
from bipartite.mechanisms import Mechanism
from bipartite.verification.plan import best_pair

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bipartite.mechanisms import Mechanism

TRIALS = 10**7
SECONDS = 10**6
FALSE_ALARMS = 0.01


def mechanisms() -> Iterator[Mechanism]:
    """One of every kind, on every kind of domain, at small and large ε."""
    ages, income = bp.Integers(18, 90), bp.Interval(0, 200_000, points=41)
    random_income = bp.Interval(0, 200_000, points=41, rounding="random")
    places = bp.Points(np.random.default_rng(1).uniform([-60, -180], [70, 180], (40, 2)), metric="haversine")
    plane = bp.Points(np.random.default_rng(2).uniform(0, 10, (30, 2)))
    items = bp.Items([f"item {i}" for i in range(12)], loss=np.abs(np.subtract.outer(np.arange(12), np.arange(12))))
    for epsilon in (0.5, 1, 4):
        yield bp.BRR(ages, epsilon)
        yield bp.BRR(ages, epsilon, edges="padded")
        yield bp.BRR(ages, epsilon, m="best")
        yield bp.BRR(income, epsilon)
        yield bp.BRR(random_income, epsilon)
        yield bp.BRR(places, epsilon)
        yield bp.BRR(plane, epsilon)
        yield bp.BRR(items, epsilon)
        yield bp.GRR(ages, epsilon)
        yield bp.GRR(items, epsilon)
        yield bp.Exponential(ages, epsilon)
        yield bp.Geometric(ages, epsilon)
        yield bp.SquareWave(ages, epsilon)
        yield bp.Anchored(ages, epsilon)
        yield bp.Anchored(places, epsilon)
        yield bp.Optimal(bp.Integers(1, 12), epsilon)
        yield bp.Minimax(ages, epsilon)
        yield bp.Minimax(places, epsilon)
        yield bp.AnchoredMeans(bp.Integers(1, 12), epsilon)
        yield bp.Laplace(income, epsilon, clamped=True)
        yield bp.Staircase(income, epsilon, clamped=True)
        yield bp.Duchi(income, epsilon)
        yield bp.Piecewise(income, epsilon)
        yield bp.Hybrid(income, epsilon)
    yield bp.GRR(bp.Integers(0, 1), 1)
    yield bp.Constant(ages)


def categories() -> Iterator[Mechanism]:
    """Flat categories, few enough that whole reports can be counted; they have no matrix for a law test."""
    ratings = bp.Integers(1, 8)
    for epsilon in (0.5, 1, 4):
        for kind in (bp.OUE, bp.SUE, bp.OLH, bp.SubsetSelection, bp.HadamardResponse):
            yield kind(ratings, epsilon)
    yield bp.RAPPOR(ratings, epsilon_permanent=2, p="0.25", q="0.75")


def main() -> int:
    """Print a line a mechanism and the verdict over all."""
    trials = int(float(sys.argv[1])) if len(sys.argv) > 1 else TRIALS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS  # noqa: PLR2004
    every = [*mechanisms(), *categories()]
    confidence = 1 - FALSE_ALARMS / (2 * len(every))
    print(f"{trials:,} trials an input; confidence {100 * confidence:.4f} % for each audit and law test")
    print(f"{'mechanism':58} {'ε':>9} {'ε ≥':>9} {'audit':>11} {'law: p':>8} {'seconds':>8}")
    began = time.perf_counter()
    findings = done = 0
    for mechanism in every:
        if time.perf_counter() - began > seconds:
            break
        started = time.perf_counter()
        domain = mechanism.domain
        realised = float(bp.verify(mechanism).epsilon_upper)
        lawful, told = True, ""
        pair = [1, 8]
        if not mechanism.flat:
            pair = [domain.decode(x) for x in best_pair(mechanism.matrix(), 0.95 * realised)[0]]
            law = bp.law_test(mechanism, trials=max(1000, trials // len(domain)), confidence=confidence)
            lawful, told = law.holds, f"{law.p_value:8.2g}"
        found = bp.audit(mechanism, pair, trials=trials, confidence=confidence)
        findings += (not found.holds) + (not lawful)
        done += 1
        verdict = "not refuted" if found.holds else "BROKEN"
        print(
            f"{_short(mechanism):58} {realised:9.6f} {found.epsilon_lower:9.6f} {verdict:>11} {told:>8} "
            f"{time.perf_counter() - started:8.1f}",
            flush=True,
        )
    print(f"{done} of {len(every)} mechanisms, {findings} findings; 1 % false alarms over all")
    return 1 if findings else 0


def _short(mechanism: object) -> str:
    text = repr(mechanism)
    return text if len(text) <= 58 else text[:55] + "…"  # noqa: PLR2004


if __name__ == "__main__":
    sys.exit(main())
