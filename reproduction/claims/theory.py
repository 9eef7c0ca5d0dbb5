"""Claims about algorithms, theorems and sentences that are theorems: sections 2 to 5.1, appendix A."""

from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd

from reproduction.claim import Claim, Edit, Verdict
from reproduction.theory import gap_bound, limit_gap, limit_global_ratio, limit_inf, limit_sup

_ERRATA: Final = "docs/errata.md"
_BUDGETS: Final = tuple(each / 10 for each in range(1, 101))
"""ε = 0.1 to 10, where two formulas are compared."""


def pick(rows: pd.DataFrame, what: str) -> pd.DataFrame:
    """The rows of one check."""
    return rows[rows["what"] == what]


def counts(rows: pd.DataFrame, what: str, *columns: str) -> dict[str, Any]:
    """Sums of what a check counted, and the largest N of it."""
    of = pick(rows, what)
    last = of["last" if "last" in of else "most"].max()
    return {name: int(of[name].sum()) for name in columns} | {"last": last}


def no_worse(theorems: pd.DataFrame) -> dict[str, Any]:
    """In how many cases BRR errs more than GRR: with the m of Algorithm 2, and with that of the printed Algorithm 3."""
    return counts(theorems, "pointwise", "cases", "worse_corrected", "worse_printed", "average_worse_printed")


def _where_it_stops(worked_example: pd.DataFrame) -> dict[str, Any]:
    stops = worked_example[worked_example["rank"] == worked_example["local_m"] + 1]
    first = stops.iloc[0]
    return {"raised": int(stops["raised"].sum()), "stops": len(stops), "points": first["points"],
            "epsilon": first["epsilon"]}  # fmt: skip


def _own_m(sentences: pd.DataFrame) -> dict[str, Any]:
    of = pick(sentences, "local m")
    return counts(sentences, "local m", "cases", "differ", "broken") | dict(
        of.loc[of["worst"].idxmax()].filter(like="worst")
    )


def _every_m(choice_of_m: pd.DataFrame, jaccard: pd.DataFrame) -> dict[str, Any]:
    found = counts(choice_of_m, "every m", "cases", "larger_better", "smaller_better", "steps", "steps_wrong")
    large = pick(choice_of_m, "large")
    utility = jaccard.pivot(index=["points", "epsilon"], columns="mechanism", values="utility")
    return found | {
        "better": found["larger_better"] + found["smaller_better"],
        "gap": choice_of_m["largest_gap"].max(),
        "large": large["points"].max(), "least": large["gap"].min(), "most": large["gap"].max(),
        "lost": (utility["BRR, best m"] / utility["BRR"]).max() - 1,
    }  # fmt: skip


def _order(monotonicity: pd.DataFrame) -> dict[str, Any]:
    of = pick(monotonicity, "count")
    return {"last": of["points"].max(), **of[["pairs", "wrong", "budgets", "misplaced"]].sum()}


def _first_row(choice_of_m: pd.DataFrame) -> dict[str, Any]:
    above, below = pick(choice_of_m, "theorem 1 (2)")[["most_above", "most_below"]].max()
    return counts(choice_of_m, "theorem 1 (2)", "cases", "differs") | {"above": above, "below": below}


def _limits(theorems: pd.DataFrame, *quantities: str) -> dict[str, Any]:
    """How near the largest N is; m is a whole number, so within a few steps of h/N is as near as can be."""
    of = pick(theorems, "limits")
    last = of[of["quantity"].isin(quantities) & (of["points"] == of["points"].max())]
    apart = (last["measured"] - last["limit"]).abs()
    shown = last[last["epsilon"].isin([1, 2])][["epsilon", "quantity", "measured", "limit"]].to_numpy()
    return {
        "points": last["points"].max(), "budgets": last["epsilon"].nunique(), "apart": apart.max(),
        "steps": (apart * last["points"] / np.exp(last["epsilon"] / 2)).max(),
        "shown": "; ".join(f"ε = {at:g}: {name} {found:.4f}, limit {limit:.4f}" for at, name, found, limit in shown),
    }  # fmt: skip


def _m_of_n(theorems: pd.DataFrame) -> dict[str, Any]:
    return _limits(theorems, "m/N") | counts(theorems, "algorithm 3", "cases", "below_one")


