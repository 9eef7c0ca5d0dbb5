"""What reports are for, every mechanism that can be compared, and which mechanism serves what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from bipartite.domains import Interval
from bipartite.errors import InputError, is_one_of, shown
from bipartite.mechanisms.catalogue import Entry, Form, entries

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.catalogue import Reports

Purpose = Literal["release", "mean", "distribution", "categories", "map", "statistics"]
PURPOSES: Final[tuple[str, ...]] = ("release", "mean", "distribution", "statistics", "categories", "map")
GRR_NAME: Final = "GRR"
SAFE: Final = "BRR, safe m"
ANCHORED: Final = "Anchored"
OPTIMAL: Final = "Optimal"
# Limits on the work for one mechanism: a few seconds each (measured on one core at 2.8 GHz).
_MOST_TABLE: Final = 4_000_000  # cells of Exponential's table
_MOST_MEANS: Final = 20_000  # pairs of values: two ε for 100 values, each 0.2 to 2 s of a linear programme
_MOST_ANCHORS_ON_A_LINE: Final = 4_000_000  # values
_MOST_ANCHORS_OF_A_SET: Final = 5_000_000_000  # pairs of values: half a minute for 70,000
_MOST_SUMMED: Final = 2**28  # pairs of values, whose distances are needed


class Wanted(NamedTuple):
    """One purpose: which mechanisms serve it, which figure ranks them, and which one wins a near tie."""

    figure: str
    """The field of a row to minimise."""
    to: str
    """The goal, in words."""
    error: str
    """What the figure is called in a sentence."""
    baseline: str
    """The answer that asks nobody, in words."""
    served_by: frozenset[Reports]
    """What mechanisms must report; GRR, a window of one value, serves everything."""
    preferred: str | None = None
    """The mechanism recommended unless another is clearly better."""
    because: str = ""
    """Why that is preferred."""


WANTED: Final = {
    "release": Wanted("expected_loss", "To release single values", "its expected error", "", frozenset({"release"})),
    "mean": Wanted(
        "mean_error",
        "To estimate the mean",
        "its standard error",
        "the middle of the range, which asks nobody: up to",
        frozenset({"padded", "number", "flat"}),
        "BRR, padded, mean",
        "a padded window, whose reports also give the distribution",
    ),
    "distribution": Wanted(
        "distribution_error",
        "To estimate the distribution and its quantiles",
        "the error of a cumulative share in the default histogram",
        "the uniform distribution, which asks nobody:",
        frozenset({"padded", "flat"}),
        "BRR, padded, CDF",
        "a padded window, in which near values help each other",
    ),
    "categories": Wanted(
        "histogram_error",
        "To count the share of each value",
        "the standard error of a share",
        "an average share:",
        frozenset({"padded", "flat"}),
    ),
    "map": Wanted(
        "histogram_error",
        "To map how many people are at each place",
        "the standard error of the share of a place",
        "an average share:",
        frozenset({"flat"}),
    ),
}
"""What each purpose requires. ``"statistics"`` stands for several purposes."""
# Around a circle nothing is preferred to the least error: windows have it.
_AROUND: Final = {
    "mean": WANTED["mean"]._replace(
        to="To estimate the mean direction",
        error="the standard error of its cosine and sine",
        baseline="no direction, which asks nobody: up to",
        preferred=None,
    ),
    "distribution": WANTED["distribution"]._replace(
        to="To estimate the shares of arcs",
        error="the error of the share of an arc in the default histogram",
        preferred=None,
    ),
}


def wanted(purpose: str, domain: Domain) -> Wanted:
    """What a purpose requires on a domain."""
    return _AROUND.get(purpose, WANTED[purpose]) if domain.wraps else WANTED[purpose]


def check_purpose(purpose: object) -> None:
    """Refuse anything that is not a purpose."""
    if not is_one_of(purpose, PURPOSES):
        raise InputError(f"Expected purpose as one of {', '.join(map(repr, PURPOSES))}, got {shown(purpose)}.")


def asked(domain: Domain, purpose: str | None, n: int | None) -> list[str]:
    """The purposes to advise on: the one named, or all that apply."""
    ordered = domain.has_ends or domain.wraps
    if purpose == "statistics":
        return ["mean", "distribution"] if ordered else ["categories"]
    if purpose is not None:
        return [purpose]
    if domain.is_flat:
        return ["categories", "release"]
    places = domain.coordinates is not None
    statistics = ["mean", "distribution", "categories"] if ordered else ["map" if places else "categories"]
    return ["release", *(statistics if n is not None else [])]


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
        size, line = len(domain), domain.has_ends
        pairs = size * size * rounds
        near = self.form.reports == "release" and self.name != GRR_NAME and not domain.has_ranges
        many_anchors = size * rounds > _MOST_ANCHORS_ON_A_LINE if line else pairs > _MOST_ANCHORS_OF_A_SET
        limits = {
            "table": (pairs > _MOST_TABLE, "a table of N × N tickets takes too long with", ""),
            "closed": (
                near and pairs > _MOST_SUMMED,
                "its near values and losses need all distances, too many with",
                "",
            ),
            "means": (pairs > _MOST_MEANS, "its linear programme takes too long with", "Optimal(…, unbiased=True)"),
            "anchors": (many_anchors, "its search takes too long with", "Anchored"),
        }
        too_long, why, by_itself = limits.get(self.form.work, (False, "", ""))
        if not too_long or self.own is not None:
            return None
        times = f"{size:,} values" if rounds == 1 else f"{size:,} values and {rounds} ε"
        return f"left out: {why} {times}" + (f"; build bp.{by_itself} by itself" if by_itself else "")


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
