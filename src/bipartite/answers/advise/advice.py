"""Which mechanism to take for what, and why, in sentences."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.candidates import ANCHORED, SAFE
from bipartite.answers.advise.errors import without_asking
from bipartite.answers.advise.picking import pick
from bipartite.answers.advise.purposes import GRR_NAME, WANTED
from bipartite.texts import Printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bipartite.answers.advise.figures import Measured, Question
    from bipartite.answers.advise.picking import Pick
    from bipartite.answers.advise.row import Row

# A cumulative share with an error this large is useless for quantiles.
_COARSE: Final = 0.1
_LEAST: Final = "the least error of what was compared"
_AROUND: Final = (
    "around a circle no ε-LDP report of a value has a smaller error, neither on average over equally likely values nor "
    "in the worst case"
)
# A report that improves on the constant answer by less than this fraction is worth little.
_LITTLE: Final = 0.1
_MOST_PEOPLE: Final = 1e12


@dataclass(frozen=True, slots=True, repr=False)
class Advice(Printed):
    """One recommendation at one ε."""

    purpose: str
    epsilon: str
    mechanism: str | None
    """None where nothing that was compared serves the purpose."""
    code: str | None
    """How to build it in Python, with ε in place of the number; None for a mechanism of the caller's own."""
    reason: str
    """Why, in words that hold at every ε."""
    figures: str
    """Why, in figures."""
    warning: str
    """What to know before taking it; empty if there is nothing."""
    detail: str
    """The figures of that warning."""
    error: float | None = None
    """Its expected error under the prior, with the estimator that will be used: of one release, or from ``people``."""
    people: int | None = None
    """The number of people that ``error`` is for; None for a release."""
    without_asking: float | None = None
    """The error of the best answer that asks nobody."""
    best: str | None = None
    """The mechanism with the least error of all that serve the purpose and keep ε."""
    ratio: float | None = None
    """``error`` over that least error: at most 1.05."""
    worst_ratio: float | None = None
    """The same for the shape of the population where it is largest; None where that was not computed."""
    worst_shape: str = ""
    """That shape."""

    def __str__(self) -> str:
        taken = "" if self.mechanism is None else f", take {self.mechanism}"
        figures = f"; {self.figures}" if self.figures else ""
        warned = f" But {self.warning}{f' ({self.detail})' if self.detail else ''}." if self.warning else ""
        return f"{WANTED[self.purpose].to}{taken}: {self.reason}{figures}.{warned}"


def advised(
    purpose: str, epsilon: str, measured: Sequence[Measured], question: Question, constant: Row | None
) -> tuple[Advice, Measured | None]:
    """What to take for a purpose at one ε, and its measurements.

    ``constant`` is the best single answer.
    """
    found = pick(purpose, measured, list(question.shapes))
    if found is None:
        why = "no mechanism that was compared, and whose figures are known, can give it"
        return Advice(purpose, epsilon, None, None, why, "", "", ""), None
    here = _Here(purpose, measured, question, found, constant)
    silence = here.silence
    advice = Advice(
        purpose,
        epsilon,
        found.taken.candidate.name,
        found.taken.candidate.code(has_prior=question.prior is not None),
        here.reason(),
        here.figures(),
        *here.warning(),
        error=found.error,
        people=None if purpose == "release" else question.people,
        without_asking=silence,
        best=found.least.candidate.name,
        ratio=found.error / found.least_error if found.least_error > 0 else None,
        worst_ratio=found.worst_ratio,
        worst_shape=found.worst_shape,
    )
    return advice, found.taken


