"""Claims about learning, appendix C.1 to C.3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.experiments.claims.verdict import Claim, Judgement, Verdict

if TYPE_CHECKING:
    from bipartite.experiments.claims.verdict import Evidence


def _sizes(evidence: Evidence) -> Judgement:
    rows = evidence["data_sets"]
    found = {str(row["dataset"]): (int(row["complete_rows"]), int(row["features"])) for row in rows}
    printed = {str(row["dataset"]): (int(row["printed_rows"]), int(row["printed_features"])) for row in rows}
    measured = "; ".join(f"{name}: {found[name]} (printed {printed[name]})" for name in found)
    if found == printed:
        return Judgement(Verdict.HOLDS, measured, "The sizes are those of the data.")
    swapped = found["abalone"] == printed["bias"] and found["bias"] == printed["abalone"]
    why = (
        "The first two are swapped, and superconduct has 81 features and a target: 82 columns."
        if swapped
        else "The data have other sizes."
    )
    return Judgement(Verdict.CORRECTED if swapped else Verdict.FAILS, measured, why)


def _target(evidence: Evidence) -> Judgement:
    (row,) = [row for row in evidence["data_sets"] if row["dataset"] == "bias"]
    columns = str(row["columns_with_the_scripted_range"])
    measured = f"columns of Bias with the label scale of the scripts, (2.53985, 2.63835): {columns or 'none'}"
    if columns in {"Next_Tmax", "Next_Tmin"}:
        return Judgement(Verdict.HOLDS, measured, "The scripts learn the forecast.")
    return Judgement(
        Verdict.CORRECTED, measured, "The target is not named; the scripts learn the slope at the station, a static feature, and not the next day’s temperature that the data set is about."
    )  # fmt: skip


CLAIMS: Final = (
    Claim("sizes of the data sets", "Appendix C.1", "Bias, abalone, sup have (4177, 8), (7588, 23), (21263, 82) instances and features.", _sizes, ("data_sets",), "docs/errata.md"),
    Claim("target of Bias", "Appendix C.1", "Regression on the Bias data set.", _target, ("data_sets",), "docs/errata.md"),
)  # fmt: skip
"""In the order of the paper."""
