"""A claim, the five verdicts, and what is said with one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from reproduction.runner.contract import Rows, distinct

Evidence = Mapping[str, Rows]
"""The rows of experiments, by name."""


class Verdict(StrEnum):
    """What came of a claim: one of five verdicts, or that this run gave none."""

    HOLDS = "holds"
    CORRECTED = "holds with a correction"
    READING = "found under a reading that the paper does not state"
    """Not as the text says it; but an experiment that somebody could have meant by it gives the paper's numbers."""
    FAILS = "does not hold"
    UNCHECKABLE = "cannot be checked"
    UNDECIDED = "undecided by this run"
    """What ran tells neither: too few seeds, data sets or budgets, or no difference that could be told from chance."""
    NOT_RUN = "not run"
    """Its experiment did not run here."""


@dataclass(frozen=True)
class Judgement:
    """A verdict, what was measured, and why in a sentence."""

    verdict: Verdict
    measured: str
    why: str
    broken: bool = False
    """Whether the judge itself failed."""


@dataclass(frozen=True)
class Claim:
    """One claim of the paper."""

    key: str
    where: str
    """Its place in the paper."""
    says: str
    judge: Callable[[Evidence], Judgement]
    needs: tuple[str, ...] = ()
    """The experiments whose rows it is judged by; none where nothing can be measured."""
    evidence: str = ""
    """Where more is to be found: a page of the docs or a test."""


def holds_if(condition: bool, measured: str, why: str, otherwise: str) -> Judgement:  # noqa: FBT001 (it reads as one)
    """A claim that holds, or does not."""
    return Judgement(Verdict.HOLDS, measured, why) if condition else Judgement(Verdict.FAILS, measured, otherwise)


def on_a_fine_grid(name: str, budgets: int, judge: Callable[[Evidence], Judgement]) -> Callable[[Evidence], Judgement]:
    """The same judge of a claim about every ε: an exception counts on any grid, that there is none only on a fine one."""

    def judged(evidence: Evidence) -> Judgement:
        found = judge(evidence)
        ran = len(distinct(evidence[name], "epsilon"))
        if found.verdict != Verdict.HOLDS or ran >= budgets:
            return found
        why = f"No exception at the {ran} budgets that ran; the full run has a finer grid (--full)."
        return Judgement(Verdict.UNDECIDED, found.measured, why)

    return judged


def cannot(why: str) -> Callable[[Evidence], Judgement]:
    """A claim that nothing here can measure."""
    return lambda _: Judgement(Verdict.UNCHECKABLE, "nothing", why)