class _Here:
    """One purpose at one ε, put into sentences."""

    def __init__(
        self,
        purpose: str,
        measured: Sequence[Measured],
        question: Question,
        found: Pick,
        constant: Row | None,
    ) -> None:
        self.purpose, self.question, self.found, self.constant = purpose, question, found, constant
        self.wanted = WANTED[purpose]
        self.rows = {each.row.mechanism: each.row for each in measured}
        self.name = found.taken.candidate.name

    @property
    def silence(self) -> float | None:
        """The error of asking nobody."""
        if self.purpose == "release":
            return None if self.constant is None else self.constant.expected_loss
        return without_asking(self.question.domain, self.wanted.figure, self.question.population[0])

    def reason(self) -> str:
        if self.purpose != "release":
            return self.wanted.because if self.name == self.wanted.preferred else _LEAST
        if self.name == GRR_NAME and self.question.domain.is_flat:
            return "all wrong answers are equally wrong, so there are no neighbours to make use of"
        what = "for the prior given" if self.question.prior is not None else "if all values are equally likely"
        if self.name == SAFE and self.question.domain.wraps and self.question.prior is None:
            return _AROUND
        if self.name == ANCHORED and self.found.taken.row.gap is None:
            return f"the least expected error {what} that was found in the time, though not at each value"
        if self.name == ANCHORED:
            return f"the least expected error {what}, though not at each value"
        missing = self.rows.get(ANCHORED)
        beside = (
            ""
            if missing is None or missing.expected_loss is not None
            else f"; {ANCHORED}, which may have a smaller one, was {missing.note}"
        )
        return f"the least expected error {what} of what was compared{beside}"

    def figures(self) -> str:
        error = f"{self.wanted.error} is {short(self.found.error)}"
        beside = self._beside_release() if self.purpose == "release" else self._beside_statistics()
        if self.purpose != "release":
            error += f" with {self.question.people:,} people"
        gap = self.found.taken.row.gap if self.purpose == "release" else None
        proved = "" if gap is None else f", proved to be within {percent(gap)} of the least possible for a value"
        return f"{error}{proved}" + (f" ({'; '.join(beside)})" if beside else "")

    def _beside_release(self) -> list[str]:
        beside = []
        if self.constant is not None:
            beside.append(f"{self.constant.mechanism}, which asks nobody: {short(self.silence)}")
        safe, grr = (self.rows.get(name) for name in (SAFE, GRR_NAME))
        if (
            self.name != SAFE
            and safe is not None
            and safe.expected_loss is not None
            and not self.question.domain.is_flat
        ):
            beside.append(f"{SAFE}, under which no value fares worse than under GRR: {short(safe.expected_loss)}")
        if self.name != GRR_NAME and grr is not None and grr.expected_loss is not None:
            beside.append(f"GRR: {short(grr.expected_loss)}")
        return [*beside, *self._over_shapes()]

    def _beside_statistics(self) -> list[str]:
        beside = []
        if self.purpose == "mean":
            beside.append(f"the middle of the range, which asks nobody: up to {short(self.silence)}")
        elif self.purpose == "distribution":
            beside.append(f"the uniform distribution, which asks nobody: {short(self.silence)}")
        else:
            beside.append(f"an average share: {short(self.silence)}")
        found = self.found
        if found.least.candidate.name != self.name and found.least_error < found.error * (1 - 1e-9):
            beside.append(f"{found.least.candidate.name}: {percent(1 - found.least_error / found.error)} less")
        return [*beside, *self._over_shapes()]

    def _over_shapes(self) -> list[str]:
        ratio = self.found.worst_ratio
        if ratio is None:
            return []
        count = len(self.question.shapes)
        if ratio <= 1 + 1e-9:
            return [f"the least for all {count} shapes of the population that were tried"]
        return [
            f"over {count} shapes of the population at most {ratio:.2f} times the least, at {self.found.worst_shape!r}"
        ]

    def warning(self) -> tuple[str, str]:
        return self._worth_little() if self.purpose == "release" else self._too_few()

    def _worth_little(self) -> tuple[str, str]:
        """The warning where asking nobody is as good as asking, or nearly."""
        silence, error = self.silence, self.found.error
        if silence is None or self.constant is None or silence - error > _LITTLE * abs(silence):
            return "", ""
        better = (
            "better"
            if silence < error - 1e-9 * abs(error)
            else "as good"
            if silence <= error + 1e-9 * abs(error)
            else "almost as good"
        )
        what = "for this prior" if self.question.prior is not None else "if all values are equally likely"
        return (
            f"{self.constant.mechanism}, which asks nobody, is {better} {what}: a single report is worth little",
            f"its expected error is {short(silence)}",
        )

    def _too_few(self) -> tuple[str, str]:
        """The warning where this many people are too few for a useful answer."""
        if not self.question.stated:
            return "", ""
        people, size, error = self.question.people, len(self.question.domain), self.found.error
        if self.purpose == "mean":
            half = self.silence
            too_few = (
                f"{people:,} people are too few for a mean: the middle of the range, which asks nobody, is off by "
                f"{short(half)} at most"
            )
            return (too_few if half is not None and error >= half / 2 else "", "")
        if self.purpose == "distribution":
            too_few = (
                f"{people:,} people are too few for the distribution over {size:,} values: a cumulative share is off "
                f"by {_COARSE:g} or more; ask more people"
            )
            return (too_few if error >= _COARSE else "", "")
        share = 1 / size
        if error < share:
            return "", ""
        too_few = (
            f"{people:,} people are too few for a useful histogram of {size:,} values: that error is not below "
            f"the average share, {short(share)}"
        )
        enough = people * (error / share) ** 2
        many = f"about {_round_up(enough):,}" if enough < _MOST_PEOPLE else "more than 10^12"
        return too_few, f"{many} people would make them equal, and so would fewer values"


def in_words(advice: Sequence[Advice]) -> str:
    """All recommendations as text: one sentence per purpose at one ε; at several, equal ones are merged."""
    lines = []
    for _, some in itertools.groupby(advice, lambda each: each.purpose):
        here = list(some)
        if len(here) == 1:
            lines.append(str(here[0]))
            continue
        for (_, reason), run in itertools.groupby(here, lambda each: (each.mechanism, each.reason)):
            same = list(run)
            where = _range([each.epsilon for each in same])
            taken = "" if same[0].mechanism is None else f", take {same[0].mechanism}"
            lines.append(f"{WANTED[same[0].purpose].to} at ε = {where}{taken}: {reason}.")
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
