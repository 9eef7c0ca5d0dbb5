"""Which mechanism to take for what, and why, in sentences."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from bipartite.answers.advise.candidates import ANCHORED, SAFE
from bipartite.answers.advise.choosing import choose
from bipartite.answers.advise.forecasting import without_asking
from bipartite.answers.advise.purposes import GRR_NAME, wanted
from bipartite.errors import DesignError
from bipartite.texts import Printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.advise.choosing import Choice
    from bipartite.answers.advise.measuring import Measured, Question
    from bipartite.answers.advise.rows import Row
    from bipartite.mechanisms import Mechanism

# A cumulative share with an error this large is useless for quantiles.
_COARSE: Final = 0.1
# A report that improves on the constant answer by less than this fraction is worth little.
_LITTLE: Final = 0.1
_MOST_PEOPLE: Final = 1e12
_AROUND: Final = (
    "around a circle no ε-LDP report of a value has a smaller error, neither on average over equally likely values nor "
    "in the worst case"
)


@dataclass(frozen=True, slots=True, repr=False)
class Recommendation(Printed):
    """What to take for a purpose at one ε. Made by :func:`bipartite.recommend`; ``print`` it to see why."""

    purpose: str
    epsilon: str
    to: str
    """The goal, in words."""
    taken: Mechanism | None = None
    name: str | None = None
    """What the table calls it; None where nothing that was compared serves the purpose."""
    code: str | None = None
    """How to build it in Python, with ε in place of the number; None for a mechanism of the caller's own."""
    reason: str = "no mechanism that was compared, and whose figures are known, can give it"
    """Why, in words that hold at every ε."""
    figures: str = ""
    """Why, in figures."""
    warning: str = ""
    """What to know before taking it; empty if there is nothing."""
    detail: str = ""
    """The figures of that warning."""
    error: float | None = None
    """Its expected error under the prior, with the estimator that will be used: of one release, or from n people."""
    n: int | None = None
    """The number of people that ``error`` is for; None for a release."""
    baseline: float | None = None
    """The error of the best answer that asks nobody."""
    best: str | None = None
    """The mechanism with the least error of all that serve the purpose and keep ε."""
    ratio: float | None = None
    """``error`` over that least error: at most 1.05."""
    worst_ratio: float | None = None
    """The same for the shape of the population where it is largest; None where that was not computed."""
    worst_shape: str = ""
    """That shape."""

    @property
    def mechanism(self) -> Mechanism:
        """Ready to report with."""
        if self.taken is None:
            raise DesignError(f"{self.to}: {self.reason}; ask for another purpose, or use fewer values.")
        return self.taken

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers and text, as in ``cli/schemas/compare.json``."""
        same = "purpose epsilon code reason figures warning detail error best ratio worst_ratio worst_shape"
        found = {name: getattr(self, name) for name in same.split()}
        return found | {"mechanism": self.name, "people": self.n, "without_asking": self.baseline}

    def __repr__(self) -> str:
        return f"<Recommendation for {self.purpose!r}: {self.taken!r}>"

    def __str__(self) -> str:
        taken = "" if self.name is None else f", take {self.name}"
        figures = f"; {self.figures}" if self.figures else ""
        warned = f" But {self.warning}{f' ({self.detail})' if self.detail else ''}." if self.warning else ""
        return f"{self.to}{taken}: {self.reason}{figures}.{warned}"


def recommendation(
    purpose: str, epsilon: str, measured: Sequence[Measured], question: Question, constant: Row | None
) -> Recommendation:
    """What to take for a purpose at one ε; ``constant`` is the best single answer."""
    to, found = wanted(purpose, question.domain).to, choose(purpose, measured, question)
    if found is None:
        return Recommendation(purpose, epsilon, to)
    if purpose == "release":
        baseline = None if constant is None else constant.expected_loss
        words = _of_release(found, measured, question, constant)
    else:
        baseline = without_asking(question.domain, wanted(purpose, question.domain).of)
        words = _of_statistics(purpose, found, question, baseline)
    return Recommendation(
        purpose,
        epsilon,
        to,
        found.taken.mechanism,
        found.taken.candidate.name,
        found.taken.candidate.code(has_prior=question.prior is not None),
        *words,
        error=found.error,
        n=None if purpose == "release" else question.n,
        baseline=baseline,
        best=found.least.candidate.name,
        ratio=found.error / found.least_error if found.least_error > 0 else None,
        worst_ratio=found.worst_ratio,
        worst_shape=found.worst_shape,
    )


Words = tuple[str, str, str, str]
"""(reason, figures, warning, detail)."""


def _of_release(found: Choice, measured: Sequence[Measured], question: Question, constant: Row | None) -> Words:
    rows = {each.row.mechanism: each.row for each in measured}
    name, domain = found.taken.candidate.name, question.domain
    likely = "for the prior given" if question.prior is not None else "if all values are equally likely"
    missing = rows.get(ANCHORED)
    if name == GRR_NAME and domain.is_flat:
        reason = "all wrong answers are equally wrong, so there are no neighbours to make use of"
    elif name == SAFE and domain.wraps and question.prior is None:
        reason = _AROUND
    elif name == ANCHORED:
        reason = f"the least expected error {likely}, though not at each value"
    else:
        reason = f"the least expected error {likely} of what was compared"
        if missing is not None and missing.expected_loss is None:
            reason += f"; {ANCHORED}, which may have a smaller one, was {missing.note}"
    gap = found.taken.row.gap
    proved = "" if gap is None else f", proved to be within {percent(gap)} of the least possible for a value"
    beside, warning, detail = [], "", ""
    if constant is not None and constant.expected_loss is not None:
        silence, error = constant.expected_loss, found.error
        beside.append(f"{constant.mechanism}, which asks nobody: {short(silence)}")
        if silence - error <= _LITTLE * abs(silence):
            even = 1e-9 * abs(error)
            better = "better" if silence < error - even else "as good" if silence <= error + even else "almost as good"
            what = "for this prior" if question.prior is not None else likely
            warning = f"{constant.mechanism}, which asks nobody, is {better} {what}: a single report is worth little"
            detail = f"its expected error is {short(silence)}"
    safe, grr = (None if (row := rows.get(each)) is None else row.expected_loss for each in (SAFE, GRR_NAME))
    if name != SAFE and safe is not None and not domain.is_flat:
        beside.append(f"{SAFE}, under which no value fares worse than under GRR: {short(safe)}")
    if name != GRR_NAME and grr is not None:
        beside.append(f"GRR: {short(grr)}")
    beside += _over_shapes(found, question)
    figures = f"its expected error is {short(found.error)}{proved}" + (f" ({'; '.join(beside)})" if beside else "")
    return reason, figures, warning, detail


def _of_statistics(purpose: str, found: Choice, question: Question, baseline: float | None) -> Words:
    want, name = wanted(purpose, question.domain), found.taken.candidate.name
    reason = want.because if name == want.preferred else "the least error of what was compared"
    beside = [f"{want.baseline} {short(baseline)}"]
    if found.least.candidate.name != name and found.least_error < found.error * (1 - 1e-9):
        beside.append(f"{found.least.candidate.name}: {percent(1 - found.least_error / found.error)} less")
    beside += _over_shapes(found, question)
    figures = f"{want.error} is {short(found.error)} with {question.n:,} people ({'; '.join(beside)})"
    return reason, figures, *_too_few(want.of, found.error, question, baseline)


def _over_shapes(found: Choice, question: Question) -> list[str]:
    if found.worst_ratio is None:
        return []
    count = len(question.shapes)
    if found.worst_ratio <= 1 + 1e-9:
        return [f"the least for all {count} shapes of the population that were tried"]
    where = f"at most {found.worst_ratio:.2f} times the least, at {found.worst_shape!r}"
    return [f"over {count} shapes of the population {where}"]


def _too_few(of: str, error: float, question: Question, baseline: float | None) -> tuple[str, str]:
    """The warning where this many people are too few for a useful answer."""
    size, people = len(question.domain), f"{question.n:,} people are too few"
    if question.given_n is None or baseline is None:
        return "", ""
    if of == "mean":
        what = (
            "a direction: no direction at all, which asks nobody,"
            if question.domain.wraps
            else "a mean: the middle of the range, which asks nobody,"
        )
        return (f"{people} for {what} is off by {short(baseline)} at most" if error >= baseline / 2 else "", "")
    if of == "distribution":
        said = (
            f"{people} for the distribution over {size:,} values: a cumulative share is off by {_COARSE:g} or more; "
            "ask more people"
        )
        return (said if error >= _COARSE else "", "")
    if error < baseline:
        return "", ""
    enough = question.n * (error / baseline) ** 2
    many = f"about {_round_up(enough):,}" if enough < _MOST_PEOPLE else "more than 10^12"
    said = f"for a useful histogram of {size:,} values: that error is not below the average share, {short(baseline)}"
    return f"{people} {said}", f"{many} people would make them equal, and so would fewer values"


def in_words(advice: Sequence[Recommendation]) -> str:
    """All recommendations as text: one sentence per purpose at one ε; at several, equal ones are merged."""
    lines = []
    for _, some in itertools.groupby(advice, lambda each: each.purpose):
        here = list(some)
        if len(here) == 1:
            lines.append(str(here[0]))
            continue
        for (_, reason), run in itertools.groupby(here, lambda each: (each.name, each.reason)):
            same = list(run)
            where = _range([each.epsilon for each in same])
            taken = "" if same[0].name is None else f", take {same[0].name}"
            lines.append(f"{same[0].to} at ε = {where}{taken}: {reason}.")
        for warning in dict.fromkeys(each.warning for each in here if each.warning):
            where = _range([each.epsilon for each in here if each.warning == warning])
            lines.append(f"  But at ε = {where}: {warning}.")
    return "\n".join(lines)


def _range(epsilons: Sequence[str]) -> str:
    """Neighbouring ε by the first and the last of them."""
    return epsilons[0] if len(epsilons) == 1 else f"{epsilons[0]} to {epsilons[-1]}"


def short(number: float | None) -> str:
    """A number to three significant digits."""
    return "unknown" if number is None else f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"  # noqa: PLR2004


def percent(share: float) -> str:
    """A share in percent, rounded up: a gap must not look smaller than it is."""
    steps = 1000 if share > 1e-4 else 100_000  # noqa: PLR2004 (three decimals for tiny shares)
    return f"{math.ceil(share * steps) / steps * 100:.6g} %"


def _round_up(number: float) -> int:
    """A count to two significant digits, rounded up."""
    power = int(10.0 ** max(0, math.floor(math.log10(number)) - 1))
    return math.ceil(number / power) * power
