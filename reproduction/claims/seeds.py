"""What seeds say: differences paired by seed, intervals that hold for all comparisons of a claim together, a verdict.

Rows are paired by seed: the same folds, the same start, another mechanism. A claim about many data sets or budgets is
many comparisons, and one in twenty of its 95 % intervals would miss by chance alone; so each is widened until all of
them together hold with 95 % (Bonferroni).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reproduction.claims.verdict import Evidence, Judgement, Verdict
from reproduction.runner.contract import Rows, distinct
from reproduction.runner.intervals import BySeed, MeanInterval, by_seed, each_seed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeVar

    Case = TypeVar("Case")

__all__ = [
    "LEAST_SEEDS", "TOO_SMALL", "BySeed", "brackets", "by_seed", "each_seed", "enough", "everywhere", "jointly",
    "paired", "surely",
]  # fmt: skip

LEAST_SEEDS: Final = 3
TOO_SMALL: Final = "Too few seeds, data sets or budgets for a verdict; run it with --full."


def paired(ours: BySeed, theirs: BySeed, how: Callable[[float, float], float]) -> MeanInterval | None:
    """The interval of a difference or ratio over the seeds that both have; None where there are none."""
    return jointly({"": (ours, theirs)}, how).get("")


def jointly(
    cases: Mapping[Case, tuple[BySeed, BySeed]], how: Callable[[float, float], float]
) -> dict[Case, MeanInterval]:
    """The same for several cases, in intervals that hold together; a case without a common seed is left out."""
    found = {case: values for case, both in cases.items() if (values := each_seed(*both, how).values())}
    return {case: MeanInterval.of(values, len(found)) for case, values in found.items()}


def brackets(found: Iterable[MeanInterval]) -> str:
    """What the intervals in brackets are."""
    every = list(found)
    together = f", all {len(every)} together" if len(every) > 1 else ""
    return f"(in brackets: 95 % intervals{together}, {min(each.repetitions for each in every)} seeds)"


def surely(found: Mapping[Case, MeanInterval]) -> tuple[int, int]:
    """In how many cases something lies above zero, and in how many below, for sure."""
    return sum(each.is_above for each in found.values()), sum(each.is_below for each in found.values())


def everywhere(
    gains: Mapping[str, MeanInterval], of_note: float, measured: str, words: tuple[str, str], so: str
) -> Judgement:
    """Whether something is so in every case: a gain that lies above none, wholly.

    ``words`` are the sentences for a claim that holds and for one that is refuted: by a case that is surely the other
    way round, or, where no case is surely so, by one whose gain is surely below ``of_note``. What shows nothing either
    way decides nothing. ``so`` names what is so, for a claim that holds here and not there.
    """
    yes = [case for case, each in gains.items() if each.is_above]
    against = [case for case, each in gains.items() if each.is_below]
    none = [case for case, each in gains.items() if not each.is_above and each.high < of_note]
    if gains and len(yes) == len(gains):
        return Judgement(Verdict.HOLDS, measured, words[0])
    if against:
        holds = f" Surely so: {', '.join(yes)}." if yes else ""
        return Judgement(
            Verdict.FAILS, measured, f"{words[1]}{holds} Surely the other way round: {', '.join(against)}."
        )
    if yes:
        rest = "no difference of note or unclear" if none else "unclear"
        return Judgement(Verdict.CORRECTED, measured, f"{so} for sure only at {', '.join(yes)}; {rest} elsewhere.")
    if none:
        return Judgement(Verdict.FAILS, measured, f"{words[1]} No gain of note: {', '.join(none)}.")
    return Judgement(
        Verdict.UNDECIDED, measured, "No difference that could be told from chance, nor one that could be excluded."
    )


def enough(
    name: str, complete: Callable[[Rows], bool], judge: Callable[[Evidence], Judgement]
) -> Callable[[Evidence], Judgement]:
    """The same judge, whose verdict counts only where the run had what the paper's had, and enough seeds."""

    def judged(evidence: Evidence) -> Judgement:
        found = judge(evidence)
        rows = evidence[name]
        if complete(rows) and len(distinct(rows, "seed")) >= LEAST_SEEDS:
            return found
        return Judgement(Verdict.UNDECIDED, found.measured, TOO_SMALL)

    return judged
