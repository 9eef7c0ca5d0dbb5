"""What a column is for, and the mechanism that serves it: the one place where a plan's open choices are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from bipartite.answers.advise import recommend
from bipartite.answers.advise.recommending import for_statistics
from bipartite.errors import InputError
from bipartite.mechanisms.catalogue import entry_of

if TYPE_CHECKING:
    from bipartite.domains import Domain

STATISTICS: Final = "statistics"
SINGLE_VALUES: Final = "single-values"
PURPOSES: Final = {
    STATISTICS: "means, shares and medians of many people",
    "mean": "the mean of many people first; shares less precisely",
    "histogram": "the share of each single value",
    SINGLE_VALUES: "reports that are used one by one, each as close to its value as possible",
}
"""The purposes of a column, each with a description."""
_WINDOWS: Final = {STATISTICS: "cdf", "mean": "mean", "histogram": "histogram"}


def line_choice(purpose: str) -> dict[str, str]:
    """The keys of a plan that a purpose implies for numbers."""
    if purpose == SINGLE_VALUES:
        return {"mechanism": "anchored"}
    return {"mechanism": "brr", "edges": "padded", "m": _WINDOWS[purpose]}


def choice(purpose: str, domain: Domain, epsilon: object, *, flat: bool) -> dict[str, str]:
    """The keys of a plan that a purpose implies; ``flat`` if every wrong answer is equally wrong."""
    if domain.has_ends:
        return line_choice(purpose)
    if domain.wraps and purpose == STATISTICS:
        # Direction and arcs: windows, where shares of single values would take a set.
        taken = for_statistics(domain, epsilon)
        return {"mechanism": taken.entry.name, **{name: str(value) for name, value in taken.form.options.items()}}
    if domain.wraps and purpose == "mean":
        return {"mechanism": "brr", "m": "mean"}
    if purpose == "mean":
        raise InputError(
            "Expected numbers for a mean, got a set of values, which has none; use for = 'statistics' for its shares."
        )
    if purpose == SINGLE_VALUES:
        return {"mechanism": "grr" if flat else "anchored"}
    return {"mechanism": best_for_shares(domain, epsilon)}


def best_for_shares(domain: Domain, epsilon: object) -> str:
    """The mechanism that :func:`bipartite.recommend` picks for shares: GRR for few values, a frequency oracle for more.

    >>> from bipartite import Items
    >>> [best_for_shares(Items(range(n)), 1) for n in (4, 40)]
    ['grr', 'subset-selection']
    """
    return entry_of(type(recommend(domain, epsilon, "categories").mechanism)).name