def _gap() -> dict[str, Any]:
    return {"share": max(limit_gap(each) / gap_bound(each) for each in _BUDGETS)}


def _local_and_global() -> dict[str, Any]:
    limits = {each: (limit_inf(each), limit_global_ratio(each), limit_sup(each)) for each in _BUDGETS}
    return {
        "of": len(limits), "outside": sum(list(each) != sorted(each) for each in limits.values()),
        "shown": "; ".join(f"ε = {each:g}: " + " ≤ ".join(f"{limit:.4f}" for limit in limits[each]) for each in (1, 2)),
    }  # fmt: skip


def _rounding(sentences: pd.DataFrame) -> dict[str, Any]:
    moved = pick(sentences, "rounding").set_index("nodes")["moved"]
    shown = ", ".join(f"{way:.5f} (N = {nodes:g})" for nodes, way in moved.items())
    return {"rises": int((moved.diff() >= 0).sum()), "shown": shown}


def _general(theorems: pd.DataFrame) -> dict[str, Any]:
    of = pick(theorems, "general domains")
    raised = of[of["m"] > 1]
    return {"worse": of["worse"].sum(), "points": of["points"].sum(), "raised": len(raised),
            "no_better": len(raised) - raised["better_on_average"].sum()}  # fmt: skip


def _near_reports(sentences: pd.DataFrame) -> dict[str, Any]:
    """By how much the chance of a near report varies over N: BRR's, GRR's, and GRR's where as many are counted."""
    of = pick(sentences, "near reports").set_index(["epsilon", "points"])
    near = of.pivot(columns="mechanism", values="near")
    epsilon, points = (near.index.get_level_values(name) for name in ("epsilon", "points"))
    excess = np.exp(epsilon) - 1
    near["GRR of as many"] = (excess + of.loc[of["mechanism"] == "BRR", "m"]) / (excess + points)
    by_budget = near.groupby("epsilon")
    least, most = by_budget.min(), by_budget.max()
    spread = most / least
    shown = "; ".join(
        f"ε = {at:g}: " + ", ".join(f"{name} {least[name][at]:.2g}–{most[name][at]:.2g}" for name in near)
        for at in spread.index
    )
    return {
        "budgets": len(spread), "calmer": int((spread["BRR"] < spread["GRR"]).sum()), "shown": shown,
        "calm": ", ".join(f"{at:g}" for at in spread.index[spread["GRR of as many"] <= spread["BRR"]]),
        "first": points.min(), "last": points.max(),
    }  # fmt: skip


def _as_printed(theorems: pd.DataFrame, quantity: str) -> dict[str, Any]:
    of = pick(theorems, "appendix").set_index("quantity")
    return dict(of.loc[quantity, ["measured", "printed", "corrected"]])


_PRINTED: Final = {
    Verdict.HOLDS: "abs(printed / measured - 1) < 1e-4",
    Verdict.SLIP: "abs(corrected / measured - 1) < 1e-4",
}


def _centred_windows(choice_of_m: pd.DataFrame) -> dict[str, Any]:
    of = pick(choice_of_m, "centred windows")
    last = of[of["points"] == of["points"].max()]
    h = last["h"].map(lambda each: float(Fraction(str(each))))
    return {
        "pairs": len(of), "below": int(of["below_low"].sum()), "above": int(of["above_high"].sum()),
        "points": last["points"].max(), "steps": last[["least_apart", "most_apart"]].abs().max(axis=1).div(h).max(),
        "low": (last["least"] - last["low"]).abs().max(), "high": (last["most"] - last["high"]).abs().max(),
    }  # fmt: skip


