"""Every claim in the order of the paper, and its verdict from the outcomes of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reproduction.claims import boosting, line, networks, places, quality, runtime, sentences, training, words
from reproduction.claims.verdict import Claim, Evidence, Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reproduction.runner.running import Outcome

CLAIMS: Final[tuple[Claim, ...]] = (
    *words.INTRODUCTION,
    *line.CLAIMS,
    *quality.CLAIMS,
    *places.CLAIMS,
    *boosting.CLAIMS,
    *training.CLAIMS,
    *networks.CLAIMS,
    *runtime.CLAIMS,
    *sentences.CLAIMS,
    *words.CITED,
)


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    judgement: Judgement


def _judged(claim: Claim, evidence: Evidence) -> Judgement:
    """A verdict; a judge that breaks does not take those of the others with it, nor the hours of measuring."""
    try:
        return claim.judge(evidence)
    except Exception as error:  # noqa: BLE001
        said = " ".join(f"{type(error).__name__}: {error}".split())
        why = f"Judging failed ({said}): this is a bug in bipartite, please report it."
        return Judgement(Verdict.UNDECIDED, "nothing", why, broken=True)


def judge_all(outcomes: Sequence[Outcome]) -> list[Judged]:
    """A verdict for every claim; those whose experiments did not run say so."""
    by_name = {outcome.entry.name: outcome for outcome in outcomes}
    evidence = {name: outcome.rows for name, outcome in by_name.items() if outcome.state == "done"}
    judged = []
    for claim in CLAIMS:
        lacking = [name for name in claim.needs if name not in evidence]
        if lacking:
            reasons = [by_name[name].why or by_name[name].state for name in lacking if name in by_name]
            why = reasons[0] if reasons else f"Run it with python -m reproduction run {' '.join(claim.needs)}."
            judgement = Judgement(Verdict.NOT_RUN, f"nothing: {', '.join(lacking)} did not run", why)
        else:
            judgement = _judged(claim, evidence)
        judged.append(Judged(claim, judgement))
    return judged
