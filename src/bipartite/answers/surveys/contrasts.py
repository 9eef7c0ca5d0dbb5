"""Which of several groups differ: all pairs, or all against one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from bipartite.answers.estimation import Estimate, Estimates
from bipartite.answers.estimation.difference import difference
from bipartite.answers.estimation.intervals import ConfidenceInterval, check_confidence
from bipartite.answers.estimation.showing import load_pandas
from bipartite.errors import InputError, how_many, shown
from bipartite.texts import Printed, Table, in_digits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pandas import DataFrame

    from bipartite.answers.estimation.question import Asked


class Contrast(NamedTuple):
    """The answer of one group minus that of another, one of several comparisons."""

    first: Any
    second: Any
    difference: float
    se: float
    interval: ConfidenceInterval
    """With the confidence of all intervals together."""
    p_value: float
    """Of this difference alone."""
    adjusted: float
    """The p-value after Holm: where it is at most α, the groups differ at level α for all rows together."""


@dataclass(frozen=True, slots=True, repr=False)
class Contrasts(Printed):
    """Differences between groups; ``print`` shows them as a table, and they are a sequence of :class:`Contrast`."""

    rows: tuple[Contrast, ...]
    confidence: float

    def __iter__(self) -> Iterator[Contrast]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> Contrast:
        return self.rows[at]

    def to_frame(self) -> DataFrame:
        """A row for every difference: first, second, difference, se, low, high, p, p_holm."""
        columns = ["first", "second", "difference", "se", "low", "high", "p", "p_holm"]
        rows = [(*row[:4], *row.interval, row.p_value, row.adjusted) for row in self.rows]
        found: DataFrame = load_pandas("the rows").DataFrame(rows, columns=columns)
        return found

    def __str__(self) -> str:
        return "\n".join(self._parts())

    def _parts(self) -> list[str]:
        lines = [("groups", "difference", "interval", "p", "p after Holm")]
        for row in self.rows:
            value, low, high = in_digits(row.difference, *row.interval)
            p, adjusted = f"{row.p_value:.2g}", f"{row.adjusted:.2g}"
            lines.append((f"{row.first} − {row.second}", value, f"{low} to {high}", p, adjusted))
        notes = dict.fromkeys(row.interval.note for row in self.rows if row.interval.note)
        sure = f"intervals hold together with {100 * self.confidence:g} % (Bonferroni)"
        return [f"{how_many(len(self), 'difference')} between groups; {sure}", Table(lines), *notes]


def contrasts(
    ests: Mapping[Any, Estimate], of: Asked = "mean", *, confidence: float = 0.95, against: object = None
) -> Contrasts:
    r"""The differences between all pairs of groups, or of all groups to one, with p-values and intervals for all.

    ``ests`` are the groups of ``bp.estimate(mech, reports, by=…)``: disjoint sets of people. Each row is
    :func:`bipartite.difference`; ``against="north"`` compares all others with north.

    The p-values are adjusted by Holm's step-down method (Scandinavian Journal of Statistics 6, 1979): with p₁ ≤ … ≤ p_m
    the j-th becomes max over i ≤ j of min(1, (m − i + 1)·pᵢ). Whatever groups truly differ, the probability of calling
    any two equal ones different is at most α if rows with an adjusted p-value of at most α are called so; no
    independence is needed, and no test of all groups before.

    The intervals are those of Bonferroni: each has the confidence 1 − (1 − ``confidence``)/m, so all of them hold
    together with at least ``confidence``. Holm's method has no simple intervals, and rejects more: a row may be
    significant while its interval still contains zero. Both are as good as the intervals of single differences, which
    are measured, not proved.

    >>> from bipartite import BRR, Integers, estimate, insecure_seed
    >>> mech = BRR(Integers(1, 10), epsilon=2, edges="padded")
    >>> values = [3] * 5000 + [4] * 5000 + [4] * 5000
    >>> where = ["a"] * 5000 + ["b"] * 5000 + ["c"] * 5000
    >>> print(contrasts(estimate(mech, mech.privatize(values, rng=insecure_seed(1)), by=where)))
    3 differences between groups; intervals hold together with 95 % (Bonferroni)
    groups  difference        interval      p  p after Holm
    a − b        -0.96  -1.15 to -0.77  1e-12         3e-12
    a − c        -0.94  -1.13 to -0.75  1e-12         3e-12
    b − c         0.02   -0.16 to 0.20   0.81          0.81
    """
    sure, groups = check_confidence(confidence), disjoint_groups(ests, 2)
    if against is None:
        pairs: Sequence[tuple[Any, Any]] = list(itertools.combinations(groups, 2))
    elif against in groups:
        pairs = [(label, against) for label in groups if label != against]
    else:
        raise InputError(
            f"Expected against as one of the groups {', '.join(map(shown, groups))}, got {shown(against)}."
        )
    each = 1 - (1 - sure) / len(pairs)
    found = [difference(groups[one], groups[two], of, confidence=each) for one, two in pairs]
    rows = zip(pairs, found, holm([row.p_value for row in found]), strict=True)
    return Contrasts(
        tuple(
            Contrast(
                *pair, row.value, row.se, ConfidenceInterval(*row.interval, sure, row.interval.note), row.p_value, p
            )
            for pair, row, p in rows
        ),
        sure,
    )


def disjoint_groups(ests: object, least: int) -> Mapping[Any, Estimate]:
    """Check that these are estimates of enough groups of people, on one domain."""
    if isinstance(ests, Estimates) and ests._kind != "group":
        raise InputError(
            f"Expected groups of different people, got {ests._kind}s of the same ones; give a public column as by."
        )
    groups = dict(ests) if isinstance(ests, Mapping) else {}
    wrong = [each for each in groups.values() if not isinstance(each, Estimate)]
    if wrong or len(groups) < least:
        got = type(wrong[0]).__name__ if wrong else len(groups) if groups else type(ests).__name__
        wanted = how_many(least, "group")
        raise InputError(f"Expected estimates of at least {wanted}, as of bp.estimate(…, by=…), got {got}.")
    domain, *others = (each.domain for each in groups.values())
    if other := [each for each in others if each != domain]:
        raise InputError(f"Expected estimates on one domain, got {domain!r} and {other[0]!r}.")
    return groups


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values; one that is not known stays so, and counts."""
    order = sorted(range(len(p_values)), key=lambda at: (math.isnan(p_values[at]), p_values[at]))
    adjusted, most = list(p_values), 0.0
    for place, at in enumerate(order):
        if not math.isnan(p_values[at]):
            most = max(most, min(1.0, (len(order) - place) * p_values[at]))
            adjusted[at] = most
    return adjusted
