"""Claims that stand between the figures: sentences of sections 1 to 5 and appendix B.2, and steps of proofs."""

from __future__ import annotations

import math
import statistics
from itertools import pairwise
from operator import sub
from typing import Final

from reproduction.claims.seeds import TOO_SMALL, brackets, by_seed, enough, jointly
from reproduction.claims.training import complete
from reproduction.claims.verdict import Claim, Evidence, Judgement, Verdict, holds_if, on_a_fine_grid
from reproduction.places import PUBLISHED, WITHIN
from reproduction.runner.contract import Rows, beside, distinct, number, select

_EQUAL: Final = 1e-9
_BUDGETS: Final = 8
"""From 0.25 to 2 by quarters, as in Fig. 8."""
_AS_GOOD: Final = 0.02
_NEAR: Final = 0.05
"""Accuracies count as equal within two points, and as near one another within five."""


def _of(evidence: Evidence, what: str) -> Rows:
    return select(evidence["sentences"], what=what)


def _lower_at_every_n(evidence: Evidence) -> Judgement:
    both = beside(evidence["qloss_by_n"], "qloss", "BRR", "GRR", "points", "epsilon")
    above = sum(ours > theirs * (1 + _EQUAL) for _, ours, theirs in both)
    equal = [row for row, ours, theirs in both if math.isclose(ours, theirs, rel_tol=_EQUAL)]
    gains = [1 - ours / theirs for _, ours, theirs in both]
    points, epsilons = (sorted({float(row[each]) for row, _, _ in both}) for each in ("points", "epsilon"))
    measured = (
        f"N = {points[0]:,.0f} to {points[-1]:,.0f}, ε = {epsilons[0]:g} to {epsilons[-1]:g}: QLoss of BRR above GRR’s in {above} of {len(both)} "
        f"cases, equal in {len(equal)}, lower by {min(gains):.0%} to {max(gains):.0%}"
    )
    if above:
        return Judgement(Verdict.FAILS, measured, "GRR has the smaller quality loss somewhere.")
    if equal:
        where = ", ".join(f"N = {row['points']}, ε = {row['epsilon']}" for row in equal)
        return Judgement(
            Verdict.CORRECTED,
            measured,
            f"Lower, or equal where m = 1 and BRR is GRR, as section 3.4 says itself ({where}).",
        )
    return Judgement(Verdict.HOLDS, measured, "Lower at every N and ε.")


def _ratio_falls(evidence: Evidence) -> Judgement:
    from reproduction.experiments.qloss_by_n import ratios  # noqa: PLC0415 (lazily, as all experiments)

    found = {float(epsilon): by_n[max(by_n)] for epsilon, by_n in ratios(evidence["qloss_by_n"]).items()}
    largest = max(int(row["points"]) for row in evidence["qloss_by_n"])
    measured = f"N = {largest:,}: " + ", ".join(f"{value:.3f} (ε = {epsilon:g})" for epsilon, value in found.items())
    falls = all(b < a for (_, a), (_, b) in pairwise(sorted(found.items())))
    return holds_if(falls, measured, "It falls with every step of ε, in the end as 7/(4e^{ε/2}).", "It does not fall.")


def _places_fall(evidence: Evidence) -> Judgement:
    rows = select(evidence["location_errors"], scope=WITHIN)
    steps = rises = 0
    said = []
    for dataset in distinct(rows, "dataset"):
        for name in ("GRR", PUBLISHED, "BRR"):
            of = [number(row, "expected_km") for row in select(rows, dataset=dataset, mechanism=name)]
            steps += len(of) - 1
            rises += sum(b > a * (1 + _EQUAL) for a, b in pairwise(of))
            said.append(f"{name} {of[0]:.3g} to {of[-1]:.3g} km ({of[-1] / of[0] - 1:+.0%})")
        said[-3] = f"{dataset}: {said[-3]}"
    epsilons = [float(each) for each in distinct(rows, "epsilon")]
    measured = f"expected error within regions rises in {rises} of {steps} steps; from ε = {min(epsilons):g} to {max(epsilons):g} {', '.join(said)}"
    return holds_if(rises == 0, measured, "It falls with ε for all three, for GRR by little.", "It rises somewhere.")


