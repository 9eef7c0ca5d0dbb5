"""Claims of section 3: the algorithms and theorems on a line, and Theorem 4."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from reproduction.claims.verdict import Claim, Evidence, Judgement, Verdict, holds_if
from reproduction.runner.contract import Rows, beside, number, select
from reproduction.theory import gap_bound, limit_gap

if TYPE_CHECKING:
    from collections.abc import Callable

_ERRATA: Final = "docs/errata.md"
_LIMIT_TOLERANCE: Final = 4.0
"""A limit counts as reached where the largest N is within so many steps of 1/N of it: m is a whole number."""


def _sum(rows: Rows, column: str) -> int:
    return sum(int(row[column]) for row in rows)


def _of(evidence: Evidence, what: str) -> Rows:
    return select(evidence["theorems"], what=what)


def _prose(evidence: Evidence) -> Judgement:
    rows = evidence["worked_example"]
    stops = [row for row in rows if int(row["rank"]) == int(row["local_m"]) + 1]
    raised = sum(bool(row["raised"]) for row in stops)
    measured = f"the item at which Algorithm 1 stops is raised in {raised} of {len(stops)} rows (N = {rows[0]['points']}, ε = {rows[0]['epsilon']})"
    if raised:
        return Judgement(Verdict.HOLDS, measured, "The item at which the search stops is raised.")
    return Judgement(
        Verdict.CORRECTED, measured, "A slip by one: the same sentence leaves s_i at 1, as Algorithm 1 does, so the item at which the derivative turns non-negative is not raised and m = i − 1."
    )  # fmt: skip


def _two_weights(evidence: Evidence) -> Judgement:
    (row,) = _of(evidence, "two weights")
    measured = (
        f"Algorithm 1 against all 2^N choices of weights: {row['differs']} of {row['cases']} rows differ (N = 3 to 10)"
    )
    return holds_if(
        int(row["differs"]) == 0, measured,
        "Each weight is better at one of its ends whatever it is, and the search finds the best of all choices.",
        "Another choice of the two weights has a smaller expected error.",
    )  # fmt: skip


def _any_m(evidence: Evidence) -> Judgement:
    (row,) = _of(evidence, "any m")
    measured = f"certificates from whole-number tickets: {row['broken']} of {row['cases']} fail (every m, N = 3 to 12)"
    return holds_if(
        int(row["broken"]) == 0, measured,
        "Any m that does not depend on the value keeps every ratio within e^ε, the safe one too.",
        "A certificate failed.",
    )  # fmt: skip


def _monotonicity(evidence: Evidence) -> Judgement:
    rows = select(evidence["monotonicity"], what="count")
    last = max(int(row["points"]) for row in rows)
    wrong, misplaced = _sum(rows, "wrong"), _sum(rows, "misplaced")
    measured = (
        f"{wrong} of {_sum(rows, 'pairs'):,} pairs of derivatives are ordered otherwise, for every ε; the least m stands "
        f"elsewhere than in the first or middle row in {misplaced} of {_sum(rows, 'budgets'):,} cases (N = 2 to {last})"
    )
    return holds_if(
        wrong == 0 and misplaced == 0, measured, "Both the order and the conclusion are as the paper says.", "The order fails."
    )  # fmt: skip


def _theorem_1_1(evidence: Evidence) -> Judgement:
    found = _limit(evidence, ("m/N",), "m/N approaches the limit as 1/N.")
    rows = _of(evidence, "algorithm 3")
    below, cases = _sum(rows, "below_one"), _sum(rows, "cases")
    measured = f"m below 1 in {below} of {cases:,} cases; {found.measured}"
    return Judgement(Verdict.FAILS if below else found.verdict, measured, "m falls below 1." if below else found.why)


def _limit(evidence: Evidence, quantities: tuple[str, ...], why: str) -> Judgement:
    rows = [row for row in _of(evidence, "limits") if row["quantity"] in quantities]
    largest = max(int(row["points"]) for row in rows)
    last = select(rows, points=largest)
    apart = max(abs(number(row, "measured") - number(row, "limit")) for row in last)
    shown = [row for row in last if number(row, "epsilon") in {1.0, 2.0}]
    numbers = "; ".join(
        f"ε = {number(row, 'epsilon'):g}: {row['quantity']} {number(row, 'measured'):.4f}, limit {number(row, 'limit'):.4f}"
        for row in shown
    )
    measured = (
        f"N = {largest:,}: at most {apart:.1e} from the limit for {len(last) // len(quantities)} values of ε; {numbers}"
    )
    worst = max(
        abs(number(row, "measured") - number(row, "limit")) * largest / math.exp(number(row, "epsilon") / 2)
        for row in last
    )
    return holds_if(worst <= _LIMIT_TOLERANCE, measured, why, "The measured values do not approach the formula.")


def _theorem_1_2(evidence: Evidence) -> Judgement:
    rows = select(evidence["choice_of_m"], what="theorem 1 (2)")
    wrong, cases = _sum(rows, "differs"), _sum(rows, "cases")
    above, below = (max(int(row[each]) for row in rows) for each in ("most_above", "most_below"))
    measured = (
        f"m₁ differs from the m of Algorithm 2 in {wrong} of {cases:,} cases with ε ≥ 1 (N = 2 to {max(int(row['last']) for row in rows)}): "
        f"it is at most {above} above and {below} below"
    )
    if wrong == 0:
        return Judgement(Verdict.HOLDS, measured, "m₁ is the m of Algorithm 2.")
    if (above, below) == (1, 0):
        return Judgement(
            Verdict.CORRECTED, measured, "m is m₁ or m₁ − 1. The proof compares the roots before the step that makes m₂ odd, and for finite N the middle row can then have the smaller m (N = 5, ε = 1: 1, not 2). m = min(m₁, m₂) for every ε."
        )  # fmt: skip
    return Judgement(Verdict.FAILS, measured, "m₁ is further than one from the m of Algorithm 2.")


def _global_search(evidence: Evidence) -> Judgement:
    rows = select(evidence["choice_of_m"], what="every m")
    large = select(evidence["choice_of_m"], what="large")
    better, cases = _sum(rows, "larger_better") + _sum(rows, "smaller_better"), _sum(rows, "cases")
    steps, wrong = _sum(rows, "steps"), _sum(rows, "steps_wrong")
    gaps = [number(row, "gap") for row in large]
    lost = max(best / ours - 1 for _, ours, best in beside(evidence["jaccard"], "utility", "BRR", "BRR, best m", "points", "epsilon"))  # fmt: skip
    measured = (
        f"in {better} of {cases} cases (N = 2 to {max(int(row['last']) for row in rows)}, in fractions) another m has a smaller Q_g, and this one is worse by up to "
        f"{max(number(row, 'largest_gap') for row in rows):.0%}; at N = {large[0]['points']:,} by {min(gaps):.2%} to {max(gaps):.2%}; for "
        f"Jaccard similarity by up to {lost:.0%}; of {steps:,} steps from m = 1 up to the safe m {wrong} fail to lower Q_g or raise the error of some value"
    )
    if better == 0:
        return Judgement(Verdict.HOLDS, measured, "No other m has a smaller Q_g.")
    if wrong:
        return Judgement(Verdict.FAILS, measured, "Neither is Q_g least, nor does every step towards that m lower it.")
    return Judgement(
        Verdict.CORRECTED, measured, "Not the least Q_g of all m, but the least of those that no value objects to: every step up to the safe m lowers Q_g and raises the error of nobody, so among these it is best under every prior; every further step harms some value (see “raising m”)."
    )  # fmt: skip


def _centred_windows(evidence: Evidence) -> Judgement:
    rows = select(evidence["choice_of_m"], what="centred windows")
    below, above = _sum(rows, "below_low"), _sum(rows, "above_high")
    largest = max(int(row["points"]) for row in rows)
    last = select(rows, points=largest)
    apart = [max(abs(number(row, low) - number(row, high)) for row in last) for low, high in (("least", "low"), ("most", "high"))]  # fmt: skip
    measured = (
        f"values with a centred window, {len(rows)} pairs of N and h, in fractions: the least ratio is below the lower bound in {below}, the "
        f"largest above the upper bound in {above}; at N = {largest:,} they are at most {apart[0]:.1e} and {apart[1]:.1e} from the bounds"
    )
    near = all(
        abs(number(row, each)) <= _LIMIT_TOLERANCE * float(Fraction(str(row["h"])))
        for row in last
        for each in ("least_apart", "most_apart")
    )
    if below or not near:
        return Judgement(
            Verdict.FAILS, measured, "The ratios do not tend to these bounds, or fall below the lower one."
        )
    if above:
        return Judgement(
            Verdict.CORRECTED, measured, "Both are the limits, and both are approached from above, as 1/N: so the lower bound holds at every N, the upper one only in the limit. The least of all ratios, in Theorem 2, lies nearer to the end, where windows are not centred."
        )  # fmt: skip
    return Judgement(Verdict.HOLDS, measured, "Both bounds hold, and are approached.")


def _algorithm_3(evidence: Evidence) -> Judgement:
    rows = _of(evidence, "algorithm 3")
    printed, corrected, cases = (_sum(rows, each) for each in ("printed_differs", "corrected_differs", "cases"))
    measured = (
        f"against Algorithm 2: as printed {printed} of {cases:,} cases differ, corrected {corrected} "
        f"(N = 2 to {max(int(row['last']) for row in rows)}, 11 values of ε)"
    )
    if printed == 0:
        return Judgement(Verdict.HOLDS, measured, "The closed form is that of Algorithm 2.")
    if corrected:
        return Judgement(Verdict.FAILS, measured, "Neither the printed nor the corrected form is that of Algorithm 2.")
    return Judgement(
        Verdict.CORRECTED, measured, "The formulas for m₁ and i are right, and the limits of Theorems 1 to 3 are not touched. Line 4 should read m₂ = i − 1 for even i (a pair of equal distances is raised or left together), and line 2 be left out."
    )  # fmt: skip


def no_worse(evidence: Evidence, column: str, thing: str, *, of_the_searches: bool = False) -> Judgement:
    """Whether BRR is above GRR in some case, by a count with the printed m and by that with the corrected one.

    Where the paper speaks of the two searches, BRR is Algorithm 2, whatever the closed form of its m is.
    """
    rows = _of(evidence, "pointwise")
    printed, corrected, cases = _sum(rows, column), _sum(rows, "worse_corrected"), _sum(rows, "cases")
    measured = (
        f"{thing} above GRR’s: with the printed m in {printed} of {cases:,} cases; with the corrected m any local error in "
        f"{corrected} (N = 2 to {max(int(row['last']) for row in rows)}, in fractions)"
    )
    if corrected:
        return Judgement(Verdict.FAILS, measured, "Some value does worse than under GRR, with the corrected m too.")
    if printed and of_the_searches:
        return Judgement(
            Verdict.HOLDS, measured, "So for BRR as the abstract describes it, by the local and the global search (Algorithm 2): no value does worse, so no average does, under any prior. Not with the m of the printed Algorithm 3: see “algorithm 3”."
        )  # fmt: skip
    if printed:
        return Judgement(
            Verdict.CORRECTED, measured, "It holds with the m of Algorithm 2, not with that of the printed Algorithm 3, whose title is “BRR in one-dimensional equidistant point domain”."
        )  # fmt: skip
    return Judgement(Verdict.HOLDS, measured, "No case is worse than GRR.")


def _gap(_: Evidence) -> Judgement:
    values = [each / 10 for each in range(1, 101)]
    worst = max(limit_gap(each) / gap_bound(each) for each in values)
    return holds_if(
        worst < 1, f"gap over its bound: at most {worst:.3f} for ε = 0.1 to 10", "The gap stays below the bound.", "The gap exceeds the bound."
    )  # fmt: skip


def _appendix(quantity: str, found_as: str, why: str) -> Callable[[Evidence], Judgement]:
    def judge(evidence: Evidence) -> Judgement:
        (row,) = select(_of(evidence, "appendix"), quantity=quantity)
        found, printed, corrected = (number(row, each) for each in ("measured", "printed", "corrected"))
        measured = f"{found_as} {found:.5f}, as printed {printed:.5f}, corrected {corrected:.5f} (ε = 1)"
        if math.isclose(found, printed, rel_tol=1e-4):
            return Judgement(Verdict.HOLDS, measured, "The printed formula gives that value.")
        if math.isclose(found, corrected, rel_tol=1e-4):
            return Judgement(Verdict.CORRECTED, measured, why)
        return Judgement(Verdict.FAILS, measured, "Neither form gives that value.")

    return judge


def _general(evidence: Evidence) -> Judgement:
    rows = _of(evidence, "general domains")
    raised = [row for row in rows if int(row["m"]) > 1]
    worse, unequal = _sum(rows, "worse"), sum(not row["better_on_average"] for row in raised)
    points = sum(int(row["points"]) for row in rows)
    measured = f"{worse} of {points} points worse than under GRR, {unequal} of {len(raised)} cases with m > 1 no better on average (Jaccard, 100 cities)"
    return holds_if(
        worse == 0 and unequal == 0, measured,
        "Every raised item lies below the mean loss of every row, so raising it helps everywhere.", "A point does worse.",
    )  # fmt: skip


def _raising(evidence: Evidence) -> Judgement:
    rows = _of(evidence, "pointwise")
    harms, raisings, better, cases = (
        _sum(rows, each) for each in ("raising_harms", "raisings", "average_better", "cases")
    )
    measured = f"some value loses in {harms:,} of {raisings:,} larger m; yet in {better} of {cases:,} cases a larger m has the smaller expected error on average"
    return holds_if(
        harms == raisings, measured,
        "The row with the least m loses with any larger one. That makes the minimum the safe choice, not the best one on average.",
        "Some larger m harms no value.",
    )  # fmt: skip


CLAIMS: Final = (
    Claim("two weights", "Sections 2.5 and 3.2", "In the local search the best weights are bipartite, only 1 and e^ε.", _two_weights, ("theorems",)),
    Claim("prose of step 2", "Section 3.2, step 2", "Stop at the first y_i whose derivative is not negative, fix m = i, and leave s_i, …, s_N at 1.", _prose, ("worked_example",), _ERRATA),
    Claim("global search", "Section 3.3", "We perform the global search, the least m⁽ᵏ⁾ of all k, to minimize the quality loss Q_g.", _global_search, ("choice_of_m", "jaccard"), "docs/errata.md"),
    Claim("raising m", "Section 3.3", "If m increases, the local utility of publishing some occurrences would certainly decrease.", _raising, ("theorems",)),
    Claim("order of derivatives", "Fig. 3, proof of Theorem 1", "Within a column the derivatives are ordered, so the least m stands in the first or the middle row.", _monotonicity, ("monotonicity",)),
    Claim("theorem 1 (1)", "Theorem 1 (1)", "m ≥ 1, and m/N tends to 1/(e^{ε/2} + 1).", _theorem_1_1, ("theorems",)),
    Claim("theorem 1 (2)", "Theorem 1 (2), Algorithm 3 line 2", "For ε ≥ 1, m = m₁.", _theorem_1_2, ("choice_of_m",), _ERRATA),
    Claim("algorithm 3", "Algorithm 3", "Explicit formulas for m.", _algorithm_3, ("theorems",), _ERRATA),
    Claim("theorem 1 (3)", "Theorem 1 (3)", "BRR satisfies ε-LDP.", _any_m, ("theorems",), "docs/guarantee.md"),
    Claim("theorem 2, each point", "Theorem 2", "For any k the local expected error of BRR is no more than that of GRR.", lambda found: no_worse(found, "worse_printed", "some local error"), ("theorems",), _ERRATA),
    Claim("theorem 2, bounds", "Theorem 2", "The largest and least local ratios tend to 2/(h+1) and h − (h−1)/(h+1)·(√(h²+2h+2)+1), h = e^{ε/2}.", lambda found: _limit(found, ("largest local ratio", "least local ratio"), "Both extremes approach their limits."), ("theorems",)),
    Claim("theorem 2, gap", "Theorem 2", "The gap between the two is below 1/(2(h+1)).", _gap),
    Claim("appendix, supremum", "Appendix A.1", "Supremum and infimum with √(e^ε + 2e^ε + …).", _appendix("supremum", "limit of Theorem 2, which measured ratios approach,", "2e^ε under the roots should read 2e^{ε/2}, as in Theorem 2 itself."), ("theorems",), _ERRATA),
    Claim("appendix, centred windows", "Appendix A.1, case 1", "For N sufficiently large (3h+2)/(2h²+2h+1) ≤ Q⁽ᵏ⁾(BRR)/Q⁽ᵏ⁾(GRR) ≤ 2/(h+1) where m − 1 ≤ 2n.", _centred_windows, ("choice_of_m",)),
    Claim("theorem 3", "Theorem 3", "The ratio of the global expected errors tends to (7h+9)/(4(h+1)²).", lambda found: _limit(found, ("global ratio",), "The ratio approaches the formula."), ("theorems",)),
    Claim("appendix, f(c)", "Appendix A.2", "N²-term of f(c), in the first of its two lines, with numerator … − 3e^ε + 4.", _appendix("f(c)", "measured at N = 100,001", "−3e^ε stands outside the bracket that N² multiplies, as it does in the second line: the leading term has + 4 alone, and the limit that the paper takes from it is right."), ("theorems",), _ERRATA),
    Claim("theorem 4", "Theorem 4", "On general domains BRR at least equals GRR at every point, and beats it globally if m > 1.", _general, ("theorems",)),
)  # fmt: skip
"""In the order of the paper."""
