"""Every mechanism that can be compared: where it applies, and how to build it in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from bipartite.answers.advise.purposes import GRR_NAME, WANTED
from bipartite.domains import Interval
from bipartite.mechanisms.catalogue import entries

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from bipartite.domains import Domain
    from bipartite.mechanisms import Mechanism
    from bipartite.mechanisms.catalogue import Entry, Form, Work

SAFE: Final = "BRR, safe m"
ANCHORED: Final = "Anchored"
OPTIMAL: Final = "Optimal"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One mechanism of a comparison, in one of its forms."""

    entry: Entry
    form: Form

    @property
    def name(self) -> str:
        """What the table calls it."""
        return self.form.label

    @property
    def work(self) -> Work:
        """How expensive it is to build."""
        return self.form.work

    def serves(self, purpose: str) -> bool:
        """Whether it is made for this purpose."""
        return self.name == GRR_NAME or self.form.reports in WANTED[purpose].served_by

    def code(self, *, has_prior: bool) -> str:
        """How it is built; ε stands for the budget."""
        domain = "interval" if self.entry.where == "interval" else "domain"
        options = "".join(f", {name}={value!r}" for name, value in self.form.options.items())
        prior = ", prior=prior" if self.form.prior and has_prior else ""
        return f"bp.{self.entry.kind}({domain}, ε{options}{prior})"

    def build(
        self,
        domain: Domain,
        epsilon: str,
        prior: NDArray[np.float64] | None,
        progress: Callable[[float], None] | None = None,
    ) -> Mechanism:
        """Build the mechanism; whole numbers become the interval with the same nodes where it needs one.

        ``progress`` is called with the fraction of a long search that is done.
        """
        made = as_interval(domain) if self.entry.where == "interval" else domain
        options = {**self.form.options, **({"prior": prior} if self.form.prior else {})}
        if self.work == "anchors":
            options["progress"] = progress
        mechanism: Mechanism = self.entry.load()(made, epsilon, **options)
        return mechanism


@dataclass(frozen=True, slots=True)
class Brought:
    """A mechanism of the caller's own: measured like the others, and recommended for estimates only."""

    name: str
    mechanism: Mechanism
    work: ClassVar[Work] = "closed"

    def code(self, *, has_prior: bool) -> None:
        """None: its owner knows how to build it."""
        del has_prior

    def serves(self, purpose: str) -> bool:
        """Whether it may be recommended: for estimates only."""
        return purpose != "release"

    def build(
        self,
        domain: Domain,
        epsilon: str,
        prior: NDArray[np.float64] | None,
        progress: Callable[[float], None] | None = None,
    ) -> Mechanism:
        """Return it unchanged."""
        del domain, epsilon, prior, progress
        return self.mechanism


def candidates(domain: Domain, *, exact: bool = False) -> list[Candidate]:
    """All mechanisms that apply to a domain, in the order of the table."""
    where, line = {"any"}, domain.has_ends
    if line:
        where |= {"line", "interval"}
    found = [
        Candidate(entry, form)
        for entry in entries()
        for form in entry.forms
        if entry.where in where and (exact or form.work != "program")
    ]
    if domain.wraps:
        return [around for each in found if (around := _around(each)) is not None]
    return [each for each in found if line or each.form.reports not in {"padded", "number"}]


def _around(candidate: Candidate) -> Candidate | None:
    """The form of a mechanism on a circle, which has no ends to pad: its windows for statistics need no padding."""
    form = candidate.form
    if form.reports == "number":
        return None
    if form.reports != "padded":
        return candidate
    if "m" not in form.options:
        return None
    label = form.label.replace(", padded", "").replace("CDF", "arcs")
    options = {name: value for name, value in form.options.items() if name != "edges"}
    return Candidate(candidate.entry, form._replace(label=label, options=options))


def as_interval(domain: Domain) -> Domain:
    """Whole numbers as the interval with the same nodes, for mechanisms that report real numbers."""
    if domain.has_ends and domain.whole:
        return Interval(domain.low, domain.high, points=len(domain))
    return domain
