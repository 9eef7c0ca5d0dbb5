"""Claims of the abstract and the introduction that follow from theory: never worse than GRR, and how good BRR is."""

from typing import Any, Final

import pandas as pd

from reproduction.claim import Claim, Edit, Verdict
from reproduction.claims.curves import EQUAL
from reproduction.claims.theory import counts, no_worse, pick
from reproduction.experiments.choice_of_m import threshold
from reproduction.experiments.optimality import ANY_PRIOR, gaps

_NEARLY: Final = 0.05
"""Within a twentieth of the least possible is near it."""
_SOLVED: Final = 1e-6
"""How exactly a linear programme is solved, at least."""


def _above_the_least(optimality: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How far each lies above the best release: for a given prior, and under the worst one."""
    above = gaps(optimality)
    of_any_prior = above.index.get_level_values("case").str.startswith(ANY_PRIOR)
    return above[~of_any_prior], above[of_any_prior]


def _ends(values: Any, how: str = "") -> str:  # noqa: ANN401 (a column or an index)
    """The least and the largest."""
    return f"{values.min():{how}} to {values.max():{how}}"


def _likelier(pmf: pd.DataFrame) -> dict[str, Any]:
    chance = pmf.pivot(index=["truth", "report"], columns="mechanism", values="chance")
    near = chance["BRR"] > chance["BRR"].groupby("truth").transform("min") * (1 + EQUAL)
    itself = chance.index.get_level_values("truth") == chance.index.get_level_values("report")
    raised = int((near & ~itself & (chance["BRR"] > chance["GRR"])).sum())
    lowered = int((~near & ~itself & (chance["BRR"] < chance["GRR"])).sum())
    return {"raised": raised, "lowered": lowered, "otherwise": int((~itself).sum()) - raised - lowered,
            "points": pmf["points"].max(), "epsilon": pmf["epsilon"].max(), **chance[itself].iloc[0]}  # fmt: skip


def _at_small(optimality: pd.DataFrame) -> dict[str, Any]:
    least = optimality["epsilon"].min()
    for_prior, any_prior = (of["GRR"].xs(least, level="epsilon") for of in _above_the_least(optimality))
    return {
        "epsilon": least, "optimal": int(sum((each <= _SOLVED).sum() for each in (for_prior, any_prior))),
        "shown": "; ".join(f"{case} {above:.0%}" for (case, _), above in for_prior.items()),
        "over": _ends(any_prior, ".0%"), "sizes": _ends(any_prior.index.unique("points")),
    }  # fmt: skip


def _exponential_times(theorems: pd.DataFrame) -> dict[str, Any]:
    of = pick(theorems, "exponential times")
    small, large = (of[of["points"] == points] for points in (of["points"].min(), of["points"].max()))
    factor = 1 / large["ratio"]
    return {
        "grows": factor.is_monotonic_increasing and factor.is_unique, "points": large["points"].max(),
        "shown": ", ".join(f"{times:.1f} (ε = {at:g})" for at, times in zip(large["epsilon"], factor, strict=True)),
        "times_h": large["times_h"].iloc[-1], "epsilon": large["epsilon"].max(),
        "few": small["points"].max(), "ratio": small["ratio"].iloc[-1],
    }  # fmt: skip


def _best_of_all(optimality: pd.DataFrame) -> dict[str, Any]:
    for_prior, any_prior = _above_the_least(optimality)
    ours = pd.concat([for_prior["BRR"], any_prior["BRR"]])
    most, furthest = for_prior["BRR"].groupby("case", sort=False).max(), any_prior.groupby("epsilon").max()
    near = furthest["BRR"][(furthest["BRR"] <= _NEARLY).cummin()]
    return {
        "beaten": int((ours > _SOLVED).sum()), "of": len(ours), "sizes": _ends(ours.index.unique("points")),
        "shown": ", ".join(f"{above:.0%} ({case.removeprefix('line, ')})" for case, above in most.items()),
        "least": furthest["BRR"].iloc[0], "most": furthest["BRR"].iloc[-1], "grr": _ends(furthest["GRR"], ".0%"),
        "first": furthest.index.min(), "last": furthest.index.max(), "furthest": furthest["BRR"].max(),
        "nearly": _NEARLY, "near": near.index.max(),
    }  # fmt: skip


def _what_grr_has(theorems: pd.DataFrame, choice_of_m: pd.DataFrame) -> dict[str, Any]:
    rank = pick(theorems, "rank")
    ours, points = rank[rank["mechanism"] == "BRR"], int(rank["points"].max())
    exact = (ours["rank"] == ours["points"] - ours["m"] + 1).all()
    return counts(choice_of_m, "becomes GRR", "cases", "threshold_wrong") | {
        "least": ours["rank"].min(), "points": points, "threshold": threshold(points),
        "shown": ", ".join(f"{rank:.0f} (ε = {at:g})" for at, rank in zip(ours["epsilon"], ours["rank"], strict=True)),
        "formula": ", N − m + 1 each" if exact else "",
    }  # fmt: skip


CLAIMS: Final = (
    Claim(
        key="never larger than GRR",
        where="Abstract",
        says="The global expected error of BRR, which takes the least of the locally best m, is always no larger than "
        "that of GRR.",
        find=no_worse,
        measured="some value errs more than under GRR in {worse_corrected} of {cases} cases with the m of Algorithm "
        "2; the average is larger in {average_worse_printed} with that of Algorithm 3 as printed (N = 2 to "
        "{last:.0f}, in fractions)",
        rules={Verdict.HOLDS: "worse_corrected == 0"},
        expected=Verdict.HOLDS,
        why="So for BRR as the abstract describes it, by the local and the global search (Algorithm 2): no value does "
        "worse, so no average does, under any prior. Not with the misprinted m: see “algorithm 3”.",
        flip=Edit("theorems", "what == 'pointwise'", "worse_corrected", "average_worse_printed"),
        evidence="docs/errata.md",
    ),
    Claim(
        key="GRR at large ε",
        where="Introduction, citing Kairouz et al. 2016",
        says="GRR is order optimal in the low privacy regime.",
        expected=Verdict.UNCHECKABLE,
        why="A result of others, cited without a statement that could be measured here.",
    ),
    Claim(
        key="GRR at small ε",
        where="Introduction, citing Kairouz et al. 2016",
        says="GRR cannot achieve optimal utility at high privacy levels.",
        find=_at_small,
        measured="expected loss of GRR above the least of all ε-LDP releases at ε = {epsilon:g}: {shown}; {over} in "
        "the loss over GRR’s under the worst prior (N = {sizes})",
        rules={Verdict.HOLDS: "optimal == 0"},
        expected=Verdict.HOLDS,
        why="So in the losses of this paper. The result that it cites, of Kairouz et al., is about information "
        "measures and was not checked.",
        flip=Edit("optimality", "mechanism == 'limit'", "expected_loss", "99"),
        evidence="docs/optimal-release.md",
    ),
    Claim(
        key="nearer is likelier",
        where="Introduction, Fig. 1",
        says="BRR increases the likelihood of publishing data closer to the true item and decreases that of data "
        "farther away.",
        find=_likelier,
        measured="N = {points}, ε = {epsilon}: likelier than under GRR {raised} near reports, less likely {lowered} "
        "far ones, otherwise {otherwise}; the true value itself {BRR:.1%} instead of {GRR:.1%}",
        rules={Verdict.HOLDS: "otherwise == 0"},
        expected=Verdict.HOLDS,
        why="Near reports are likelier, far ones less likely. The true value itself, of which the sentence does not "
        "speak, is reported less often than under GRR: it shares its weight with m − 1 others.",
        flip=Edit("pmf", "mechanism == 'GRR' and report != truth", "chance", "chance * 2"),
    ),
    Claim(
        key="exponential times lower",
        where="Introduction",
        says="Expected errors can be exponential times (dependent on ε) lower than those of GRR for N sufficiently "
        "large.",
        find=_exponential_times,
        measured="N = {points:,.0f}: GRR’s error over BRR’s {shown}; BRR’s over GRR’s, times e^{{ε/2}}, tends to 7/4 "
        "({times_h:.3f} at ε = {epsilon:g}); N = {few:.0f}, ε = {epsilon:g}: ratio {ratio:.2f}",
        rules={Verdict.HOLDS: "grows and times_h < 2", Verdict.PART: "grows"},
        expected=Verdict.HOLDS,
        why="The factor grows as (4/7)·e^{{ε/2}}: exponentially in ε, with half the exponent of e^ε. N must be large "
        "enough: at a fixed N a larger ε brings m to 1 and the factor back to 1.",
        flip=Edit("theorems", "what == 'exponential times'", "ratio", "0.5"),
    ),
    Claim(
        key="optimal in a global sense",
        where="Introduction",
        says="In reasonable settings no better mechanism exists: BRR is optimal in a reasonable global sense, "
        "independent of the prior.",
        find=_best_of_all,
        measured="in {beaten} of {of} cases a linear programme finds a better release (N = {sizes}). BRR’s loss is "
        "larger by up to {shown}; over GRR’s, under the worst prior, by {least:.1%} at ε = {first:g} to {most:.1%} at "
        "{last:g} (GRR {grr})",
        rules={Verdict.HOLDS: "beaten == 0", Verdict.PART: "furthest < 1e-6"},
        expected=Verdict.FAILS,
        finding="in {beaten} of {of} cases a better ε-LDP release exists; under the worst prior BRR comes near it",
        why="For a given prior, the paper’s uniform one too, how much better depends on the prior. Under the worst "
        "prior BRR lies within {nearly:.0%} of the least loss up to ε = {near:g}, {furthest:.0%} up to {last:g}. What "
        "holds is narrower: its m is the best of those that no value objects to (see “global search”).",
        flip=Edit("optimality", "mechanism == 'limit'", "expected_loss", "99", Verdict.HOLDS),
        evidence="docs/optimal-release.md",
    ),
    Claim(
        key="same properties as GRR",
        where="Introduction",
        says="BRR enjoys the same desirable properties of GRR stated above (privacy of many-valued answers; use for "
        "frequency estimation, data collection, trees, deep learning; order optimality at large ε).",
        find=_what_grr_has,
        measured="rank of BRR’s matrix, N = {points}: {shown}{formula}; GRR’s is {points}; m = 1 from ε = ln⌊(N − "
        "2)²/4⌋ on and not below: {threshold_wrong} exceptions in {cases} cases (N = 5 to {last:.0f}; ε = "
        "{threshold:.2f} at N = {points})",
        rules={Verdict.HOLDS: "least == points", Verdict.PART: "threshold_wrong == 0"},
        expected=Verdict.PART,
        finding="as private; where m > 1 not all frequencies can be estimated; where m = 1 it is GRR",
        why="It is as private at every ε, and GRR itself at large ε, order optimality included. Wherever it is not "
        "GRR, many values near an end share one near-set, so no unbiased histogram or mean exists; reports padded at "
        "both ends give them back.",
        flip=Edit("theorems", "what == 'rank' and mechanism == 'BRR'", "rank", "points", Verdict.HOLDS),
        evidence="docs/padded-edges.md",
    ),
)