def _larger_noise(evidence: Evidence) -> Judgement:
    rows = _of(evidence, "gradient noise")
    larger, times, said = {}, {}, []
    for name in ("Laplace on the mean", "Laplace on the sum"):
        both = beside(rows, "noise", name, "BRR", "epsilon")
        larger[name] = all(theirs > ours for _, theirs, ours in both)
        said.append(f"{name} {min(each for _, each, _ in both):.2g} to {max(each for _, each, _ in both):.2g}")
        times[name] = min(ours / theirs for _, theirs, ours in both)
    ours = [number(row, "noise") for row in select(rows, mechanism="BRR")]
    measured = f"noise of a coordinate near zero, root mean square in units of C, at the paper’s budgets: BRR {min(ours):.2g} to {max(ours):.2g}, {', '.join(said)}"
    if all(larger.values()):
        return Judgement(
            Verdict.HOLDS, measured, "Laplace’s noise is the larger at every budget, wherever it is added."
        )
    if any(larger.values()):
        grown = {name: max(of) / min(of) for name in ("Laplace on the sum", "BRR") for of in [[number(row, "noise") for row in select(rows, mechanism=name)]]}  # fmt: skip
        grows = grown["Laplace on the sum"] > grown["BRR"]
        than_before = f"Larger than with larger budgets: it grows {grown['Laplace on the sum']:.1f} times over these, BRR’s {grown['BRR']:.1f} times. " if grows else ""  # fmt: skip
        return Judgement(
            Verdict.CORRECTED if grows else Verdict.READING, measured, f"{than_before}Larger than BRR’s where Laplace noise is added to the mean of a batch: then the rival learns nothing. Added to their sum, as in DP-SGD, whose procedure the paper follows, and as in every other verdict on SGD here, it is at least {times['Laplace on the sum']:.0f} times smaller than BRR’s; so smaller noise is not what makes BRR-SGD better. Either way ε = ∞ is spent."
        )  # fmt: skip
    return Judgement(Verdict.FAILS, measured, "Laplace’s noise is the smaller at some budget, wherever it is added.")


def _near_no_noise(evidence: Evidence) -> Judgement:
    rows = select(evidence["sgd"], network="paper-cnn", measure="final")
    largest = max((float(each) for each in distinct(select(rows, mechanism="paper-brr"), "epsilon")), default=0.0)
    plain = by_seed(select(rows, mechanism="none"))
    found = jointly(
        {
            words: (by_seed(select(rows, mechanism=name, epsilon=largest)), plain)
            for name, words in (("paper-brr", "BRR-SGD"), ("paper-laplace", "Laplace on the sum"))
        },
        sub,
    )
    if not found:
        return Judgement(Verdict.UNDECIDED, "nothing", TOO_SMALL)
    numbers = "; ".join(f"{name} {each.say('+.1%')}" for name, each in found.items())
    measured = f"final accuracy minus that without noise, at ε = {largest:g}, by the paper’s protocol, which spends ε = ∞: {numbers} {brackets(found.values())}"
    if all(each.low > -_AS_GOOD for each in found.values()):
        return Judgement(Verdict.HOLDS, measured, "Both are within two points of training without noise.")
    if all(each.low > -_NEAR for each in found.values()):
        wrong = 1 - statistics.fmean(plain.values())
        times = ", ".join(f"{name} {(wrong - each.mean) / wrong:.1f}" for name, each in found.items())
        return Judgement(
            Verdict.CORRECTED, measured, f"Near, within five points of training without noise, but not both within two; of wrong answers there are this many times as many: {times}."
        )  # fmt: skip
    if any(each.high < -_NEAR for each in found.values()):
        return Judgement(Verdict.FAILS, measured, "One of them is more than five points below.")
    return Judgement(Verdict.UNDECIDED, measured, "The intervals reach beyond five points.")


CLAIMS: Final = (
    Claim("lower at every N", "Introduction, Fig. 5(a)", "BRR has a significantly lower QLoss than GRR with varying N.", _lower_at_every_n, ("qloss_by_n",)),
    Claim("the ratio falls with ε", "Section 5.1, Fig. 5(b)", "For large N the ratio of BRR to GRR decreases quickly as the privacy budget grows.", _ratio_falls, ("qloss_by_n",)),
    Claim("places, falls with ε", "Section 5.3, Fig. 8", "As the privacy budget increases, the overall utility loss gradually decreases.", on_a_fine_grid("location_errors", _BUDGETS, _places_fall), ("location_errors",), "docs/places.md"),
    Claim("SGD, larger noise", "Appendix B.2", "With small budgets the Laplace mechanism introduces larger noise magnitudes.", _larger_noise, ("sentences",), "docs/private-sgd.md"),
    Claim("SGD, near no noise", "Appendix B.2", "At higher budgets the performance of both approximates a noise-free scenario.", enough("sgd", complete, _near_no_noise), ("sgd",), "docs/private-sgd.md"),
)  # fmt: skip
"""In the order of the paper."""
