"""Every mechanism that can be compared: where it applies, how it is built, and what it would take too long to build."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bipartite.answers.advise.purposes import GRR_NAME, WANTED
from bipartite.domains import Interval
from bipartite.errors import InputError
from bipartite.mechanisms.catalogue import Entry, Form, entries, entry_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism

SAFE: Final = "BRR, safe m"
ANCHORED: Final = "Anchored"
OPTIMAL: Final = "Optimal"
# Limits on the work for one mechanism: a few seconds each (measured on one core at 2.8 GHz).
_MOST_TABLE: Final = 4_000_000  # cells of Exponential's table
_MOST_MEANS: Final = 20_000  # pairs of values: two ε for 100 values, each 0.2 to 2 s of a linear programme
_MOST_ANCHORS_ON_A_LINE: Final = 4_000_000  # values
_MOST_ANCHORS_OF_A_SET: Final = 5_000_000_000  # pairs of values: half a minute for 70,000
_MOST_SUMMED: Final = 2**28  # pairs of values, whose distances are needed
_UNBIASED: Final = "Optimal(…, unbiased=True)"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism of a comparison, in one of its forms; or the caller's own."""

    entry: Entry
    form: Form
    own: Mechanism | None = None
    """The caller's own mechanism, which is recommended for estimates only."""

    @property
    def name(self) -> str:
        """What the table calls it."""
        return self.form.label

    def serves(self, purpose: str) -> bool:
        """Whether it may be recommended for this purpose."""
        if self.own is not None:
            return purpose != "release"
        return self.name == GRR_NAME or self.form.reports in WANTED[purpose].served_by

    def code(self, *, has_prior: bool) -> str | None:
        """How it is built in Python; ε stands for the budget. None for the caller's own."""
        if self.own is not None:
            return None
        domain = "interval" if self.entry.where == "interval" else "domain"
        options = "".join(f", {name}={value!r}" for name, value in self.form.options.items())
        prior = ", prior=prior" if self.form.prior and has_prior else ""
        return f"bp.{self.entry.kind}({domain}, ε{options}{prior})"

    def build(self, domain: Domain, epsilon: str, prior: NDArray[np.float64] | None) -> Mechanism:
        """Build it; whole numbers become the interval with the same nodes where it needs one."""
        if self.own is not None:
            return self.own
        if self.entry.where == "interval" and domain.has_ends and domain.whole:
            domain = Interval(domain.low, domain.high, points=len(domain))
        options = {**self.form.options, **({"prior": prior} if self.form.prior else {})}
        mechanism: Mechanism = self.entry.load()(domain, epsilon, **options)
        return mechanism

    def built(self, domain: Domain, epsilon: str, prior: NDArray[np.float64] | None, rounds: int) -> Mechanism | str:
        """The mechanism, or the reason why there is none."""
        try:
            return self.left_out(domain, rounds) or self.build(domain, epsilon, prior)
        except InputError as refusal:
            return f"refused: {refusal}"

    def left_out(self, domain: Domain, rounds: int) -> str | None:
        """Why it is not built for this many ε, where that would take too long."""
        if self.own is not None:
            return None
        size, line, work = len(domain), domain.has_ends, self.form.work
        pairs = size * size * rounds
        times = f"{size:,} values" if rounds == 1 else f"{size:,} values and {rounds} ε"
        if work == "table" and pairs > _MOST_TABLE:
            return f"left out: a table of N × N tickets takes too long with {times}"
        near = work == "closed" and self.name != GRR_NAME and self.form.reports == "release"
        if near and not domain.has_ranges and pairs > _MOST_SUMMED:
            return f"left out: its near values and losses need all distances, too many with {times}"
        if work == "means" and pairs > _MOST_MEANS:
            return f"left out: its linear programme takes too long with {times}; build bp.{_UNBIASED} by itself"
        cost, most = (size * rounds, _MOST_ANCHORS_ON_A_LINE) if line else (pairs, _MOST_ANCHORS_OF_A_SET)
        if work == "anchors" and cost > most:
            return f"left out: its search takes too long with {times}; build bp.Anchored by itself"
        return None


def candidates(domain: Domain, *, exact: bool = False) -> list[Candidate]:
    """All mechanisms that apply to a domain, in the order of the table."""
    where = {"any", "line", "interval"} if domain.has_ends else {"any"}
    found = [
        Candidate(entry, form)
        for entry in entries()
        for form in entry.forms
        if entry.where in where and (exact or form.work != "program")
    ]
    if domain.wraps:
        return [around for each in found if (around := _around(each)) is not None]
    return [each for each in found if domain.has_ends or each.form.reports not in {"padded", "number"}]


def own_candidate(name: str, mechanism: Mechanism) -> Candidate:
    """The caller's own mechanism, under the caller's name."""
    return Candidate(entry_of(type(mechanism)), Form(name), mechanism)


def _around(candidate: Candidate) -> Candidate | None:
    """The form of a mechanism on a circle, which has no ends to pad: its windows for statistics need no padding."""
    form = candidate.form
    if form.reports == "number" or (form.reports == "padded" and "m" not in form.options):
        return None
    if form.reports != "padded":
        return candidate
    label = form.label.replace(", padded", "").replace("CDF", "arcs")
    options = {name: value for name, value in form.options.items() if name != "edges"}
    return Candidate(candidate.entry, form._replace(label=label, options=options))