CLAIMS: Final = (
    Claim(
        key="two weights",
        where="Sections 2.5 and 3.2",
        says="In the local search the best weights are bipartite, only 1 and e^ε.",
        find=lambda theorems: counts(theorems, "two weights", "cases", "differs"),
        measured="Algorithm 1 against all 2^N choices of weights: {differs} of {cases} rows differ (N = 3 to 10)",
        rules={Verdict.HOLDS: "differs == 0"},
        expected=Verdict.HOLDS,
        why="Each weight is better at one of its two ends whatever it is, and the search finds the best of all "
        "choices.",
        flip=Edit("theorems", "what == 'two weights'", "differs", "1"),
    ),
    Claim(
        key="prose of step 2",
        where="Section 3.2, step 2",
        says="Stop at the first y_i whose derivative is not negative, fix m = i, and leave s_i, …, s_N at 1.",
        find=_where_it_stops,
        measured="the item at which Algorithm 1 stops is raised in {raised} of {stops} rows (N = {points}, ε = "
        "{epsilon})",
        rules={Verdict.HOLDS: "raised == stops", Verdict.SLIP: "raised == 0"},
        expected=Verdict.SLIP,
        finding="m = i − 1: the item at which the search stops is not raised",
        why="A slip by one. The same sentence leaves s_i at 1, as Algorithm 1 does.",
        flip=Edit("worked_example", "rank == local_m + 1", "raised", "rank > 0", Verdict.HOLDS),
        evidence=_ERRATA,
    ),
    Claim(
        key="an m for each value",
        where="Section 3.2",
        says="Different locally optimal m for different values will certainly violate ε-differential privacy.",
        find=_own_m,
        measured="the locally best m differ in {differ} of {cases} cases (N = 3 to {last:.0f}); of these {broken} "
        "spend more than ε, at most {worst:.2f} times ε (N = {worst_points:.0f}, ε = {worst_epsilon:g})",
        rules={Verdict.HOLDS: "broken == differ"},
        expected=Verdict.HOLDS,
        why="The normaliser then depends on the value, and some output is near for one value and far for another.",
        flip=Edit("sentences", "what == 'local m'", "broken", "differ - 1"),
    ),
    Claim(
        key="global search",
        where="Section 3.3",
        says="We perform the global search, the least m⁽ᵏ⁾ of all k, to minimize the quality loss Q_g.",
        find=_every_m,
        measured="another m has a smaller Q_g in {better} of {cases} cases (N = 2 to {last:.0f}, in fractions); this "
        "one is worse by up to {gap:.0%}, {least:.2%} to {most:.2%} at N = {large:,.0f}, for Jaccard similarity up to "
        "{lost:.0%}; of {steps:,} steps from m = 1 up to it {steps_wrong} fail to lower Q_g or harm some value",
        rules={Verdict.HOLDS: "better == 0", Verdict.PART: "steps_wrong == 0"},
        expected=Verdict.PART,
        finding="the least Q_g among the m that no value objects to, not among all",
        why="Every step up to this m lowers Q_g and harms no value, so under every prior it is the best of the m up "
        "to it. Every further step harms some value (see “raising m”), and may still lower Q_g.",
        flip=Edit("choice_of_m", "what == 'every m'", "larger_better", "0", Verdict.HOLDS),
        evidence=_ERRATA,
    ),
    Claim(
        key="raising m",
        where="Section 3.3",
        says="If m increases, the local utility of publishing some occurrences would certainly decrease.",
        find=lambda theorems: counts(theorems, "pointwise", "raisings", "raising_harms", "average_better", "cases"),
        measured="some value loses in {raising_harms:,} of {raisings:,} larger m; yet in {average_better} of {cases} "
        "cases a larger m has the smaller expected error on average",
        rules={Verdict.HOLDS: "raising_harms == raisings"},
        expected=Verdict.HOLDS,
        why="The row with the least m loses with any larger one. That makes the minimum the safe choice, not the best "
        "one on average.",
        flip=Edit("theorems", "what == 'pointwise'", "raising_harms", "raisings - 1"),
    ),
    Claim(
        key="order of derivatives",
        where="Fig. 3, proof of Theorem 1",
        says="Within a column the derivatives are ordered, so the least m stands in the first or the middle row.",
        find=_order,
        measured="{wrong:.0f} of {pairs:,.0f} pairs of derivatives are ordered otherwise, for every ε; the least m "
        "stands elsewhere than in the first or middle row in {misplaced:.0f} of {budgets:,.0f} cases (N = 2 to "
        "{last})",
        rules={Verdict.HOLDS: "wrong == 0 and misplaced == 0"},
        expected=Verdict.HOLDS,
        why="Both the order and the conclusion are as the paper says.",
        flip=Edit("monotonicity", "what == 'count'", "misplaced", "budgets"),
    ),
    Claim(
        key="theorem 1 (1)",
        where="Theorem 1 (1)",
        says="m ≥ 1, and m/N tends to 1/(e^{ε/2} + 1).",
        find=_m_of_n,
        measured="m below 1 in {below_one} of {cases:,} cases; N = {points:,.0f}: at most {apart:.1e} from the limit "
        "for {budgets} values of ε; {shown}",
        rules={Verdict.HOLDS: "below_one == 0 and steps <= 4"},
        expected=Verdict.HOLDS,
        why="m/N approaches the limit as 1/N.",
        flip=Edit("theorems", "quantity == 'm/N'", "measured", "measured * 1.01"),
    ),
    Claim(
        key="theorem 1 (2)",
        where="Theorem 1 (2), Algorithm 3 line 2",
        says="For ε ≥ 1, m = m₁.",
        find=_first_row,
        measured="m₁ differs from the m of Algorithm 2 in {differs} of {cases:,} cases with ε ≥ 1 (N = 2 to "
        "{last:.0f}): it is at most {above:.0f} above and {below:.0f} below",
        rules={Verdict.HOLDS: "differs == 0", Verdict.PART: "above == 1 and below == 0"},
        expected=Verdict.PART,
        finding="m is m₁ or m₁ − 1",
        why="The proof compares the roots before the step that makes m₂ odd. After it the middle row can have the "
        "smaller m (N = 5, ε = 1: 1, not 2). m = min(m₁, m₂) at every ε; m₁ is right in the limit.",
        flip=Edit("choice_of_m", "what == 'theorem 1 (2)'", "most_below", "1"),
        evidence=_ERRATA,
    ),
    Claim(
        key="proof of theorem 1 (2)",
        where="Proof of Theorem 1",
        says="i₁ᵣ < N(h − 1)/(e^ε − 1), so from ε > 2 ln((1 + √5)/2) ≈ 0.9624 on i₃ᵣ > i₁ᵣ.",
        find=lambda sentences: counts(
            sentences,
            "roots",
            "cases",
            "end_below_its_bound",
            "middle_above_its_bound",
            "ordered",
            "cases_below_one",
            "middle_matters",
        ),
        measured="of {cases:,} cases (N = 2 to {last:.0f}, 11 values of ε from 0.1) the printed upper bound on i₁ᵣ "
        "holds in {end_below_its_bound}, the lower bound on i₃ᵣ in {middle_above_its_bound}, i₃ᵣ > i₁ᵣ in {ordered}; "
        "for ε < 1 lines 3 to 5 of Algorithm 3 as printed change m₁ in {middle_matters} of {cases_below_one}",
        rules={
            Verdict.HOLDS: "end_below_its_bound == middle_above_its_bound == ordered == cases",
            Verdict.PART: "ordered == cases",
        },
        expected=Verdict.PART,
        finding="i₃ᵣ > i₁ᵣ at every ε, so 0.9624 is no threshold; the printed bound on i₁ᵣ never holds",
        why="√(a² + b²) is below a + b, not a − b. With that sign mended the two bounds decide nothing; comparing the "
        "squares does. m₂ as printed is never below m₁; rounded down, as it should be, it can be, at ε ≥ 1 too: see "
        "“theorem 1 (2)”.",
        flip=Edit("sentences", "what == 'roots'", "end_below_its_bound", "cases", Verdict.HOLDS),
        evidence=_ERRATA,
    ),
    Claim(
        key="algorithm 3",
        where="Algorithm 3",
        says="Explicit formulas for m.",
        find=lambda theorems: counts(theorems, "algorithm 3", "cases", "printed_differs", "corrected_differs"),
        measured="against Algorithm 2: as printed {printed_differs} of {cases:,} cases differ, corrected "
        "{corrected_differs} (N = 2 to {last:.0f}, 11 values of ε)",
        rules={Verdict.HOLDS: "printed_differs == 0", Verdict.PART: "corrected_differs == 0"},
        expected=Verdict.PART,
        finding="m₁ and i are right; line 4 should round down, and line 2 be left out",
        why="Line 4 should read m₂ = i − 1 for even i, because a pair of equal distances is raised or left together. "
        "Line 2 is Theorem 1 (2). The limits of Theorems 1 to 3 are not touched.",
        flip=Edit("theorems", "what == 'algorithm 3'", "printed_differs", "0", Verdict.HOLDS),
        evidence=_ERRATA,
    ),
    Claim(
        key="theorem 1 (3)",
        where="Theorem 1 (3)",
        says="BRR satisfies ε-LDP.",
        find=lambda theorems: counts(theorems, "any m", "cases", "broken"),
        measured="certificates from whole-number tickets: {broken} of {cases} fail (every m, N = 3 to 12)",
        rules={Verdict.HOLDS: "broken == 0"},
        expected=Verdict.HOLDS,
        why="Any m that does not depend on the value keeps every ratio within e^ε, the safe one too.",
        flip=Edit("theorems", "what == 'any m'", "broken", "1"),
        evidence="docs/guarantee.md",
    ),
    Claim(
        key="theorem 2, each point",
        where="Theorem 2",
        says="For any k the local expected error of BRR is no more than that of GRR.",
        find=no_worse,
        measured="some value errs more than under GRR in {worse_corrected} of {cases} cases with the m of Algorithm "
        "2, in {worse_printed} with that of Algorithm 3 as printed (N = 2 to {last:.0f}, in fractions)",
        rules={Verdict.HOLDS: "worse_corrected == 0"},
        expected=Verdict.HOLDS,
        why="So for the mechanism that Algorithm 2 defines. The exceptions are those of the misprinted m, under its "
        "own claim: “algorithm 3”.",
        flip=Edit("theorems", "what == 'pointwise'", "worse_corrected", "worse_printed"),
        evidence=_ERRATA,
    ),
    Claim(
        key="theorem 2, bounds",
        where="Theorem 2",
        says="The largest and least local ratios tend to 2/(h+1) and h − (h−1)/(h+1)·(√(h²+2h+2)+1), h = e^{ε/2}.",
        find=lambda theorems: _limits(theorems, "largest local ratio", "least local ratio"),
        measured="N = {points:,.0f}: at most {apart:.1e} from the limit for {budgets} values of ε; {shown}",
        rules={Verdict.HOLDS: "steps <= 4"},
        expected=Verdict.HOLDS,
        why="Both extremes approach their limits.",
        flip=Edit("theorems", "quantity == 'least local ratio'", "measured", "measured * 1.01"),
    ),
    Claim(
        key="theorem 2, gap",
        where="Theorem 2",
        says="The gap between the two is below 1/(2(h+1)).",
        find=_gap,
        measured="gap over its bound: at most {share:.3f} for ε = 0.1 to 10",
        rules={Verdict.HOLDS: "share < 1"},
        expected=Verdict.HOLDS,
        why="The gap stays below the bound.",
        flip={"share": 1.01},
    ),
    Claim(
        key="local bounds, global ratio",
        where="Section 3.4",
        says="The bounds on the local ratios also bound the ratio of the global expected errors.",
        find=_local_and_global,
        measured="outside in {outside} of {of} values of ε from 0.1 to 10; {shown}",
        rules={Verdict.HOLDS: "outside == 0"},
        expected=Verdict.HOLDS,
        why="A ratio of sums lies between the least and the largest ratio of the terms.",
        flip={"outside": 1},
    ),
    Claim(
        key="theorem 3",
        where="Theorem 3",
        says="The ratio of the global expected errors tends to (7h+9)/(4(h+1)²).",
        find=lambda theorems: _limits(theorems, "global ratio"),
        measured="N = {points:,.0f}: at most {apart:.1e} from the limit for {budgets} values of ε; {shown}",
        rules={Verdict.HOLDS: "steps <= 4"},
        expected=Verdict.HOLDS,
        why="The ratio approaches the formula.",
        flip=Edit("theorems", "quantity == 'global ratio'", "measured", "measured * 1.01"),
    ),
    Claim(
        key="rounding to nodes",
        where="Section 4.1",
        says="As N increases the mapped value gets closer to the original one.",
        find=_rounding,
        measured="mean way to the node, values spread evenly over [0, 1]: {shown}",
        rules={Verdict.HOLDS: "rises == 0"},
        expected=Verdict.HOLDS,
        why="It falls as (b − a)/(4(N − 1)).",
        flip=Edit("sentences", "what == 'rounding' and nodes == 9", "moved", "moved * 2"),
    ),
    Claim(
        key="theorem 4",
        where="Theorem 4",
        says="On general domains BRR at least equals GRR at every point, and beats it globally if m > 1.",
        find=_general,
        measured="{worse:.0f} of {points:.0f} points worse than under GRR, {no_better} of {raised} cases with m > 1 "
        "no better on average (Jaccard, 100 cities)",
        rules={Verdict.HOLDS: "worse == 0 and no_better == 0"},
        expected=Verdict.HOLDS,
        why="Every raised item lies below the mean loss of its own row, so raising it lowers the loss there.",
        flip=Edit("theorems", "domain == 'cities'", "worse", "1"),
    ),
    Claim(
        key="share of near reports",
        where="Section 5.1",
        says="m grows in proportion to N, so BRR maintains a more stable probability of effective responses.",
        find=_near_reports,
        measured="chance that a report is one of the near ones, N = {first:.0f} to {last:,.0f}: {shown}",
        rules={Verdict.HOLDS: "calmer == budgets"},
        expected=Verdict.HOLDS,
        why="Of reports with the high weight, of which the paper speaks: BRR’s tends to h/(h + 1), h = e^{{ε/2}}; "
        "GRR’s, the true value alone, to nothing. Of as many reports GRR’s tends to 1/(h + 1), and is the stabler at "
        "ε = {calm}.",
        flip=Edit("sentences", "what == 'near reports' and mechanism == 'GRR'", "near", "0.5"),
    ),
    Claim(
        key="appendix, supremum",
        where="Appendix A.1",
        says="Supremum and infimum with √(e^ε + 2e^ε + …).",
        find=lambda theorems: _as_printed(theorems, "supremum"),
        measured="limit of Theorem 2, which measured ratios approach, {measured:.5f}, as printed {printed:.5f}, "
        "corrected {corrected:.5f} (ε = 1)",
        rules=_PRINTED,
        expected=Verdict.SLIP,
        finding="2e^ε under the roots should read 2e^{{ε/2}}",
        why="Theorem 2 itself has 2e^{{ε/2}}.",
        flip=Edit("theorems", "quantity == 'supremum'", "measured", "printed", Verdict.HOLDS),
        evidence=_ERRATA,
    ),
    Claim(
        key="appendix, centred windows",
        where="Appendix A.1, case 1",
        says="For N sufficiently large (3h+2)/(2h²+2h+1) ≤ Q⁽ᵏ⁾(BRR)/Q⁽ᵏ⁾(GRR) ≤ 2/(h+1) where m − 1 ≤ 2n.",
        find=_centred_windows,
        measured="values with a centred window, {pairs} pairs of N and h, in fractions: the least ratio is below the "
        "lower bound in {below}, the largest above the upper bound in {above}; at N = {points:,.0f} they are at most "
        "{low:.1e} and {high:.1e} from the bounds",
        rules={
            Verdict.HOLDS: "below == above == 0 and steps <= 4",
            Verdict.PART: "below == 0 and steps <= 4",
        },
        expected=Verdict.PART,
        finding="the lower bound holds at every N, the upper one only in the limit",
        why="Both are limits that are approached from above, as 1/N. The least of all ratios, in Theorem 2, lies "
        "nearer to the end, where windows are not centred.",
        flip=Edit("choice_of_m", "what == 'centred windows'", "below_low", "above_high"),
    ),
    Claim(
        key="appendix, f(c)",
        where="Appendix A.2",
        says="N²-term of f(c), in the first of its two lines, with numerator … − 3e^ε + 4.",
        find=lambda theorems: _as_printed(theorems, "f(c)"),
        measured="measured at N = 100,001 {measured:.5f}, as printed {printed:.5f}, corrected {corrected:.5f} (ε = 1)",
        rules=_PRINTED,
        expected=Verdict.SLIP,
        finding="the leading term has + 4 alone",
        why="−3e^ε stands outside the bracket that N² multiplies, as it does in the second line. The limit that the "
        "paper takes from it is right.",
        flip=Edit("theorems", "quantity == 'f(c)'", "measured", "printed", Verdict.HOLDS),
        evidence=_ERRATA,
    ),
)
