"""Every claim, topic by topic as the paper has them, and its verdict from the tables of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pandas as pd

from reproduction.claim import Claim, Judgement, Verdict
from reproduction.claims import curves, dnn, introduction, locations, others, sgd, theory, times, trees
from reproduction.running import Outcome

CLAIMS: Final[tuple[Claim, ...]] = (
    *introduction.CLAIMS,
    *theory.CLAIMS,
    *curves.CLAIMS,
    *locations.CLAIMS,
    *trees.CLAIMS,
    *sgd.CLAIMS,
    *dnn.CLAIMS,
    *times.CLAIMS,
    *others.CLAIMS,
)


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    judgement: Judgement

    @property
    def verdict(self) -> Verdict:
        """What came of it."""
        return self.judgement.verdict

    @property
    def as_expected(self) -> bool:
        """Whether it is that of the full run."""
        return self.verdict == self.claim.expected


def judge_all(outcomes: Sequence[Outcome]) -> list[Judged]:
    """A verdict for every claim; those whose experiments did not run say so."""
    by_name = {outcome.entry.name: outcome for outcome in outcomes}
    tables = {name: outcome.table for name, outcome in by_name.items() if outcome.state == "done"}
    judged = []
    for claim in CLAIMS:
        lacking = [name for name in claim.needs if name not in tables]
        if lacking:
            reasons = [by_name[name].why or by_name[name].state for name in lacking if name in by_name]
            why = reasons[0] if reasons else f"Run it with python -m reproduction run {' '.join(claim.needs)}."
            judgement = Judgement(Verdict.NOT_RUN, f"nothing: {', '.join(lacking)} did not run", why)
        else:
            judgement = judge(claim, tables)
        judged.append(Judged(claim, judgement))
    return judged


def judge(claim: Claim, tables: Mapping[str, pd.DataFrame]) -> Judgement:
    """A verdict; a claim whose judging breaks does not take the others with it, nor the hours of measuring."""
    try:
        return claim.judge(tables)
    except Exception as error:  # noqa: BLE001
        said = " ".join(f"{type(error).__name__}: {error}".split())
        why = f"Judging failed ({said}): this is a bug in bipartite, please report it."
        return Judgement(Verdict.UNDECIDED, why=why, broken=True)
