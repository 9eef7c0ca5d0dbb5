"""A lower confidence bound on the real ε of any sampler, from its reports alone."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from bipartite.errors import InputError, Problems, shown
from bipartite.lottery import log_between
from bipartite.lottery.checks import is_whole
from bipartite.mechanisms import Mechanism
from bipartite.texts import Printed
from bipartite.verification.binomial import lower_bound, upper_bound
from bipartite.verification.events import EventSearch, log_ratio
from bipartite.verification.plan import check_confidence, check_trials, is_claim, level_of, trials_for
from bipartite.verification.reports import Reader, as_reports, sample

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_FEWEST_TRIALS: Final = 40
_MOST_BINS: Final = 2**16
_VIOLATION: Final = 0.05


@dataclass(frozen=True, slots=True, repr=False)
class Event(Printed):
    """A set of reports that is more likely for one input than for another."""

    description: str
    """The event in words."""
    outputs: tuple[Any, ...]
    """Its elements: reports; ranges (low, high] of numbers or scores; or columns with their values."""
    _contains: Callable[[Any], NDArray[np.bool_]] = field(repr=False, compare=False)

    def contains(self, reports: object) -> NDArray[np.bool_]:
        """Whether each of these reports is in the event, so that anyone can repeat the test on new reports."""
        return self._contains(reports)

    def __str__(self) -> str:
        return self.description


@dataclass(frozen=True, slots=True)
class EventCounts:
    """The counts of the event in the half of the trials used for testing."""

    hits: int
    """For the first input."""
    hits_other: int
    """For the second input."""
    tested: int
    """The number of trials for each of them."""


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Printed):
    """A lower confidence bound on the ε of a sampler, from its reports alone."""

    epsilon_lower: float
    """The real ε is at least this, with the stated confidence."""
    confidence: float
    """The least probability that the bound is right, over all events tested."""
    epsilon: float | None
    """The claimed ε; None if there is no claim."""
    inputs: tuple[Any, Any]
    """The two values that the event distinguishes: it is more likely for the first."""
    event: Event
    """The event with the largest bound."""
    counts: EventCounts
    """Its counts for the two inputs."""
    trials: int
    """The number of reports drawn for each input: one half to choose events, one half to test them."""
    searched: int
    """The number of events tested; the confidence holds for all of them together."""

    @property
    def holds(self) -> bool | None:
        """False: the claim is refuted. True: these trials do not refute it, which is not a proof. None: no claim."""
        return None if self.epsilon is None else self.epsilon_lower <= self.epsilon

    @property
    def verdict(self) -> str:
        """The result in one sentence."""
        sure = f"with {100 * self.confidence:g} % confidence"
        if self.epsilon is None:
            return f"real ε is at least {self.epsilon_lower:.6g}, {sure}"
        if self.holds:
            return f"not refuted: real ε is at least {self.epsilon_lower:.6g}, claimed {self.epsilon:.6g}, {sure}"
        return f"broken: real ε is at least {self.epsilon_lower:.6g} > claimed {self.epsilon:.6g}, {sure}"

    def trials_needed(self, violation: float = _VIOLATION, *, power: float = 0.99) -> int:
        """The trials per input that refute the claim with this probability if the real ε is (1 + violation) times it.

        For an event as likely for the first input as the one found here, and e^ε times less likely for the second.
        """
        if not violation > 0:
            raise InputError(f"Expected violation as a positive share of ε, got {violation!r}; 0.05 is 5 %.")
        if self.epsilon is None:
            raise InputError("Expected a claim to compute the trials that refute it, got none; audit with epsilon=…")
        likely = max(self.counts.hits, 1) / self.counts.tested
        law = likely, likely * math.exp(-self.epsilon * (1 + violation))
        return trials_for(law, self.epsilon, (1 - self.confidence) / (2 * self.searched), power)

    def __str__(self) -> str:
        counts = self.counts
        first, second = self.inputs
        lines = [
            self.verdict,
            f"  event: {self.event}",
            f"  found {counts.hits:,} times in {counts.tested:,} reports of {first!r}",
            f"        {counts.hits_other:,} times in {counts.tested:,} reports of {second!r}",
            f"  {self.trials:,} trials for each input; {self.searched} events tested on the other half",
        ]
        if self.epsilon:
            try:
                needed = f"{self.trials_needed():,} trials for each input"
            except InputError:
                needed = "more than 10^12 trials for each input"
            lines.append(f"  to detect an ε that is 5 % too large in 99 of 100 audits: {needed}, with such an event")
        return "\n".join(lines)


def audit(  # noqa: PLR0913 (two arguments, and options by name)
    sampler: Mechanism | Callable[[Any], object],
    inputs: Sequence[Any],
    *,
    trials: int,
    confidence: float = 0.99,
    epsilon: float | None = None,
    scalar: bool = False,
    bins: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Audit:
    """A lower confidence bound on the real ε of any sampler, as a black box.

    Half of the trials choose events: unions of outputs that one input reports more often than another. The other half
    tests them: with k of n reports of x in the event and k' of n reports of x', ε is at least
    ln(lower(k, n)/upper(k', n)), where lower and upper are exact (Clopper–Pearson) bounds, corrected (Bonferroni) for
    all ordered pairs of inputs, each of which has one event. The largest of these is ``epsilon_lower``.

    Parameters
    ----------
    sampler
        A mechanism, or any callable that takes an array of n equal values and returns n reports: numbers, strings,
        tuples, or rows of a table, each drawn anew; a function of one value needs ``scalar=True``. To audit a function
        of the reports, wrap it: post-processing keeps ε.
    inputs
        Two or more values; every ordered pair is searched.
    trials
        The number of reports drawn for each input.
    confidence
        The least probability that the bound is right, if the guarantee below applies.
    epsilon
        The claimed ε; by default, for a mechanism of this package, its realised ε.
    scalar
        The sampler takes one value and returns one report.
    bins
        The number of ranges for numbers. By default reports that repeat are counted separately, and others are binned
        into 128 ranges.
    progress
        Called with the number of reports drawn.

    Returns
    -------
    Audit
        With ``epsilon_lower``, ``verdict``, ``holds``, ``event``, ``inputs``, ``counts`` and the trials needed.

    Guarantee
    ---------
    If reports are drawn independently of each other, each from a law that depends on its value alone, the real ε is
    below ``epsilon_lower`` with probability at most 1 − confidence. A sampler whose law changes from call to call may
    be refuted though it tells nothing, because the values are drawn one after the other; so may one that returns
    reports of several types as an array, which turns 1 into "1" beside a word: let it return a list. The bound is
    one-sided: a small one proves nothing.

    Reference
    ---------
    Clopper, Pearson: *The use of confidence or fiducial limits* (1934). For audits of this kind, Ding et al.:
    *Detecting Violations of Differential Privacy* (CCS 2018); Bichsel et al.: *DP-Sniper* (S&P 2021).

    Examples
    --------
    >>> import numpy as np
    >>> from bipartite import GRR, Integers
    >>> generator = np.random.default_rng(1)
    >>> leaky = lambda values: np.where(generator.random(len(values)) < 0.9, values, 1 - values)
    >>> found = audit(leaky, (0, 1), trials=10_000, epsilon=1)
    >>> found.holds, found.epsilon_lower > 2
    (False, True)
    >>> audit(GRR(Integers(1, 5), epsilon=1), (1, 5), trials=10_000, confidence=1 - 1e-9).holds
    True
    """
    _check(sampler, inputs, epsilon, scalar, trials, confidence, bins)
    draw = sampler.privatize if isinstance(sampler, Mechanism) else sampler
    claimed = None if epsilon is None else float(epsilon)
    if isinstance(sampler, Mechanism) and epsilon is None:
        claimed = float(log_between(sampler.largest_ratio())[1])
    values = list(inputs)
    half, tested = trials // 2, trials - trials // 2

    def drawn(value: object, count: int) -> list[NDArray[Any]]:
        return sample(draw, value, count, scalar=scalar, progress=progress)

    reader = Reader([drawn(value, half) for value in values])
    search = EventSearch(reader.reports, bins, reader.names)
    reports = [search.encode(reader.read(drawn(value, tested))) for value in values]
    alpha = level_of(confidence, len(values))
    results = []
    for i, j in permutations(range(len(values)), 2):
        chosen = search.best(i, j, alpha)
        hits = [int(np.count_nonzero(chosen.hits(reports[at]))) for at in (i, j)]
        bound = log_ratio(lower_bound(hits[0], tested, alpha), upper_bound(hits[1], tested, alpha))
        results.append((bound, chosen.promise, hits, (values[i], values[j]), chosen))
    bound, _, hits, pair, chosen = max(results, key=lambda each: each[:2])

    def contains(reports: object) -> NDArray[np.bool_]:
        return chosen.hits(search.encode(reader.read([as_reports(reports)])))

    return Audit(
        epsilon_lower=max(0.0, bound),
        confidence=confidence,
        epsilon=claimed,
        inputs=pair,
        event=Event(str(chosen), chosen.members(), contains),
        counts=EventCounts(hits[0], hits[1], tested),
        trials=trials,
        searched=len(results),
    )


def _check(
    sampler: object,
    inputs: Sequence[object],
    epsilon: object,
    scalar: object,
    trials: object,
    confidence: object,
    bins: object,
) -> None:
    problems = Problems()
    if not callable(sampler) and not isinstance(sampler, Mechanism):
        problems.add(
            f"Expected sampler as a mechanism or a callable, got {type(sampler).__name__}; "
            "pass lambda values: … that returns one report per value."
        )
    if isinstance(inputs, (str, bytes, dict, set)) or not hasattr(inputs, "__len__") or len(inputs) <= 1:
        problems.add("Expected inputs as two or more values; name those that the reports should tell apart.")
    elif any(_same(a, b) for a, b in combinations(inputs, 2)):
        problems.add("Expected distinct inputs, got one twice; pass each once.")
    if epsilon is not None and not is_claim(epsilon):
        problems.add(f"Expected epsilon, the claim, as a number of at least 0, got {shown(epsilon)}; leave it out.")
    if not isinstance(scalar, bool):
        problems.add(f"Expected scalar as True or False, got {shown(scalar)}.")
    check_trials(trials, _FEWEST_TRIALS, problems)
    check_confidence(confidence, problems)
    if bins is not None and (not is_whole(bins) or not 1 < bins <= _MOST_BINS):
        problems.add(f"Expected bins as a whole number from 2 to {_MOST_BINS}, got {shown(bins)}; or leave it out.")
    problems.raise_if_any(InputError)


def _same(a: object, b: object) -> bool:
    return isinstance(a, str) == isinstance(b, str) and bool(np.array_equal(np.asarray(a), np.asarray(b)))
