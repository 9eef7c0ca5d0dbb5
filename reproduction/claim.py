"""A claim of the paper as a row of a table, and how its verdict follows from what was measured.

A claim says where the paper has it and what it says; ``find`` reads named numbers from tables of results (its
arguments are names of experiments); ``rules`` are thresholds on these numbers, the first that is met being the verdict.
Beside them stand the verdict that the full run gives, its reason, and a change of the results that would give another
one: a test makes that change.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import pandas as pd

Found = Mapping[str, Any]


class Verdict(StrEnum):
    """What came of a claim."""

    meaning: str

    def __new__(cls, words: str, meaning: str = "") -> Verdict:  # noqa: PYI034 (a string with its meaning)
        """A verdict in words, and what they mean where they do not say it themselves."""
        made = str.__new__(cls, words)
        made._value_ = words
        made.meaning = meaning
        return made

    HOLDS = "holds"
    SLIP = "holds but for a slip", "A slip of the pen: what was meant is clear, and true."
    PART = (
        "holds in part",
        (
            "True where the paper itself looked, or of a part that can be named, or in a weaker sense than its words "
            "have; the last column says of what."
        ),
    )
    READING = (
        "found under a reading",
        (
            "Not as the text says it; but an experiment that somebody could have meant by it gives the paper’s numbers."
            " The row says what that one really spends."
        ),
    )
    FAILS = "does not hold", "False where the paper itself looked, or in nearly every case that was measured."
    UNCHECKABLE = "cannot be checked", "Results of others, places that are not published, another machine’s time."
    UNDECIDED = "undecided by this run", "Too little ran, or nothing could be told from chance."
    NOT_RUN = "not run", "Its experiment did not run here."


@dataclass(frozen=True)
class Edit:
    """A change of measured rows, and the verdict that it leads to."""

    experiment: str
    where: str
    """Which rows, as a query of pandas; all of them where it is empty."""
    column: str
    to: str
    """What the column becomes, as an expression of pandas."""
    gives: Verdict = Verdict.FAILS
    then: Edit | None = None
    """A further change, where one table alone decides nothing."""

    def made(self, tables: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
        """The tables with the change."""
        table = tables[self.experiment].copy()
        rows = table.query(self.where).index if self.where else table.index
        changed = table.loc[rows].eval(self.to)
        table[self.column] = table[self.column].astype(object)
        table.loc[rows, self.column] = changed
        table[self.column] = table[self.column].infer_objects()
        found = {**tables, self.experiment: table}
        return self.then.made(found) if self.then else found


@dataclass(frozen=True)
class Judgement:
    """A verdict, what was measured, and why."""

    verdict: Verdict
    measured: str = "nothing"
    why: str = ""
    finding: str = ""
    broken: bool = False
    """Whether judging itself failed."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One claim. ``measured``, ``why`` and ``finding`` are texts with the found numbers in braces."""

    key: str
    where: str
    """Its place in the paper."""
    says: str
    """In our words, close to those of the paper."""
    expected: Verdict
    """What the full run gives; ``why`` and ``finding`` are about this verdict."""
    why: str
    find: Callable[..., Found] | None = None
    measured: str = "nothing"
    rules: Mapping[Verdict, str] = field(default_factory=dict)
    """Conditions in Python on the found numbers; where none is met the claim does not hold."""
    finding: str = ""
    """What was found instead, in a few words: for a claim that does not hold as it stands."""
    flip: Edit | Mapping[str, Any] | None = None
    """A change of rows, or of found numbers where there are no rows, that gives another verdict."""
    evidence: str = ""
    """Where more is to be found: a page of the docs or a test."""

    @property
    def needs(self) -> tuple[str, ...]:
        """The experiments whose rows it is judged by."""
        return tuple(inspect.signature(self.find).parameters) if self.find else ()

    def judge(self, tables: Mapping[str, pd.DataFrame], **changed: Any) -> Judgement:  # noqa: ANN401 (found numbers)
        """The verdict on tables of results; ``changed`` replaces found numbers."""
        if self.find is None:
            return Judgement(self.expected, why=self.why, finding=self.finding)
        found = {**self.find(**{name: tables[name] for name in self.needs}), **changed}
        verdict = next((verdict for verdict, rule in self.rules.items() if _is_met(rule, found)), Verdict.FAILS)
        measured = self.measured.format_map(found)
        if verdict == self.expected:
            return Judgement(verdict, measured, self.why.format_map(found), self.finding.format_map(found))
        if verdict == Verdict.UNDECIDED:
            return Judgement(verdict, measured, f"{TOO_LITTLE} The full run found: {self.expected}.")
        return Judgement(verdict, measured, f"Otherwise than in the full run, which found: {self.expected}.")


TOO_LITTLE: Final = "Too few seeds, data sets or budgets for a verdict, or nothing that could be told from chance."
_HELPERS: Final = {"all": all, "any": any, "abs": abs, "min": min, "max": max, "len": len, "sum": sum}


def _is_met(rule: str, found: Mapping[str, Any]) -> bool:
    return bool(eval(rule, {"__builtins__": {}, **_HELPERS, **found}))  # noqa: S307 (a rule of our own table)
