"""Claims about curves on a line: quality loss, nodes of an interval, Jaccard similarity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reproduction.claim import Claim, Edit, Verdict

if TYPE_CHECKING:
    import pandas as pd

EQUAL: Final = 1e-9
"""Two losses that differ by less, relatively, are equal."""


def _wide(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """A row for each N and ε, a column for each mechanism."""
    return rows.pivot(index=["points", "epsilon"], columns="mechanism", values=column)


def _grid(rows: pd.DataFrame) -> dict[str, Any]:
    """Where something was measured, and at how many budgets: an exception shows only on a fine grid of them."""
    points, epsilon = rows["points"], rows["epsilon"]
    return {
        "budgets": epsilon.nunique(),
        "grid": f"N = {points.min():,} to {points.max():,}, ε = {epsilon.min():g} to {epsilon.max():g}",
    }


def _lower_than_both(qloss_by_epsilon: pd.DataFrame) -> dict[str, Any]:
    loss = _wide(qloss_by_epsilon, "qloss")
    exponential = qloss_by_epsilon[qloss_by_epsilon["mechanism"] == "Exponential"]
    return _grid(qloss_by_epsilon) | {
        "above": int(sum((loss["BRR"] > loss[rival] * (1 + EQUAL)).sum() for rival in ("GRR", "Exponential"))),
        "of": 2 * len(loss),
        "equal": int(((loss["BRR"] / loss["GRR"] - 1).abs() <= EQUAL).sum()),
        "above_tight": int((loss["BRR"] > loss["Exponential, tight"]).sum()),
        "half": len(loss),
        "spent": (exponential["realised_epsilon"] / exponential["epsilon"]).max(),
    }


CLAIMS: Final = (
    Claim(
        key="lower than GRR and Exponential",
        where="Section 5.1, Fig. 4",
        says="Under the same budget the quality loss of BRR is consistently lower than that of GRR and Exponential.",
        find=_lower_than_both,
        measured="{grid}: above GRR or Exponential in {above} of {of} comparisons, equal to GRR in {equal}; above the "
        "tight Exponential in {above_tight} of {half}; Exponential as run there spends at most {spent:.0%} of ε",
        rules={
            Verdict.UNDECIDED: "budgets < 12 and above == 0",
            Verdict.HOLDS: "above == 0 and above_tight == 0 and equal == 0",
            Verdict.PART: "above == 0 and above_tight == 0",
        },
        expected=Verdict.PART,
        finding="lower, or equal to GRR where m = 1",
        why="True, though the Exponential mechanism was run with about half of its budget; with all of it BRR is still "
        "lower. Where m = 1 it equals GRR, as section 3.4 says itself.",
        flip=Edit("qloss_by_epsilon", "mechanism == 'BRR' and epsilon == 2", "qloss", "qloss * 2"),
    ),
)
